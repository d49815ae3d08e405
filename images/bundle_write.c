/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bundle_write.c - a bundle put together: files cut into pieces, each kept once
 */
#include "images/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "images/tar_header.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define BLOCK 4096u
#define SECTOR 512u
#define MODE 0644

/* struct bundle_contents - where each member's bytes come from: memory, or a
 * file from @off on */
struct content {
	char *data;
	char *path;
	uint64_t off;
};
DEFINE_VECTOR(contents, struct content)
struct bundle_contents {
	struct contents list;
};

/* struct mapped - a file in memory */
struct mapped {
	const char *data;
	size_t len;
};
DEFINE_VECTOR(mapped_files, struct mapped)
/* struct bundle_known - files that others may hold whole */
struct bundle_known {
	struct mapped_files list;
};

static void unmap(struct mapped *m)
{
	if (m->data)
		munmap((void *)m->data, m->len);
}

static int map_file(const char *path, struct mapped *m, struct error *err)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, errno, "open '%s'", path);
	if (!S_ISREG(st.st_mode) || !st.st_size ||
	    (uint64_t)st.st_size > BUNDLE_FILE_MAX)
		return error_set(err, 0, "'%s' is empty, too large or no regular file", path);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return error_set(err, errno, "map '%s'", path);
	m->data = p;
	m->len = (size_t)st.st_size;
	return 0;
}

static void draft_init(struct bundle_draft *d)
{
	if (!d->contents)
		d->contents = xcalloc(1, sizeof(*d->contents));
	if (!d->known)
		d->known = xcalloc(1, sizeof(*d->known));
}

static void add_member(struct bundle_draft *d, const char *path, const char *role,
		       uint64_t size, const char *sha256, struct content c)
{
	struct bundle_member m = {
		.path = xstrdup(path), .role = xstrdup(role), .size = size,
		.mode = MODE,
	};

	memcpy(m.sha256, sha256, SHA256_HEX);
	draft_init(d);
	bundle_members_add(&d->m.members, m);
	contents_add(&d->contents->list, c);
}

void bundle_add_text(struct bundle_draft *d, const char *path, const char *role,
		     const void *data, size_t len)
{
	struct content c = { .data = xmalloc(len + 1) };
	char sha256[SHA256_HEX];

	memcpy(c.data, data, len);
	sha256_of(data, len, sha256);
	add_member(d, path, role, len, sha256, c);
}

int bundle_add_member(struct bundle_draft *d, const char *path,
		      const char *role, const char *source, struct error *err)
{
	CLEANUP(buf_free) struct buf b = { 0 };

	if (file_read(source, BUNDLE_MEMBER_MAX, &b, err) < 0)
		return -1;
	bundle_add_text(d, path, role, b.data, b.len);
	return 0;
}

static bool all_zero(const char *p, size_t n)
{
	return !n || (!p[0] && !memcmp(p, p + 1, n - 1));
}

static size_t find_piece(const struct bundle_draft *d, const char *path)
{
	/* From the end: neighbours in one file are neighbours in the other. */
	for (size_t i = d->m.members.n; i-- > 0; )
		if (!strcmp(d->m.members.v[i].path, path))
			return i;
	return SIZE_MAX;
}

/* One stretch of a file, without the zero blocks at both its ends. */
static void add_piece(struct bundle_draft *d, const struct mapped *map,
		      const char *source, uint64_t off, uint64_t end,
		      struct bundle_file *f, uint64_t *new_bytes)
{
	cleanup_free char *path = NULL;
	char sha256[SHA256_HEX];
	size_t n;

	while (end > off && end - off >= BLOCK && all_zero(map->data + off, BLOCK))
		off += BLOCK;
	while (end > off && end - off >= BLOCK && all_zero(map->data + end - BLOCK, BLOCK))
		end -= BLOCK;
	if (end == off || all_zero(map->data + off, (size_t)(end - off)))
		return;
	sha256_of(map->data + off, (size_t)(end - off), sha256);
	path = xasprintf("pieces/%s", sha256);
	n = find_piece(d, path);
	if (n == SIZE_MAX) {
		n = d->m.members.n;
		add_member(d, path, BUNDLE_PIECE, end - off, sha256,
			   (struct content){ .path = xstrdup(source), .off = off });
		*new_bytes += end - off;
	}
	bundle_extents_add(&f->extents, (struct bundle_extent){ off, n });
}

