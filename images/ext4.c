/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ext4.c - a tree as an ext4 file system, through libext2fs
 *
 * Inode numbers follow the order of paths, blocks are given out from the front
 * in the same order, each file in one stretch where possible. Group descriptor
 * checksums are off, so that a kernel finds nothing to initialise in the
 * background (ext4lazyinit); directories have no hash index, which any kernel
 * takes for what it is.
 */
#include "images/ext4.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <et/com_err.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"

#define INODE_BYTES 256u
#define LOG_GROUPS_PER_FLEX 4
#define GROUPS_PER_FLEX (1u << LOG_GROUPS_PER_FLEX)
#define JOURNAL_BLOCKS_MIN 1024u	/* less a kernel does not take */
#define JOURNAL_FS_BLOCKS_MIN 2048u	/* the library gives a smaller one none */
#define JOURNAL_UUID_OFFSET 48u	/* in a journal's superblock, version 2 */
#define PATH_LOST_FOUND "/lost+found"

static void writer_end(struct writer *w)
{
	items_free(&w->items);
	strings_clear(&w->kept);
	if (w->fs)
		ext2fs_free(w->fs);
}

int ext4_failed(const struct writer *w, errcode_t code, const char *what,
		struct error *err)
{
	return error_set(err, 0, "make file system '%s' for '%s': %s: %s",
			 w->opts->label, w->path, what, error_message(code));
}

int ext4_no_room(const struct writer *w, struct error *err)
{
	return error_set(err, 0,
		"file system '%s' of %llu MiB is too small for what goes into it; give it a larger size",
		w->opts->label, (unsigned long long)(w->opts->size >> 20));
}

/* ---- which inode is where ---- */

static int collect(const struct node *n, void *data)
{
	items_add(data, (struct item){ .n = n });
	return 0;
}

static int item_cmp(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->n->path,
		      ((const struct item *)b)->n->path);
}

static struct item *item_find(const struct items *items, const char *path)
{
	const struct node n = { .path = (char *)path };
	const struct item key = { .n = &n };

	return bsearch(&key, items->v, items->n, sizeof(key), item_cmp);
}

/* Give the node its inode and enter it in its directory, which is done already. */
static int number_item(struct items *items, size_t i, ext2_ino_t *next_ino,
		       struct error *err)
{
	struct item *it = &items->v[i], *dir;
	const char *slash = strrchr(it->n->path, '/');
	cleanup_free char *parent = xstrndup(it->n->path,
					     (size_t)(slash - it->n->path));

	dir = item_find(items, *parent ? parent : "/");
	if (!dir || !S_ISDIR(dir->n->mode))
		return error_set(err, 0, "'%s' is in no directory of the image",
				 it->n->path);
	it->parent = (size_t)(dir - items->v);
	if (dir->last)
		items->v[dir->last].next = i;
	else
		dir->first = i;
	dir->last = i;
	if (it->n->hardlink)
		return 0;
	if (S_ISDIR(it->n->mode))
		dir->links++;
	else
		it->links++;
	it->ino = strcmp(it->n->path, PATH_LOST_FOUND) ? (*next_ino)++ : FIRST_INO;
	return 0;
}

static int number_hardlink(struct items *items, struct item *it,
			   struct error *err)
{
	struct item *file = item_find(items, it->n->hardlink);

	if (!file || !file->ino || S_ISDIR(file->n->mode))
		return error_set(err, 0, "'%s' is a hard link to '%s', which is no file of the image",
				 it->n->path, it->n->hardlink);
	it->ino = file->ino;
	if (++file->links > LINKS_MAX)
		return error_set(err, EMLINK, "'%s'", file->n->path);
	return 0;
}

/* All nodes, with their inodes. Return: the first unused inode, 0 on failure. */
static ext2_ino_t number_items(struct tree *t, struct items *items,
			       struct error *err)
{
	static const struct node lost_found = {
		.path = (char *)PATH_LOST_FOUND,
		.mode = S_IFDIR | 0700,
	};
	const struct node *own = tree_find(t, PATH_LOST_FOUND);
	ext2_ino_t next_ino = FIRST_INO + 1;
	size_t i;

	tree_each(t, collect, items);
	if (!own) {
		items_add(items, (struct item){ .n = &lost_found });
		qsort(items->v, items->n, sizeof(*items->v), item_cmp);
	} else if (!S_ISDIR(own->mode)) {
		error_set(err, 0, "'" PATH_LOST_FOUND "' must be a directory");
		return 0;
	}
	items->v[0].ino = EXT2_ROOT_INO;
	for (i = 1; i < items->n; i++)
		if (number_item(items, i, &next_ino, err))
			return 0;
	for (i = 1; i < items->n; i++)
		if (items->v[i].n->hardlink &&
		    number_hardlink(items, &items->v[i], err))
			return 0;
	return next_ino;
}

/* ---- the file system around them ---- */

