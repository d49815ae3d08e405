/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quicksort.h - Hoare's quicksort (1962) with the median of three as pivot
 * (Singleton 1969)
 *
 * Of our own, since the C library's qsort() may well sort in another way, and in
 * other memory.
 */
#ifndef KONTEST_QUICKSORT_H
#define KONTEST_QUICKSORT_H

#include <stdint.h>

/* quicksort() - @n numbers, smallest first; takes memory for 64 levels at most */
void quicksort(int32_t *v, uint64_t n);

#endif
