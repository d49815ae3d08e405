/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_tar.c - a kernel from a tar archive: what `make tar-pkg` makes, and the
 * part of a Debian package that has the files
 *
 * It is streamed once and held in memory: nothing is unpacked that is not needed.
 */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>
#include <sys/stat.h>

#include "images/kernel_archive.h"
#include "images/unpack.h"
#include "results/base/cleanup.h"

#define BLOCK_BYTES (256 * 1024)
/* Modules with debugging information have some GiB: more than memory should hold */
#define TAKEN_MAX_BYTES ((uint64_t)4 << 30)
#define WHOLE_MAX_BYTES ((uint64_t)64 << 30)
#define TAR_MAGIC_OFF 257

int kernel_archive_damaged(const char *where, struct archive *a, struct error *err)
{
	const char *why = archive_error_string(a);

	return error_set(err, 0, "'%s': cut short or damaged (%s); fetch or copy it again",
			 where, why ? why : "it ends too early");
}

int kernel_archive_take(struct archive *a, struct archive_entry *entry,
			const char *where, size_t max, struct buf *out,
			struct error *err)
{
	la_int64_t size = archive_entry_size(entry);
	size_t done = 0;

	if (size < 0 || (uint64_t)size > max)
		return error_set(err, 0, "'%s': %s in it has %lld bytes, more than a kernel's has; it is damaged",
				 where, archive_entry_pathname(entry), (long long)size);
	buf_free(out);
	out->data = xmalloc((size_t)size + 1);
	out->cap = (size_t)size + 1;
	while (done < (size_t)size) {
		la_ssize_t n = archive_read_data(a, out->data + done, (size_t)size - done);

		if (n <= 0) {
			buf_free(out);
			return kernel_archive_damaged(where, a, err);
		}
		done += (size_t)n;
	}
	out->len = done;
	out->data[done] = '\0';
	return 0;
}

static int take_module(struct archive *a, struct archive_entry *entry,
		       const char *where, const char *path,
		       struct kernel_parts *p, struct error *err)
{
	struct buf ko = { 0 };

	if (modules_never_needed(path))
		return 0;
	if (kernel_archive_take(a, entry, where, KERNEL_IMAGE_MAX_BYTES, &ko, err) < 0)
		return -1;
	p->taken += ko.len;
	if (p->taken > TAKEN_MAX_BYTES) {
		buf_free(&ko);
		return error_set(err, 0, "'%s': its modules have more than %llu GiB; strip them (make tar-pkg INSTALL_MOD_STRIP=1)",
				 where, (unsigned long long)(TAKEN_MAX_BYTES >> 30));
	}
	modules_add(p->modules, path, ko.data, ko.len);
	return 0;
}

int kernel_archive_entry(struct archive *a, struct archive_entry *entry,
			 const char *where, struct kernel_parts *p,
			 struct error *err)
{
	const char *path = archive_entry_pathname(entry);
	const char *in_modules, *rel;

	path += strspn(path, "./");
	if (str_starts(path, "boot/vmlinuz-")) {
		if (p->image.len)
			return error_set(err, 0, "'%s': there are two kernels in it, '%s' and '/%s'; give an archive of one",
					 where, strrchr(p->where, ':') + 1, path);
		free(p->where);
		p->where = xasprintf("%s:/%s", where, path);
		return kernel_archive_take(a, entry, where, KERNEL_IMAGE_MAX_BYTES,
					   &p->image, err);
	}
	if (str_starts(path, "boot/config-"))
		return kernel_archive_take(a, entry, where, KERNEL_TEXT_MAX_BYTES,
					   &p->config, err);
	/* lib/modules/RELEASE/..., or usr/lib/modules/RELEASE/... */
	in_modules = str_starts(path, "usr/") ? path + 4 : path;
	if (!str_starts(in_modules, "lib/modules/"))
		return 0;
	rel = strchr(in_modules + strlen("lib/modules/"), '/');
	if (!rel)
		return 0;
	if (strcmp(rel, "/modules.builtin") == 0)
		return kernel_archive_take(a, entry, where, KERNEL_TEXT_MAX_BYTES,
					   &p->builtin, err);
	return modules_is_ko(rel) ? take_module(a, entry, where, rel + 1, p, err) : 0;
}

bool kernel_tar_is(const void *magic, size_t len)
{
	const char *method = unpack_method(magic, len);

	/* Whether a tar is in it shows only when it is read. */
	if (method)
		return strcmp(method, "lzo") != 0;
	return len >= TAR_MAGIC_OFF + 5 &&
	       memcmp((const char *)magic + TAR_MAGIC_OFF, "ustar", 5) == 0;
}

static int read_entries(struct archive *a, const char *path,
			struct kernel_parts *p, struct error *err)
{
	struct archive_entry *entry;
	uint64_t whole = 0, size;
	int ret;

	while ((ret = archive_read_next_header(a, &entry)) == ARCHIVE_OK) {
		size = (uint64_t)archive_entry_size(entry);
		if (size > WHOLE_MAX_BYTES || (whole += size) > WHOLE_MAX_BYTES)
			return error_set(err, 0, "'%s': more than %llu GiB come out of it; it is no kernel's archive",
					 path, (unsigned long long)(WHOLE_MAX_BYTES >> 30));
		if (archive_entry_filetype(entry) == S_IFREG &&
		    archive_entry_pathname(entry) &&
		    kernel_archive_entry(a, entry, path, p, err) < 0)
			return -1;
	}
	return ret == ARCHIVE_EOF ? 0 : kernel_archive_damaged(path, a, err);
}

int kernel_tar_read(const char *path, struct kernel_parts *p, struct error *err)
{
	cleanup_reader struct archive *a = archive_read_new();

	p->modules = modules_new();
	if (!a || archive_read_support_format_tar(a) != ARCHIVE_OK ||
	    archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
	    archive_read_support_filter_bzip2(a) != ARCHIVE_OK ||
	    archive_read_support_filter_xz(a) != ARCHIVE_OK ||
	    archive_read_support_filter_lzma(a) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(a) != ARCHIVE_OK ||
	    archive_read_support_filter_lz4(a) != ARCHIVE_OK)
		return error_set(err, 0, "libarchive lacks tar, gzip, bzip2, xz, zstd or lz4");
	if (archive_read_open_filename(a, path, BLOCK_BYTES) != ARCHIVE_OK)
		return kernel_archive_damaged(path, a, err);
	if (read_entries(a, path, p, err) < 0)
		return -1;
	if (!p->image.len)
		return error_set(err, 0, "'%s': no kernel in it (no boot/vmlinuz-*); give what `make tar-pkg` makes",
				 path);
	return 0;
}
