/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks.c - an image in memory, and libext2fs's way into it
 */
#include "images/blocks.h"

#include <string.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/text.h"

#define STAGE_BYTES (1u << 20)

static struct block *reach(struct blocks *b, uint64_t blk)
{
	if (blk >= b->n) {
		uint64_t n = b->n * 2 > blk ? b->n * 2 : blk + 1024;

		b->v = xrealloc(b->v, n * sizeof(*b->v));
		memset(b->v + b->n, 0, (n - b->n) * sizeof(*b->v));
		b->n = n;
	}
	return &b->v[blk];
}

uint8_t *blocks_own(struct blocks *b, uint64_t blk)
{
	struct block *x = reach(b, blk);

	if (!x->owned) {
		uint8_t *mine = xcalloc(1, BLOCK_BYTES);

		if (x->data)
			memcpy(mine, x->data, BLOCK_BYTES);
		*x = (struct block){ .data = mine, .owned = true };
	}
	return x->data;
}

void blocks_refer(struct blocks *b, uint64_t blk, const void *data,
		  uint64_t count)
{
	const uint8_t *p = data;
	uint64_t i;

	for (i = 0; i < count; i++) {
		struct block *x = reach(b, blk + i);

		if (x->owned)
			free(x->data);
		*x = (struct block){ .data = (uint8_t *)p + i * BLOCK_BYTES };
	}
}

static bool is_zero(const uint8_t *p, size_t len)
{
	return !p[0] && !memcmp(p, p + 1, len - 1);
}

int blocks_write(const struct blocks *b, int fd, const char *path,
		 struct error *err)
{
	cleanup_free uint8_t *stage = xmalloc(STAGE_BYTES);
	uint64_t i, start = 0;
	size_t used = 0;

	for (i = 0; i < b->n; i++) {
		bool zero = !b->v[i].data || is_zero(b->v[i].data, BLOCK_BYTES);

		if (used && (zero || used == STAGE_BYTES)) {
			if (full_pwrite(fd, stage, used,
					(off_t)(start * BLOCK_BYTES), path, err))
				return -1;
			used = 0;
		}
		if (zero)
			continue;
		if (!used)
			start = i;
		memcpy(stage + used, b->v[i].data, BLOCK_BYTES);
		used += BLOCK_BYTES;
	}
	return full_pwrite(fd, stage, used, (off_t)(start * BLOCK_BYTES), path, err);
}

static void blocks_free(struct blocks *b)
{
	uint64_t i;

	for (i = 0; i < b->n; i++)
		if (b->v[i].owned)
			free(b->v[i].data);
	free(b->v);
	free(b);
}

static errcode_t io_open(const char *name, int flags, io_channel *out)
{
	io_channel io;
	errcode_t ret;

	(void)flags;
	/* Freed by the library in part, so allocated by it. */
	ret = ext2fs_get_memzero(sizeof(*io), &io);
	if (ret)
		return ret;
	ret = ext2fs_get_mem(strlen(name) + 1, &io->name);
	if (ret) {
		ext2fs_free_mem(&io);
		return ret;
	}
	memcpy(io->name, name, strlen(name) + 1);
	io->magic = EXT2_ET_MAGIC_IO_CHANNEL;
	io->manager = blocks_manager;
	io->block_size = 1024;
	io->refcount = 1;
	io->private_data = xcalloc(1, sizeof(struct blocks));
	*out = io;
	return 0;
}

static errcode_t io_close(io_channel io)
{
	if (--io->refcount > 0)
		return 0;
	blocks_free(io->private_data);
	ext2fs_free_mem(&io->name);
	ext2fs_free_mem(&io);
	return 0;
}

static errcode_t io_set_blksize(io_channel io, int size)
{
	io->block_size = size;
	return 0;
}

/* Where a transfer begins and how long it is; a negative count is of bytes. */
static void span(const struct struct_io_channel *io, unsigned long long block,
		 int count, uint64_t *off, uint64_t *len)
{
	*off = block * (uint64_t)io->block_size;
	*len = count < 0 ? (uint64_t)-(int64_t)count
			 : (uint64_t)count * (uint64_t)io->block_size;
}

static errcode_t io_read64(io_channel io, unsigned long long block, int count,
			   void *data)
{
	const struct blocks *b = io->private_data;
	uint64_t off, len;
	uint8_t *to = data;

	span(io, block, count, &off, &len);
	while (len) {
		uint64_t blk = off / BLOCK_BYTES, in = off % BLOCK_BYTES;
		size_t n = BLOCK_BYTES - in < len ? BLOCK_BYTES - in : len;

		if (blk < b->n && b->v[blk].data)
			memcpy(to, b->v[blk].data + in, n);
		else
			memset(to, 0, n);
		to += n;
		off += n;
		len -= n;
	}
	return 0;
}

static errcode_t io_write64(io_channel io, unsigned long long block, int count,
			    const void *data)
{
	struct blocks *b = io->private_data;
	const uint8_t *from = data;
	uint64_t off, len;

	span(io, block, count, &off, &len);
	while (len) {
		uint64_t blk = off / BLOCK_BYTES, in = off % BLOCK_BYTES;
		size_t n = BLOCK_BYTES - in < len ? BLOCK_BYTES - in : len;

		/* Zeros over nothing need no memory: most inode tables. */
		if (!is_zero(from, n) || (blk < b->n && b->v[blk].data))
			memcpy(blocks_own(b, blk) + in, from, n);
		from += n;
		off += n;
		len -= n;
	}
	return 0;
}

static errcode_t io_read(io_channel io, unsigned long block, int count,
			 void *data)
{
	return io_read64(io, block, count, data);
}

static errcode_t io_write(io_channel io, unsigned long block, int count,
			  const void *data)
{
	return io_write64(io, block, count, data);
}

static errcode_t io_flush(io_channel io)
{
	(void)io;
	return 0;
}

static struct struct_io_manager manager = {
	.magic = EXT2_ET_MAGIC_IO_MANAGER,
	.name = "kontest image in memory",
	.open = io_open,
	.close = io_close,
	.set_blksize = io_set_blksize,
	.read_blk = io_read,
	.write_blk = io_write,
	.flush = io_flush,
	.read_blk64 = io_read64,
	.write_blk64 = io_write64,
};

const io_manager blocks_manager = &manager;
