/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_ext4.c - what lies where in the root file system
 *
 * Source of offsets: Linux, Documentation/filesystems/ext4 (inodes, dirents).
 */
#include <string.h>

#include <ext2fs/ext2fs.h>

#include "images/verify_parts.h"
#include "results/base/cleanup.h"

enum { RANK_INODE, RANK_ENTRY, RANK_DATA, RANK_EXTENTS, RANK_CHECKSUM,
       RANK_METADATA, RANK_UNUSED };

/* No path is longer than our recipes' by far; a circle would be. */
#define PATH_BYTES_MAX 4096

static const struct field inode_fields[] = {
	{ 0x00, 2, "mode", 'o', RANK_INODE },
	{ 0x02, 2, "owner (uid)", 'u', RANK_INODE },
	{ 0x78, 2, "owner (uid, high half)", 'u', RANK_INODE },
	{ 0x18, 2, "group (gid)", 'u', RANK_INODE },
	{ 0x7a, 2, "group (gid, high half)", 'u', RANK_INODE },
	{ 0x04, 4, "size", 'u', RANK_INODE },
	{ 0x6c, 4, "size (high half)", 'u', RANK_INODE },
	{ 0x10, 4, "time of modification", 'u', RANK_INODE },
	{ 0x0c, 4, "time of change", 'u', RANK_INODE },
	{ 0x08, 4, "time of access", 'u', RANK_INODE },
	{ 0x14, 4, "time of deletion", 'u', RANK_INODE },
	{ 0x90, 4, "time of creation", 'u', RANK_INODE },
	{ 0x84, 12, "times (nanoseconds)", 'b', RANK_INODE },
	{ 0x94, 4, "time of creation (nanoseconds)", 'u', RANK_INODE },
	{ 0x20, 4, "flags", 'x', RANK_INODE },
	{ 0x1a, 2, "number of links", 'u', RANK_INODE },
	{ 0x1c, 4, "number of blocks", 'u', RANK_INODE },
	{ 0x28, 60, "extents (or target of a short link)", 'b', RANK_INODE },
	{ 0x24, 4, "version", 'u', RANK_INODE },
	{ 0x64, 4, "generation", 'u', RANK_INODE },
	{ 0x68, 4, "block of attributes", 'u', RANK_INODE },
	{ 0x70, 8, "blocks (high half)", 'b', RANK_INODE },
	{ 0x80, 2, "size of the extra fields", 'u', RANK_INODE },
	{ 0x98, 8, "version (high half) or project", 'b', RANK_INODE },
	{ 0xa0, 96, "extended attributes", 'b', RANK_INODE },
	{ 0x7c, 2, "checksum", 'x', RANK_CHECKSUM },
	{ 0x7e, 2, "reserved field", 'x', RANK_INODE },
	{ 0x82, 2, "checksum (high half)", 'x', RANK_CHECKSUM },
	{ 0, 0, NULL, 0, 0 },
};

enum kind { UNUSED, SUPERBLOCK, BLOCK_BITMAP, INODE_BITMAP, INODE_TABLE, DATA,
	    EXTENTS };

/**
 * struct block_use - what a block is for
 * @ino: whose it is (DATA, EXTENTS), or its first inode (INODE_TABLE)
 * @index: which of the file's blocks
 */
struct block_use {
	enum kind kind;
	ext2_ino_t ino;
	uint32_t index;
};

struct ext4_map {
	ext2_filsys fs;
	struct block_use *use;
	uint64_t blocks;
	char **paths;		/* of inode 0.., NULL: nothing has it */
	bool *is_dir;
	ext2_ino_t inodes;
};

static int failed(const char *path, errcode_t code, const char *what,
		  struct error *err)
{
	return error_set(err, 0, "'%s': %s of the root file system: %s", path,
			 what, error_message(code));
}

/* --- learning the map ---------------------------------------------------------- */

/* struct naming - a directory being read */
struct naming {
	struct ext4_map *m;
	ext2_ino_t dir;
	struct strings *todo;
};

static int name_entry(ext2_ino_t dir, int entry, struct ext2_dir_entry *d,
		      int offset, int blocksize, char *buf, void *data)
{
	struct naming *n = data;
	struct ext4_map *m = n->m;
	int len = ext2fs_dirent_name_len(d);
	const char *above = m->paths[n->dir];

	(void)dir;
	(void)offset;
	(void)blocksize;
	(void)buf;
	if (entry != DIRENT_OTHER_FILE || !d->inode || d->inode > m->inodes ||
	    m->paths[d->inode] || strlen(above) + (size_t)len > PATH_BYTES_MAX)
		return 0;
	m->paths[d->inode] = xasprintf("%s/%.*s", strcmp(above, "/") ? above : "",
				       len, d->name);
	if (ext2fs_dirent_file_type(d) == EXT2_FT_DIR) {
		m->is_dir[d->inode] = true;
		strings_add(n->todo, xasprintf("%u", d->inode));
	}
	return 0;
}

