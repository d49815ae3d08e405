/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker.h - work in a process of its own that can be given up
 *
 * For libraries that block where they like (libguestfs while it launches): they are
 * called in a child, which leads a process group, and which is asked to end, then
 * made to, together with whatever it has started.
 */
#ifndef KONTEST_WORKER_H
#define KONTEST_WORKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "results/base/error.h"

/**
 * struct worker - one such process
 * @pid: of it and of its group; 0 when there is none
 * @why: what it says of its failure is read here; -1 when there is none
 */
struct worker {
	pid_t pid;
	int why;
};
#define WORKER_NONE { .pid = 0, .why = -1 }

/**
 * worker_start() - fork, and do the work there
 * @c: WORKER_NONE; worker_end() ends it, also when this failed
 * @work: returns 0, or -1 with the reason
 * @data: for it
 * @err: the process could not be made
 *
 * The child gets SIGTERM when its parent dies; SIGPIPE is ignored in it.
 *
 * Return: 0, or -1.
 */
int worker_start(struct worker *c, int (*work)(void *data, struct error *err),
		void *data, struct error *err);
/**
 * worker_wait() - until the work is done
 * @c: after worker_start()
 * @what: it is called so in an error
 * @deadline_s: of clock_now_s()
 * @err: why the work failed, in its own words; or how the child died; or that it
 *	was not done
 *
 * Return: 0 done, -1 failed, 1 not done at the deadline (it is still running).
 */
int worker_wait(struct worker *c, const char *what, double deadline_s,
	       struct error *err);
/* worker_end() - SIGTERM, five seconds later SIGKILL, to its group too */
void worker_end(struct worker *c);

/* worker_readable() - until there is something to read, or its end; false: the
 * deadline has come */
bool worker_readable(int fd, double deadline_s);

#endif
