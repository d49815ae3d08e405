/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bundle_read.c - a bundle read back: nothing in it is believed
 */
#include "images/bundle_parts.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "images/tar_header.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define END_BYTES (2 * TAR_BLOCK)
#define MAGIC "\x28\xb5\x2f\xfd"	/* of a zstd frame */

int bundle_error(const struct bundle *b, struct error *err)
{
	/* What is wrong below the tar archive names the file already. */
	return err && strstr(err->text, b->path) ? error_prefix(err, "bundle") :
	       error_prefix(err, "bundle '%s'", b->path);
}

bool bundle_is(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[4];

	return fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, MAGIC, sizeof(magic));
}

static int read_manifest(struct bundle *b, struct error *err)
{
	char block[TAR_BLOCK];
	struct tar_header u = { 0 };
	uint64_t off;

	if (seekable_read(&b->in, 0, block, sizeof(block), err) < 0 ||
	    tar_header_read(block, &u, err) < 0)
		return -1;
	if (strcmp(u.name, BUNDLE_MANIFEST))
		return error_set(err, 0, "member '%s' comes first, where '" BUNDLE_MANIFEST "' must be", u.name);
	if (!u.size || u.size > BUNDLE_MANIFEST_MAX)
		return error_set(err, 0, "member '" BUNDLE_MANIFEST "' has %llu bytes: 1 to %u can be",
				 (unsigned long long)u.size, BUNDLE_MANIFEST_MAX);
	b->text_len = (size_t)u.size;
	b->text = xmalloc(b->text_len + 1);
	if (seekable_read(&b->in, TAR_BLOCK, b->text, b->text_len, err) < 0)
		return error_prefix(err, "member '" BUNDLE_MANIFEST "'");
	b->text[b->text_len] = '\0';
	sha256_of(b->text, b->text_len, b->digest);
	if (bundle_manifest_parse(b->text, b->text_len, &b->m, err) < 0)
		return -1;
	off = TAR_BLOCK + u.size + tar_padding(u.size);
	for (size_t i = 0; i < b->m.members.n; i++) {
		struct bundle_member *m = &b->m.members.v[i];

		m->off = off;
		off += TAR_BLOCK + m->size + tar_padding(m->size);
	}
	return 0;
}

int bundle_open(struct bundle *b, const char *path, struct error *err)
{
	*b = (struct bundle){ .path = xstrdup(path) };
	if (seekable_open(&b->in, b->path, err) < 0) {
		free(b->path);
		*b = (struct bundle){ 0 };
		return error_prefix(err, "bundle");
	}
	if (read_manifest(b, err) < 0) {
		bundle_error(b, err);
		bundle_close(b);
		return -1;
	}
	return 0;
}

void bundle_close(struct bundle *b)
{
	if (!b->path)
		return;
	seekable_close(&b->in);
	bundle_manifest_free(&b->m);
	free(b->path);
	free(b->text);
	*b = (struct bundle){ 0 };
}

const struct bundle_member *bundle_find(const struct bundle *b, const char *role)
{
	for (size_t i = 0; i < b->m.members.n; i++)
		if (!strcmp(b->m.members.v[i].role, role))
			return &b->m.members.v[i];
	return NULL;
}

/* The header found is not that of @want. */
static int other_member(const struct bundle *b, const struct tar_header *u,
			const struct bundle_member *want, struct error *err)
{
	size_t at = want ? (size_t)(want - b->m.members.v) : b->m.members.n;

	if (!strcmp(u->name, BUNDLE_MANIFEST))
		return error_set(err, 0, "member '%s' is there twice", u->name);
	for (size_t i = 0; i < b->m.members.n; i++) {
		if (strcmp(b->m.members.v[i].path, u->name))
			continue;
		if (i < at)
			return error_set(err, 0, "member '%s' is there twice", u->name);
		return error_set(err, 0, "member '%s' is missing: '%s' is in its place",
				 want ? want->path : "", u->name);
	}
	return error_set(err, 0, "member '%s' is not in the manifest", u->name);
}

static int check_header(struct bundle *b, const struct bundle_member *m,
			struct error *err)
{
	static const char zero[TAR_BLOCK];
	char block[TAR_BLOCK];
	struct tar_header u = { 0 };

