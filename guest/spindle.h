/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spindle.h - exact mode's disks: NVDIMMs that take as long as a real disk
 *
 *	file system -> page cache -> I/O scheduler -> nbd -> [spindle] -> pmem
 *
 * A store to an NVDIMM takes no time, and its driver has neither queue nor I/O
 * scheduler. So a process of ours serves them as a network block device: it
 * answers each request when a disk of the profile's seek, rotation and rate
 * would have done it (disk_model.h), in virtual time. The kernel sees a block
 * device with requests, merges and an I/O scheduler, as it does on a real
 * disk. Roles that share a spindle share its head: system, work and swap are
 * partitions of one disk, other is a second one.
 *
 * The process is locked in memory, runs with real-time priority, and allocates
 * nothing while it serves: swap goes through it too.
 */
#ifndef KONTEST_GUEST_SPINDLE_H
#define KONTEST_GUEST_SPINDLE_H

#include <sys/types.h>

#include "guest/disks.h"
#include "guest/plan.h"
#include "guest/util.h"

/**
 * struct spindle - one modelled disk at work
 * @server: process that serves it, 0: there is none
 * @holder: process in whose name the kernel runs the device
 */
struct spindle {
	pid_t server, holder;
};

/**
 * spindle_start() - put some disks on one spindle
 * @s: result
 * @number: which /dev/nbdN it becomes
 * @model: the plan's
 * @disks: all disks of the boot; those of @roles that are present become
 *	partitions, in the order of @roles, and describe these from then on
 * @roles: ends with DISK_ROLES
 * @f: what could not be done
 *
 * Return: 0, or -1.
 */
int spindle_start(struct spindle *s, unsigned int number,
		  const struct plan_spindle *model,
		  struct disk disks[DISK_ROLES], const enum disk_role roles[],
		  struct fail *f);

#endif