/* The journal: its superblock, everything behind it is zeros. */
static int write_journal(struct writer *w, struct error *err)
{
	struct ext2_super_block *sb = w->fs->super;
	struct ext2_inode_large inode = {
		.i_mode = S_IFREG | 0600,
		.i_links_count = 1,
	};
	struct ext2fs_journal_params params;
	errcode_t ret = ext2fs_get_journal_params(&params, w->fs);
	uint32_t blocks;
	char *jsb;

	if (ret == EXT2_ET_JOURNAL_TOO_SMALL)
		return ext4_no_room(w, err);
	if (ret)
		return ext4_failed(w, ret, "size of the journal", err);
	params.num_fc_blocks = 0;
	blocks = params.num_journal_blocks;
	ret = ext2fs_create_journal_superblock2(w->fs, &params, 0, &jsb);
	if (ret)
		return ext4_failed(w, ret, "create the journal", err);
	/* Newer versions of the library do so themselves, older ones do not. */
	memcpy(jsb + JOURNAL_UUID_OFFSET, w->opts->uuid, sizeof(w->opts->uuid));
	strings_add(&w->kept, jsb);
	if (ext4_store(w, &inode, (uint8_t *)jsb, BLOCK_BYTES, blocks, err))
		return -1;
	inode.i_size = blocks * BLOCK_BYTES;
	inode.i_size_high = (uint32_t)((uint64_t)blocks * BLOCK_BYTES >> 32);
	sb->s_journal_inum = EXT2_JOURNAL_INO;
	sb->s_jnl_backup_type = EXT3_JNL_BACKUP_BLOCKS;
	memcpy(sb->s_jnl_blocks, inode.i_block, sizeof(inode.i_block));
	sb->s_jnl_blocks[EXT2_N_BLOCKS] = inode.i_size_high;
	sb->s_jnl_blocks[EXT2_N_BLOCKS + 1] = inode.i_size;
	return ext4_write_inode(w, EXT2_JOURNAL_INO, &inode, err);
}

/* What identifies the file system, nothing of it left to the library's clock. */
static void set_identity(struct writer *w)
{
	struct ext2_super_block *sb = w->fs->super;
	const struct ext4_opts *o = w->opts;
	char uuid[UUID_TEXT];

	w->fs->now = o->time;
	sb->s_mkfs_time = sb->s_lastcheck = sb->s_wtime = o->time;
	sb->s_mtime = 0;
	sb->s_max_mnt_count = -1;
	sb->s_checkinterval = 0;
	sb->s_creator_os = EXT2_OS_LINUX;
	sb->s_def_hash_version = EXT2_HASH_HALF_MD4;
	sb->s_flags &= ~(uint32_t)EXT2_FLAGS_UNSIGNED_HASH;
	sb->s_flags |= EXT2_FLAGS_SIGNED_HASH;
	sb->s_log_groups_per_flex = LOG_GROUPS_PER_FLEX;
	sb->s_r_blocks_count = 0;
	memcpy(sb->s_uuid, o->uuid, sizeof(sb->s_uuid));
	uuid_text(o->uuid, uuid);
	uuid5(uuid, "ext4 directory hash", (uint8_t *)sb->s_hash_seed);
	memcpy(sb->s_volume_name, o->label, strlen(o->label));
}

static int begin(struct writer *w, uint32_t inodes, struct error *err)
{
	const struct ext4_opts *o = w->opts;
	struct ext2_super_block p = {
		.s_rev_level = EXT2_DYNAMIC_REV,
		.s_log_block_size = 2,		/* 1024 << 2 */
		.s_log_cluster_size = 2,
		.s_inode_size = INODE_BYTES,
		.s_log_groups_per_flex = LOG_GROUPS_PER_FLEX,
		.s_blocks_count = (uint32_t)(o->size / BLOCK_BYTES),
		.s_inodes_count = inodes,
		.s_feature_compat = EXT2_FEATURE_COMPAT_EXT_ATTR |
			EXT2_FEATURE_COMPAT_DIR_INDEX |
			(o->journal ? EXT3_FEATURE_COMPAT_HAS_JOURNAL : 0),
		.s_feature_incompat = EXT2_FEATURE_INCOMPAT_FILETYPE |
			EXT3_FEATURE_INCOMPAT_EXTENTS |
			EXT4_FEATURE_INCOMPAT_FLEX_BG,
		.s_feature_ro_compat = EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER |
			EXT2_FEATURE_RO_COMPAT_LARGE_FILE |
			EXT4_FEATURE_RO_COMPAT_HUGE_FILE |
			EXT4_FEATURE_RO_COMPAT_DIR_NLINK |
			EXT4_FEATURE_RO_COMPAT_EXTRA_ISIZE,
	};
	ext2_ino_t ino;
	errcode_t ret;
	dgrp_t last;

	ret = ext2fs_initialize(w->path, EXT2_FLAG_64BITS, &p, blocks_manager,
				&w->fs);
	if (ret == EXT2_ET_TOOSMALL || ret == EXT2_ET_TOO_MANY_INODES)
		return ext4_no_room(w, err);
	if (ret)
		return ext4_failed(w, ret, "begin", err);
	w->blocks = w->fs->io->private_data;
	set_identity(w);
	ret = ext2fs_allocate_tables(w->fs);
	if (ret)
		return ext4_no_room(w, err);
	/* The tables of up to 16 groups are at the front, with small gaps left for
	 * more groups: nothing that a file should be split over. */
	last = w->fs->group_desc_count - 1;
	if (last >= GROUPS_PER_FLEX)
		last = GROUPS_PER_FLEX - 1;
	w->cursor = ext2fs_inode_table_loc(w->fs, last) +
		    w->fs->inode_blocks_per_group;
	for (ino = 1; ino < FIRST_INO; ino++)
		ext2fs_inode_alloc_stats2(w->fs, ino, +1, ino == EXT2_ROOT_INO);
	return 0;
}

