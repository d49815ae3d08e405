/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.h - kernels against a baseline: differences, intervals, verdicts in words
 *
 *	struct compare_side sides[] = { { .boots = &boots, .table = &t,
 *						.kernel = 0 }, ... };
 *	compare_make(&c, sides, n, &options);	c.comparisons, c.means
 *	compare_free(&c);
 *
 * The rules of a verdict:
 *  - better, worse: the p-value, adjusted by Holm over everything in the report, is
 *    at most 5 %; there are boots enough that it can be; the runs left over do not
 *    mislead (below). In exact mode the interval also lies beyond COMPARE_EXACT_PCT,
 *    which a changed byte of the image does alone: boots of one image cannot show it;
 *  - same within x %: the whole 95 % interval lies within the margin x, with as many
 *    boots as a single comparison needs (4 of each);
 *  - not enough boots: even the plainest difference could not have been told. With
 *	fewer than a single comparison needs there is no interval and no p-value either:
 *	the interval holds from so many boots on (tests/unit_simulation.c);
 *  - cannot tell below x %: all else. x is the end of the 95 % interval that is
 *    farther off: what is greater is ruled out, what is smaller is not.
 * A run that timed out or hung has no figure, at most a lower bound of one: what is left
 * are the quicker ones. So with such runs on either side there is no verdict, but when
 * the figure is the length of the run and the side that lost them is the worse already.
 */
#ifndef KONTEST_COMPARE_H
#define KONTEST_COMPARE_H

#include "results/inference.h"
#include "results/store.h"
#include "results/table.h"

/* --- what is compared --------------------------------------------------------------- */

/**
 * struct metric - a figure of a run
 * @name: of the option --metric
 * @bench: the benchmark that has it, "" for contest
 * @title: in tables
 * @unit: "s", "MiB/s", ...
 * @decimals: of a mean in tables
 * @more_is_better: else less is
 * @main: the one that is compared unless another is asked for
 * @bounded: it is the length of the run, so that one that timed out was longer
 * @column: of struct bench_view, or NULL for contest's
 */
struct metric {
	const char *name, *bench, *title, *unit;
	int decimals;
	bool more_is_better, main, bounded;
	const char *column;
};

/* metrics() - the table of them, ended by a NULL name */
const struct metric *metrics(void);

/* COMPARE_MARGIN_PCT - the default of --margin; argued in results/README.md */
#define COMPARE_MARGIN_PCT 1.0

/*
 * COMPARE_EXACT_PCT - how much a compile's exact Time moves when nothing but a byte of the
 * image changes (measured). Loads on the disk may move farther; that their boots' seeds
 * show.
 */
#define COMPARE_EXACT_PCT 0.5

struct compare_row;

/**
 * struct compare_options - what may be chosen
 * @metric: name, "all", or NULL for the main ones
 * @margin_pct: see above; 0: COMPARE_MARGIN_PCT
 * @known_mdc_pct: the smallest change in % that a calibration found @boots boots of
 *	each kernel to tell, NAN when there is none; NULL: no calibration
 * @known_arg: for @known_mdc_pct
 * @no_outlook: leave mdc_pct and more_boots out, which cost more than all else
 */
struct compare_options {
	const char *metric;
	double margin_pct;
	double (*known_mdc_pct)(const struct compare_row *row, size_t boots, void *arg);
	void *known_arg;
	bool no_outlook;
};

/**
 * struct compare_side - a kernel of a run
 * @run_id: whole id; for the text and JSON alone, may be NULL
 * @boots: of that run, all kernels'
 * @table: made of them
 * @kernel: index in table->kernels
 * @title: its label, with the run before it where sides are of several; NULL: the label.
 *	Not owned
 */
struct compare_side {
	const char *run_id;
	const struct boot_records *boots;
	const struct table *table;
	size_t kernel;
	const char *title;
};

/* --- what comes of it --------------------------------------------------------------- */

/**
 * struct compare_row - a metric of a load, or of one phase of a benchmark
 * @load: name of load or benchmark, owned by a table
 * @bench: it is a benchmark
 * @phase: of tiobench, or NULL; @threads: 0 where there are none
 * @title: "io_load", "tiobench sequential read, 4 threads"; owned
 */
struct compare_row {
	const struct metric *metric;
	const char *load;
	bool bench;
	const char *phase;
	int64_t threads;
	char *title;
};
DEFINE_VECTOR(compare_rows, struct compare_row)

DEFINE_VECTOR(boot_refs, const struct boot_record *)

/**
 * struct compare_cell - one side of a row
 * @data: figures of the good runs, boot by boot; @boots: these boots
 * @mean: geometric; NAN without a run or when a figure is not above 0
 * @ci: of @mean, NAN with fewer than two boots
 * @censored: runs that timed out or hung; @failed: that ended badly otherwise, or well
 *	on a boot that does not count; @missing: not begun, or of boots without a journal
 *	(of such a boot as many as another boot was asked for, of the side if it has any)
 * @repeated: runs of boots that another stands for: an exact boot of the same seed, or
 *	the repeat of a noisy one
 * @noisy: runs in it during which the host was too busy (noise.h); they count
 * @zero: a figure is 0: there is no ratio
 */
struct compare_cell {
	struct nested data;
	struct boot_refs boots;
	double mean;
	struct interval ci;
	size_t censored, failed, missing, repeated, noisy;
	bool zero;
};