static int learn_names(struct ext4_map *m, const char *path, struct error *err)
{
	CLEANUP(strings_clear) struct strings todo = { 0 };

	m->paths[EXT2_ROOT_INO] = xstrdup("/");
	m->is_dir[EXT2_ROOT_INO] = true;
	strings_add(&todo, xasprintf("%u", EXT2_ROOT_INO));
	for (size_t i = 0; i < todo.n; i++) {
		uint64_t ino = 0;
		struct naming n = { .m = m, .todo = &todo };
		errcode_t ret;

		parse_u64(todo.v[i], &ino);
		n.dir = (ext2_ino_t)ino;
		ret = ext2fs_dir_iterate2(m->fs, n.dir, 0, NULL, name_entry, &n);
		if (ret)
			return failed(path, ret, "a directory", err);
	}
	return 0;
}

/* struct owning - an inode whose blocks are being marked */
struct owning {
	struct ext4_map *m;
	ext2_ino_t ino;
};

static int own_block(ext2_filsys fs, blk64_t *blk, e2_blkcnt_t count,
		     blk64_t ref_blk, int ref_offset, void *data)
{
	struct owning *o = data;

	(void)fs;
	(void)ref_blk;
	(void)ref_offset;
	if (*blk < o->m->blocks)
		o->m->use[*blk] = (struct block_use){
			count < 0 ? EXTENTS : DATA, o->ino,
			count < 0 ? 0 : (uint32_t)count };
	return 0;
}

static int learn_files(struct ext4_map *m, const char *path, struct error *err)
{
	for (ext2_ino_t ino = 1; ino <= m->inodes; ino++) {
		struct owning o = { m, ino };
		struct ext2_inode inode;
		errcode_t ret = ext2fs_read_inode(m->fs, ino, &inode);

		if (!ret && (inode.i_links_count || ino < EXT2_FIRST_INO(m->fs->super)) &&
		    ext2fs_inode_has_valid_blocks2(m->fs, &inode))
			ret = ext2fs_block_iterate3(m->fs, ino,
				BLOCK_FLAG_READ_ONLY, NULL, own_block, &o);
		if (ret)
			return failed(path, ret, "an inode", err);
	}
	return 0;
}

static void mark(struct ext4_map *m, blk64_t blk, enum kind kind, ext2_ino_t ino)
{
	if (blk && blk < m->blocks)
		m->use[blk] = (struct block_use){ kind, ino, 0 };
}

static void learn_groups(struct ext4_map *m)
{
	ext2_filsys fs = m->fs;
	uint32_t per = fs->blocksize / EXT2_INODE_SIZE(fs->super);

	m->use[0].kind = SUPERBLOCK;
	for (dgrp_t g = 0; g < fs->group_desc_count; g++) {
		blk64_t super, old, new, table = ext2fs_inode_table_loc(fs, g);
		blk_t used = 0;

		ext2fs_super_and_bgd_loc2(fs, g, &super, &old, &new, &used);
		mark(m, super, SUPERBLOCK, 0);
		for (blk64_t i = 0; old && i < fs->desc_blocks +
		     fs->super->s_reserved_gdt_blocks; i++)
			mark(m, old + i, SUPERBLOCK, 0);
		mark(m, new, SUPERBLOCK, 0);
		mark(m, ext2fs_block_bitmap_loc(fs, g), BLOCK_BITMAP, 0);
		mark(m, ext2fs_inode_bitmap_loc(fs, g), INODE_BITMAP, 0);
		for (blk64_t i = 0; i < fs->inode_blocks_per_group; i++)
			mark(m, table + i, INODE_TABLE,
			     g * EXT2_INODES_PER_GROUP(fs->super) + 1 +
				     (ext2_ino_t)i * per);
	}
}

struct ext4_map *ext4_map_new(const char *path, uint64_t off, uint64_t size,
			      struct error *err)
{
	cleanup_free char *options = xasprintf("offset=%llu",
					       (unsigned long long)off);
	struct ext4_map *m = xcalloc(1, sizeof(*m));
	errcode_t ret = ext2fs_open2(path, options, EXT2_FLAG_64BITS, 0, 0,
				     unix_io_manager, &m->fs);

