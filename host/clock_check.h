/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock_check.h - did the guest's clock run as fast as the host's?
 *
 * A record's header has the guest's monotonic time of the moment S in which the
 * record was made; the host sees it in the journal at some later moment. How
 * long it took on its way nobody knows, but S lies between two moments that the
 * host does know:
 *
 *  not later than	the write to the journal's file began: its mtime, which
 *			the kernel sets then (and 50 ms, since it may be that much
 *			too early), however late a busy host lets us look.
 *			Where another write has come since, mtime is later still;
 *			where that is not earlier it is when we looked
 *  not earlier than	a look that did not find the record before it: the guest
 *			makes a record when the one before has been written. Or
 *			a look that did not find the record itself, less what
 *			passed in the guest until it made the next one: its
 *			write took no longer than that
 *
 * A busy host makes these bounds wider, never wrong. A clock is accused only
 * when the time between two records, by the guest's clock, is outside of what
 * the bounds of both allow by more than CLOCK_DRIFT_LIMIT.
 */
#ifndef KONTEST_CLOCK_CHECK_H
#define KONTEST_CLOCK_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "results/base/text.h"

#define CLOCK_DRIFT_LIMIT 0.001

/**
 * struct clock_mark - a record of the journal
 * @guest_ns: by the guest's clock
 * @absent_ns: host's monotonic time when the record was not there yet
 * @written_ns: not later than this its write began
 */
struct clock_mark {
	uint64_t guest_ns;
	uint64_t absent_ns, written_ns;
};
DEFINE_VECTOR(clock_marks, struct clock_mark)

/**
 * struct clock_span - the stretch between two records; all in ns
 * @guest: by the guest's clock
 * @host_min, @host_max: by the host's it was no less and no more
 */
struct clock_span {
	uint64_t guest;
	uint64_t host_min, host_max;
};

/* clock_between() - of the records @from < @to of the whole journal's */
struct clock_span clock_between(const struct clock_marks *m, size_t from,
				size_t to);

/* clock_drifts() - is even the favourable bound out of the limit? @drift: by
 * how much at least; 0.02: the guest's clock is 2 % fast */
bool clock_drifts(const struct clock_span *s, double *drift);

/**
 * struct clock_file - the journal's file as a witness of when it is written
 * @fd: the journal
 * @trusted: mtime is of this host's clock and finer than a second
 * @shift_ns: monotonic less real time at the last look
 */
struct clock_file {
	int fd;
	bool trusted;
	int64_t shift_ns;
};

/* clock_file_init() - set @path's mtime to now and see whether it comes back;
 * @fd: the same file, open */
void clock_file_init(struct clock_file *f, const char *path, int fd);

/* clock_file_written() - not later than this, by the host's monotonic clock,
 * the file's last write began; @now_ns: that clock, just now */
uint64_t clock_file_written(struct clock_file *f, uint64_t now_ns);

#endif
