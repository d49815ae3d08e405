/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * noise.h - a boot's noise receipt: what the host did to each run
 *
 * Fed with the journal's records as they are seen. In the middle of a run
 * nothing is looked at: the receipt costs two looks, of well below a millisecond
 * each, right behind a run's first and last record. How soon after them that
 * was is in it.
 */
#ifndef KONTEST_HOST_NOISE_H
#define KONTEST_HOST_NOISE_H

#include <jansson.h>

#include "host/clock_check.h"
#include "host/noise_look.h"
#include "results/journal_file.h"

/**
 * struct noise_run - a run that has begun
 * @number: from 1 over the boot
 * @name: its load or benchmark; owned
 * @n: its figures, those of the clock not yet
 * @first, @last: records of the journal, by number from 0; @last 0: not ended
 * @look: at its RUN_START, until its end
 */
struct noise_run {
	int64_t number;
	char *name;
	struct run_noise n;
	size_t first, last;
	struct noise_look look;
};
DEFINE_VECTOR(noise_runs, struct noise_run)

/**
 * struct noise - of one boot
 * @proc: "/proc"
 * @domain: of the VM
 * @exact: the guest's time is not the host's: its clock is not checked
 * @qemu: once it was found
 * @host: what does not change
 * @file: the journal's times
 * @absent_ns: when the next record was not there yet
 * @marks: one a record
 * @runs: in the order in which they began
 */
struct noise {
	const char *proc, *domain;
	bool exact;
	struct noise_qemu qemu;
	struct noise_host host;
	struct clock_file file;
	uint64_t absent_ns;
	struct clock_marks marks;
	struct noise_runs runs;
};

/**
 * noise_init() - before the guest runs
 * @proc, @sys: "/proc", "/sys"
 * @domain: must live as long as @n
 * @exact: see above
 * @path, @fd: the journal, open
 */
void noise_init(struct noise *n, const char *proc, const char *sys,
		const char *domain, bool exact, const char *path, int fd);
void noise_free(struct noise *n);

/* noise_absent() - at @now_ns the journal had no further record */
void noise_absent(struct noise *n, uint64_t now_ns);
/* noise_record() - it has this one; call it for every record, in order, as soon
 * as it is seen */
void noise_record(struct noise *n, const struct journal_entry *e);

/* noise_starved_ms() - so long in all had the guest no CPU of the host though it
 * wanted one; 0 while QEMU is not found */
uint64_t noise_starved_ms(struct noise *n);

/**
 * noise_judge() - make a boot's verdict clock-drift when a clock has drifted
 * @n: the journal is whole: records behind a run's bound its end
 * @v: the verdict without that. Only profile-mismatch stays, whatever the clock
 *	did: of every other boot runs may count
 * @evidence: becomes a line that names the first such run, its time by both
 *	clocks and the drift, and has the former verdict and evidence at its end
 */
void noise_judge(const struct noise *n, enum verdict *v, struct buf *evidence);

/**
 * noise_json() - members of VERDICT's "host": "cpus", "governor", "turbo",
 *	"noise"
 * @n: the journal is whole
 * @host: object
 * @max_bytes: of text that the receipts of all runs may take. The last runs are
 *	left out for it and counted in "noise_left_out"
 */
void noise_json(const struct noise *n, json_t *host, size_t max_bytes);

#endif
