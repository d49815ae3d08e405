/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/seekable.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"

/* Levels above gain 2 % on a Debian root and take three times as long. */
#define LEVEL 12
#define WINDOW_LOG 22			/* of SEEKABLE_FRAME_BYTES */
#define TABLE_MAGIC 0x184D2A5Eu
#define FOOTER_MAGIC 0x8F92EAB1u
#define SKIP_HEADER_BYTES 8u
#define ENTRY_BYTES 8u
#define FOOTER_BYTES 9u
#define FRAMES_MAX (1u << 20)
#define NOT_LOADED SIZE_MAX

static void put32(char *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static uint32_t get32(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

int seekable_begin(struct seekable_writer *w, int fd, const char *path,
		   struct error *err)
{
	*w = (struct seekable_writer){ .fd = fd, .path = path };
	w->ctx = ZSTD_createCCtx();
	if (!w->ctx ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->ctx, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->ctx, ZSTD_c_windowLog, WINDOW_LOG)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->ctx, ZSTD_c_checksumFlag, 1)))
		return error_set(err, 0, "'%s': libzstd refuses its settings", path);
	w->pending = xmalloc(SEEKABLE_FRAME_BYTES);
	w->out = xmalloc(ZSTD_compressBound(SEEKABLE_FRAME_BYTES));
	return 0;
}

int seekable_cut(struct seekable_writer *w, struct error *err)
{
	size_t n;

	if (!w->n_pending)
		return 0;
	n = ZSTD_compress2(w->ctx, w->out,
			   ZSTD_compressBound(SEEKABLE_FRAME_BYTES), w->pending,
			   w->n_pending);
	if (ZSTD_isError(n))
		return error_set(err, 0, "compress '%s': %s", w->path,
				 ZSTD_getErrorName(n));
	if (w->frames.n == FRAMES_MAX)
		return error_set(err, 0, "'%s' would be larger than %llu GiB", w->path,
				 (unsigned long long)FRAMES_MAX * SEEKABLE_FRAME_BYTES >> 30);
	if (full_pwrite(w->fd, w->out, n, (off_t)w->packed, w->path, err) < 0)
		return -1;
	seekable_frames_add(&w->frames, (struct seekable_frame){
		.packed_off = w->packed, .plain_off = w->plain,
		.packed = (uint32_t)n, .plain = (uint32_t)w->n_pending });
	w->packed += n;
	w->plain += w->n_pending;
	w->n_pending = 0;
	return 0;
}

int seekable_add(struct seekable_writer *w, const void *data, size_t len,
		 struct error *err)
{
	const char *p = data;

	while (len) {
		size_t n = SEEKABLE_FRAME_BYTES - w->n_pending;

		if (n > len)
			n = len;
		memcpy(w->pending + w->n_pending, p, n);
		w->n_pending += n;
		p += n;
		len -= n;
		if (w->n_pending == SEEKABLE_FRAME_BYTES && seekable_cut(w, err) < 0)
			return -1;
	}
	return 0;
}

int seekable_finish(struct seekable_writer *w, struct error *err)
{
	CLEANUP(buf_free) struct buf table = { 0 };
	char word[FOOTER_BYTES];

	if (seekable_cut(w, err) < 0)
		return -1;
	put32(word, TABLE_MAGIC);
	put32(word + 4, (uint32_t)(w->frames.n * ENTRY_BYTES + FOOTER_BYTES));
	buf_add(&table, word, SKIP_HEADER_BYTES);
	for (size_t i = 0; i < w->frames.n; i++) {
		put32(word, w->frames.v[i].packed);
		put32(word + 4, w->frames.v[i].plain);
		buf_add(&table, word, ENTRY_BYTES);
	}
	put32(word, (uint32_t)w->frames.n);
	word[4] = 0;
	put32(word + 5, FOOTER_MAGIC);
	buf_add(&table, word, FOOTER_BYTES);
	if (full_pwrite(w->fd, table.data, table.len, (off_t)w->packed, w->path, err) < 0)
		return -1;
	w->packed += table.len;
	return 0;
}

void seekable_writer_free(struct seekable_writer *w)
{
	ZSTD_freeCCtx(w->ctx);
	free(w->pending);
	free(w->out);
	seekable_frames_free(&w->frames);
	*w = (struct seekable_writer){ .fd = -1 };
}

static int cut_short(const char *path, struct error *err)
{
	return error_set(err, 0, "'%s' does not end in a table of its frames: it is cut short, something follows its end, or kontest did not make it",
			 path);
}

/* Where the table begins and how many frames it has. */
static int find_table(struct seekable_reader *r, uint64_t size, uint64_t *off,
		      uint32_t *n, struct error *err)
{
	char footer[FOOTER_BYTES], header[SKIP_HEADER_BYTES];
	uint64_t bytes;

	if (size < SKIP_HEADER_BYTES + FOOTER_BYTES)
		return cut_short(r->path, err);
	if (full_pread(r->fd, footer, sizeof(footer), (off_t)(size - FOOTER_BYTES), r->path, err) < 0)
		return -1;
	*n = get32(footer);
	bytes = (uint64_t)*n * ENTRY_BYTES + FOOTER_BYTES;
	if (get32(footer + 5) != FOOTER_MAGIC || footer[4] ||
	    bytes + SKIP_HEADER_BYTES > size)
		return cut_short(r->path, err);
	if (!*n || *n > FRAMES_MAX)
		return error_set(err, 0, "'%s' says that it has %u frames: 1 to %u can be",
				 r->path, *n, FRAMES_MAX);
	*off = size - bytes - SKIP_HEADER_BYTES;
	if (full_pread(r->fd, header, sizeof(header), (off_t)*off, r->path, err) < 0)
		return -1;
	if (get32(header) != TABLE_MAGIC || get32(header + 4) != bytes)
		return cut_short(r->path, err);
	return 0;
}