	if (seekable_read(&b->in, m->off, block, sizeof(block), err) < 0)
		return error_prefix(err, "member '%s'", m->path);
	if (!memcmp(block, zero, sizeof(block)))
		return error_set(err, 0, "member '%s' is missing: the archive ends before it", m->path);
	if (tar_header_read(block, &u, err) < 0)
		return -1;
	if (strcmp(u.name, m->path))
		return other_member(b, &u, m, err);
	if (u.size != m->size)
		return error_set(err, 0, "member '%s' has %llu bytes, the manifest says %llu",
				 m->path, (unsigned long long)u.size,
				 (unsigned long long)m->size);
	if (u.mode != m->mode)
		return error_set(err, 0, "member '%s' has mode %04o, the manifest says %04o",
				 m->path, u.mode, m->mode);
	return 0;
}

static int check_padding(struct bundle *b, const struct bundle_member *m,
			 struct error *err)
{
	static const char zero[TAR_BLOCK];
	char pad[TAR_BLOCK];
	size_t n = (size_t)tar_padding(m->size);

	if (seekable_read(&b->in, m->off + TAR_BLOCK + m->size, pad, n, err) < 0)
		return error_prefix(err, "member '%s'", m->path);
	return memcmp(pad, zero, n) ?
	       error_set(err, 0, "member '%s': something is hidden behind its end", m->path) : 0;
}

int bundle_take(struct bundle *b, const struct bundle_member *m,
		bundle_sink take, void *data, struct error *err)
{
	enum { CHUNK = BUNDLE_PIECE_BYTES };
	cleanup_free char *chunk = NULL;
	struct sha256 sha;
	char hex[SHA256_HEX];
	int ret = 0;

	if (check_header(b, m, err) < 0)
		return -1;
	chunk = xmalloc(CHUNK);
	sha256_init(&sha);
	for (uint64_t off = 0; !ret && off < m->size; ) {
		size_t n = m->size - off < CHUNK ? (size_t)(m->size - off) : CHUNK;

		ret = seekable_read(&b->in, m->off + TAR_BLOCK + off, chunk, n, err);
		if (ret < 0) {
			error_prefix(err, "member '%s'", m->path);
			break;
		}
		sha256_add(&sha, chunk, n);
		/* A piece is one chunk: so it is known to be right before any of
		 * it is written. */
		if (take && m->size > CHUNK)
			ret = take(data, chunk, n, off, err);
		off += n;
	}
	sha256_final(&sha, hex);
	if (ret < 0)
		return -1;
	if (strcmp(hex, m->sha256))
		return error_set(err, 0, "member '%s' has the SHA-256 %.12s..., the manifest says %.12s...",
				 m->path, hex, m->sha256);
	if (take && m->size <= CHUNK && take(data, chunk, (size_t)m->size, 0, err) < 0)
		return -1;
	return check_padding(b, m, err);
}

static int into_buf(void *data, const char *bytes, size_t n, uint64_t off,
		    struct error *err)
{
	(void)off;
	(void)err;
	buf_add(data, bytes, n);
	return 0;
}

int bundle_read(struct bundle *b, const struct bundle_member *m,
		struct buf *out, struct error *err)
{
	return bundle_take(b, m, into_buf, out, err) < 0 ? bundle_error(b, err) : 0;
}

/* Two blocks of zeros, and nothing behind them. */
int bundle_end(struct bundle *b, struct error *err)
{
	static const char zero[END_BYTES];
	const struct bundle_member *last = b->m.members.n ?
					   &b->m.members.v[b->m.members.n - 1] : NULL;
	uint64_t off = last ? last->off + TAR_BLOCK + last->size + tar_padding(last->size) :
		       TAR_BLOCK + b->text_len + tar_padding(b->text_len);
	char block[END_BYTES];
	struct tar_header u = { 0 };

	if (seekable_read(&b->in, off, block, END_BYTES, err) < 0)
		return -1;
	if (memcmp(block, zero, END_BYTES))
		return tar_header_read(block, &u, err) < 0 ? -1 : other_member(b, &u, NULL, err);
	if (b->in.size != off + END_BYTES)
		return error_set(err, 0, "%llu bytes follow the end of the archive",
				 (unsigned long long)(b->in.size - off - END_BYTES));
	return 0;
}
