/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lz.c - a window of matches, found by hash chains, and a checksum
 */
#include "lz.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW 32768u
#define HASH_BITS 13
#define MATCH_MIN 4u
#define MATCH_MAX (MATCH_MIN + 126u)
#define LITERAL_MAX 128u
#define CHAIN_MAX 32

void bytes_free(struct bytes *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

void bytes_put(struct bytes *b, uint8_t v)
{
	if (b->len == b->room) {
		b->room = b->room * 2 + 64;
		b->data = xrealloc(b->data, b->room);
	}
	b->data[b->len++] = v;
}

static uint32_t hash4(const uint8_t *p)
{
	uint32_t v = (uint32_t)p[0] | (uint32_t)p[1] << 8 |
		     (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;

	return v * 2654435761u >> (32 - HASH_BITS);
}

struct finder {
	const uint8_t *data;
	size_t len;
	int32_t head[1 << HASH_BITS];
	int32_t *prev;
};

static void remember(struct finder *f, size_t at)
{
	uint32_t h;

	if (at + MATCH_MIN > f->len)
		return;
	h = hash4(f->data + at);
	f->prev[at] = f->head[h];
	f->head[h] = (int32_t)at;
}

static size_t same_length(const uint8_t *a, const uint8_t *b, size_t max)
{
	size_t n = 0;

	while (n < max && a[n] == b[n])
		n++;
	return n;
}

static size_t longest_match(const struct finder *f, size_t at, size_t *distance)
{
	size_t best = 0, max = f->len - at;
	int32_t from;

	if (max < MATCH_MIN)
		return 0;
	if (max > MATCH_MAX)
		max = MATCH_MAX;
	from = f->head[hash4(f->data + at)];
	for (int tries = 0; from >= 0 && tries < CHAIN_MAX; tries++) {
		size_t n;

		if (at - (size_t)from >= WINDOW)
			break;
		n = same_length(f->data + from, f->data + at, max);
		if (n > best) {
			best = n;
			*distance = at - (size_t)from;
		}
		from = f->prev[from];
	}
	return best >= MATCH_MIN ? best : 0;
}

static void put_literals(struct bytes *out, const uint8_t *data, size_t len)
{
	while (len > 0) {
		size_t run = len < LITERAL_MAX ? len : LITERAL_MAX;

		bytes_put(out, (uint8_t)(run - 1));
		for (size_t i = 0; i < run; i++)
			bytes_put(out, data[i]);
		data += run;
		len -= run;
	}
}

void lz_compress(const uint8_t *data, size_t len, struct bytes *out)
{
	struct finder *f = xcalloc(1, sizeof(*f));
	size_t at = 0, literals = 0;

	f->data = data;
	f->len = len;
	f->prev = xcalloc(len + 1, sizeof(*f->prev));
	memset(f->head, 0xff, sizeof(f->head));
	while (at < len) {
		size_t distance = 0;
		size_t n = longest_match(f, at, &distance);

		remember(f, at);
		if (n == 0) {
			at++;
			continue;
		}
		put_literals(out, data + literals, at - literals);
		bytes_put(out, (uint8_t)(128 + n - MATCH_MIN));
		bytes_put(out, (uint8_t)distance);
		bytes_put(out, (uint8_t)(distance >> 8));
		for (size_t i = 1; i < n; i++)
			remember(f, at + i);
		at += n;
		literals = at;
	}
	put_literals(out, data + literals, at - literals);
	free(f->prev);
	free(f);
}

int lz_expand(const uint8_t *data, size_t len, struct bytes *out)
{
	size_t at = 0;

	while (at < len) {
		size_t n, distance;

		if (data[at] < 128) {
			n = (size_t)data[at++] + 1;
			if (n > len - at)
				return -1;
			while (n-- > 0)
				bytes_put(out, data[at++]);
			continue;
		}
		if (len - at < 3)
			return -1;
		n = (size_t)data[at] - 128 + MATCH_MIN;
		distance = (size_t)data[at + 1] | (size_t)data[at + 2] << 8;
		at += 3;
		if (distance == 0 || distance > out->len)
			return -1;
		while (n-- > 0)
			bytes_put(out, out->data[out->len - distance]);
	}
	return 0;
}

uint32_t crc32_of(const uint8_t *data, size_t len)
{
	uint32_t table[256], crc = 0xffffffffu;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int k = 0; k < 8; k++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	while (len-- > 0)
		crc = crc >> 8 ^ table[(crc ^ *data++) & 255];
	return ~crc;
}

void lz_check(struct sum *s)
{
	static const char *const words[] = {
		"kernel ", "scheduler ", "page ", "a ", "the ", "is ", "fair ",
		"runs, ", "waits. ", "disk\n",
	};
	struct bytes plain = { 0 }, packed = { 0 }, again = { 0 };
	struct rng r = { 11 };

	check(crc32_of((const uint8_t *)"123456789", 9) == 0xcbf43926u, "lz", "crc");
	while (plain.len < 20000)
		for (const char *p = words[rng_below(&r, 10)]; *p != '\0'; p++)
			bytes_put(&plain, (uint8_t)*p);
	lz_compress(plain.data, plain.len, &packed);
	check(packed.len < plain.len / 2, "lz", "size");
	check(lz_expand(packed.data, packed.len, &again) == 0, "lz", "expand");
	check(again.len == plain.len &&
	      memcmp(again.data, plain.data, plain.len) == 0, "lz", "round trip");
	sum_u64(s, packed.len);
	sum_u64(s, crc32_of(packed.data, packed.len));
	/* A match cannot come first: there is nothing yet to match */
	bytes_free(&again);
	packed.data[0] = 200;
	check(lz_expand(packed.data, packed.len, &again) != 0, "lz", "damage");
	bytes_free(&plain);
	bytes_free(&packed);
	bytes_free(&again);
}
