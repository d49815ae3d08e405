/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child.h - processes that wait at a gate: all that it takes to start one
 * (fork, its group, its output) is over before the window begins
 */
#ifndef KONTEST_GUEST_CHILD_H
#define KONTEST_GUEST_CHILD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "guest/cgroup.h"
#include "guest/util.h"

/**
 * struct child_opts - how to start one
 * @cgroup: this kernel has cgroup v2: join @group
 * @output: file for its standard output and error; NULL: /dev/null
 * @dir: working directory
 * @main: what it does, in the new process; its return is the exit status
 * @arg: for @main
 */
struct child_opts {
	bool cgroup;
	enum group group;
	const char *output;
	const char *dir;
	int (*main)(void *arg);
	void *arg;
};

/**
 * struct child - one that was started
 * @pid: also its process group; 0: none
 * @gate: until child_go()
 * @ended: @status and @usage are valid (wait4())
 */
struct child {
	pid_t pid;
	int gate;
	bool ended;
	int status;
	struct rusage usage;
};

#define CHILD_NONE { .gate = -1 }

/* child_init() - once, before the first: SIGCHLD is taken by child_wait() */
int child_init(struct fail *f);
/* child_start() - it stands ready at the gate when this returns 0 */
int child_start(const struct child_opts *o, struct child *c, struct fail *f);
/* child_go() - opens the gate */
int child_go(struct child *c, struct fail *f);

/**
 * child_wait() - wait for the first of some children to end
 * @list: NULL-terminated
 * @until_ns: CLOCK_MONOTONIC when to give up
 *
 * Return: 1 when one of those that had not ended has, 0 at @until_ns.
 */
int child_wait(struct child *const list[], uint64_t until_ns);

/* child_kill() - SIGKILL to it and all in its group, and reap it */
int child_kill(struct child *c, const struct child_opts *o, struct fail *f);

/**
 * child_cpu() - the CPU time of a child that has no group of its own
 * @c: child
 * @opening: it has not been let go: none
 * @out: gets it; nothing while the child runs, as wait4() tells it at the end
 * @user, @system: where to
 */
void child_cpu(const struct child *c, bool opening, struct counters *out,
	       enum counter user, enum counter system);

/* child_exit_code() - as a shell has it: 128 + signal */
int child_exit_code(const struct child *c);

#endif
