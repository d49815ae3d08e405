/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * precision.h - how narrow the intervals of a run are, and how many boots more make
 *	them narrow enough
 *
 * With boots = auto (host/auto_boots.h) this is what decides when there are enough
 * boots. It looks at widths alone and never at a difference: a rule that stops when
 * a difference is "significant" finds one in the end wherever it looks often enough,
 * one that stops at a width does not favour any result.
 */
#ifndef KONTEST_PRECISION_H
#define KONTEST_PRECISION_H

#include "results/inference.h"
#include "results/table.h"

/**
 * struct precision - of one load's Time (or a benchmark's), one kernel
 * @load: or benchmark; owned by a boot
 * @baseline, @kernel: labels, owned by a boot; what is known that well is the ratio of
 *	both, or with one kernel alone, where @baseline is NULL, its mean
 * @boots: of the one that has fewer
 * @half_pct: half the width of the 95 % interval, in %: sqrt(high / low) - 1, since it
 *	is one of logarithms; NAN with fewer than two boots of either
 * @more: boots of each that it takes beyond @boots until @half_pct is what was asked
 *	for, with the least number of boots; 0: it is
 * @tell: boots of each beyond @boots to tell a change of that size (boots_to_tell());
 *	0: none, or not known
 * @hopeless: after the least number of boots there is no good run of one of them:
 *	more would be no remedy, and nobody waits for it
 */
struct precision {
	const char *load;
	const char *baseline, *kernel;
	size_t boots;
	double half_pct;
	size_t more, tell;
	bool hopeless;
};
DEFINE_VECTOR(precisions, struct precision)

/**
 * struct precision_wanted - what is asked for
 * @pct: half-width, in %
 * @boots_min: boots of each kernel that there are to be at least
 */
struct precision_wanted {
	double pct;
	size_t boots_min;
};

/**
 * precision_make() - every kernel against the first, in every load and benchmark
 * @t: a run's table
 * @rounds: boots of each kernel that were done, well or not
 * @w: what is asked for
 * @out: added to
 */
void precision_make(const struct table *t, size_t rounds,
		    const struct precision_wanted *w, struct precisions *out);

/* precision_reached() - is every one of them, but the hopeless, as was asked for? Where
 * all are hopeless there is nothing to wait for either; at least one must be there */
bool precision_reached(const struct precisions *v);

/**
 * precision_boots_min() - boots without which no comparison can come to a verdict
 * @kernels: how many are booted
 * @rows: loads and benchmarks
 *
 * By the ranks (inference.h), with Holm's adjustment at its strictest; with one
 * kernel, where nothing is compared, as many as two would need.
 */
size_t precision_boots_min(size_t kernels, size_t rows);

/* precision_text() - a sentence: "io_load, 6.12 against 6.1: +-3.1 % after 6 boots of
 * each: needs about 8 more of each for +-2 %, ..."; owned by the caller */
char *precision_text(const struct precision *p, const struct precision_wanted *w);

#endif
