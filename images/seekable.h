/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seekable.h - a byte stream as independent zstd frames with a table of them
 *
 * zstd's own "seekable format": frames, then a skippable frame (0x184D2A5E) with
 * the compressed and plain size of each, 4 bytes little-endian a number, the
 * number of frames, a descriptor byte 0, and 0x8F92EAB1. `zstd -d` reads it as
 * any other file. No frame here holds more than SEEKABLE_FRAME_BYTES of the
 * stream, so that a reader's memory is bounded whatever the file says.
 */
#ifndef KONTEST_SEEKABLE_H
#define KONTEST_SEEKABLE_H

#include <stdint.h>

#include "results/base/error.h"
#include "results/base/text.h"

#define SEEKABLE_FRAME_BYTES (4u << 20)

/* struct seekable_frame - where a frame is in the file, and in the stream */
struct seekable_frame {
	uint64_t packed_off, plain_off;
	uint32_t packed, plain;
};
DEFINE_VECTOR(seekable_frames, struct seekable_frame)

/**
 * struct seekable_writer - a stream being written
 * @fd, @path: the file, the caller's; written from its start
 * @packed, @plain: bytes of finished frames in the file, in the stream
 *
 * seekable_begin(), seekable_add() ..., seekable_finish(); seekable_writer_free()
 * in any case.
 */
struct seekable_writer {
	int fd;
	const char *path;
	uint64_t packed, plain;
	struct seekable_frames frames;
	char *pending, *out;
	size_t n_pending;
	void *ctx;
};

int seekable_begin(struct seekable_writer *w, int fd, const char *path,
		   struct error *err);
int seekable_add(struct seekable_writer *w, const void *data, size_t len,
		 struct error *err);
/* seekable_cut() - what follows begins a frame of its own */
int seekable_cut(struct seekable_writer *w, struct error *err);
/* seekable_finish() - the last frame and the table */
int seekable_finish(struct seekable_writer *w, struct error *err);
void seekable_writer_free(struct seekable_writer *w);

/**
 * struct seekable_reader - such a file, open
 * @path: the caller's; for error texts
 * @size: bytes of the stream, as the table has it
 */
struct seekable_reader {
	int fd;
	const char *path;
	uint64_t size;
	struct seekable_frames frames;
	size_t loaded;
	char *plain, *packed;
	void *ctx;
};

/**
 * seekable_open() - read and check the table
 * @r: result; seekable_close() ends it
 * @path: must live as long as @r
 * @err: reason of a failure
 *
 * The table must account for every byte of the file.
 *
 * Return: 0, or -1.
 */
int seekable_open(struct seekable_reader *r, const char *path,
		  struct error *err);
/* seekable_read() - @len bytes of the stream from @off; less is an error */
int seekable_read(struct seekable_reader *r, uint64_t off, void *data,
		  size_t len, struct error *err);
/* seekable_frame_at() - number of the frame that holds byte @off of the stream */
size_t seekable_frame_at(const struct seekable_reader *r, uint64_t off);
void seekable_close(struct seekable_reader *r);

#endif
