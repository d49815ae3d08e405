/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calibration.h - what can be told at all here: one kernel against itself
 *
 * `kontest calibrate` boots one kernel under two labels, boots interleaved (A/A). What
 * differs then is noise: of the host, or in exact mode of the seeds. Its spread gives
 * the change that so many boots can tell, and its verdicts, which must not say better or
 * worse, are a check of all that makes verdicts. A calibration is a run like any other,
 * marked in its boots' contexts, so that a store made again from journals has it.
 */
#ifndef KONTEST_CALIBRATION_H
#define KONTEST_CALIBRATION_H

#include "results/compare.h"

/**
 * struct calibration - a run of `kontest calibrate`
 * @run_id: its id
 * @boots, @table: of it
 * @verdicts: main metrics, as `kontest compare` would give them
 * @all: every metric, for calibration_mdc_pct()
 * @like: a boot of what it was found for, or NULL; not owned
 *
 * Not to be moved once it was loaded. End with calibration_free().
 */
struct calibration {
	char run_id[UUID_TEXT];
	struct boot_records boots;
	struct table table;
	struct compare verdicts, all;
	const struct boot_record *like;
};

/* calibration_load() - @c zeroed; fails when the run is none, or when one of the labels
 * has no boot */
int calibration_load(struct store *s, const char *run_id, struct calibration *c,
		     struct error *err);
void calibration_free(struct calibration *c);

/**
 * calibration_find() - the newest calibration that holds for a kernel's boots
 * @s: store
 * @like: a side of what is to be compared
 * @c: zeroed; the calibration when there is one
 * @err: reason of a failure
 *
 * It holds when compare_same() finds no difference, so accelerator, profile, guest
 * program, job, package lock, QEMU, CPU model and disk bus are the same, and, but in
 * exact mode, the host's CPU and architecture. The kernel may be another. A calibration
 * that cannot be read is passed over. @c points into @like.
 *
 * Return: 1 when there is one, 0 when not, -1 on failure.
 */
int calibration_find(struct store *s, const struct compare_side *like,
		     struct calibration *c, struct error *err);

/**
 * calibration_mdc_pct() - the smallest change in % that so many boots can tell
 * @row: metric and load, or phase of a benchmark
 * @boots: of each kernel
 * @arg: struct calibration
 *
 * detectable_pct() with the spread of both labels together, at INFER_LEVEL: for one
 * comparison; a report of several needs more. Made for compare_options.known_mdc_pct.
 *
 * Return: %; NAN when the calibration has not that row, or with another number of runs in
 * a boot, or when so few boots tell nothing.
 */
double calibration_mdc_pct(const struct compare_row *row, size_t boots, void *arg);

/* calibration_sd_pct() - spread of the boots of row @at of @c->verdicts, both labels
 * together, in %; @dof: gets its degrees of freedom */
double calibration_sd_pct(const struct calibration *c, size_t at, size_t *dof);

/* calibration_wrong() - verdicts that say better or worse: of two that are one */
size_t calibration_wrong(const struct calibration *c);

/* calibration_put_text(), calibration_put_json() - for people, for programs */
void calibration_put_text(const struct calibration *c, struct buf *b);
void calibration_put_json(const struct calibration *c, struct buf *b);

#endif
