/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest.h - a boot: what PID 1 has set up and the driver works with
 */
#ifndef KONTEST_GUEST_GUEST_H
#define KONTEST_GUEST_GUEST_H

#include <stdatomic.h>
#include <stdbool.h>

#include "guest/disks.h"
#include "guest/journal_write.h"
#include "guest/knob.h"
#include "guest/plan.h"
#include "guest/spindle.h"
#include "loads/bench.h"
#include "loads/load.h"

#define WORK_DIR "/work"
#define OTHER_DIR "/other"
#define JOB_SOURCES "/usr/share/kontest/jobs"	/* on the root file system */

/**
 * struct guest_shared - between PID 1, driver, job and load
 * @deadline_ns: PID 1 ends the boot as hung when it is later than this; 0: none
 * @phase: what the driver is at
 * @load: see loads/load.h
 * @prepare_message: why the job could not be prepared
 * @bench: see loads/bench.h
 */
struct guest_shared {
	_Atomic uint64_t deadline_ns;
	char phase[128];
	struct load_shared load;
	char prepare_message[512];
	struct bench_shared bench;
};

/**
 * struct guest - a boot
 * @spindles: exact mode's modelled disks: main, other
 * @cgroup2: job and load run in groups of cgroup v2
 * @standalone: no results disk: the table on the console is the result
 * @no_work_disk: /work is a tmpfs
 * @knobs: what became of the plan's knobs
 * @notes: for a LOG record: what else is worth to know, lines
 */
struct guest {
	struct disk disks[DISK_ROLES];
	struct spindle spindles[2];
	struct plan plan;
	struct jw *journal;
	struct guest_shared *shared;
	bool cgroup2;
	bool standalone;
	bool no_work_disk;
	struct knobs knobs;
	char notes[4096];
};

/* guest_note() - one line for the LOG record behind the receipt */
void guest_note(struct guest *g, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* guest_deadline() - PID 1 ends the boot unless this is called again in time */
void guest_deadline(struct guest *g, unsigned int seconds, const char *phase);

/* init_main() - PID 1; never returns */
_Noreturn void init_main(void);

/**
 * driver_main() - receipt, runs, END
 * @verdict: of the boot, when it fails
 * @f: why
 *
 * Return: 0 when everything was tried and END is written.
 */
int driver_main(struct guest *g, const char **verdict, struct fail *f);

#endif
