/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ext4_inode.c - blocks, directories and inodes of the ext4 writer
 */
#include "images/ext4.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <ext2fs/ext3_extents.h>

#define EXTENT_BLOCKS_MAX 32768u		/* of one initialised extent */
#define INODE_EXTENTS 4u			/* that fit the inode itself */
#define LEAF_EXTENTS ((BLOCK_BYTES - sizeof(struct ext3_extent_header)) / \
		      sizeof(struct ext3_extent))
#define LOST_FOUND_BLOCKS 4u			/* room that e2fsck expects */
#define FAST_LINK_BYTES 60u			/* a longer target needs a block */

/* ---- blocks ---- */

/* The next free stretch of at most @want blocks. */
static int take_blocks(struct writer *w, uint64_t want, blk64_t *start,
		       uint32_t *count, struct error *err)
{
	ext2fs_block_bitmap map = w->fs->block_map;
	blk64_t end = ext2fs_blocks_count(w->fs->super) - 1, stop;

	if (w->cursor > end ||
	    ext2fs_find_first_zero_block_bitmap2(map, w->cursor, end, start))
		return ext4_no_room(w, err);
	if (want > EXTENT_BLOCKS_MAX)
		want = EXTENT_BLOCKS_MAX;
	if (*start + want - 1 < end)
		end = *start + want - 1;
	if (ext2fs_find_first_set_block_bitmap2(map, *start, end, &stop))
		stop = end + 1;
	*count = (uint32_t)(stop - *start);
	ext2fs_block_alloc_stats_range(w->fs, *start, (blk_t)*count, +1);
	w->cursor = stop;
	return 0;
}

static void extent_header(struct ext3_extent_header *h, size_t n, size_t max,
			  unsigned int depth)
{
	h->eh_magic = htole16(EXT3_EXT_MAGIC);
	h->eh_entries = htole16((uint16_t)n);
	h->eh_max = htole16((uint16_t)max);
	h->eh_depth = htole16((uint16_t)depth);
}

/* Enter the extents in the inode, or in one more block when they are many. */
static int map_extents(struct writer *w, struct ext2_inode_large *inode,
		       const struct ext3_extent *x, size_t n, struct error *err)
{
	struct ext3_extent_header *h = (void *)inode->i_block;
	struct ext3_extent_idx *idx = (void *)(h + 1);
	uint32_t count = 0;
	blk64_t leaf = 0;

	inode->i_flags |= EXT4_EXTENTS_FL;
	if (n <= INODE_EXTENTS) {
		extent_header(h, n, INODE_EXTENTS, 0);
		memcpy(h + 1, x, n * sizeof(*x));
		return 0;
	}
	if (take_blocks(w, 1, &leaf, &count, err))
		return -1;
	inode->i_blocks += BLOCK_BYTES / 512;
	extent_header(h, 1, INODE_EXTENTS, 1);
	idx->ei_leaf = htole32((uint32_t)leaf);
	idx->ei_leaf_hi = htole16((uint16_t)(leaf >> 32));
	h = (void *)blocks_own(w->blocks, leaf);
	extent_header(h, n, LEAF_EXTENTS, 0);
	memcpy(h + 1, x, n * sizeof(*x));
	return 0;
}

int ext4_store(struct writer *w, struct ext2_inode_large *inode,
		 const uint8_t *data, size_t len, uint64_t blocks,
		 struct error *err)
{
	struct ext3_extent x[LEAF_EXTENTS] = { 0 };
	uint64_t done = 0, full = len / BLOCK_BYTES;
	size_t n;

	for (n = 0; done < blocks && n < LEAF_EXTENTS; n++) {
		blk64_t start = 0;
		uint32_t count = 0;

		if (take_blocks(w, blocks - done, &start, &count, err))
			return -1;
		x[n].ee_block = htole32((uint32_t)done);
		x[n].ee_len = htole16((uint16_t)count);
		x[n].ee_start = htole32((uint32_t)start);
		x[n].ee_start_hi = htole16((uint16_t)(start >> 32));
		if (full > done)
			blocks_refer(w->blocks, start, data + done * BLOCK_BYTES,
				     full - done < count ? full - done : count);
		if (len % BLOCK_BYTES && full >= done && full < done + count)
			memcpy(blocks_own(w->blocks, start + full - done),
			       data + full * BLOCK_BYTES, len % BLOCK_BYTES);
		done += count;
	}
	if (done < blocks)
		return error_set(err, EFBIG, "put %llu blocks in one file of '%s'",
				 (unsigned long long)blocks, w->opts->label);
	inode->i_size = (uint32_t)len;
	inode->i_size_high = (uint32_t)((uint64_t)len >> 32);
	inode->i_blocks = (uint32_t)(blocks * (BLOCK_BYTES / 512));
	return map_extents(w, inode, x, n, err);
}

/* ---- inodes ---- */

int ext4_write_inode(struct writer *w, ext2_ino_t ino,
		       struct ext2_inode_large *inode, struct error *err)
{
	uint32_t time = w->opts->time, epoch = time >> 31;
	errcode_t ret;

	inode->i_atime = inode->i_ctime = inode->i_mtime = inode->i_crtime = time;
	inode->i_atime_extra = inode->i_ctime_extra = epoch;
	inode->i_mtime_extra = inode->i_crtime_extra = epoch;
	inode->i_extra_isize = sizeof(*inode) - EXT2_GOOD_OLD_INODE_SIZE;
	ret = ext2fs_write_inode_full(w->fs, ino, (struct ext2_inode *)inode,
				      sizeof(*inode));
	return ret ? ext4_failed(w, ret, "write an inode", err) : 0;
}

