/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bundle_check.c - a bundle checked to the last bit, and nothing of it written
 */
#include "images/bundle_parts.h"

#include <string.h>

#include "images/tar_header.h"
#include "results/base/cleanup.h"

int bundle_file_is(const struct bundle_file *f, const char *hex, struct error *err)
{
	if (!strcmp(hex, f->sha256))
		return 0;
	return error_set(err, 0, "member '%s', put together from its pieces, has the SHA-256 %.12s..., the manifest says %.12s...",
			 f->path, hex, f->sha256);
}

/* Bytes of the frames that are unfolded when a file's pieces are read in their
 * order. A piece lies in one frame or in several; the last one stays loaded. */
static uint64_t unfolded(const struct bundle *b, const struct bundle_file *f)
{
	size_t loaded = SIZE_MAX;
	uint64_t sum = 0;

	for (size_t e = 0; e < f->extents.n; e++) {
		const struct bundle_member *m = &b->m.members.v[f->extents.v[e].member];
		size_t i = seekable_frame_at(&b->in, m->off + TAR_BLOCK);
		size_t last = seekable_frame_at(&b->in, m->off + TAR_BLOCK + m->size - 1);

		for (; i <= last; i++) {
			if (i != loaded)
				sum += b->in.frames.v[i].plain;
			loaded = i;
		}
	}
	return sum;
}

/* A manifest of some MiB can ask for days: a hole costs no byte of it, and pieces
 * of one byte each, from two frames in turn, a frame each. */
static int check_work(const struct bundle *b, struct error *err)
{
	uint64_t disks = 0, frames = 0;

	for (size_t i = 0; i < b->m.files.n; i++) {
		disks += b->m.files.v[i].size;
		frames += unfolded(b, &b->m.files.v[i]);
	}
	if (disks + frames <= BUNDLE_CHECK_MAX)
		return 0;
	return error_set(err, 0, "its files have %llu GiB put together, out of %llu GiB of unfolded frames: more than the %llu GiB that are gone through to check them; `kontest replay` checks them when it unpacks",
			 (unsigned long long)(disks >> 30), (unsigned long long)(frames >> 30),
			 BUNDLE_CHECK_MAX >> 30);
}

static void add_hole(struct sha256 *s, uint64_t n)
{
	static const char zeros[1 << 18];

	for (size_t len; n; n -= len) {
		len = n < sizeof(zeros) ? (size_t)n : sizeof(zeros);
		sha256_add(s, zeros, len);
	}
}

/* @chunk: room for a piece */
static int check_file(struct bundle *b, const struct bundle_file *f, char *chunk,
		      struct error *err)
{
	struct sha256 s;
	char hex[SHA256_HEX];
	uint64_t at = 0;
	int ret = 0;

	sha256_init(&s);
	for (size_t e = 0; !ret && e < f->extents.n; e++) {
		const struct bundle_extent *x = &f->extents.v[e];
		const struct bundle_member *m = &b->m.members.v[x->member];

		ret = seekable_read(&b->in, m->off + TAR_BLOCK, chunk, (size_t)m->size, err);
		add_hole(&s, x->off - at);
		sha256_add(&s, chunk, ret ? 0 : (size_t)m->size);
		at = x->off + m->size;
	}
	add_hole(&s, ret ? 0 : f->size - at);
	sha256_final(&s, hex);
	return ret < 0 ? error_prefix(err, "member '%s'", f->path) :
	       bundle_file_is(f, hex, err);
}

static int check_files(struct bundle *b, struct error *err)
{
	cleanup_free char *chunk = NULL;

	if (check_work(b, err) < 0)
		return -1;
	chunk = xmalloc(BUNDLE_PIECE_BYTES);
	for (size_t i = 0; i < b->m.files.n; i++)
		if (check_file(b, &b->m.files.v[i], chunk, err) < 0)
			return -1;
	return 0;
}

static int check_members(struct bundle *b, struct error *err)
{
	for (size_t i = 0; i < b->m.members.n; i++)
		if (bundle_take(b, &b->m.members.v[i], NULL, NULL, err) < 0)
			return -1;
	return bundle_end(b, err);
}

int bundle_check(struct bundle *b, struct error *err)
{
	return check_members(b, err) < 0 || check_files(b, err) < 0 ?
	       bundle_error(b, err) : 0;
}
