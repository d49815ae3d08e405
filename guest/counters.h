/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.h - everything that is counted in the window of a run
 *
 * Two snapshots and their difference; every figure comes from the same two
 * moments. A figure that this kernel does not offer is simply not there.
 */
#ifndef KONTEST_GUEST_COUNTERS_H
#define KONTEST_GUEST_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/disks.h"
#include "guest/json.h"

/* What has gone to or come from disks, always these four in this order */
#define IO_COUNTERS(of) \
	of##_READ_BYTES, of##_WRITE_BYTES, of##_READS, of##_WRITES

enum counter {
	C_WALL,					/* ns */
	C_DONE,					/* the load's own unit */
	C_JOB_USER, C_JOB_SYSTEM,		/* ns, of the job's group */
	C_LOAD_USER, C_LOAD_SYSTEM,		/* ns, of the load's group */
	C_CPU_USER, C_CPU_NICE, C_CPU_SYSTEM, C_CPU_IDLE, C_CPU_IOWAIT,
	C_CPU_IRQ, C_CPU_SOFTIRQ, C_CPU_STEAL,	/* ns, /proc/stat */
	C_CTXT,
	C_PSWPIN, C_PSWPOUT, C_PGFAULT, C_PGMAJFAULT, C_PGPGIN, C_PGPGOUT,
	C_OOM_KILL,				/* /proc/vmstat */
	C_PSI_CPU_SOME, C_PSI_MEMORY_SOME, C_PSI_MEMORY_FULL, C_PSI_IO_SOME,
	C_PSI_IO_FULL,				/* us, /proc/pressure */
	IO_COUNTERS(C_DISK),			/* of all disks but results */
	IO_COUNTERS(C_SYSTEM), IO_COUNTERS(C_WORK), IO_COUNTERS(C_OTHER),
	IO_COUNTERS(C_SWAP),			/* of the disk in that role */
	IO_COUNTERS(C_JOB), IO_COUNTERS(C_LOAD), /* by that group (io.stat) */
	C_COUNT
};

/**
 * struct counters - a snapshot, or the difference of two
 * @value: by enum counter
 * @have: which of them this kernel offers
 */
struct counters {
	uint64_t value[C_COUNT];
	bool have[C_COUNT];
};

/* counters_set(), counters_add() - one figure */
void counters_set(struct counters *c, enum counter which, uint64_t value);
void counters_add(struct counters *c, enum counter which, uint64_t value);

/* Readers of the kernel's texts; what they do not find stays absent */
void counters_parse_stat(struct counters *c, const char *text,
			 unsigned int ticks_per_s);
void counters_parse_vmstat(struct counters *c, const char *text);
/* @some, @full: where the totals go; C_COUNT: nowhere */
void counters_parse_pressure(struct counters *c, const char *text,
			     enum counter some, enum counter full);
/* @text: /sys/class/block/NAME/stat; @first: the _READ_BYTES of where its four
 * figures go. Adds up over disks */
void counters_parse_disk(struct counters *c, const char *text,
			 enum counter first);
/* @text: a cgroup's io.stat, a line a disk, nothing when there was no I/O;
 * @first: as above */
void counters_parse_io(struct counters *c, const char *text,
		       enum counter first);
/* @text: a cgroup's cpu.stat */
void counters_parse_cpu(struct counters *c, const char *text,
			enum counter user, enum counter system);

/**
 * counters_read_system() - what the whole system counts, now
 * @root: where proc/ and sys/ lie, "" for the system's own
 * @disks: by role; results is not counted. A role may be a partition: then it
 *	is the partition's own I/O that counts
 */
void counters_read_system(struct counters *c, const char *root,
			  const struct disk disks[DISK_ROLES]);

/* counters_diff() - @after - @before; a figure must be in both */
struct counters counters_diff(const struct counters *before,
			      const struct counters *after);

/* counters_json() - the members of a RUN_END or SAMPLE, from "cpu" on */
void counters_json(struct jsonw *w, const struct counters *diff);

#endif
