/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_deep_tar.c - an archive of a root file system against the list of files
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "images/verify_deep_parts.h"
#include "images/archive_cleanup.h"
#include "results/base/worker.h"
#include "results/base/cleanup.h"

#define BLOCK_BYTES (64 * 1024)

void deep_differ(struct deep_result *r, const char *fmt, ...)
{
	va_list ap;

	r->differences++;
	if (r->lines.n >= DEEP_LINES_MAX)
		return;
	va_start(ap, fmt);
	strings_add(&r->lines, xvasprintf(fmt, ap));
	va_end(ap);
}

/**
 * struct reading - deep_compare_tar() at work
 * @seen: of the list's files, by index
 */
struct reading {
	int fd;
	double deadline;
	char block[BLOCK_BYTES];
	const struct listing *list;
	bool *seen;
	struct deep_result *r;
};

static la_ssize_t read_block(struct archive *a, void *data, const void **block)
{
	struct reading *rd = data;
	ssize_t n;

	*block = rd->block;
	if (!worker_readable(rd->fd, rd->deadline)) {
		archive_set_error(a, ETIMEDOUT, "it took too long");
		return -1;
	}
	do
		n = read(rd->fd, rd->block, sizeof(rd->block));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		archive_set_error(a, errno, "read");
	return n;
}

static int by_path(const void *key, const void *l)
{
	return strcmp(key, ((const struct listed *)l)->path);
}

static const struct listed *find(const struct listing *list, const char *path)
{
	return list->n ? bsearch(path, list->v, list->n, sizeof(*list->v), by_path)
		       : NULL;
}

/* "./usr/bin/" -> "/usr/bin"; owned by the caller */
static char *absolute(const char *name)
{
	char *path;
	size_t len;

	while (name[0] == '.' && name[1] == '/')
		name += 2;
	while (*name == '/')
		name++;
	path = xasprintf("/%s", strcmp(name, ".") ? name : "");
	len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	return path;
}

static int digest_data(struct archive *a, char hex[SHA256_HEX])
{
	const void *data;
	struct sha256 s;
	size_t len;
	la_int64_t off, end = 0;
	int ret;

	sha256_init(&s);
	while ((ret = archive_read_data_block(a, &data, &len, &off)) == ARCHIVE_OK) {
		static const char zeros[4096];

		/* holes of a sparse file */
		while (end < off) {
			size_t n = off - end < (la_int64_t)sizeof(zeros) ?
				   (size_t)(off - end) : sizeof(zeros);

			sha256_add(&s, zeros, n);
			end += (la_int64_t)n;
		}
		sha256_add(&s, data, len);
		end += (la_int64_t)len;
	}
	sha256_final(&s, hex);
	return ret == ARCHIVE_EOF ? 0 : -1;
}

static void compare_inode(struct deep_result *r, const struct listed *l,
			  struct archive_entry *e, bool hardlink)
{
	mode_t mode = archive_entry_mode(e), type = mode & S_IFMT;

	/* In the archive a further name has no type of its own. */
	if (hardlink)
		type = S_IFREG;
	if (type != (l->mode & S_IFMT))
		deep_differ(r, "%s: its type is %o, the list says %o", l->path,
			    (unsigned int)type, (unsigned int)(l->mode & S_IFMT));
	else if ((mode & 07777) != (l->mode & 07777))
		deep_differ(r, "%s: mode is %04o, the list says %04o", l->path,
			    (unsigned int)mode & 07777, (unsigned int)l->mode & 07777);
	if (archive_entry_uid(e) != (la_int64_t)l->uid)
		deep_differ(r, "%s: owner is %lld, the list says %u", l->path,
			    (long long)archive_entry_uid(e), l->uid);
	if (archive_entry_gid(e) != (la_int64_t)l->gid)
		deep_differ(r, "%s: group is %lld, the list says %u", l->path,
			    (long long)archive_entry_gid(e), l->gid);
	if (type == S_IFLNK && l->link && archive_entry_symlink(e) &&
	    strcmp(archive_entry_symlink(e), l->link))
		deep_differ(r, "%s: it points to '%s', the list says '%s'", l->path,
			    archive_entry_symlink(e), l->link);
}

static void compare_hardlink(struct deep_result *r, const struct listing *list,
			     const struct listed *l, const char *target)
{
	cleanup_free char *path = absolute(target);
	const struct listed *t = find(list, path);

	/* The target's content was compared with its own line. */
	if (!t || strcmp(t->digest, l->digest))
		deep_differ(r, "%s: it is another name of %s, whose content the list says is another",
			    l->path, path);
}

static int compare_entry(struct reading *rd, struct archive *a,
			 struct archive_entry *e)
{
	const char *name = archive_entry_pathname(e);
	const char *hardlink = archive_entry_hardlink(e);
	cleanup_free char *path = absolute(name ? name : "");
	const struct listed *l = find(rd->list, path);
	char hex[SHA256_HEX];

	rd->r->files++;
	if (!l) {
		deep_differ(rd->r, "%s: it is not in the list", path);
		return 0;
	}
	rd->seen[l - rd->list->v] = true;
	compare_inode(rd->r, l, e, hardlink != NULL);
	if (hardlink) {
		compare_hardlink(rd->r, rd->list, l, hardlink);
		return 0;
	}
	if (!S_ISREG(archive_entry_mode(e)))
		return 0;
	if (archive_entry_size(e) != (la_int64_t)l->size)
		deep_differ(rd->r, "%s: size is %lld, the list says %llu", path,
			    (long long)archive_entry_size(e),
			    (unsigned long long)l->size);
	if (digest_data(a, hex) < 0)
		return -1;
	if (strcmp(hex, l->digest))
		deep_differ(rd->r, "%s: SHA-256 is %.12s..., the list says %.12s...",
			    path, hex, l->digest);
	return 0;
}

static int read_all(struct reading *rd, struct archive *a)
{
	struct archive_entry *e;
	int ret;

	while ((ret = archive_read_next_header(a, &e)) == ARCHIVE_OK ||
	       ret == ARCHIVE_WARN)
		if (compare_entry(rd, a, e) < 0)
			return -1;
	return ret == ARCHIVE_EOF ? 0 : -1;
}

int deep_compare_tar(int fd, const struct listing *list, double deadline_s,
		     struct deep_result *r, struct error *err)
{
	cleanup_reader struct archive *a = archive_read_new();
	cleanup_free struct reading *rd = xcalloc(1, sizeof(*rd));
	cleanup_free bool *seen = xcalloc(list->n + 1, sizeof(*seen));

	rd->fd = fd;
	rd->deadline = deadline_s;
	rd->list = list;
	rd->seen = seen;
	rd->r = r;
	if (!a || archive_read_support_format_tar(a) != ARCHIVE_OK ||
	    archive_read_open(a, rd, NULL, read_block, NULL) != ARCHIVE_OK ||
	    read_all(rd, a) < 0)
		return error_set(err, 0, "read the root file system: %s",
				 a ? archive_error_string(a) : "out of memory");
	for (size_t i = 0; i < list->n; i++)
		if (!rd->seen[i])
			deep_differ(r, "%s: it is not there", list->v[i].path);
	return 0;
}
