/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_tunable.h - sweeps: the sections [tunable NAME] of a plan
 *
 *	[tunable slice]
 *	knob = sched/base_slice_ns
 *	values = 3000000, 10000000, 30000000
 *	short = base_sl		; in labels; else made from the knob's name
 *
 * A knob is one of
 *
 *	sysctl:vm.swappiness, /proc/sys/vm/swappiness
 *	sched/base_slice_ns	below /sys/kernel/debug; sched/features takes NAME
 *				and NO_NAME
 *	queue/scheduler		of the work disk and the other disk
 *	transparent_hugepage/enabled	below /sys/kernel/mm
 *	/sys/...
 *	boot:preempt		on the kernel's command line
 *
 * Each value is a point, with boots of its own beside those of the baseline,
 * which has no knob set; of two sections, each pair of values is one.
 */
#ifndef KONTEST_PLAN_TUNABLE_H
#define KONTEST_PLAN_TUNABLE_H

#include <jansson.h>

#include "images/kernel.h"
#include "results/base/text.h"

#define TUNABLES_MAX 2
#define TUNABLE_VALUES_MAX 64

/**
 * struct tunable - one section; strings owned
 * @name: of the section
 * @knob: as the plan writes it
 * @target: what the guest is told: a path, "queue/NAME" or "boot:NAME"; made by
 *	plan_tunables_finish(), as @brief when the plan does not say it
 * @brief: its name in labels
 * @values: in the plan's order
 */
struct tunable {
	char *name;
	char *knob;
	char *target;
	char *brief;
	struct strings values;
};
DEFINE_VECTOR(tunables, struct tunable)

void plan_tunables_free(struct tunables *t);
/* plan_tunable_key() - a key of the section [tunable @name] */
int plan_tunable_key(struct tunables *t, const char *name, const char *key,
		     const char *value, struct error *err);
/* plan_tunables_finish() - check the sections, make targets and short names */
int plan_tunables_finish(struct tunables *t, struct error *err);
/* plan_tunables_text() - the sections of the plan's canonical text */
void plan_tunables_text(const struct tunables *t, struct buf *out);

/* plan_points() - how many there are beside the baseline: 0 without a section */
size_t plan_points(const struct tunables *t);
/* point_value() - value of tunable @i at @point, from 0; the last section's values
 * change first */
const char *point_value(const struct tunables *t, size_t point, size_t i);
/**
 * point_label() - "6.1_base_sl3000": kernel, short name, value
 *
 * Of a knob in nanoseconds the label has microseconds where that is a whole
 * number for each value; a value that is no number has a '=' before it. Owned by
 * the caller.
 */
char *point_label(const struct tunables *t, size_t point, const char *kernel);
/* point_cmdline() - "preempt=full", "" when nothing is set there; owned */
char *point_cmdline(const struct tunables *t, size_t point);
/* point_json() - [{"knob", "value", "short"}] */
json_t *point_json(const struct tunables *t, size_t point);
/* point_lines() - what the guest sets: lines of the guest plan; of the baseline,
 * what it only reads */
void point_lines(const struct tunables *t, size_t point, struct buf *out);
void baseline_lines(const struct tunables *t, struct buf *out);

/* tunables_note() - what is to be known of a sweep on this kernel: a slice below
 * one tick; owned by the caller, NULL when there is nothing */
char *tunables_note(const struct tunables *t, const struct kernel *k);

#endif
