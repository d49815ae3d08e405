/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan.h - the guest plan (results/journal.h says what is in it)
 */
#ifndef KONTEST_GUEST_PLAN_H
#define KONTEST_GUEST_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/util.h"
#include "loads/bench.h"

#define PLAN_NAME_MAX 64
#define PLAN_LINE_MAX 2048
#define PLAN_KNOB_MAX 256
#define PLAN_KNOBS_MAX 4

/**
 * struct plan_spindle - how long a modelled disk takes (guest/disk_model.h)
 * @rbps, @wbps: bytes a second; 0: no time for the transfer
 * @seek_us: average seek. @settle_us: shortest one. @rotation_us: one turn
 *
 * All 0: the disk is not modelled.
 */
struct plan_spindle {
	uint64_t rbps, wbps, seek_us, settle_us, rotation_us;
};

/* struct plan_knob - what is set before the runs (guest/knob.h); with @set false
 * it is read only */
struct plan_knob {
	char target[PLAN_KNOB_MAX];
	char value[PLAN_KNOB_MAX];
	bool set;
};

/* struct plan_size - size of a load, in its own unit */
struct plan_size {
	char load[PLAN_NAME_MAX];
	uint64_t size;
};

/**
 * struct plan - see journal.h for the members
 * @job_target, @job_command, @job_prepare: "" when the plan has none
 * @runs: names of loads or benchmarks, one a run, in order; owned, as @sizes
 * @benches: of each run: it is a benchmark; owned
 * @ncontest: runs that are not
 * @bench: settings of the benchmarks, in the registry's order
 */
struct plan {
	unsigned int cpus;
	uint64_t mem;
	bool exact;
	char job[PLAN_NAME_MAX];
	char job_target[PLAN_LINE_MAX];
	char job_command[PLAN_LINE_MAX];
	char job_prepare[PLAN_LINE_MAX];
	unsigned int jobs;
	uint64_t seed;
	unsigned int lead_ms;
	unsigned int run_timeout_s;
	unsigned int sample_ms;
	struct plan_spindle main_spindle, other_spindle;
	struct plan_knob knobs[PLAN_KNOBS_MAX];
	size_t nknobs;
	struct plan_size *sizes;
	size_t nsizes;
	char (*runs)[PLAN_NAME_MAX];
	bool *benches;
	size_t nruns, ncontest;
	struct bench_settings bench[BENCH_COUNT];
};

/**
 * guest_plan_parse() - read a guest plan
 * @text: the plan, changed while it is read
 * @p: result; guest_plan_free() ends it, also after a failure
 * @f: names the line and what is wrong with it
 *
 * Strict: an unknown key, a key given twice or left out, or a value that is
 * not what it should be, is a failure.
 */
int guest_plan_parse(char *text, struct plan *p, struct fail *f);
void guest_plan_free(struct plan *p);
/**
 * guest_plan_fill() - cpus, mem or jobs given as 0 mean what the machine has
 * @cpus: online. @ram_bytes: of RAM
 *
 * The plan that an image carries cannot know the machine. jobs: 4 a CPU.
 */
void guest_plan_fill(struct plan *p, unsigned int cpus, uint64_t ram_bytes);
/* guest_plan_modelled() - is this disk slower than the memory it is in? */
bool guest_plan_modelled(const struct plan_spindle *s);
/* guest_plan_size() - size of a load, 0 when the plan has none */
uint64_t guest_plan_size(const struct plan *p, const char *load);

#endif
