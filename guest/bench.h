/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench.h - one run of a benchmark that is not contest
 */
#ifndef KONTEST_GUEST_BENCH_H
#define KONTEST_GUEST_BENCH_H

#include "guest/run.h"

/* bench_check() - is this benchmark known, and all its settings in the plan? */
int bench_check(const struct plan *p, const char *name, struct fail *f);

/**
 * bench_one() - do it, with a RUN_START and a RUN_END record
 * @g: the boot
 * @ops: which
 * @number: of the run, from 1, over the boot
 * @index: from 1, within the benchmark
 * @result: how it ended, good or bad
 * @f: why the boot cannot go on
 *
 * The window opens when the benchmark stands ready (bench_ready()) and closes
 * when its process was seen to end.
 *
 * Return: 0 when the boot can go on, whatever the verdict, else -1.
 */
int bench_one(struct guest *g, const struct bench_ops *ops, unsigned int number,
	      unsigned int index, struct run_result *result, struct fail *f);

/* bench_result_json() - members "settings" and "rows" of a RUN_END, with
 * the rows that a failed benchmark had come to */
void bench_result_json(struct jsonw *j, const struct bench_ops *ops,
		       const struct bench_settings *set,
		       const struct bench_shared *s);

/* loopback_up() - the network interface lo; it may be up */
int loopback_up(struct fail *f);

#endif
