/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - what is being measured now, for the person who waits
 */
#ifndef KONTEST_PROGRESS_H
#define KONTEST_PROGRESS_H

#include <stdbool.h>

#include "results/journal_file.h"
#include "results/verdict.h"

/**
 * struct boot_progress - one boot, as its journal tells so far
 * @label: the kernel's label
 * @number: of the boot within the kernel
 * @active: it is running now
 * @load: of the run that runs, or ""
 * @index: of that run within its load
 * @done: runs that have ended
 * @worst: worst verdict of its runs so far
 */
struct boot_progress {
	const char *label;
	unsigned int number;
	bool active;
	char load[32];
	unsigned int index;
	unsigned int done;
	enum verdict worst;
};

/**
 * struct progress - the display; a live line on a terminal, else a line a run
 * @boots: all boots of the run
 * @n: how many
 * @runs_total: runs of all boots together, as far as they are planned
 * @t_start: CLOCK_MONOTONIC seconds when the first boot began
 * @budget_s: boots are planned until that is used up at most; 0: all are planned
 * @tty: stderr is a terminal
 */
struct progress {
	struct boot_progress *boots;
	size_t n;
	unsigned int runs_total;
	double t_start;
	double budget_s;
	bool tty;
};

/* progress_record() - take one record of boot @b into account; may print */
void progress_record(struct progress *p, struct boot_progress *b,
		     const struct journal_entry *e);
/* progress_draw() - bring the live line up to date; nothing without a terminal */
void progress_draw(const struct progress *p);
/* progress_say() - print a line for good, above the live line */
void progress_say(const struct progress *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* progress_end() - remove the live line */
void progress_end(const struct progress *p);

/* sleep_ms() - wait that long, or until a signal comes */
void sleep_ms(unsigned int ms);

#endif
