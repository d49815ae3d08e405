/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fat.c - see fat.h
 *
 * Source of offsets: Microsoft, "FAT: General Overview of On-Disk Format" 1.03.
 */
#include "images/fat.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"

#define DEPTH_MAX 8
#define ENTRIES_MAX 65536u
#define LFN_ATTR 0x0fu
#define LFN_PARTS 20
#define LFN_CHARS 13
#define VOLUME 0x08u
#define LOWER_BASE 0x08u
#define LOWER_EXT 0x10u
#define LAST 0xfff8u

static uint32_t le(const uint8_t *p, int bytes)
{
	uint32_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static int damaged(const struct fat *f, const char *what, struct error *err)
{
	return error_set(err, 0, "'%s': the EFI system partition is no FAT16 that can be read: %s",
			 f->path, what);
}

static int read_geometry(struct fat *f, const uint8_t *s, struct error *err)
{
	uint32_t reserved = le(s + 14, 2), root_entries = le(s + 17, 2);
	uint32_t per = s[13], fat_sectors = le(s + 22, 2);
	uint64_t total = le(s + 19, 2) ? le(s + 19, 2) : le(s + 32, 4);
	uint64_t clusters;

	f->sector = le(s + 11, 2);
	f->fats = s[16];
	if (s[510] != 0x55 || s[511] != 0xaa)
		return damaged(f, "no boot signature", err);
	if ((f->sector != 512 && f->sector != 1024 && f->sector != 2048 &&
	     f->sector != 4096) || !per || per & (per - 1) || !reserved ||
	    !f->fats || f->fats > 2 || !fat_sectors)
		return damaged(f, "its geometry is impossible", err);
	f->cluster = f->sector * per;
	f->fat_off = f->off + (uint64_t)reserved * f->sector;
	f->fat_size = (uint64_t)fat_sectors * f->sector;
	f->root_off = f->fat_off + f->fats * f->fat_size;
	f->root_size = (uint64_t)root_entries * FAT_ENTRY;
	f->data_off = f->root_off +
		      (f->root_size + f->sector - 1) / f->sector * f->sector;
	if (total * f->sector > f->size ||
	    f->data_off - f->off >= total * f->sector)
		return damaged(f, "it is larger than its partition", err);
	clusters = (f->off + total * f->sector - f->data_off) / f->cluster;
	if (clusters > 65524 || (clusters + 2) * 2 > f->fat_size)
		return damaged(f, "its table does not fit its size", err);
	f->clusters = (uint32_t)clusters;
	return 0;
}

int fat_open(struct fat *f, int fd, const char *path, uint64_t off,
	     uint64_t size, struct error *err)
{
	uint8_t sector[512];
	size_t bytes;

	*f = (struct fat){ .fd = fd, .path = path, .off = off, .size = size };
	if (size < sizeof(sector))
		return damaged(f, "it is empty", err);
	if (full_pread(fd, sector, sizeof(sector), (off_t)off, path, err) < 0 ||
	    read_geometry(f, sector, err) < 0)
		return -1;
	bytes = ((size_t)f->clusters + 2) * 2;
	f->table = xmalloc(bytes);
	if (full_pread(fd, f->table, bytes, (off_t)f->fat_off, path, err) < 0) {
		fat_close(f);
		return -1;
	}
	for (uint32_t i = 0; i < f->clusters + 2; i++)
		f->table[i] = (uint16_t)le((uint8_t *)&f->table[i], 2);
	return 0;
}

void fat_close(struct fat *f)
{
	free(f->table);
	f->table = NULL;
}

static bool is_cluster(const struct fat *f, uint32_t c)
{
	return c >= 2 && c < f->clusters + 2;
}

uint32_t fat_next(const struct fat *f, uint32_t cluster)
{
	uint32_t next = is_cluster(f, cluster) ? f->table[cluster] : 0;

	return next < LAST && is_cluster(f, next) ? next : 0;
}

uint64_t fat_cluster_off(const struct fat *f, uint32_t cluster)
{
	return f->data_off + (uint64_t)(cluster - 2) * f->cluster;
}

/* --- directories ---------------------------------------------------------------- */

/**
 * struct walk - fat_walk() at work
 * @seen: entries so far
 * @lfn: long name being collected, @lfn_len of it known; 0: none
 */
struct walk {
	const struct fat *f;
	int (*fn)(const struct fat_entry *e, void *data);
	void *data;
	struct error *err;
	unsigned int seen;
	char lfn[LFN_PARTS * LFN_CHARS + 1];
	bool has_lfn;
};

/* A part of a long name; parts come last first. What is not ASCII becomes '?':
 * no name of ours is. */
static void take_lfn(struct walk *w, const uint8_t *e)
{
	static const uint8_t at[LFN_CHARS] = { 1, 3, 5, 7, 9, 14, 16, 18, 20, 22,
					       24, 28, 30 };
	unsigned int part = e[0] & 0x3f;

	if (!part || part > LFN_PARTS)
		return;
	if (e[0] & 0x40)
		memset(w->lfn, 0, sizeof(w->lfn));
	for (size_t i = 0; i < LFN_CHARS; i++) {
		uint32_t c = le(e + at[i], 2);
		char *to = &w->lfn[(part - 1) * LFN_CHARS + i];

		*to = c == 0 || c == 0xffff ? '\0' :
		      c < ' ' || c > '~' || c == '/' ? '?' : (char)c;
	}
	w->has_lfn = true;
}

static void short_name(const uint8_t *e, char out[13])
{
	size_t n = 0;

	for (size_t i = 0; i < 11; i++) {
		unsigned char c = e[i];
		bool lower = e[12] & (i < 8 ? LOWER_BASE : LOWER_EXT);

		if (c == ' ')
			continue;
		if (i >= 8 && (n == 0 || !memchr(out, '.', n)))
			out[n++] = '.';
		if (c < ' ' || c > '~' || c == '/')
			c = '?';
		out[n++] = lower && c >= 'A' && c <= 'Z' ? (char)(c + 32) : (char)c;
	}
	out[n] = '\0';
}

static int walk_dir(struct walk *w, uint32_t first, const char *prefix, int depth);

/* One 32-byte entry: 1 at the directory's end, else 0, or what stops the walk */
static int take_entry(struct walk *w, const uint8_t *e, uint64_t at,
		      const char *prefix, int depth, int *ret)
{
	struct fat_entry entry = { .attr = e[11], .at = at,
				   .first = le(e + 26, 2), .size = le(e + 28, 4) };
	cleanup_free char *path = NULL;
	char name[13];
	bool long_name = w->has_lfn;

	if (e[0] == 0)
		return 1;
	if (e[0] == 0xe5)
		return 0;
	if ((e[11] & 0x3f) == LFN_ATTR) {
		take_lfn(w, e);
		return 0;
	}
	w->has_lfn = false;
	if (e[11] & VOLUME || e[0] == '.')
		return 0;
	if (++w->seen > ENTRIES_MAX) {
		*ret = damaged(w->f, "it has too many files", w->err);
		return 1;
	}
	short_name(e, name);
	path = xasprintf("%s%s%s", prefix, *prefix ? "/" : "",
			 long_name ? w->lfn : name);
	entry.path = path;
	*ret = w->fn(&entry, w->data);
	if (!*ret && entry.attr & FAT_DIR)
		*ret = walk_dir(w, entry.first, path, depth + 1);
	return *ret != 0;
}

static int walk_range(struct walk *w, uint64_t off, uint64_t len,
		      const char *prefix, int depth, bool *end)
{
	cleanup_free uint8_t *data = xmalloc(len ? len : 1);
	int ret = 0;

	if (full_pread(w->f->fd, data, len, (off_t)off, w->f->path, w->err) < 0)
		return -1;
	for (uint64_t i = 0; i + FAT_ENTRY <= len && !*end; i += FAT_ENTRY)
		*end = take_entry(w, data + i, off + i, prefix, depth, &ret) != 0;
	return ret;
}

static int walk_dir(struct walk *w, uint32_t first, const char *prefix, int depth)
{
	const struct fat *f = w->f;
	uint32_t left = f->clusters;
	bool end = false;
	int ret = 0;

	w->has_lfn = false;
	if (depth > DEPTH_MAX)
		return damaged(f, "its directories are too deep", w->err);
	if (!depth)
		return walk_range(w, f->root_off, f->root_size, prefix, depth, &end);
	for (uint32_t c = is_cluster(f, first) ? first : 0; c && !end && !ret && left;
	     c = fat_next(f, c), left--)
		ret = walk_range(w, fat_cluster_off(f, c), f->cluster, prefix,
				 depth, &end);
	return ret;
}

int fat_walk(const struct fat *f,
	     int (*fn)(const struct fat_entry *e, void *data), void *data,
	     struct error *err)
{
	struct walk w = { .f = f, .fn = fn, .data = data, .err = err };

	return walk_dir(&w, 0, "", 0);
}

/* --- files ------------------------------------------------------------------------ */

/* struct wanted - the file that fat_read() looks for */
struct wanted {
	const char *name;
	uint32_t first, size;
};

static int match(const struct fat_entry *e, void *data)
{
	struct wanted *w = data;

	if (e->attr & FAT_DIR || strcasecmp(e->path, w->name))
		return 0;
	w->first = e->first;
	w->size = e->size;
	return 1;
}

int fat_read(const struct fat *f, const char *name, size_t max, struct buf *out,
	     struct error *err)
{
	struct wanted w = { .name = name };
	cleanup_free char *chunk = NULL;
	int found = fat_walk(f, match, &w, err);
	uint32_t left = w.size, c = w.first;

	if (found < 0)
		return -1;
	if (!found) {
		error_set(err, 0, "'%s': there is no file '%s' on its EFI system partition",
			  f->path, name);
		if (err)
			err->errnum = ENOENT;
		return -1;
	}
	if (w.size > max)
		return error_set(err, 0, "'%s': file '%s' on its EFI system partition is larger than %zu bytes",
				 f->path, name, max);
	chunk = xmalloc(f->cluster);
	for (; left && is_cluster(f, c); c = fat_next(f, c)) {
		size_t n = left < f->cluster ? left : f->cluster;

		if (full_pread(f->fd, chunk, n, (off_t)fat_cluster_off(f, c),
			       f->path, err) < 0)
			return -1;
		buf_add(out, chunk, n);
		left -= (uint32_t)n;
	}
	return left ? damaged(f, "a file is shorter than it says", err) : 0;
}
