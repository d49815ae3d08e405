/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * histogram.c - log-bucketed, see histogram.h
 */
#include "loads/histogram.h"

#define SUB (1u << HISTOGRAM_SUB_BITS)

static unsigned int bucket_of(uint64_t v)
{
	unsigned int shift;

	if (v < SUB)
		return (unsigned int)v;
	shift = 63 - (unsigned int)__builtin_clzll(v) - HISTOGRAM_SUB_BITS;
	return ((shift + 1) << HISTOGRAM_SUB_BITS) +
	       (unsigned int)((v >> shift) & (SUB - 1));
}

/* The largest value that falls into a bucket */
static uint64_t bucket_last(unsigned int bucket)
{
	unsigned int shift = (bucket >> HISTOGRAM_SUB_BITS);
	uint64_t sub = bucket & (SUB - 1);

	if (shift == 0)
		return sub;
	shift--;
	return ((SUB + sub) << shift) + (((uint64_t)1 << shift) - 1);
}

void histogram_add(struct histogram *h, uint64_t v)
{
	h->n++;
	h->sum += v;
	if (v > h->max)
		h->max = v;
	h->bucket[bucket_of(v)]++;
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
	to->n += from->n;
	to->sum += from->sum;
	if (from->max > to->max)
		to->max = from->max;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

uint64_t histogram_at(const struct histogram *h, unsigned int per_mille)
{
	uint64_t rank = (h->n * per_mille + 999) / 1000, seen = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t last;

		seen += h->bucket[i];
		if (h->bucket[i] == 0 || seen < rank)
			continue;
		last = bucket_last(i);
		return last < h->max ? last : h->max;
	}
	return h->max;
}
