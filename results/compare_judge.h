/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_judge.h - between compare_make() and its verdicts
 */
#ifndef KONTEST_COMPARE_JUDGE_H
#define KONTEST_COMPARE_JUDGE_H

#include "results/compare.h"

/* compare_judge() - all comparisons of @c's cells; @o as in compare_make() */
void compare_judge(struct compare *c, const struct compare_options *o);
/* compare_means_make() - the means over loads */
void compare_means_make(struct compare *c);

#endif
