/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disks.h - the disks of a boot, found by what is on them, never by name
 *
 *	system	ext4 with label "kontest-root" (partition 3 of the system disk)
 *	work	ext4 with label "kontest-work"
 *	other	ext4 with label "kontest-other"
 *	swap	swap area with label "kontest-swap"
 *	results	JOURNAL_MAGIC in the first block
 */
#ifndef KONTEST_GUEST_DISKS_H
#define KONTEST_GUEST_DISKS_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/util.h"

enum disk_role {
	DISK_SYSTEM, DISK_WORK, DISK_OTHER, DISK_SWAP, DISK_RESULTS, DISK_ROLES
};

/**
 * struct disk - a disk that was found
 * @present: there is one
 * @path: device to open or mount, "/dev/pmem0p3"
 * @name: the whole disk that it is on, "pmem0"
 * @bytes: of the whole disk
 * @serial: serial number, "" when it has none
 * @driver: kernel driver, "" when unknown
 */
struct disk {
	bool present;
	char path[80];
	char name[64];
	uint64_t bytes;
	char serial[64];
	char driver[64];
};

/* disk_role_name() - "system", "work", ... */
const char *disk_role_name(enum disk_role role);

/**
 * disk_recognise() - what is on a disk?
 * @fd: open for reading
 * @role: result
 *
 * Return: true when it is one of ours.
 */
bool disk_recognise(int fd, enum disk_role *role);

/**
 * disks_find() - look at every block device until what is needed is there
 * @disks: result, by role
 * @f: the system disk did not appear, or two disks claim the same role
 *
 * Waits up to 10 s for the system disk; then until no new device has come for
 * half a second, or, while there is no results disk, for two seconds.
 */
int disks_find(struct disk disks[DISK_ROLES], struct fail *f);

#endif
