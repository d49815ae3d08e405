/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup.h - the groups that job and load run in
 *
 *	/sys/fs/cgroup/kontest
 *	/sys/fs/cgroup/kontest/job
 *	/sys/fs/cgroup/kontest/load
 *
 * memory and io are enabled (both are needed so that what is written back
 * later counts for the group that wrote it), cpu never: group scheduling would
 * give load and job equal shares, and contest measures how the kernel itself
 * divides the CPU. CPU time is counted without it.
 *
 * A kernel without cgroup v2: job and load are process groups, and what cannot
 * be counted then is left out.
 */
#ifndef KONTEST_GUEST_CGROUP_H
#define KONTEST_GUEST_CGROUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "guest/counters.h"
#include "guest/disks.h"
#include "guest/plan.h"

enum group { GROUP_JOB, GROUP_LOAD, GROUP_COUNT };

/**
 * cgroup_setup() - mount cgroup v2 and make the groups
 * @v2: result: false when this kernel has no cgroup v2
 * @note: result: what is missing and what that costs, "" when nothing
 *
 * Return: 0, or -1 when what is there cannot be set up.
 */
int cgroup_setup(bool *v2, struct fail *note, struct fail *f);

/* cgroup_join() - put the calling process into a group (cgroup v2 only) */
int cgroup_join(enum group g, struct fail *f);
/* cgroup_cpu() - the group's CPU time so far */
void cgroup_cpu(enum group g, struct counters *c, enum counter user,
		enum counter system);
/* cgroup_io() - what the group has moved to and from disks so far; nothing is
 * set without the io controller. @first: as in counters_parse_io() */
void cgroup_io(enum group g, struct counters *c, enum counter first);
/* cgroup_kill() - SIGKILL to all in the group, wait until it is empty (10 s) */
int cgroup_kill(enum group g, struct fail *f);

#endif
