/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "images/archive_cleanup.h"
#include "results/base/cleanup.h"

static const struct {
	const char *name;
	const char *magic;
	size_t len;
} methods[] = {
	{ "gzip", "\x1f\x8b", 2 },
	{ "bzip2", "BZh", 3 },
	{ "xz", "\xfd" "7zXZ\0", 6 },
	{ "lzma", "\x5d\0\0", 3 },
	{ "lzo", "\x89LZO\0\r\n\x1a\n", 9 },
	{ "zstd", "\x28\xb5\x2f\xfd", 4 },
	{ "lz4", "\x02\x21\x4c\x18", 4 },	/* legacy frame: Linux's own */
	{ "lz4", "\x04\x22\x4d\x18", 4 },
};

const char *unpack_method(const void *data, size_t size)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (size >= methods[i].len &&
		    memcmp(data, methods[i].magic, methods[i].len) == 0)
			return methods[i].name;
	return NULL;
}

static int unpack_all(struct archive *a, size_t max, struct buf *out,
		      const char *what, struct error *err)
{
	const size_t before = out->len;
	const void *block;
	size_t size;
	la_int64_t off;
	int ret;

	while ((ret = archive_read_data_block(a, &block, &size, &off)) == ARCHIVE_OK) {
		if (size > max - (out->len - before))
			return error_set(err, 0, "%s: more than %zu MiB come out of it; it is damaged",
					 what, max >> 20);
		buf_add(out, block, size);
	}
	if (ret != ARCHIVE_EOF)
		return error_set(err, 0, "%s: damaged (%s); fetch or build it again",
				 what, archive_error_string(a));
	return 0;
}

int unpack(const void *data, size_t size, size_t max, struct buf *out,
	   const char *what, struct error *err)
{
	cleanup_reader struct archive *a = archive_read_new();
	const char *method = unpack_method(data, size);
	struct archive_entry *entry;

	if (!method)
		return error_set(err, 0, "%s: not compressed in a way that is known here (gzip, bzip2, xz, lzma, zstd, lz4)",
				 what);
	/* libarchive would start a program for lzo; nobody has it installed. */
	if (strcmp(method, "lzo") == 0)
		return error_set(err, 0, "%s: compressed with LZO, which cannot be read here; set CONFIG_KERNEL_GZIP or _ZSTD instead",
				 what);
	if (!a || archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
	    archive_read_support_filter_bzip2(a) != ARCHIVE_OK ||
	    archive_read_support_filter_xz(a) != ARCHIVE_OK ||
	    archive_read_support_filter_lzma(a) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(a) != ARCHIVE_OK ||
	    archive_read_support_filter_lz4(a) != ARCHIVE_OK ||
	    archive_read_support_format_raw(a) != ARCHIVE_OK)
		return error_set(err, 0, "%s: libarchive lacks a decompressor: %s",
				 what, a ? archive_error_string(a) : "out of memory");
	if (archive_read_open_memory(a, data, size) != ARCHIVE_OK ||
	    archive_read_next_header(a, &entry) != ARCHIVE_OK)
		return error_set(err, 0, "%s: damaged (%s); fetch or build it again",
				 what, archive_error_string(a));
	if (archive_filter_count(a) < 2)
		return error_set(err, 0, "%s: looks like %s but is damaged; fetch or build it again",
				 what, method);
	return unpack_all(a, max, out, what, err);
}
