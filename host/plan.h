/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan.h - an experiment: which kernels, on which machine, under which loads
 *
 *	[plan]
 *	name = hz
 *	profile = osdl-up
 *	boots = 3		; or auto, with budget and precision: plan_auto.h
 *	runs = 2
 *	bench = contest, tiobench:2	; what is run, NAME[:RUNS]; default: contest
 *	loads = no_load, cacherun, process_load, io_load:4	; NAME[:RUNS]
 *	job = quick-1
 *	accel = auto		; auto | kvm | tcg | exact; else the profile's
 *	order-seed = 1		; order of the boots; else drawn and printed
 *	jobs = 4		; make -j; else 4 x CPUs
 *	lead-ms = 3000		; a load runs that long before the job starts
 *	run-timeout = 1800	; guest seconds; a longer run is censored
 *	sample-ms = 1000	; counters in between, too; 0: none (default)
 *
 *	[job]			; of job = command
 *	tree = ./mysource	; copied to the work disk
 *	command = make -j{jobs} all	; timed; for /bin/sh, in the tree
 *	prepare = make clean	; before every run, outside its window
 *
 *	[size]			; overrides the loads' own sizes
 *	io_load = 128MiB
 *
 *	[tiobench]		; also [chat], [qsbench]: settings of benchmarks
 *	size = 64MiB		; (loads/README.md has them all)
 *
 *	[kernel LABEL]
 *	image = debian:linux-image-cloud-amd64
 *	modules = /lib/modules/6.1.0
 *	config = /boot/config-6.1.0
 *	cmdline = preempt=none
 *
 *	[tunable NAME]		; a sweep; see plan_tunable.h
 *	knob = sched/base_slice_ns
 *	values = 3000000, 10000000
 *
 * "quick" stands for the newest quick-N, "linux" for the newest linux-N;
 * "linux:kernel/sched/" is a target of it. Unknown sections and keys are errors,
 * and so is a key given twice (images/ini_file.h). Blanks around a kernel's
 * command line, here or in an option, do not belong to it.
 */
#ifndef KONTEST_PLAN_H
#define KONTEST_PLAN_H

#include "host/plan_auto.h"
#include "host/plan_bench.h"
#include "host/plan_tunable.h"
#include "images/profile.h"
#include "results/base/text.h"

struct plan_kernel {
	char *label;
	char *image;
	char *modules;
	char *config;
	char *cmdline;
};
DEFINE_VECTOR(plan_kernels, struct plan_kernel)

/* struct plan_load - one load of a plan; @runs in each boot; @size: bytes, 0:
 * the load's default */
struct plan_load {
	char *name;
	unsigned int runs;
	uint64_t size;
};
DEFINE_VECTOR(plan_loads, struct plan_load)

/**
 * struct plan - see the file format above; strings owned
 * @boots: of each kernel; 0: as many as @more says
 * @more: boots = auto, repeats of noisy boots
 * @accel_set, @seed_set: the plan says it
 * @job_target: of a job that has them (linux), or NULL
 * @job_tree, @job_command, @job_prepare: section [job], or NULL
 * @bench: what is run, besides or instead of contest
 * @text: canonical text of the plan, made by plan_finish()
 * @digest: SHA-256 of @text
 */
struct plan {
	char *name;
	char *profile;
	unsigned int boots;
	struct plan_auto more;
	unsigned int runs;
	struct plan_loads loads;
	char *job;
	char *job_target;
	char *job_tree;
	char *job_command;
	char *job_prepare;
	enum accel accel;
	bool accel_set;
	uint64_t order_seed;
	bool seed_set;
	unsigned int jobs;
	unsigned int lead_ms;
	unsigned int run_timeout_s;
	unsigned int sample_ms;
	struct plan_kernels kernels;
	struct plan_bench bench;
	struct tunables tunables;
	char *text;
	char digest[SHA256_HEX];
};

/* plan_init() - the defaults; plan_free() ends it */
void plan_init(struct plan *p);
void plan_free(struct plan *p);

/* plan_read() - read a plan file on top of what @p has */
int plan_read(struct plan *p, const char *path, struct error *err);
/* plan_set() - one key of [plan], as from the command line */
int plan_set(struct plan *p, const char *key, const char *value,
	     struct error *err);
/* plan_add_kernel() - a further kernel; @label NULL: made from the image later */
int plan_add_kernel(struct plan *p, const char *label, const char *image,
		    struct error *err);
/* plan_job() - the job's full name in @p->job; plan_finish() does it, too */
int plan_job(struct plan *p, struct error *err);
/* plan_finish() - fill in what depends on other parts, check that it is whole
 * and that every load and the job exist; makes @text and @digest */
int plan_finish(struct plan *p, struct error *err);

#endif
