/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_bundle.h - bundles as nobody should make them: any tar archive, in frames
 */
#ifndef KONTEST_MAKE_BUNDLE_H
#define KONTEST_MAKE_BUNDLE_H

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <string.h>

#include "images/seekable.h"
#include "results/base/digest.h"
#include "results/base/file.h"
#include "tests/make_journal.h"

/* struct entry - a member: @type as AE_IFREG; 0: regular. @mode 0: 0644 */
struct entry {
	const char *path, *data;
	unsigned int type, mode;
};

#define MANY_BYTES (16u << 20)

/* tar_of() - the archive, made by libarchive; owned by the caller */
__attribute__((unused)) static char *tar_of(const struct entry *e, size_t n, size_t *len)
{
	struct archive *a = archive_write_new();
	char *out = xmalloc(MANY_BYTES);

	archive_write_set_format_ustar(a);
	archive_write_set_bytes_per_block(a, 0);
	if (archive_write_open_memory(a, out, MANY_BYTES, len) != ARCHIVE_OK)
		abort();
	for (size_t i = 0; i < n; i++) {
		struct archive_entry *x = archive_entry_new();
		size_t size = e[i].type ? 0 : strlen(e[i].data);

		archive_entry_set_pathname(x, e[i].path);
		archive_entry_set_filetype(x, e[i].type ? e[i].type : AE_IFREG);
		archive_entry_set_perm(x, e[i].mode ? e[i].mode : 0644);
		archive_entry_set_size(x, (la_int64_t)size);
		if (e[i].type == AE_IFLNK)
			archive_entry_set_symlink(x, e[i].data);
		if (e[i].type == AE_IFCHR || e[i].type == AE_IFBLK)
			archive_entry_set_rdev(x, 0x101);
		if (archive_write_header(a, x) != ARCHIVE_OK ||
		    (size && archive_write_data(a, e[i].data, size) != (la_ssize_t)size))
			abort();
		archive_entry_free(x);
	}
	if (archive_write_close(a) != ARCHIVE_OK)
		abort();
	archive_write_free(a);
	return out;
}

/* bundle_of_tar() - any bytes as seekable frames */
__attribute__((unused)) static void bundle_of_tar(const char *path, const char *tar, size_t len)
{
	struct seekable_writer w;
	struct error err = { 0 };
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		abort();
	must(seekable_begin(&w, fd, path, &err), &err);
	must(seekable_add(&w, tar, len, &err), &err);
	must(seekable_finish(&w, &err), &err);
	seekable_writer_free(&w);
	close(fd);
}

__attribute__((unused)) static void bundle_of(const char *path, const struct entry *e, size_t n)
{
	size_t len = 0;
	char *tar = tar_of(e, n, &len);

	bundle_of_tar(path, tar, len);
	free(tar);
}

/* member_json() - what a manifest says of @data at @path; owned by the caller */
__attribute__((unused)) static char *member_line(const char *path, const char *role,
						 const char *data)
{
	char hex[SHA256_HEX];

	sha256_of(data, strlen(data), hex);
	return xasprintf("{\"path\":\"%s\",\"role\":\"%s\",\"size\":%zu,\"mode\":\"0644\",\"sha256\":\"%s\"}",
			 path, role, strlen(data), hex);
}

__attribute__((unused)) static char *manifest_of(const char *kind, const char *members,
						 const char *files)
{
	return xasprintf("{\"format\":\"kontest-bundle\",\"version\":1,\"kind\":\"%s\",\"run\":\"" RUN_A "\",\"tools\":{},\"members\":[%s],\"files\":[%s]}",
			 kind, members, files);
}

#endif