static uint8_t dirent_type(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG: return EXT2_FT_REG_FILE;
	case S_IFDIR: return EXT2_FT_DIR;
	case S_IFLNK: return EXT2_FT_SYMLINK;
	case S_IFCHR: return EXT2_FT_CHRDEV;
	case S_IFBLK: return EXT2_FT_BLKDEV;
	case S_IFIFO: return EXT2_FT_FIFO;
	case S_IFSOCK: return EXT2_FT_SOCK;
	default: return EXT2_FT_UNKNOWN;
	}
}

/**
 * struct dirblocks - a directory's content being made
 * @b: whole blocks
 * @last: offset of the last entry in @b
 * @used: bytes used of the last block
 */
struct dirblocks {
	struct buf b;
	size_t last, used;
};

static void dir_set_rec_len(struct dirblocks *d, size_t len)
{
	struct ext2_dir_entry_2 *e = (void *)(d->b.data + d->last);

	e->rec_len = htole16((uint16_t)len);
}

static void dir_add_block(struct dirblocks *d)
{
	static const char zeros[BLOCK_BYTES];

	buf_add(&d->b, zeros, sizeof(zeros));
	d->last = d->b.len - BLOCK_BYTES;
	d->used = 0;
	dir_set_rec_len(d, BLOCK_BYTES);
}

/* The last entry of a block reaches to the block's end. */
static void dir_add(struct dirblocks *d, ext2_ino_t ino, uint8_t type,
		    const char *name)
{
	size_t len = strlen(name), need = (8 + len + 3) & ~(size_t)3;
	struct ext2_dir_entry_2 *e;

	if (!d->b.len || d->used + need > BLOCK_BYTES) {
		dir_add_block(d);
	} else {
		size_t start = d->b.len - BLOCK_BYTES + d->used;

		dir_set_rec_len(d, start - d->last);
		d->last = start;
		dir_set_rec_len(d, BLOCK_BYTES - d->used);
	}
	e = (void *)(d->b.data + d->last);
	e->inode = htole32(ino);
	e->name_len = (uint8_t)len;
	e->file_type = type;
	memcpy(e->name, name, len);
	d->used += need;
}

static int store_dir(struct writer *w, const struct item *dir,
		     struct ext2_inode_large *inode, struct error *err)
{
	struct dirblocks d = { 0 };
	size_t i;

	dir_add(&d, dir->ino, EXT2_FT_DIR, ".");
	dir_add(&d, w->items.v[dir->parent].ino, EXT2_FT_DIR, "..");
	for (i = dir->first; i; i = w->items.v[i].next) {
		const struct item *it = &w->items.v[i];

		dir_add(&d, it->ino, dirent_type(it->n->mode),
			strrchr(it->n->path, '/') + 1);
	}
	while (dir->ino == FIRST_INO && d.b.len < LOST_FOUND_BLOCKS * BLOCK_BYTES)
		dir_add_block(&d);
	strings_add(&w->kept, d.b.data);
	/* A directory with more links than can be counted has 1. */
	inode->i_links_count = dir->links + 2 > LINKS_MAX
		? 1 : (uint16_t)(dir->links + 2);
	return ext4_store(w, inode, (uint8_t *)d.b.data, d.b.len,
		     d.b.len / BLOCK_BYTES, err);
}

/* Device numbers of 16 bits have a form of their own. */
static void store_device(const struct node *n, struct ext2_inode_large *inode)
{
	uint32_t major = n->rdev_major, minor = n->rdev_minor;

	if (major < 256 && minor < 256)
		inode->i_block[0] = major << 8 | minor;
	else
		inode->i_block[1] = (minor & 0xff) | major << 8 |
				    (minor & ~0xffu) << 12;
}

int ext4_write_item(struct writer *w, const struct item *it, struct error *err)
{
	const struct node *n = it->n;
	struct ext2_inode_large inode = {
		.i_mode = (uint16_t)n->mode,
		.i_uid = (uint16_t)n->uid,
		.i_gid = (uint16_t)n->gid,
		.i_links_count = (uint16_t)it->links,
	};
	bool is_dir = S_ISDIR(n->mode);
	int ret = 0;

	ext2fs_set_i_uid_high(inode, (uint16_t)(n->uid >> 16));
	ext2fs_set_i_gid_high(inode, (uint16_t)(n->gid >> 16));
	if (is_dir) {
		ret = store_dir(w, it, &inode, err);
	} else if (S_ISLNK(n->mode) && n->size < FAST_LINK_BYTES) {
		memcpy(inode.i_block, n->data, n->size);
		inode.i_size = (uint32_t)n->size;
	} else if (S_ISREG(n->mode) || S_ISLNK(n->mode)) {
		ret = ext4_store(w, &inode, n->data, n->size,
			    (n->size + BLOCK_BYTES - 1) / BLOCK_BYTES, err);
	} else if (S_ISCHR(n->mode) || S_ISBLK(n->mode)) {
		store_device(n, &inode);
	}
	if (ret)
		return -1;
	if (it->ino != FIRST_INO && it->ino != EXT2_ROOT_INO)
		ext2fs_inode_alloc_stats2(w->fs, it->ino, +1, is_dir);
	else if (it->ino == FIRST_INO)
		ext2fs_inode_alloc_stats2(w->fs, FIRST_INO, +1, 1);
	return ext4_write_inode(w, it->ino, &inode, err);
}
