/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_quick.c - the job "quick-1": a compile of the frozen tree jobs/quick-1
 */
#include "loads/ops.h"

static int prepare(const struct job_args *a, char *message, size_t message_len)
{
	const char *const argv[] = { "make", "clean", NULL };

	return job_run(a->tree, argv, "make clean", message, message_len);
}

static int argv_of(const struct job_args *a, const char *argv[], size_t max,
		   char *store, size_t store_len)
{
	return job_make_argv(a, argv, max, store, store_len);
}

const struct job_ops job_quick_1_ops = {
	.name = "quick-1",
	.prepare = prepare,
	.argv = argv_of,
};
