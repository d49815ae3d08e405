/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quicksort.c - see quicksort.h
 */
#include "loads/quicksort.h"

#define SMALL 12	/* sorted by insertion */

static void swap(int32_t *a, int32_t *b)
{
	int32_t t = *a;

	*a = *b;
	*b = t;
}

static void insertion_sort(int32_t *v, uint64_t n)
{
	for (uint64_t i = 1; i < n; i++) {
		int32_t x = v[i];
		uint64_t k = i;

		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* Three in order, so that both ends stop the walks of partition() */
static int32_t median_of_three(int32_t *v, uint64_t n)
{
	int32_t *a = &v[0], *b = &v[n / 2], *c = &v[n - 1];

	if (*b < *a)
		swap(a, b);
	if (*c < *b)
		swap(b, c);
	if (*b < *a)
		swap(a, b);
	return *b;
}

/* Return: how many stand left of the cut; none of them is above the others */
static uint64_t partition(int32_t *v, uint64_t n)
{
	int32_t pivot = median_of_three(v, n);
	uint64_t i = 0, j = n - 1;

	for (;;) {
		while (v[i] < pivot)
			i++;
		while (v[j] > pivot)
			j--;
		if (i >= j)
			return j + 1;
		swap(&v[i++], &v[j--]);
	}
}

void quicksort(int32_t *v, uint64_t n)
{
	while (n > SMALL) {
		uint64_t left = partition(v, n);

		/* The smaller part first: half the numbers with every level */
		if (left < n - left) {
			quicksort(v, left);
			v += left;
			n -= left;
		} else {
			quicksort(v + left, n - left);
			n = left;
		}
	}
	insertion_sort(v, n);
}
