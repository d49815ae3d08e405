/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unpack.h - decompress one blob in memory, whatever it was compressed with
 */
#ifndef KONTEST_UNPACK_H
#define KONTEST_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "results/base/error.h"
#include "results/base/text.h"

/* unpack_method() - "gzip", "bzip2", "xz", "lzma", "lzo", "zstd", "lz4" by the
 * blob's first bytes, or NULL when it is none of these */
const char *unpack_method(const void *data, size_t size);

/**
 * unpack() - decompress a blob
 * @data: the blob, compressed with what unpack_method() names
 * @size: bytes
 * @max: refuse when more than this many bytes come out
 * @out: gets the content appended
 * @what: what it is, for the error text
 * @err: reason of a failure
 *
 * Return: 0, or -1: damaged, too big, or an unknown method.
 */
int unpack(const void *data, size_t size, size_t max, struct buf *out,
	   const char *what, struct error *err);

#endif