/* struct region - a known file found in another one */
struct region {
	uint64_t off, end;
};
DEFINE_VECTOR(regions, struct region)

/* FAT, and UKIs in it, align what they hold to sectors. */
static void find_known(const struct bundle_draft *d, const struct mapped *map,
		       struct regions *out)
{
	for (uint64_t off = 0; off + SECTOR <= map->len; off += SECTOR) {
		const struct mapped_files *k = &d->known->list;

		for (size_t i = 0; i < k->n; i++) {
			if (k->v[i].len < SECTOR || k->v[i].len > map->len - off ||
			    memcmp(map->data + off, k->v[i].data, SECTOR) ||
			    memcmp(map->data + off, k->v[i].data, k->v[i].len))
				continue;
			regions_add(out, (struct region){ off, off + k->v[i].len });
			off += k->v[i].len / SECTOR * SECTOR;
			if (!(k->v[i].len % SECTOR))
				off -= SECTOR;
			break;
		}
	}
}

static void cut(struct bundle_draft *d, const struct mapped *map,
		const char *source, struct bundle_file *f, uint64_t *new_bytes)
{
	CLEANUP(regions_free) struct regions known = { 0 };
	size_t r = 0;

	find_known(d, map, &known);
	for (uint64_t off = 0, end; off < map->len; off = end) {
		uint64_t base = 0, limit = map->len;

		if (r < known.n && off >= known.v[r].off) {
			base = known.v[r].off;
			limit = known.v[r].end;
		} else if (r < known.n) {
			limit = known.v[r].off;
		}
		end = base + ((off - base) / BUNDLE_PIECE_BYTES + 1) * BUNDLE_PIECE_BYTES;
		if (end > limit)
			end = limit;
		add_piece(d, map, source, off, end, f, new_bytes);
		if (r < known.n && end == known.v[r].end)
			r++;
	}
}

int bundle_add_file(struct bundle_draft *d, const char *path, const char *role,
		    const char *source, const char *sha256, bool embedded,
		    uint64_t *new_bytes, struct error *err)
{
	CLEANUP(unmap) struct mapped map = { 0 };
	struct bundle_file f = { 0 };
	uint64_t ignored = 0;

	draft_init(d);
	if (map_file(source, &map, err) < 0)
		return -1;
	sha256_of(map.data, map.len, f.sha256);
	if (sha256 && strcmp(sha256, f.sha256))
		return error_set(err, 0, "'%s' is no longer what was booted: its SHA-256 is %.12s..., that of the run %.12s...; remove it and build again",
				 source, f.sha256, sha256);
	f.path = xstrdup(path);
	f.role = xstrdup(role);
	f.size = map.len;
	cut(d, &map, source, &f, new_bytes ? new_bytes : &ignored);
	bundle_files_add(&d->m.files, f);
	if (embedded) {
		mapped_files_add(&d->known->list, map);
		map = (struct mapped){ 0 };
	}
	return 0;
}

static int add_padding(struct seekable_writer *w, uint64_t size, struct error *err)
{
	static const char zero[TAR_BLOCK];

	return seekable_add(w, zero, (size_t)tar_padding(size), err);
}

/* What was digested must be what is written. */
static int write_piece(struct seekable_writer *w, const struct bundle_member *m,
		       const struct content *c, struct error *err)
{
	cleanup_close int fd = open(c->path, O_RDONLY | O_CLOEXEC);
	cleanup_free char *bytes = NULL;
	char hex[SHA256_HEX];

	if (fd < 0)
		return error_set(err, errno, "open '%s'", c->path);
	bytes = xmalloc(m->size);
	if (full_pread(fd, bytes, m->size, (off_t)c->off, c->path, err) < 0)
		return -1;
	sha256_of(bytes, m->size, hex);
	if (strcmp(hex, m->sha256))
		return error_set(err, 0, "'%s' was changed while it was read: export again", c->path);
	return seekable_add(w, bytes, m->size, err);
}

