/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_deb.c - a kernel from a Debian package
 *
 * A .deb is an ar archive of debian-binary, control.tar.* and data.tar.*. It is
 * streamed once and held in memory: nothing is unpacked that is not needed.
 */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>
#include <sys/stat.h>

#include "images/kernel_archive.h"
#include "images/xz_stream.h"
#include "results/base/cleanup.h"
#include "results/base/text.h"

#define BLOCK_BYTES (256 * 1024)
/* Debian policy, 5.6.7 and 5.6.12 */
#define PACKAGE_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-:~"

/* The inner archive reads what the outer one has at hand, without copying. */
static la_ssize_t read_member(struct archive *inner, void *data,
			      const void **block)
{
	struct archive *outer = data;
	la_int64_t off;
	size_t size;
	int ret = archive_read_data_block(outer, block, &size, &off);

	if (ret == ARCHIVE_EOF)
		return 0;
	if (ret != ARCHIVE_OK) {
		archive_set_error(inner, archive_errno(outer), "%s",
				  archive_error_string(outer));
		return -1;
	}
	return (la_ssize_t)size;
}

/* A field of the control file, or NULL; owned by the caller. */
static char *control_field(const char *text, const char *field)
{
	size_t len = strlen(field);

	while (text && *text) {
		if (strncmp(text, field, len) == 0 && text[len] == ':') {
			text += len + 1;
			text += strspn(text, " \t");
			return xstrndup(text, strcspn(text, "\n"));
		}
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

static int take_control(struct archive *a, struct archive_entry *entry,
			const char *deb, struct kernel_parts *p,
			struct error *err)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	cleanup_free char *arch = NULL;

	if (strcmp(archive_entry_pathname(entry), "./control") != 0 &&
	    strcmp(archive_entry_pathname(entry), "control") != 0)
		return 0;
	if (kernel_archive_take(a, entry, deb, KERNEL_TEXT_MAX_BYTES, &text, err) < 0)
		return -1;
	free(p->package);
	free(p->version);
	p->package = control_field(text.data, "Package");
	p->version = control_field(text.data, "Version");
	arch = control_field(text.data, "Architecture");
	if (!p->package || !p->version || !arch)
		return error_set(err, 0, "'%s': its control file lacks Package, Version or Architecture; fetch or build it again",
				 deb);
	/* They become part of what is kept about a boot. */
	if (p->package[strspn(p->package, PACKAGE_CHARS)] ||
	    p->version[strspn(p->version, PACKAGE_CHARS)])
		return error_set(err, 0, "'%s': its control file names a package or version that cannot be one; fetch or build it again",
				 deb);
	if (strcmp(arch, "amd64") != 0)
		return error_set(err, 0, "'%s': package %s is for %s; kontest measures x86-64 kernels, give its amd64 package",
				 deb, p->package, arch);
	return 0;
}

typedef int take_fn(struct archive *a, struct archive_entry *entry,
		    const char *deb, struct kernel_parts *p, struct error *err);

static int open_tar(struct archive *a, struct archive *outer, const char *deb,
		    struct xz_stream *xz, struct error *err)
{
	int ret;

	if (!a || archive_read_support_format_tar(a) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(a) != ARCHIVE_OK ||
	    archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
	    archive_read_support_filter_bzip2(a) != ARCHIVE_OK)
		return error_set(err, 0, "libarchive lacks tar, zstd, gzip or bzip2");
	if (xz && xz_stream_open(xz, outer, err) < 0)
		return -1;
	ret = xz ? archive_read_open(a, xz, NULL, xz_stream_read, NULL) :
		   archive_read_open(a, outer, NULL, read_member, NULL);
	return ret == ARCHIVE_OK ? 0 : kernel_archive_damaged(deb, a, err);
}

static int read_tar(struct archive *outer, const char *name, const char *deb,
		    take_fn *fn, struct kernel_parts *p, struct error *err)
{
	/* The inner archive is freed first: it reads through the stream. */
	CLEANUP(xz_stream_close) struct xz_stream xz = { 0 };
	cleanup_reader struct archive *a = archive_read_new();
	struct archive_entry *entry;
	int ret;

	if (open_tar(a, outer, deb, str_ends(name, ".xz") ? &xz : NULL, err) < 0)
		return -1;
	while ((ret = archive_read_next_header(a, &entry)) == ARCHIVE_OK)
		if (archive_entry_filetype(entry) == S_IFREG &&
		    archive_entry_pathname(entry) && fn(a, entry, deb, p, err) < 0)
			return -1;
	return ret == ARCHIVE_EOF ? 0 : kernel_archive_damaged(deb, a, err);
}

static int read_members(struct archive *a, const char *deb,
			struct kernel_parts *p, struct error *err)
{
	bool control = false, data = false;
	struct archive_entry *entry;
	int ret;

	while ((ret = archive_read_next_header(a, &entry)) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(entry);

		if (name && str_starts(name, "control.tar")) {
			if (read_tar(a, name, deb, take_control, p, err) < 0)
				return -1;
			control = true;
		} else if (name && str_starts(name, "data.tar")) {
			if (read_tar(a, name, deb, kernel_archive_entry, p, err) < 0)
				return -1;
			data = true;
		}
	}
	if (ret != ARCHIVE_EOF)
		return kernel_archive_damaged(deb, a, err);
	if (!control || !data)
		return error_set(err, 0, "'%s': cut short: no %s in it; fetch or copy it again",
				 deb, control ? "data.tar" : "control.tar");
	return 0;
}

int kernel_deb_read(const char *deb, struct kernel_parts *p, struct error *err)
{
	cleanup_reader struct archive *a = archive_read_new();

	p->modules = modules_new();
	if (!a || archive_read_support_format_ar(a) != ARCHIVE_OK)
		return error_set(err, 0, "libarchive cannot read ar archives");
	if (archive_read_open_filename(a, deb, BLOCK_BYTES) != ARCHIVE_OK)
		return kernel_archive_damaged(deb, a, err);
	if (read_members(a, deb, p, err) < 0)
		return -1;
	if (!p->image.len)
		return error_set(err, 0, "'%s': package %s has no kernel (no /boot/vmlinuz-*); name a linux-image-... package with amd64 in its name",
				 deb, p->package);
	return 0;
}
