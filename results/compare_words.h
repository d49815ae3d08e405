/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_words.h - a comparison in plain words
 */
#ifndef KONTEST_COMPARE_WORDS_H
#define KONTEST_COMPARE_WORDS_H

#include "results/compare.h"

/* compare_words() - fill @x->verdict and @x->sentence from its other members */
void compare_words(const struct compare *c, struct comparison *x);

/*
 * pct_text() - a difference in % with its sign, as many decimals as its size deserves;
 * "-" when not finite; owned by the caller. @round: ROUND_DOWN and ROUND_UP for the
 * ends of an interval, which must not shrink on paper
 */
enum pct_round { ROUND_DOWN = -1, ROUND_NEAREST, ROUND_UP };
char *pct_text(double pct, enum pct_round round);
/* size_text() - the same without a sign, rounded up: of limits */
char *size_text(double pct);
/* interval_text() - "[-0.4, +1.2]", or "-"; owned by the caller */
char *interval_text(struct interval ratio);
/* p_text() - "0.012", "<0.0001", "-"; owned by the caller */
char *p_text(double p);
/* lost_text() - "2 of 8 runs count for nothing: 1 timed out or hung, 1 failed"; NULL
 * when none is lost; owned by the caller */
char *lost_text(const struct compare_cell *cell);

#endif
