/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_deb.c - the content of a Debian package (deb(5)): an ar archive of
 * debian-binary, control.tar.* and data.tar.*
 *
 * data.tar.* is decompressed to its end before anything of it is believed, so
 * that the checksums in the compressed stream have all been compared.
 */
#include "images/tree.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include <archive.h>
#include <archive_entry.h>

#include "images/archive_cleanup.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/text.h"

#define READ_BYTES (1u << 20)

static struct archive *reader_new(void)
{
	struct archive *a = archive_read_new();

	if (!a) {
		fprintf(stderr, "kontest: out of memory\n");
		exit(1);
	}
	return a;
}

static int damaged(const char *deb, const char *what, struct archive *a,
		   struct error *err)
{
	const char *why = a ? archive_error_string(a) : NULL;

	return error_set(err, 0, "'%s' is no whole Debian package: %s%s%s; fetch it again",
			 deb, what, why ? ": " : "", why ? why : "");
}

/* Append all bytes of the current member to @out. */
static int read_member(struct archive *a, struct buf *out)
{
	cleanup_free char *chunk = xmalloc(READ_BYTES);
	ssize_t n;

	while ((n = archive_read_data(a, chunk, READ_BYTES)) > 0)
		buf_add(out, chunk, (size_t)n);
	return n < 0 ? -1 : 0;
}

/* struct deb - members of a package, as they are in it */
struct deb {
	const char *path;
	struct buf binary, control, data;
};

static void deb_free(struct deb *d)
{
	buf_free(&d->binary);
	buf_free(&d->control);
	buf_free(&d->data);
}

static int deb_read(struct deb *d, struct error *err)
{
	cleanup_reader struct archive *ar = reader_new();
	struct archive_entry *e;
	int ret;

	if (!path_exists(d->path))
		return error_set(err, ENOENT, "open '%s'", d->path);
	archive_read_support_format_ar(ar);
	if (archive_read_open_filename(ar, d->path, READ_BYTES) != ARCHIVE_OK)
		return damaged(d->path, "cannot be read", ar, err);
	while ((ret = archive_read_next_header(ar, &e)) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(e);
		struct buf unknown = { 0 };
		struct buf *to = &unknown;
		size_t before;

		if (!name)
			return damaged(d->path, "a member without a name", NULL, err);
		if (!strcmp(name, "debian-binary"))
			to = &d->binary;
		else if (str_starts(name, "control.tar"))
			to = &d->control;
		else if (str_starts(name, "data.tar"))
			to = &d->data;
		before = to->len;
		ret = read_member(ar, to);
		if (!ret && to->len - before != (size_t)archive_entry_size(e))
			ret = -1;
		buf_free(&unknown);
		if (ret)
			return damaged(d->path, name, ar, err);
	}
	if (ret != ARCHIVE_EOF)
		return damaged(d->path, "no ar archive", ar, err);
	if (!d->binary.data || !str_starts(d->binary.data, "2."))
		return damaged(d->path, "it does not begin with version 2 of the format",
			       NULL, err);
	if (!d->control.len || !d->data.len)
		return damaged(d->path, "control.tar or data.tar is missing", NULL, err);
	return 0;
}

/* Decompress a whole member, whatever it is compressed with. */
static int unpack(const char *deb, const char *name, const struct buf *in,
		  struct buf *out, struct error *err)
{
	cleanup_reader struct archive *a = reader_new();
	struct archive_entry *e;

	archive_read_support_filter_all(a);
	archive_read_support_format_raw(a);
	if (archive_read_open_memory(a, in->data, in->len) != ARCHIVE_OK ||
	    archive_read_next_header(a, &e) != ARCHIVE_OK || read_member(a, out))
		return damaged(deb, name, a, err);
	return 0;
}

static int open_tar(struct archive *a, const struct buf *tar)
{
	archive_read_support_format_tar(a);
	return archive_read_open_memory(a, tar->data, tar->len);
}

