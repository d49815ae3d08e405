/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.h - the machine that this runs on, as a profile to imitate
 */
#ifndef KONTEST_CAPTURE_H
#define KONTEST_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "results/base/error.h"
#include "results/base/text.h"

/**
 * struct captured_disk - a block device with hardware behind it
 * @name: "sda"; @model: as the device says, "" when it does not; owned
 * @size: bytes
 * @rotational: it turns
 */
struct captured_disk {
	char *name, *model;
	uint64_t size;
	bool rotational;
};
DEFINE_VECTOR(captured_disks, struct captured_disk)

/**
 * struct captured - what sysfs and procfs say of a machine; strings owned, NULL
 * where they say nothing
 * @cpus: online; @sockets, @cores: that these are on; @nodes: of memory
 * @max_mhz: highest clock, 0 when not told
 * @memory: bytes; @memory_exact: counted in blocks, else it is MemTotal (less
 *          what the kernel keeps for itself) rounded up
 * @swap: bytes
 * @model, @vendor, @flags: of the first CPU, from /proc/cpuinfo
 * @guest: it is a virtual machine itself
 * @kernel: release; @clocksource; @governor: of the first CPU
 * @mitigations: "NAME: STATE" of every flaw that the kernel knows
 */
struct captured {
	unsigned int cpus, sockets, cores, nodes, max_mhz;
	uint64_t memory, swap;
	bool memory_exact, guest;
	char *model, *vendor, *flags, *kernel, *clocksource, *governor;
	struct strings mitigations;
	struct captured_disks disks;
};

/**
 * capture_read() - read them
 * @root: "" for this machine; a test has recorded trees of others
 * @c: result; captured_free() ends it
 * @err: no /proc or /sys there
 *
 * Return: 0, or -1.
 */
int capture_read(const char *root, struct captured *c, struct error *err);
void captured_free(struct captured *c);

/**
 * struct captured_rates - what a disk did when it was asked
 * @disk: its name, "" when not known; owned
 * @read_bps, @write_bps: sequential, bytes a second
 * @read_iops, @write_iops: 4 KiB at random places, one at a time
 */
struct captured_rates {
	char *disk;
	uint64_t read_bps, write_bps, read_iops, write_iops;
};

/**
 * capture_measure() - measure the disk that @dir is on
 * @dir: where a scratch file is made: at most 256 MiB, without a name, so that
 *       it is gone however this ends; past the page cache (O_DIRECT)
 * @r: result; its @disk is the caller's to free
 * @err: no room, no O_DIRECT there
 *
 * Takes about 12 s at most, unless a single request takes longer.
 *
 * Return: 0, or -1.
 */
int capture_measure(const char *dir, struct captured_rates *r,
		    struct error *err);

/* captured_limits() - what a virtual machine of this profile cannot imitate, a
 * sentence each */
void captured_limits(const struct captured *c, struct strings *out);

/* capture_profile() - the profile (images/profile.h), with what was seen and how
 * its values were chosen as comments; @r may be NULL */
void capture_profile(const struct captured *c, const struct captured_rates *r,
		     struct buf *out);

#endif
