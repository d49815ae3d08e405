/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ext4.h - between the two halves of the ext4 writer: ext4.c numbers the nodes
 * and makes the file system around them, ext4_inode.c gives out the blocks and
 * writes each inode with its content
 */
#ifndef KONTEST_EXT4_H
#define KONTEST_EXT4_H

#include <ext2fs/ext2fs.h>

#include "images/blocks.h"
#include "images/tree.h"
#include "results/base/text.h"

#define FIRST_INO EXT2_GOOD_OLD_FIRST_INO	/* that of lost+found */
#define LINKS_MAX 65000u			/* what a kernel allows */

/**
 * struct item - one node on its way into the image
 * @n: the node
 * @ino: its inode
 * @links: link count of a file, sub-directories of a directory
 * @parent: index of its directory
 * @first, @last: indices of a directory's first and last child; 0 for none
 * @next: index of the next child of the same directory; 0 for none
 */
struct item {
	const struct node *n;
	ext2_ino_t ino;
	unsigned int links;
	size_t parent, first, last, next;
};
DEFINE_VECTOR(items, struct item)

/**
 * struct writer - an image being made
 * @cursor: blocks below it have been given out
 * @kept: directories and such, which the image refers to
 */
struct writer {
	const struct ext4_opts *opts;
	const char *path;
	ext2_filsys fs;
	struct blocks *blocks;
	blk64_t cursor;
	struct items items;
	struct strings kept;
};

/* ext4_failed() - an error of the library's; @what could not be done */
int ext4_failed(const struct writer *w, errcode_t code, const char *what,
		struct error *err);
/* ext4_no_room() - the image is too small */
int ext4_no_room(const struct writer *w, struct error *err);

/**
 * ext4_store() - give an inode its content
 * @w: the image
 * @inode: gets size, block count and extents
 * @data: content; whole blocks of it are referred to until the image is written
 * @len: bytes of @data
 * @blocks: blocks to give it, at least what @len needs; those behind are zeros
 * @err: no room
 */
int ext4_store(struct writer *w, struct ext2_inode_large *inode,
	       const uint8_t *data, size_t len, uint64_t blocks,
	       struct error *err);
/* ext4_write_inode() - with all its times */
int ext4_write_inode(struct writer *w, ext2_ino_t ino,
		     struct ext2_inode_large *inode, struct error *err);
/* ext4_write_item() - a node with its content */
int ext4_write_item(struct writer *w, const struct item *it, struct error *err);

#endif
