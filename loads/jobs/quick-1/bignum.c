/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bignum.c - schoolbook arithmetic with natural numbers of any size
 */
#include "bignum.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DECIMAL_BASE 1000000000u	/* nine digits fit into 32 bits */

void big_free(struct big *b)
{
	free(b->digit);
	b->digit = NULL;
	b->len = 0;
}

static void trim(struct big *b)
{
	while (b->len > 0 && b->digit[b->len - 1] == 0)
		b->len--;
}

/* At least @len digits; new ones are 0 */
static void widen(struct big *b, size_t len)
{
	if (len <= b->len)
		return;
	b->digit = xrealloc(b->digit, len * sizeof(*b->digit));
	memset(b->digit + b->len, 0, (len - b->len) * sizeof(*b->digit));
	b->len = len;
}

void big_from_u64(struct big *b, uint64_t v)
{
	b->digit = NULL;
	b->len = 0;
	widen(b, 2);
	b->digit[0] = (uint32_t)v;
	b->digit[1] = (uint32_t)(v >> 32);
	trim(b);
}

void big_copy(struct big *to, const struct big *from)
{
	to->digit = xmalloc((from->len + 1) * sizeof(*to->digit));
	to->len = from->len;
	if (from->len > 0)
		memcpy(to->digit, from->digit, from->len * sizeof(*to->digit));
}

int big_compare(const struct big *a, const struct big *b)
{
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	for (size_t i = a->len; i-- > 0;)
		if (a->digit[i] != b->digit[i])
			return a->digit[i] < b->digit[i] ? -1 : 1;
	return 0;
}

void big_add(struct big *to, const struct big *b)
{
	uint64_t carry = 0;

	widen(to, (to->len > b->len ? to->len : b->len) + 1);
	for (size_t i = 0; i < to->len; i++) {
		carry += to->digit[i];
		if (i < b->len)
			carry += b->digit[i];
		to->digit[i] = (uint32_t)carry;
		carry >>= 32;
	}
	trim(to);
}

void big_subtract(struct big *to, const struct big *b)
{
	uint64_t borrow = 0;

	check(big_compare(to, b) >= 0, "bignum", "below zero");
	for (size_t i = 0; i < to->len; i++) {
		uint64_t take = borrow + (i < b->len ? b->digit[i] : 0);

		borrow = to->digit[i] < take;
		to->digit[i] = (uint32_t)(to->digit[i] - take);
	}
	trim(to);
}

void big_multiply_small(struct big *to, uint32_t factor)
{
	uint64_t carry = 0;

	widen(to, to->len + 1);
	for (size_t i = 0; i < to->len; i++) {
		carry += (uint64_t)to->digit[i] * factor;
		to->digit[i] = (uint32_t)carry;
		carry >>= 32;
	}
	trim(to);
}

uint32_t big_divide_small(struct big *to, uint32_t by)
{
	uint64_t rest = 0;

	for (size_t i = to->len; i-- > 0;) {
		rest = rest << 32 | to->digit[i];
		to->digit[i] = (uint32_t)(rest / by);
		rest %= by;
	}
	trim(to);
	return (uint32_t)rest;
}

void big_multiply(struct big *to, const struct big *a, const struct big *b)
{
	big_from_u64(to, 0);
	widen(to, a->len + b->len);
	for (size_t i = 0; i < a->len; i++) {
		uint64_t carry = 0;

		for (size_t j = 0; j < b->len; j++) {
			carry += (uint64_t)a->digit[i] * b->digit[j] +
				 to->digit[i + j];
			to->digit[i + j] = (uint32_t)carry;
			carry >>= 32;
		}
		to->digit[i + b->len] = (uint32_t)carry;
	}
	trim(to);
}

int big_parse(struct big *b, const char *text)
{
	struct big digit;

	big_from_u64(b, 0);
	if (*text == '\0')
		return -1;
	for (; *text != '\0'; text++) {
		if (!isdigit((unsigned char)*text)) {
			big_free(b);
			return -1;
		}
		big_multiply_small(b, 10);
		big_from_u64(&digit, (uint64_t)(*text - '0'));
		big_add(b, &digit);
		big_free(&digit);
	}
	return 0;
}

void big_print(const struct big *b, struct strbuf *out)
{
	uint32_t *group = xmalloc((b->len * 2 + 1) * sizeof(*group));
	size_t groups = 0;
	struct big rest;

	big_copy(&rest, b);
	do
		group[groups++] = big_divide_small(&rest, DECIMAL_BASE);
	while (rest.len > 0);
	strbuf_printf(out, "%u", group[--groups]);
	while (groups > 0)
		strbuf_printf(out, "%09u", group[--groups]);
	big_free(&rest);
	free(group);
}

void bignum_check(struct sum *s)
{
	static const char f30[] = "265252859812191058636308480000000";
	struct big a, b, product, rest;
	struct strbuf out;

	strbuf_init(&out);
	big_from_u64(&a, 1);
	for (uint32_t i = 2; i <= 30; i++)
		big_multiply_small(&a, i);
	big_print(&a, &out);
	check(strcmp(out.text, f30) == 0, "bignum", "30!");
	check(big_parse(&b, f30) == 0, "bignum", "parse");
	check(big_compare(&a, &b) == 0, "bignum", "compare");

	big_multiply(&product, &a, &b);
	big_from_u64(&rest, 12345);
	big_add(&product, &rest);
	strbuf_clear(&out);
	big_print(&product, &out);
	sum_text(s, out.text);
	big_free(&b);
	check(big_parse(&b, "12x") != 0, "bignum", "not a number");

	big_subtract(&product, &rest);
	big_subtract(&product, &a);
	/* 30! is -1 modulo 31, so 30! * (30! - 1) is 2 */
	check(big_divide_small(&product, 31) == 2, "bignum", "remainder");
	strbuf_clear(&out);
	big_print(&product, &out);
	sum_text(s, out.text);
	big_free(&a);
	big_free(&rest);
	big_free(&product);
	strbuf_free(&out);
}
