/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_compare.c - two disk images block by block, and what a difference is
 *
 * Only the trusted image is taken apart. So whatever the other one holds, it is
 * compared and never followed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "images/gpt.h"
#include "images/verify.h"
#include "images/verify_parts.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define CHUNK (256u * 1024)
#define BACKUP_BYTES (33u * GPT_SECTOR)
#define VALUE_CHARS 48

/* --- findings -------------------------------------------------------------------- */

bool finding_wants(const struct finding *f, unsigned int rank)
{
	return !f->text || rank < f->rank;
}

void finding_set(struct finding *f, unsigned int rank, const char *fmt, ...)
{
	va_list ap;

	if (!finding_wants(f, rank))
		return;
	free(f->text);
	va_start(ap, fmt);
	f->text = xvasprintf(fmt, ap);
	va_end(ap);
	f->rank = rank;
}

char *spot_range(const struct spot *s, uint64_t base)
{
	size_t a = 0, b;

	while (a + 1 < s->len && s->ref[a] == s->image[a])
		a++;
	for (b = a; b + 1 < s->len && s->ref[b + 1] != s->image[b + 1]; b++)
		;
	if (a == b)
		return xasprintf("byte %llu is 0x%02x, built anew it is 0x%02x",
				 (unsigned long long)(base + a), s->image[a],
				 s->ref[a]);
	return xasprintf("bytes %llu to %llu differ", (unsigned long long)(base + a),
			 (unsigned long long)(base + b));
}

void finding_range(struct finding *f, const struct spot *s, unsigned int rank,
		   const char *what, uint64_t base)
{
	cleanup_free char *range = NULL;

	if (!finding_wants(f, rank))
		return;
	range = spot_range(s, base);
	finding_set(f, rank, "%s: %s", what, range);
}

static void value_text(const struct field *field, const uint8_t *p,
		       char text[VALUE_CHARS])
{
	unsigned long long v = 0;

	for (int i = field->len < 8 ? field->len : 8; i--;)
		v = v << 8 | p[i];
	snprintf(text, VALUE_CHARS, field->format == 'o' ? "0%llo" :
		 field->format == 'x' ? "0x%llx" : "%llu", v);
}

void fields_explain(const struct field *fields, const uint8_t *ref,
		    const uint8_t *image, const char *what, struct finding *f)
{
	for (; fields->len; fields++) {
		const uint8_t *r = ref + fields->off, *i = image + fields->off;
		char was[VALUE_CHARS], is[VALUE_CHARS];
		struct spot s = { 0, r, i, fields->len };

		if (!memcmp(r, i, fields->len) || !finding_wants(f, fields->rank))
			continue;
		if (fields->format == 'b') {
			cleanup_free char *range = spot_range(&s, 0);

			finding_set(f, fields->rank, "%s: %s: %s", what,
				    fields->name, range);
			continue;
		}
		value_text(fields, r, was);
		value_text(fields, i, is);
		finding_set(f, fields->rank, "%s: %s is %s, built anew it is %s",
			    what, fields->name, is, was);
	}
}

/* --- areas of the disk ----------------------------------------------------------- */

enum area_kind { AREA_TABLE, AREA_BIOS, AREA_ROOT, AREA_ESP, AREA_COUNT };

static const char *const area_names[AREA_COUNT] = {
	[AREA_TABLE] = "partition table", [AREA_BIOS] = "BIOS boot partition",
	[AREA_ROOT] = "root partition", [AREA_ESP] = "ESP",
};

/**
 * struct comparing - verify_compare() at work
 * @parts: partitions of the trusted image
 * @fat, @ext4: its maps; NULL: until the first difference there
 * @found: an area each
 */
struct comparing {
	const char *ref_path;
	int ref, image;
	uint64_t size;
	struct disk_parts parts;
	struct fat_map *fat;
	struct ext4_map *ext4;
	struct finding found[AREA_COUNT];
};

static void comparing_free(struct comparing *c)
{
	disk_parts_free(&c->parts);
	fat_map_free(c->fat);
	ext4_map_free(c->ext4);
	for (size_t i = 0; i < AREA_COUNT; i++)
		free(c->found[i].text);
	if (c->ref >= 0)
		close(c->ref);
	if (c->image >= 0)
		close(c->image);
}

static const struct disk_part *part_at(const struct comparing *c, uint64_t off)
{
	for (size_t i = 0; i < c->parts.n; i++) {
		const struct disk_part *p = &c->parts.v[i];

		if (off >= p->start && off - p->start < p->size)
			return p;
	}
	return NULL;
}