/* "./usr/bin/x/" -> "/usr/bin/x"; owned by the caller, NULL without a name. */
static char *entry_path(const char *name)
{
	char *path;
	size_t len;

	if (!name)
		return NULL;
	while (str_starts(name, "./"))
		name += 2;
	if (!strcmp(name, "."))
		name = "";
	path = xasprintf("%s%s", *name == '/' ? "" : "/", name);
	for (len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
		path[len - 1] = '\0';
	return path;
}

static const char *entry_name(struct archive_entry *e)
{
	const char *name = archive_entry_pathname(e);

	return name ? name : archive_entry_pathname_utf8(e);
}

static const char *entry_hardlink(struct archive_entry *e)
{
	const char *name = archive_entry_hardlink(e);

	return name ? name : archive_entry_hardlink_utf8(e);
}

/**
 * struct unpacking - a package going into a tree
 * @deb: its path
 * @tar: its data.tar, decompressed
 */
struct unpacking {
	struct tree *t;
	const char *deb;
	const char *const *exclude;
	struct buf tar;
};

static bool excluded(const struct unpacking *u, const char *path)
{
	const char *const *p;

	for (p = u->exclude; p && *p; p++)
		if (!fnmatch(*p, path, 0))
			return true;
	return false;
}

/* A directory that is there already keeps what is special about it. */
static bool keep_dir(const struct unpacking *u, const char *path, mode_t type)
{
	const struct node *n = tree_find(u->t, path);

	if (!n || !S_ISDIR(n->mode))
		return false;
	if (type == S_IFLNK)
		return true;
	return type == S_IFDIR &&
	       (n->mode != (S_IFDIR | 0755) || n->uid || n->gid);
}

static int add_content(struct unpacking *u, struct archive *a,
		       struct archive_entry *e, const char *path,
		       struct error *err)
{
	CLEANUP(buf_free) struct buf b = { 0 };
	struct node n = {
		.path = (char *)path,
		.mode = archive_entry_filetype(e) | (archive_entry_perm(e) & 07777),
		.uid = (uid_t)archive_entry_uid(e),
		.gid = (gid_t)archive_entry_gid(e),
	};

	if (keep_dir(u, path, n.mode & S_IFMT))
		return 0;
	if (S_ISLNK(n.mode)) {
		const char *target = archive_entry_symlink(e);

		buf_adds(&b, target ? target : "");
		n.mode = S_IFLNK | 0777;
	} else if (S_ISREG(n.mode)) {
		if (read_member(a, &b) || (int64_t)b.len != archive_entry_size(e))
			return damaged(u->deb, path, a, err);
	} else if (S_ISCHR(n.mode) || S_ISBLK(n.mode)) {
		n.rdev_major = (uint32_t)archive_entry_rdevmajor(e);
		n.rdev_minor = (uint32_t)archive_entry_rdevminor(e);
	}
	n.size = b.len;
	n.data = steal_ptr(b.data);
	return tree_add_node(u->t, &n, err);
}

/* A hard link to a file that was excluded becomes the file. */
static int add_excluded(struct unpacking *u, const char *target,
			const char *path, struct error *err)
{
	cleanup_reader struct archive *a = reader_new();
	struct archive_entry *e;

	if (open_tar(a, &u->tar) != ARCHIVE_OK)
		return damaged(u->deb, "data.tar", a, err);
	while (archive_read_next_header(a, &e) >= ARCHIVE_WARN) {
		cleanup_free char *name = entry_path(entry_name(e));

		if (name && !strcmp(name, target) && !entry_hardlink(e))
			return add_content(u, a, e, path, err);
	}
	return error_set(err, 0, "'%s' is a hard link to '%s', which is not in the package",
			 path, target);
}

static int add_entry(struct unpacking *u, struct archive *a,
		     struct archive_entry *e, struct error *err)
{
	cleanup_free char *path = entry_path(entry_name(e));
	cleanup_free char *target = entry_path(entry_hardlink(e));

	if (!path)
		return damaged(u->deb, "a file without a name", NULL, err);
	if (excluded(u, path))
		return 0;
	if (target && !tree_find(u->t, target))
		return add_excluded(u, target, path, err);
	if (target)
		return tree_add_hardlink(u->t, path, target, err);
	return add_content(u, a, e, path, err);
}

static int add_all(struct unpacking *u, struct error *err)
{
	cleanup_reader struct archive *a = reader_new();
	struct archive_entry *e;
	int ret;

	if (open_tar(a, &u->tar) != ARCHIVE_OK)
		return damaged(u->deb, "data.tar", a, err);
	/* A warning is about a name in another character set, kept as it is. */
	while ((ret = archive_read_next_header(a, &e)) == ARCHIVE_OK ||
	       ret == ARCHIVE_WARN)
		if (add_entry(u, a, e, err))
			return error_prefix(err, "package '%s'", u->deb);
	return ret == ARCHIVE_EOF ? 0 : damaged(u->deb, "data.tar", a, err);
}

static void unpacking_end(struct unpacking *u)
{
	buf_free(&u->tar);
}

int tree_add_deb(struct tree *t, const char *deb, const char *const exclude[],
		 struct error *err)
{
	CLEANUP(deb_free) struct deb d = { .path = deb };
	CLEANUP(unpacking_end) struct unpacking u = {
		.t = t,
		.deb = deb,
		.exclude = exclude,
	};

	if (deb_read(&d, err) ||
	    unpack(deb, "data.tar", &d.data, &u.tar, err))
		return -1;
	deb_free(&d);
	return add_all(&u, err);
}
