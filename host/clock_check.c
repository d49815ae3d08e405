/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/clock_check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "results/base/clock.h"

#define NS_PER_S INT64_C(1000000000)
/* The kernel gives files the time of its last tick, some milliseconds ago; more
 * when the CPU that keeps the time was taken from it meanwhile. */
#define MTIME_LAG_NS (50 * 1000 * 1000)
/* Real time is slewed by 0.05 % at most; what is more between two looks was a
 * step, and mtime then is of another time than ours. */
#define STEP_NS (1000 * 1000)
/* Between two readings of clocks we may have lost our CPU. */
#define READING_NS (100 * 1000)
#define READINGS 8

static int64_t ns_of(const struct timespec *ts)
{
	return ts->tv_sec * NS_PER_S + ts->tv_nsec;
}

static int64_t real_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ns_of(&ts);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t less(uint64_t a, double b)
{
	return (double)a > b ? a - (uint64_t)b : 0;
}

/* earliest() - record @i was not made before this */
static uint64_t earliest(const struct clock_marks *m, size_t i)
{
	uint64_t t = i ? m->v[i - 1].absent_ns : 0;

	if (i + 1 < m->n && m->v[i + 1].guest_ns >= m->v[i].guest_ns)
		t = later(t, less(m->v[i].absent_ns,
				  (double)(m->v[i + 1].guest_ns -
					   m->v[i].guest_ns) *
				  (1 + CLOCK_DRIFT_LIMIT)));
	return t;
}

struct clock_span clock_between(const struct clock_marks *m, size_t from,
				size_t to)
{
	const struct clock_mark *a = &m->v[from], *b = &m->v[to];
	uint64_t first = earliest(m, from), last = earliest(m, to);

	return (struct clock_span){
		.guest = b->guest_ns > a->guest_ns ?
			 b->guest_ns - a->guest_ns : 0,
		.host_min = last > a->written_ns ? last - a->written_ns : 0,
		.host_max = b->written_ns > first ? b->written_ns - first : 0,
	};
}

bool clock_drifts(const struct clock_span *s, double *drift)
{
	double guest = (double)s->guest;

	*drift = 0;
	if (guest > (double)s->host_max * (1 + CLOCK_DRIFT_LIMIT))
		*drift = s->host_max ? guest / (double)s->host_max - 1 : 1;
	else if (guest < (double)s->host_min * (1 - CLOCK_DRIFT_LIMIT))
		*drift = guest / (double)s->host_min - 1;
	return *drift != 0;
}

/* shift() - monotonic less real time. Read in between, real time stands for
 * the later of two close moments: no result is too early. */
static int64_t shift(void)
{
	int64_t before, real, after;

	for (int i = 0; i < READINGS; i++) {
		before = (int64_t)clock_now_ns();
		real = real_ns();
		after = (int64_t)clock_now_ns();
		if (after - before < READING_NS)
			break;
	}
	return after - real;
}

void clock_file_init(struct clock_file *f, const char *path, int fd)
{
	int64_t before, set;
	struct stat st;

	*f = (struct clock_file){ .fd = fd, .shift_ns = shift() };
	before = real_ns();
	if (utimensat(AT_FDCWD, path, NULL, 0) < 0 || fstat(fd, &st) < 0)
		return;
	set = ns_of(&st.st_mtim);
	f->trusted = st.st_mtim.tv_nsec != 0 &&
		     set >= before - MTIME_LAG_NS &&
		     set <= real_ns();
}

uint64_t clock_file_written(struct clock_file *f, uint64_t now_ns)
{
	int64_t shift_ns = shift(), moved_ns = shift_ns - f->shift_ns;
	int64_t written_ns;
	struct stat st;

	f->shift_ns = shift_ns;
	if (!f->trusted || llabs(moved_ns) > STEP_NS || fstat(f->fd, &st) < 0)
		return now_ns;
	written_ns = ns_of(&st.st_mtim) + shift_ns + MTIME_LAG_NS;
	return written_ns > 0 && (uint64_t)written_ns < now_ns ?
	       (uint64_t)written_ns : now_ns;
}
