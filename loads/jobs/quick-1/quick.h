/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quick.h - what every module uses: memory, checks, a checksum, chance
 */
#ifndef QUICK_H
#define QUICK_H

#include <stddef.h>
#include <stdint.h>

/* A running FNV-1a checksum over everything that the self-checks compute */
struct sum {
	uint64_t value;
};

void sum_bytes(struct sum *s, const void *data, size_t len);
void sum_u64(struct sum *s, uint64_t v);
void sum_text(struct sum *s, const char *text);

/* A small generator of pseudo-random numbers (splitmix64) */
struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = (r->state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)((rng_next(r) >> 32) * n >> 32);
}

/* Memory that is there, or the program ends with a message */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *text);

/* Ends the program with "part: what" unless @ok */
void check(int ok, const char *part, const char *what);

#endif