static int add_frame(struct seekable_reader *r, uint64_t *packed, uint64_t end,
		     const char *entry, struct error *err)
{
	struct seekable_frame f = {
		.packed_off = *packed, .plain_off = r->size,
		.packed = get32(entry), .plain = get32(entry + 4),
	};

	if (!f.plain || f.plain > SEEKABLE_FRAME_BYTES || !f.packed ||
	    f.packed > ZSTD_compressBound(SEEKABLE_FRAME_BYTES))
		return error_set(err, 0, "'%s': frame %zu has %u bytes made of %u: no frame is empty or holds more than %u",
				 r->path, r->frames.n + 1, f.plain, f.packed,
				 SEEKABLE_FRAME_BYTES);
	if (f.packed > end - *packed)
		return error_set(err, 0, "'%s': its table has more frames than the file",
				 r->path);
	seekable_frames_add(&r->frames, f);
	*packed += f.packed;
	r->size += f.plain;
	return 0;
}

static int read_table(struct seekable_reader *r, struct error *err)
{
	enum { BATCH = 1024 };
	char entries[BATCH * ENTRY_BYTES];
	uint64_t table = 0, packed = 0;
	struct stat st;
	uint32_t n = 0;

	if (fstat(r->fd, &st) < 0)
		return error_set(err, errno, "look at '%s'", r->path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, 0, "'%s' is not a regular file", r->path);
	if (find_table(r, (uint64_t)st.st_size, &table, &n, err) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i % BATCH;

		if (!at && full_pread(r->fd, entries,
				      (n - i < BATCH ? n - i : BATCH) * ENTRY_BYTES,
				      (off_t)(table + SKIP_HEADER_BYTES + (uint64_t)i * ENTRY_BYTES),
				      r->path, err) < 0)
			return -1;
		if (add_frame(r, &packed, table, entries + at * ENTRY_BYTES, err) < 0)
			return -1;
	}
	if (packed != table)
		return error_set(err, 0, "'%s': %llu bytes between its frames and their table belong to nothing",
				 r->path, (unsigned long long)(table - packed));
	return 0;
}

int seekable_open(struct seekable_reader *r, const char *path,
		  struct error *err)
{
	*r = (struct seekable_reader){ .path = path, .loaded = NOT_LOADED };
	/* A FIFO in its place must not keep us waiting. */
	r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (r->fd < 0)
		return error_set(err, errno, "open '%s'", path);
	if (read_table(r, err) < 0) {
		seekable_close(r);
		return -1;
	}
	r->ctx = ZSTD_createDCtx();
	if (!r->ctx) {
		seekable_close(r);
		return error_set(err, ENOMEM, "read '%s'", path);
	}
	r->plain = xmalloc(SEEKABLE_FRAME_BYTES);
	r->packed = xmalloc(ZSTD_compressBound(SEEKABLE_FRAME_BYTES));
	return 0;
}

/* One frame, no more and no less, into memory that was there before: so a frame
 * that would unfold to gigabytes fails like any other that lies. */
static int load_frame(struct seekable_reader *r, size_t i, struct error *err)
{
	const struct seekable_frame *f = &r->frames.v[i];
	size_t n;

	if (r->loaded == i)
		return 0;
	r->loaded = NOT_LOADED;
	if (full_pread(r->fd, r->packed, f->packed, (off_t)f->packed_off, r->path, err) < 0)
		return -1;
	if (f->packed < 4 || get32(r->packed) != ZSTD_MAGICNUMBER ||
	    ZSTD_findFrameCompressedSize(r->packed, f->packed) != f->packed)
		return error_set(err, 0, "'%s': at byte %llu is no frame of %u bytes, as its table says: damaged",
				 r->path, (unsigned long long)f->packed_off, f->packed);
	n = ZSTD_decompressDCtx(r->ctx, r->plain, f->plain, r->packed, f->packed);
	if (ZSTD_isError(n))
		return error_set(err, 0, "'%s': the frame at byte %llu does not unfold to %u bytes: %s",
				 r->path, (unsigned long long)f->packed_off, f->plain,
				 ZSTD_getErrorName(n));
	if (n != f->plain)
		return error_set(err, 0, "'%s': the frame at byte %llu unfolds to %zu bytes, its table says %u",
				 r->path, (unsigned long long)f->packed_off, n, f->plain);
	r->loaded = i;
	return 0;
}

size_t seekable_frame_at(const struct seekable_reader *r, uint64_t off)
{
	size_t lo = 0, hi = r->frames.n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->frames.v[mid].plain_off <= off)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

int seekable_read(struct seekable_reader *r, uint64_t off, void *data,
		  size_t len, struct error *err)
{
	char *p = data;

	if (off > r->size || len > r->size - off)
		return error_set(err, 0, "'%s' ends early: its stream has %llu bytes and should have %llu at least",
				 r->path, (unsigned long long)r->size,
				 (unsigned long long)off + len);
	while (len) {
		size_t i = seekable_frame_at(r, off), at, n;
		const struct seekable_frame *f = &r->frames.v[i];

		if (load_frame(r, i, err) < 0)
			return -1;
		at = (size_t)(off - f->plain_off);
		n = f->plain - at < len ? f->plain - at : len;
		memcpy(p, r->plain + at, n);
		p += n;
		off += n;
		len -= n;
	}
	return 0;
}

void seekable_close(struct seekable_reader *r)
{
	cleanup_closep(&r->fd);
	ZSTD_freeDCtx(r->ctx);
	free(r->plain);
	free(r->packed);
	seekable_frames_free(&r->frames);
	*r = (struct seekable_reader){ .fd = -1, .loaded = NOT_LOADED };
}
