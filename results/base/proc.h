/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc.h - run another program and take what it prints
 */
#ifndef KONTEST_PROC_H
#define KONTEST_PROC_H

#include "results/base/error.h"
#include "results/base/text.h"

/**
 * struct proc_opts - how to run it; all members optional
 * @env: "NAME=value" strings set on top of the environment, NULL-terminated
 * @cwd: directory to run it in
 * @in: bytes for its standard input (else /dev/null)
 * @out: gets its standard output (else it is thrown away)
 * @timeout_s: it is killed after that long; 0 means 600
 * @family: it starts others, and ends them on SIGTERM (make): it gets a process
 *	group, which is killed as a whole, and SIGTERM when we die
 * @status: gets its exit status and makes a non-zero one no failure
 */
struct proc_opts {
	const char *const *env;
	const char *cwd;
	const struct buf *in;
	struct buf *out;
	int timeout_s;
	bool family;
	int *status;
};

/**
 * proc_run() - run a program to its end
 * @argv: program (searched in PATH) and arguments, NULL-terminated
 * @opts: may be NULL
 * @err: on failure names the program and quotes the end of its stderr
 *
 * LC_ALL=C and TZ=UTC are always set. No shell is involved.
 *
 * Return: 0 when it exited with 0 (or @opts->status took the status), else -1.
 */
int proc_run(const char *const argv[], const struct proc_opts *opts,
	     struct error *err);

/* proc_find() - path of a program in PATH or /usr/sbin:/sbin; owned by the
 * caller; NULL when there is none */
char *proc_find(const char *name);

#endif
