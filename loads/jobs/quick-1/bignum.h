/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bignum.h - natural numbers of any size
 */
#ifndef BIGNUM_H
#define BIGNUM_H

#include <stddef.h>
#include <stdint.h>

#include "quick.h"
#include "strbuf.h"

/* Base 2^32, the least digit first, no leading zeros; zero has no digits */
struct big {
	uint32_t *digit;
	size_t len;
};

void big_free(struct big *b);
void big_from_u64(struct big *b, uint64_t v);
void big_copy(struct big *to, const struct big *from);
/* Return: 0, or -1 when @text is not a decimal number */
int big_parse(struct big *b, const char *text);
void big_print(const struct big *b, struct strbuf *out);
int big_compare(const struct big *a, const struct big *b);

/* In place */
void big_add(struct big *to, const struct big *b);
void big_subtract(struct big *to, const struct big *b);	/* @b <= @to */
void big_multiply_small(struct big *to, uint32_t factor);
uint32_t big_divide_small(struct big *to, uint32_t by);	/* the remainder */

void big_multiply(struct big *to, const struct big *a, const struct big *b);

void bignum_check(struct sum *s);

#endif
