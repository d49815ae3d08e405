/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock.h - CLOCK_MONOTONIC, in the unit that is wanted
 */
#ifndef KONTEST_CLOCK_H
#define KONTEST_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static inline uint64_t clock_now_ms(void)
{
	return clock_now_ns() / 1000000;
}

static inline double clock_now_s(void)
{
	return (double)clock_now_ns() / 1e9;
}

#endif
