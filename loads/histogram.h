/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * histogram.h - latencies without keeping every one
 *
 * Values below 64 have buckets of their own; above, every power of two has 64
 * buckets of equal width. So a bucket is at most 1/64 of its values wide, and a
 * percentile, which is told as the largest value of its bucket, is at most
 * 1.6 % above the true one and never above the maximum. Sum and maximum are exact.
 */
#ifndef KONTEST_HISTOGRAM_H
#define KONTEST_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB_BITS 6
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

/**
 * struct histogram - all zero at the start
 * @n: values. @sum, @max: of them
 */
struct histogram {
	uint64_t n, sum, max;
	uint32_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, uint64_t v);
/* histogram_merge() - all of @from into @to */
void histogram_merge(struct histogram *to, const struct histogram *from);
/**
 * histogram_at() - a percentile by nearest rank
 * @per_mille: 500: the median, 999: 99.9 %
 *
 * Return: a value that at least @per_mille of all do not exceed; 0 of none.
 */
uint64_t histogram_at(const struct histogram *h, unsigned int per_mille);

#endif