	if (ret) {
		failed(path, ret, "the superblock", err);
		free(m);
		return NULL;
	}
	m->blocks = ext2fs_blocks_count(m->fs->super);
	m->inodes = m->fs->super->s_inodes_count;
	m->use = xcalloc(m->blocks, sizeof(*m->use));
	m->paths = xcalloc((size_t)m->inodes + 1, sizeof(*m->paths));
	m->is_dir = xcalloc((size_t)m->inodes + 1, sizeof(*m->is_dir));
	if (m->fs->blocksize != VERIFY_BLOCK || m->blocks * VERIFY_BLOCK > size ||
	    EXT2_INODE_SIZE(m->fs->super) < 128) {
		error_set(err, 0, "'%s': its root file system is no ext4 of ours", path);
		ext4_map_free(m);
		return NULL;
	}
	learn_groups(m);
	if (learn_files(m, path, err) < 0 || learn_names(m, path, err) < 0) {
		ext4_map_free(m);
		return NULL;
	}
	return m;
}

void ext4_map_free(struct ext4_map *m)
{
	if (!m)
		return;
	for (size_t i = 0; m->paths && i <= m->inodes; i++)
		free(m->paths[i]);
	free(m->paths);
	free(m->is_dir);
	free(m->use);
	ext2fs_free(m->fs);
	free(m);
}

/* --- naming a difference --------------------------------------------------------- */

static char *inode_name(const struct ext4_map *m, ext2_ino_t ino)
{
	if (ino <= m->inodes && m->paths[ino])
		return xstrdup(m->paths[ino]);
	return xasprintf("inode %u, which no file has", ino);
}

static void explain_inodes(const struct ext4_map *m, const struct block_use *u,
			   const struct spot *s, struct finding *f)
{
	uint32_t size = EXT2_INODE_SIZE(m->fs->super);
	struct field fields[sizeof(inode_fields) / sizeof(inode_fields[0])];
	size_t n = 0;

	for (const struct field *i = inode_fields; i->len; i++)
		if ((uint32_t)i->off + i->len <= size)
			fields[n++] = *i;
	fields[n] = (struct field){ 0 };
	for (uint32_t i = 0; (i + 1) * size <= s->len; i++) {
		const uint8_t *ref = s->ref + i * size, *image = s->image + i * size;
		cleanup_free char *name = NULL;

		if (!memcmp(ref, image, size))
			continue;
		name = inode_name(m, u->ino + i);
		fields_explain(fields, ref, image, name, f);
	}
}

/* The entry of a directory's block in which the first difference lies */
static void explain_dir(const char *dir, const struct spot *s, struct finding *f)
{
	size_t at = 0, off = 0;

	if (!finding_wants(f, RANK_ENTRY))
		return;
	while (at < s->len && s->ref[at] == s->image[at])
		at++;
	while (off + 8 <= s->len) {
		size_t len = (size_t)s->ref[off + 4] | (size_t)s->ref[off + 5] << 8;

		if (len < 8 || off + len > s->len || off + len > at)
			break;
		off += len;
	}
	if (off + 8 <= s->len && s->ref[off + 6] &&
	    off + 8 + s->ref[off + 6] <= s->len)
		finding_set(f, RANK_ENTRY, "directory %s: entry '%.*s'", dir,
			    s->ref[off + 6], (const char *)s->ref + off + 8);
	else
		finding_set(f, RANK_ENTRY, "directory %s: an entry that built anew is not there, or the checksum",
			    dir);
}

static void explain_file(const struct ext4_map *m, const struct block_use *u,
			 const struct spot *s, struct finding *f)
{
	cleanup_free char *name = inode_name(m, u->ino);

	if (u->kind == EXTENTS)
		finding_set(f, RANK_EXTENTS, "%s: a block of its extents", name);
	else if (u->ino <= m->inodes && m->is_dir[u->ino])
		explain_dir(name, s, f);
	else
		finding_range(f, s, RANK_DATA, name,
			      (uint64_t)u->index * VERIFY_BLOCK);
}

void ext4_explain(const struct ext4_map *m, const struct spot *s,
		  struct finding *f)
{
	uint64_t blk = s->off / VERIFY_BLOCK;
	static const struct block_use none;
	const struct block_use *u = blk < m->blocks ? &m->use[blk] : &none;

	switch (u->kind) {
	case SUPERBLOCK:
		finding_range(f, s, RANK_METADATA, "superblock or group descriptors",
			      s->off);
		break;
	case BLOCK_BITMAP:
		finding_range(f, s, RANK_METADATA, "bitmap of blocks", s->off);
		break;
	case INODE_BITMAP:
		finding_range(f, s, RANK_METADATA, "bitmap of inodes", s->off);
		break;
	case INODE_TABLE:
		explain_inodes(m, u, s, f);
		break;
	case DATA:
	case EXTENTS:
		explain_file(m, u, s, f);
		break;
	case UNUSED:
		finding_range(f, s, RANK_UNUSED, "an unused block", s->off);
		break;
	}
}