static int fill(struct tree *t, struct writer *w, struct error *err)
{
	ext2_ino_t next_ino = number_items(t, &w->items, err);
	errcode_t ret;
	size_t i;

	if (!next_ino)
		return error_prefix(err, "make file system '%s'", w->opts->label);
	if (begin(w, next_ino - 1 + w->opts->reserve_inodes, err) ||
	    (w->opts->journal && write_journal(w, err)))
		return -1;
	for (i = 0; i < w->items.n; i++)
		if (!w->items.v[i].n->hardlink &&
		    ext4_write_item(w, &w->items.v[i], err))
			return -1;
	ret = ext2fs_flush2(w->fs, EXT2_FLAG_FLUSH_NO_SYNC);
	return ret ? ext4_failed(w, ret, "finish", err) : 0;
}

static int check_opts(const struct ext4_opts *o, struct error *err)
{
	if (strlen(o->label) > EXT2_LABEL_LEN)
		return error_set(err, 0, "label '%s' has more than %d bytes",
				 o->label, EXT2_LABEL_LEN);
	if (!o->time)
		return error_set(err, 0, "file system '%s': its time may not be 0",
				 o->label);
	if (!o->size || o->size % BLOCK_BYTES || o->size / BLOCK_BYTES > UINT32_MAX)
		return error_set(err, 0,
			"file system '%s': a size of %llu bytes is no multiple of %u up to 16 TiB",
			o->label, (unsigned long long)o->size, BLOCK_BYTES);
	return 0;
}

int tree_write_ext4(struct tree *t, const char *path,
		    const struct ext4_opts *opts, struct error *err)
{
	CLEANUP(writer_end) struct writer w = { .opts = opts, .path = path };
	CLEANUP(newfile_abort) struct newfile f = { .fd = -1 };

	initialize_ext2_error_table();
	if (check_opts(opts, err) || fill(t, &w, err) ||
	    newfile_open(&f, path, 0644, err))
		return -1;
	if (ftruncate(f.fd, (off_t)opts->size))
		return error_set(err, errno, "make '%s' %llu MiB large", path,
				 (unsigned long long)(opts->size >> 20));
	if (blocks_write(w.blocks, f.fd, path, err))
		return -1;
	return newfile_commit(&f, err);
}

/* struct measure - what tree_ext4_size() adds up */
struct measure {
	uint64_t blocks, inodes, name_bytes;
};

static int measure_node(const struct node *n, void *data)
{
	struct measure *m = data;

	m->blocks += S_ISDIR(n->mode) ? 1 : (n->size + BLOCK_BYTES - 1) / BLOCK_BYTES;
	m->name_bytes += 12 + strlen(strrchr(n->path, '/'));
	m->inodes++;
	return 0;
}

static uint64_t journal_blocks(uint64_t blocks)
{
	int journal = ext2fs_default_journal_size(blocks);

	return journal > 0 ? (uint64_t)journal : JOURNAL_BLOCKS_MIN;
}

uint64_t tree_ext4_size(struct tree *t, const struct ext4_opts *o,
			uint64_t free_bytes)
{
	struct measure m = { 0 };
	uint64_t total, inode_blocks, groups;

	tree_each(t, measure_node, &m);
	/* Up to a fourteenth of a directory's block is too short for a name. */
	total = m.blocks + m.name_bytes * 14 / 13 / BLOCK_BYTES + 1 +
		free_bytes / BLOCK_BYTES + 1;
	inode_blocks = (FIRST_INO + m.inodes + o->reserve_inodes) * INODE_BYTES /
		       BLOCK_BYTES + 1;
	total += inode_blocks;
	groups = total / (8 * BLOCK_BYTES) + 2;
	/* Superblock, descriptors, bitmaps, the rounding of the inode table; and
	 * the library drops a last group that holds little more than its tables. */
	total += groups * (6 + groups / 64) + inode_blocks / (groups - 1) + 64;
	/* Larger by the journal it may be given a larger journal. */
	if (o->journal)
		total += journal_blocks(total + journal_blocks(total));
	if (o->journal && total < JOURNAL_FS_BLOCKS_MIN)
		total = JOURNAL_FS_BLOCKS_MIN;
	return (total * BLOCK_BYTES + (1u << 20) - 1) & ~(uint64_t)((1u << 20) - 1);
}
