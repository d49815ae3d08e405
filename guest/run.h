/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run.h - one run: prepare, flush, load, window, stop
 */
#ifndef KONTEST_GUEST_RUN_H
#define KONTEST_GUEST_RUN_H

#include "guest/counters.h"
#include "guest/guest.h"

/**
 * struct run - one run of the plan
 * @number: from 1, over the boot. @index: from 1, within the load
 */
struct run {
	unsigned int number;
	unsigned int index;
	const struct load_ops *load;
	const struct job_ops *job;
};

/**
 * struct run_result - how it ended
 * @verdict: "ok", "load-failed", ... (journal.h)
 * @message: why it is not ok, "" when it is
 * @diff: what was counted in the window; empty when there was none
 * @exit: exit status of the job as a shell has it; -1: it has not ended
 * @per_load: see struct load_ops
 * @size: of the load, in its size_unit
 */
struct run_result {
	const char *verdict;
	char message[1024];
	struct counters diff;
	int exit;
	uint64_t per_load;
	uint64_t size;
};

/**
 * run_judge() - a verdict, and why
 * @r: keeps the first that is not "ok": what came later is its consequence
 * @verdict: of journal.h, not "ok"
 */
void run_judge(struct run_result *r, const char *verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * run_one() - do it, with a RUN_START and a RUN_END record
 * @g: the boot
 * @run: which
 * @result: how it ended, good or bad
 * @f: why the boot cannot go on
 *
 * Return: 0 when the boot can go on, whatever the verdict, else -1.
 */
int run_one(struct guest *g, const struct run *run, struct run_result *result,
	    struct fail *f);

/* run_warm_up() - the job once, unrecorded and without load, for its files to
 * be in the caches */
int run_warm_up(struct guest *g, const struct run *run, struct fail *f);

#endif
