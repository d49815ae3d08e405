/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bisect_judge.h - is a commit's figure like GOOD's or like BAD's?
 *
 * The rule, all of it on logarithms, as in results/inference.h:
 *
 *	boundary = (mean(GOOD) + mean(BAD)) / 2
 *	a commit is good (bad) when the 95 % interval of mean(commit) - boundary
 *	lies wholly on GOOD's (BAD's) side of 0; else it cannot be told
 *
 * The boundary is as uncertain as the ends are, so their spread is in the interval:
 * its variance is s^2 / n of the commit + (s^2 / n of GOOD + s^2 / n of BAD) / 4, its
 * degrees of freedom are Satterthwaite's, the observations are the boots' means.
 *
 * A commit that lies just on the boundary is called good or bad in 5 % of all looks at
 * it (there are as many as its boots were doubled); one that is like an end is taken for
 * the other far less often, in 0.1 % (tests/unit_bisect_judge.c).
 *
 * Exact mode is no other: a figure is exact there, yet another seed, or another byte of
 * the kernel, gives another one, and boots of other seeds tell how far. Who knows that
 * already for a load may say it, as the resolution, and have it told by one boot each:
 * then no interval is narrower than all three figures being off by that much, and the
 * ends must be four times as far apart.
 */
#ifndef KONTEST_BISECT_JUDGE_H
#define KONTEST_BISECT_JUDGE_H

#include "results/inference.h"

/* BISECT_OPEN: not judged, or not to be told by what was measured */
enum bisect_verdict {
	BISECT_OPEN, BISECT_GOOD, BISECT_BAD, BISECT_SKIP, BISECT_VERDICTS
};
/* bisect_verdict_name() - "open", "good", "bad", "skip" */
const char *bisect_verdict_name(enum bisect_verdict v);

/**
 * struct bisect_call - how a commit was judged
 * @verdict: never BISECT_SKIP
 * @boots: with a figure
 * @mean: of the commit, in the figure's unit; NAN: no figure
 * @low, @high: of @mean, with the boundary's own uncertainty in it; NAN: unknown
 * @boundary: in the figure's unit
 */
struct bisect_call {
	enum bisect_verdict verdict;
	size_t boots;
	double mean, low, high, boundary;
};

/**
 * bisect_judge() - of a commit
 * @good, @bad: figures of the ends, all above 0
 * @commit: its own
 * @resolution_pct: how far the figure of one boot may be off, in %; 0: not known
 */
struct bisect_call bisect_judge(const struct nested *good, const struct nested *bad,
				const struct nested *commit, double resolution_pct);

/**
 * struct bisect_gap - how far the ends are apart
 * @told: far enough to bisect between them
 * @small: by less than @floor_pct
 * @pct: BAD's mean to GOOD's, in %
 * @low, @high: 95 % interval of it, in %; NAN: unknown
 * @floor_pct: a smaller difference counts for none: the threshold, or what the
 *	resolution leaves
 * @need: boots of each that would tell it; 0: not known
 */
struct bisect_gap {
	bool told, small;
	double pct, low, high, floor_pct;
	size_t need;
};

/**
 * bisect_gap() - can the ends be told apart?
 * @good, @bad: their figures, all above 0
 * @resolution_pct: as above
 * @threshold_pct: a smaller difference of the means is none
 *
 * By ratio_infer() at INFER_LEVEL; with a resolution when bisect_judge() puts each end
 * on its own side.
 */
struct bisect_gap bisect_gap(const struct nested *good, const struct nested *bad,
			     double resolution_pct, double threshold_pct);

#endif
