/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lz.h - a little compressor: matches in a window
 */
#ifndef LZ_H
#define LZ_H

#include <stddef.h>
#include <stdint.h>

#include "quick.h"

struct bytes {
	uint8_t *data;
	size_t len, room;
};

void bytes_free(struct bytes *b);
void bytes_put(struct bytes *b, uint8_t v);

/* Matches: literal runs and (length, distance) pairs, byte by byte */
void lz_compress(const uint8_t *data, size_t len, struct bytes *out);
/* Return: 0, or -1 for damaged input */
int lz_expand(const uint8_t *data, size_t len, struct bytes *out);

uint32_t crc32_of(const uint8_t *data, size_t len);

void lz_check(struct sum *s);

#endif