/* cell_lost() - runs that were asked for and are in no figure */
size_t cell_lost(const struct compare_cell *cell);

enum finding {
	FINDING_NO_DATA, FINDING_FEW_BOOTS, FINDING_CANNOT_TELL, FINDING_SAME,
	FINDING_BETTER, FINDING_WORSE,
};

/* finding_name() - "no-data", "not-enough-boots", "cannot-tell", "same", ... */
const char *finding_name(enum finding f);

/**
 * struct comparison - a side against the baseline in one row
 * @row, @side: indices; the baseline is side 0
 * @r: the figures; ratio is side / baseline. Without interval and p-values where the
 *	boots are fewer than a single comparison needs
 * @holm_p: r.p adjusted; NAN where there is none
 * @finding: the verdict
 * @told_pct: the x of "within x %", "below x %"; NAN for others
 * @boots_needed: of each kernel, for FINDING_FEW_BOOTS
 * @mdc_pct: smallest change that as many boots tell at this spread, NAN when unknown
 * @known_mdc_pct: the same by a calibration, NAN when there is none
 * @more_boots: of each kernel, beyond the smaller side, to tell the margin; 0: none or
 *	unknown
 * @verdict: "worse", "cannot tell below 4.1 %", "not enough boots: 2, needs 4"; owned
 * @sentence: all of it in words; owned
 */
struct comparison {
	size_t row, side;
	struct ratio r;
	double holm_p;
	enum finding finding;
	double told_pct;
	size_t boots_needed;
	double mdc_pct, known_mdc_pct;
	size_t more_boots;
	char *verdict, *sentence;
};
DEFINE_VECTOR(comparisons, struct comparison)

/**
 * struct compare_mean - geometric mean of the ratios over the loads
 * @metric, @side: of what
 * @rows: so many loads are in it
 * @r: on each boot's mean over all of them, so that what the loads of a boot have in
 *	common is not counted as if it were many boots; boots that lack one are out
 * @left_out: loads that are not in it, for want of data on either side or because
 *	runs timed out; or ""; owned
 */
struct compare_mean {
	const struct metric *metric;
	size_t side, rows;
	struct ratio r;
	char *left_out;
};
DEFINE_VECTOR(compare_means, struct compare_mean)

/**
 * struct compare - a whole report
 * @sides: as given; @n_sides of them
 * @margin_pct: as used
 * @rows: what is compared
 * @cells: rows.n * n_sides, row by row; see compare_cell_at()
 * @comparisons: rows.n * (n_sides - 1), row by row, side by side
 * @means: where two loads or more have a ratio
 * @family: p-values that Holm's adjustment has counted: of all comparisons that boots
 *	enough for a single one stand behind; @rejected: of these, at most 5 % adjusted
 * @exact: of an exact run: the boots differ by their seed
 */
struct compare {
	struct compare_side *sides;
	size_t n_sides;
	double margin_pct;
	struct compare_rows rows;
	struct compare_cell *cells;
	struct comparisons comparisons;
	struct compare_means means;
	size_t family, rejected;
	bool exact;
};

/**
 * compare_make() - compare kernels with the first of them
 * @c: result; end with compare_free(). Points into the tables
 * @sides: two or more
 * @n: how many
 * @o: options, or NULL
 * @err: reason of a failure: no such metric, nothing to compare
 *
 * Whether the sides may be compared at all is compare_same()'s to say.
 *
 * Return: 0, or -1.
 */
int compare_make(struct compare *c, const struct compare_side *sides, size_t n,
		 const struct compare_options *o, struct error *err);
void compare_free(struct compare *c);

const struct compare_cell *compare_cell_at(const struct compare *c, size_t row,
					   size_t side);
/* compare_at() - @side from 1 */
const struct comparison *compare_at(const struct compare *c, size_t row, size_t side);

/* compare_row_same() - is it the same metric of the same load? Of whatever report */
bool compare_row_same(const struct compare_row *a, const struct compare_row *b);
/* compare_first_boot() - of a side, or NULL when it has none */
const struct boot_record *compare_first_boot(const struct compare_side *s);

/* compare_method() - a paragraph on method, levels and rules; owned by the caller */
char *compare_method(const struct compare *c);

/* --- may it be compared? ------------------------------------------------------------ */

/**
 * compare_same() - what ought to be the same and is not
 * @sides: two or more; @n: how many
 * @differences: gets a phrase on each: "accelerator: kvm (6.1), tcg (6.12)"; owned
 *
 * Accelerator, profile, guest program, job, package lock, QEMU, CPU model, disk bus,
 * and all that the guest was told but seed, knobs and the list of runs; and within
 * each side the kernel's own image, command line and knobs, since boots of unlike
 * kernels are not pooled. "not stated" differs from what is stated.
 */
void compare_same(const struct compare_side *sides, size_t n,
		  struct strings *differences);

/* --- for people and programs -------------------------------------------------------- */

/* compare_put_text() - differences first, if any, then the tables and sentences */
void compare_put_text(const struct compare *c, const struct strings *differences,
		      struct buf *b);
/* compare_put_json() - see report.schema.md */
void compare_put_json(const struct compare *c, const struct strings *differences,
		      struct buf *b);

#endif
