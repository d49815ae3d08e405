/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks.h - an image in memory, block by block, before it is written
 *
 * libext2fs writes here what it makes, file data is only referred to. So the
 * image goes out once, in order, in large writes, and no error of the host's
 * disk can get lost in the library.
 */
#ifndef KONTEST_BLOCKS_H
#define KONTEST_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ext2fs/ext2fs.h>

#include "results/base/error.h"

#define BLOCK_BYTES 4096u

/**
 * struct block - one block of the image
 * @data: its bytes, NULL when all are zero
 * @owned: @data is ours to change and free
 */
struct block {
	uint8_t *data;
	bool owned;
};

/* struct blocks - all of them, up to the last one that is not zero */
struct blocks {
	struct block *v;
	uint64_t n;
};

/* blocks_own() - the bytes of a block, to be written to; zeros at first */
uint8_t *blocks_own(struct blocks *b, uint64_t blk);
/* blocks_refer() - let blocks from @blk on be @count whole blocks at @data, which
 * must stay as they are until the image is written */
void blocks_refer(struct blocks *b, uint64_t blk, const void *data,
		  uint64_t count);
/* blocks_write() - write them to an empty file; blocks of zeros stay holes;
 * @path for the text of an error */
int blocks_write(const struct blocks *b, int fd, const char *path,
		 struct error *err);

/* blocks_manager - for ext2fs_initialize(); the channel's private_data is then
 * a struct blocks, which lives as long as the channel */
extern const io_manager blocks_manager;

#endif
