/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ops.h - what the files of loads/ know of each other; nobody else needs it
 */
#ifndef KONTEST_LOADS_OPS_H
#define KONTEST_LOADS_OPS_H

#include "loads/load.h"

extern const struct load_ops no_load_ops;
extern const struct load_ops cacherun_ops;
extern const struct load_ops process_load_ops;
extern const struct load_ops ctar_load_ops;
extern const struct load_ops xtar_load_ops;
extern const struct load_ops io_load_ops;
extern const struct load_ops io_other_ops;
extern const struct load_ops read_load_ops;
extern const struct load_ops list_load_ops;
extern const struct load_ops mem_load_ops;
extern const struct load_ops dbench_load_ops;

extern const struct job_ops job_quick_1_ops;
extern const struct job_ops job_linux_ops;
extern const struct job_ops job_command_ops;

/**
 * job_run() - a program outside the window, to its end
 * @tree: where
 * @argv: what, ends in NULL; looked up in PATH
 * @what: how it is called in @message
 * @message: why it failed: its first line on standard error
 *
 * Return: 0 when its exit status was 0, else -1.
 */
int job_run(const char *tree, const char *const argv[], const char *what,
	    char *message, size_t message_len);
/* job_make_argv() - make -jN [TARGET], for struct job_ops.argv */
int job_make_argv(const struct job_args *a, const char *argv[], size_t max,
		  char *store, size_t store_len);

#define RING_NODE_PART "ring-node"

/**
 * ring_node_main() - one process of process_load's ring
 * @in: number (text) of the descriptor to read chunks from
 * @out: number (text) of the descriptor to pass them on to
 *
 * Return: its exit status: 0 when the upstream end was closed, else an errno.
 */
int ring_node_main(const char *in, const char *out);

/* load_stopped() - has the driver closed the window? */
static inline bool load_stopped(const struct load_args *a)
{
	return atomic_load_explicit(&a->shared->stop, memory_order_relaxed);
}

/* load_progress() - @n more units of the load's own are done */
static inline void load_progress(const struct load_args *a, uint64_t n)
{
	atomic_fetch_add_explicit(&a->shared->done, n, memory_order_relaxed);
}

#endif