static int write_members(struct bundle_draft *d, struct seekable_writer *w,
			 const char *text, struct error *err)
{
	static const char end[2 * TAR_BLOCK];
	char block[TAR_BLOCK];
	size_t len = strlen(text);

	tar_header_write(block, BUNDLE_MANIFEST, len, MODE);
	if (seekable_add(w, block, sizeof(block), err) < 0 ||
	    seekable_add(w, text, len, err) < 0 || add_padding(w, len, err) < 0 ||
	    seekable_cut(w, err) < 0)
		return -1;
	for (size_t i = 0; i < d->m.members.n; i++) {
		struct bundle_member *m = &d->m.members.v[i];
		const struct content *c = &d->contents->list.v[i];

		m->off = w->plain + w->n_pending;
		tar_header_write(block, m->path, m->size, m->mode);
		if (seekable_add(w, block, sizeof(block), err) < 0 ||
		    (c->data ? seekable_add(w, c->data, m->size, err) :
			       write_piece(w, m, c, err)) < 0 ||
		    add_padding(w, m->size, err) < 0)
			return -1;
	}
	return seekable_add(w, end, sizeof(end), err) < 0 ? -1 : seekable_finish(w, err);
}

/* A member's share of the frames that it lies in. */
static double share(const struct seekable_writer *w, const struct bundle_member *m)
{
	uint64_t from = m->off, to = m->off + TAR_BLOCK + m->size;
	double sum = 0;

	for (size_t i = 0; i < w->frames.n; i++) {
		const struct seekable_frame *f = &w->frames.v[i];
		uint64_t a = f->plain_off > from ? f->plain_off : from;
		uint64_t b = f->plain_off + f->plain < to ? f->plain_off + f->plain : to;

		if (a < b)
			sum += (double)f->packed * (double)(b - a) / f->plain;
	}
	return sum;
}

int bundle_write(struct bundle_draft *d, const char *path, double *packed,
		 uint64_t *size, struct error *err)
{
	CLEANUP(newfile_abort) struct newfile f = { .fd = -1 };
	CLEANUP(seekable_writer_free) struct seekable_writer w = { .fd = -1 };
	CLEANUP(bundle_manifest_free) struct bundle_manifest check = { 0 };
	cleanup_free char *text = NULL;

	draft_init(d);
	text = bundle_manifest_text(&d->m);
	if (!text)
		return error_set(err, 0, "a name or text of the run is not valid UTF-8");
	if (strlen(text) > BUNDLE_MANIFEST_MAX)
		return error_set(err, 0, "the manifest would be larger than %u bytes: the run has too many or too large disks for a bundle; --results-only leaves them out",
				 BUNDLE_MANIFEST_MAX);
	/* No bundle leaves here that would be refused there. */
	if (bundle_manifest_parse(text, strlen(text), &check, err) < 0)
		return -1;
	if (newfile_open(&f, path, 0666, err) < 0 ||
	    seekable_begin(&w, f.fd, path, err) < 0 ||
	    write_members(d, &w, text, err) < 0)
		return -1;
	for (size_t i = 0; packed && i < d->m.members.n; i++)
		packed[i] = share(&w, &d->m.members.v[i]);
	*size = w.packed;
	return newfile_commit(&f, err);
}

void bundle_draft_free(struct bundle_draft *d)
{
	for (size_t i = 0; d->contents && i < d->contents->list.n; i++) {
		free(d->contents->list.v[i].data);
		free(d->contents->list.v[i].path);
	}
	if (d->contents)
		contents_free(&d->contents->list);
	for (size_t i = 0; d->known && i < d->known->list.n; i++)
		unmap(&d->known->list.v[i]);
	if (d->known)
		mapped_files_free(&d->known->list);
	free(d->contents);
	free(d->known);
	bundle_manifest_free(&d->m);
	*d = (struct bundle_draft){ 0 };
}
