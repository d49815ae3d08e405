/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xz_stream.h - an .xz member of an archive, decompressed by every CPU
 *
 * libarchive's own xz filter has one thread. Debian's packages are made of
 * several blocks, which liblzma decodes side by side; for a kernel's package
 * that takes a quarter off the wall time on two CPUs.
 */
#ifndef KONTEST_XZ_STREAM_H
#define KONTEST_XZ_STREAM_H

#include <archive.h>
#include <lzma.h>
#include <stdbool.h>

#include "results/base/error.h"

/**
 * struct xz_stream - data of archive_read_open() with xz_stream_read()
 * @outer: archive whose current entry is the .xz
 * @lzma: the decoder
 * @out: what it has decoded last; owned
 * @eof: @outer has no more
 * @ended: so has @lzma
 */
struct xz_stream {
	struct archive *outer;
	lzma_stream lzma;
	void *out;
	bool eof, ended;
};

/* xz_stream_open() - on a struct xz_stream of zeros; xz_stream_close() ends it,
 * also when it was never opened */
int xz_stream_open(struct xz_stream *s, struct archive *outer, struct error *err);
void xz_stream_close(struct xz_stream *s);

/* xz_stream_read() - archive_read_callback; -1 with the inner archive's error
 * set when the member is damaged or cut short */
la_ssize_t xz_stream_read(struct archive *inner, void *stream, const void **block);

#endif