static int explain_part(struct comparing *c, const struct disk_part *p,
			struct spot *s, struct error *err)
{
	s->off -= p->start;
	if (gpt_is_root(p)) {
		if (!c->ext4)
			c->ext4 = ext4_map_new(c->ref_path, p->start, p->size, err);
		if (!c->ext4)
			return -1;
		ext4_explain(c->ext4, s, &c->found[AREA_ROOT]);
	} else if (gpt_is_esp(p)) {
		if (!c->fat)
			c->fat = fat_map_new(c->ref, c->ref_path, p->start,
					     p->size, err);
		if (!c->fat)
			return -1;
		fat_explain(c->fat, s, &c->found[AREA_ESP]);
	} else {
		finding_range(&c->found[AREA_BIOS], s, 0, "GRUB's core", s->off);
	}
	return 0;
}

static int explain(struct comparing *c, struct spot *s, struct error *err)
{
	const struct disk_part *p = part_at(c, s->off);
	enum area_kind kind = !p ? AREA_TABLE : gpt_is_root(p) ? AREA_ROOT :
			      gpt_is_esp(p) ? AREA_ESP : AREA_BIOS;

	for (size_t i = 0; i < s->len; i++)
		c->found[kind].bytes += s->ref[i] != s->image[i];
	if (p)
		return explain_part(c, p, s, err);
	gpt_explain(&c->parts, s, c->size - BACKUP_BYTES, &c->found[AREA_TABLE]);
	return 0;
}

/* Blocks of the two are compared; partitions begin and end at whole ones, but
 * the backup table does not: it ends with the disk, so its block is cut. */
static int compare_chunk(struct comparing *c, uint64_t off, const uint8_t *ref,
			 const uint8_t *image, size_t len, struct error *err)
{
	uint64_t backup = c->size - BACKUP_BYTES;

	for (size_t i = 0; i < len;) {
		size_t n = len - i < VERIFY_BLOCK ? len - i : VERIFY_BLOCK;
		struct spot s = { off + i, ref + i, image + i, 0 };

		if (off + i < backup && off + i + n > backup)
			n = (size_t)(backup - off - i);
		s.len = n;
		if (memcmp(ref + i, image + i, n) && explain(c, &s, err) < 0)
			return -1;
		i += n;
	}
	return 0;
}

static int compare(struct comparing *c, uint64_t len, const char *image_path,
		   struct error *err)
{
	cleanup_free uint8_t *ref = xmalloc(CHUNK);
	cleanup_free uint8_t *image = xmalloc(CHUNK);

	for (uint64_t off = 0; off < len; off += CHUNK) {
		size_t n = len - off < CHUNK ? (size_t)(len - off) : CHUNK;

		if (full_pread(c->ref, ref, n, (off_t)off, c->ref_path, err) < 0 ||
		    full_pread(c->image, image, n, (off_t)off, image_path, err) < 0)
			return -1;
		if (memcmp(ref, image, n) &&
		    compare_chunk(c, off, ref, image, n, err) < 0)
			return -1;
	}
	return 0;
}

/* --- the result ------------------------------------------------------------------- */

static void conclude(const struct comparing *c, uint64_t image_size,
		     struct verify_result *r)
{
	CLEANUP(buf_free) struct buf where = { 0 };

	for (size_t i = 0; i < AREA_COUNT; i++) {
		const struct finding *f = &c->found[i];

		if (!f->text)
			continue;
		if (!r->difference)
			r->difference = xasprintf("%s: %s", area_names[i], f->text);
		buf_printf(&where, "%s%s %llu", where.len ? ", " : "",
			   area_names[i], (unsigned long long)f->bytes);
	}
	if (image_size != c->size) {
		cleanup_free char *before = steal_ptr(r->difference);

		r->difference = xasprintf("the image is %llu bytes long, built anew it is %llu%s%s",
					  (unsigned long long)image_size,
					  (unsigned long long)c->size,
					  before ? "; " : "", before ? before : "");
	}
	r->identical = !r->difference;
	if (where.len)
		r->where = steal_ptr(where.data);
}

static int open_image(const char *path, uint64_t *size, struct error *err)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, errno, "open '%s'", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, 0, "'%s' is no regular file: name a raw disk image",
				 path);
	*size = (uint64_t)st.st_size;
	return steal_fd(&fd);
}

int verify_compare(const char *ref, const char *image, struct verify_result *r,
		   struct error *err)
{
	CLEANUP(comparing_free) struct comparing c = { .ref_path = ref, .ref = -1,
						       .image = -1 };
	uint64_t image_size = 0;

	c.ref = open_image(ref, &c.size, err);
	if (c.ref < 0)
		return -1;
	c.image = open_image(image, &image_size, err);
	if (c.image < 0)
		return -1;
	if (!gpt_parts(c.ref, c.size, false, &c.parts))
		return error_set(err, 0, "'%s' has no partition table", ref);
	if (compare(&c, image_size < c.size ? image_size : c.size, image, err) < 0)
		return -1;
	conclude(&c, image_size, r);
	return 0;
}
