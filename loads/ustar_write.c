/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ustar_write.c - a tree to a tar archive
 */
#include "loads/ustar.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loads/files.h"
#include "loads/ops.h"

#define DEPTH_MAX 256
#define PAX_MAX (2 * PATH_MAX + 256)
#define PAX_NAME "pax-header"	/* of no use, but a header wants a name */
#define SIZE_MAX_OCTAL UINT64_C(077777777777)
#define ID_MAX_OCTAL 07777777u

_Static_assert(sizeof(struct ustar_header) == USTAR_BLOCK, "header size");

/**
 * struct writer - an archive under way
 * @record: what is not written yet. @used: bytes of it
 * @total: bytes so far, @used included
 */
struct writer {
	const struct load_args *a;
	int out;
	const char *path;
	bool progress;
	size_t used;
	uint64_t total;
	char record[USTAR_RECORD];
};

unsigned int ustar_checksum(const struct ustar_header *h)
{
	const unsigned char *p = (const unsigned char *)h;
	const size_t from = offsetof(struct ustar_header, chksum);
	unsigned int sum = 0;

	for (size_t i = 0; i < sizeof(*h); i++)
		sum += i >= from && i < from + sizeof(h->chksum) ? ' ' : p[i];
	return sum;
}

/* @data NULL: zeros */
static int put(struct writer *w, const char *data, uint64_t len)
{
	w->total += len;
	if (w->out < 0)
		return 0;
	while (len > 0) {
		size_t n = sizeof(w->record) - w->used;

		if (n > len)
			n = (size_t)len;
		if (data != NULL) {
			memcpy(w->record + w->used, data, n);
			data += n;
		} else {
			memset(w->record + w->used, 0, n);
		}
		w->used += n;
		len -= n;
		if (w->used < sizeof(w->record))
			break;
		w->used = 0;
		if (write_all(w->a, w->out, w->path, w->record,
			      sizeof(w->record), w->progress) != 0)
			return -1;
	}
	return 0;
}

/* To the next multiple of @unit */
static int pad(struct writer *w, unsigned int unit)
{
	return put(w, NULL, (unit - w->total % unit) % unit);
}

/* @width: of the field, with its NUL. What does not fit is in the pax header */
static void octal(char *field, size_t width, uint64_t value)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%0*" PRIo64, (int)width - 1,
			 value);

	memset(field, '0', width - 1);
	field[width - 1] = '\0';
	if (n == (int)width - 1)
		memcpy(field, text, (size_t)n);
}

/* In two parts at a slash, when it does not fit into one */
static bool set_name(struct ustar_header *h, const char *name)
{
	size_t len = strlen(name);
	const char *cut;

	if (len <= sizeof(h->name)) {
		memcpy(h->name, name, len);
		return true;
	}
	/* The last component may be a directory's, with a slash behind it */
	cut = strchr(name + len - 1 - sizeof(h->name), '/');
	if (cut == NULL || cut == name || cut[1] == '\0' ||
	    (size_t)(cut - name) > sizeof(h->prefix))
		return false;
	memcpy(h->prefix, name, (size_t)(cut - name));
	memcpy(h->name, cut + 1, strlen(cut + 1));
	return true;
}

/* One "LENGTH KEY=VALUE\n", whose length counts its own digits */
static size_t pax_record(char *at, size_t room, const char *key,
			 const char *value)
{
	size_t rest = strlen(key) + strlen(value) + 3, len = rest;
	char digits[16];
	int n;

	/* Twice is enough: more digits can make one digit more, once */
	for (int i = 0; i < 2; i++)
		len = rest + (size_t)snprintf(digits, sizeof(digits), "%zu",
					      len);
	n = snprintf(at, room, "%zu %s=%s\n", len, key, value);
	return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

static int finish_header(struct writer *w, struct ustar_header *h)
{
	memcpy(h->magic, "ustar", 6);
	memcpy(h->version, "00", 2);
	octal(h->devmajor, sizeof(h->devmajor), 0);
	octal(h->devminor, sizeof(h->devminor), 0);
	/* Six digits, a NUL and a space, as tradition has it */
	octal(h->chksum, sizeof(h->chksum) - 1, ustar_checksum(h));
	h->chksum[sizeof(h->chksum) - 1] = ' ';
	return put(w, (const char *)h, sizeof(*h));
}

static int put_pax(struct writer *w, const char *data, size_t len)
{
	struct ustar_header h = { .name = PAX_NAME, .typeflag = 'x' };

	octal(h.mode, sizeof(h.mode), 0644);
	octal(h.uid, sizeof(h.uid), 0);
	octal(h.gid, sizeof(h.gid), 0);
	octal(h.size, sizeof(h.size), len);
	octal(h.mtime, sizeof(h.mtime), 0);
	if (finish_header(w, &h) != 0 || put(w, data, len) != 0)
		return -1;
	return pad(w, USTAR_BLOCK);
}

static size_t pax_number(char *at, size_t room, const char *key, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, value);
	return pax_record(at, room, key, text);
}

/* @size: of the content. @target: of a symbolic link, else NULL */
static int put_header(struct writer *w, const char *name, const struct stat *st,
		      char type, uint64_t size, const char *target)
{
	struct ustar_header h = { .typeflag = type };
	char pax[PAX_MAX];
	size_t n = 0;

	if (!set_name(&h, name)) {
		memcpy(h.name, name, sizeof(h.name));
		n += pax_record(pax + n, sizeof(pax) - n, "path", name);
	}
	if (target != NULL && strlen(target) <= sizeof(h.linkname))
		memcpy(h.linkname, target, strlen(target));
	else if (target != NULL)
		n += pax_record(pax + n, sizeof(pax) - n, "linkpath", target);
	if (size > SIZE_MAX_OCTAL)
		n += pax_number(pax + n, sizeof(pax) - n, "size",
				(int64_t)size);
	if (st->st_uid > ID_MAX_OCTAL)
		n += pax_number(pax + n, sizeof(pax) - n, "uid", st->st_uid);
	if (st->st_gid > ID_MAX_OCTAL)
		n += pax_number(pax + n, sizeof(pax) - n, "gid", st->st_gid);
	if (st->st_mtime < 0 || (uint64_t)st->st_mtime > SIZE_MAX_OCTAL)
		n += pax_number(pax + n, sizeof(pax) - n, "mtime",
				st->st_mtime);
	if (n > 0 && put_pax(w, pax, n) != 0)
		return -1;

	octal(h.mode, sizeof(h.mode), st->st_mode & 07777);
	octal(h.uid, sizeof(h.uid), st->st_uid);
	octal(h.gid, sizeof(h.gid), st->st_gid);
	octal(h.size, sizeof(h.size), size);
	octal(h.mtime, sizeof(h.mtime),
	      st->st_mtime < 0 ? UINT64_MAX : (uint64_t)st->st_mtime);
	return finish_header(w, &h);
}

/* As many bytes as the header says, whatever the file has by now */
static int put_content(struct writer *w, int fd, const char *name,
		       uint64_t size)
{
	char buf[USTAR_RECORD];

	if (w->out < 0) {
		if (put(w, NULL, size) != 0)
			return -1;
		return pad(w, USTAR_BLOCK);
	}
	while (size > 0 && !load_stopped(w->a)) {
		size_t want = size < sizeof(buf) ? (size_t)size : sizeof(buf);
		ssize_t n = read(fd, buf, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return load_fail(w->a->shared, errno, "read '%s'", name);
		if (n == 0) {
			n = (ssize_t)want;
			memset(buf, 0, want);
		}
		if (put(w, buf, (uint64_t)n) != 0)
			return -1;
		size -= (uint64_t)n;
	}
	return pad(w, USTAR_BLOCK);
}

/* What has vanished since its directory was read is no failure */
static int gone(const struct writer *w, const char *what, const char *name)
{
	if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		return 0;
	return load_fail(w->a->shared, errno, "%s '%s'", what, name);
}

static int put_file(struct writer *w, int dir, const char *last,
		    const char *name)
{
	int fd = openat(dir, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
			O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int ret = 0;

	if (fd < 0)
		return gone(w, "open", name);
	if (fstat(fd, &st) != 0)
		ret = load_fail(w->a->shared, errno, "stat '%s'", name);
	else if (S_ISREG(st.st_mode))
		ret = put_header(w, name, &st, '0', (uint64_t)st.st_size,
				 NULL) != 0 ||
		      put_content(w, fd, name, (uint64_t)st.st_size) != 0 ?
		      -1 : 0;
	if (close(fd) != 0)
		ret = load_fail(w->a->shared, errno, "close '%s'", name);
	return ret;
}

static int put_link(struct writer *w, int dir, const char *last,
		    const char *name, const struct stat *st)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, last, target, sizeof(target));

	if (n < 0)
		return errno == EINVAL ? 0 : gone(w, "read link", name);
	if ((size_t)n == sizeof(target))
		return load_fail(w->a->shared, ENAMETOOLONG, "target of '%s'",
				 name);
	target[n] = '\0';
	return put_header(w, name, st, '2', 0, target);
}

static int put_dir(struct writer *w, int fd, char name[PATH_MAX], int depth);

/* @name: room for PATH_MAX; comes back as it was */
static int put_entry(struct writer *w, int dir, char name[PATH_MAX],
		     const char *last, int depth)
{
	size_t len = strlen(name);
	struct stat st;
	int n, fd, ret = 0;

	n = snprintf(name + len, PATH_MAX - len, "%s", last);
	if (n < 0 || (size_t)n >= PATH_MAX - len - 1)
		return load_fail(w->a->shared, ENAMETOOLONG, "'%.200s'", name);
	if (fstatat(dir, last, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		ret = gone(w, "stat", name);
	} else if (S_ISDIR(st.st_mode)) {
		fd = openat(dir, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
			    O_CLOEXEC);
		ret = fd < 0 ? gone(w, "open", name) :
		      put_dir(w, fd, name, depth + 1);
	} else if (S_ISREG(st.st_mode)) {
		ret = put_file(w, dir, last, name);
	} else if (S_ISLNK(st.st_mode)) {
		ret = put_link(w, dir, last, name, &st);
	}
	name[len] = '\0';
	return ret;
}

static int put_entries(struct writer *w, int fd, char name[PATH_MAX], int depth)
{
	struct names names;
	int ret = 0;

	if (names_read(&names, fd, false) != 0)
		return load_fail(w->a->shared, errno, "read '%s'", name);
	for (size_t i = 0; i < names.n && ret == 0 && !load_stopped(w->a); i++)
		ret = put_entry(w, fd, name, names.v[i], depth);
	names_free(&names);
	return ret;
}

/* @fd: of the directory, closed here. @name: without a slash at its end */
static int put_dir(struct writer *w, int fd, char name[PATH_MAX], int depth)
{
	struct stat st;
	int ret;

	strcat(name, "/");	/* there is room: put_entry() has left it */
	if (depth > DEPTH_MAX)
		ret = load_fail(w->a->shared, ELOOP, "'%.200s'", name);
	else if (fstat(fd, &st) != 0)
		ret = load_fail(w->a->shared, errno, "stat '%s'", name);
	else
		ret = put_header(w, name, &st, '5', 0, NULL);
	if (ret == 0)
		ret = put_entries(w, fd, name, depth);
	if (close(fd) != 0)
		ret = load_fail(w->a->shared, errno, "close '%s'", name);
	return ret;
}

/* The last component of @tree */
static int top_name(const struct load_args *a, const char *tree,
		    char name[PATH_MAX])
{
	size_t end = strlen(tree), from;

	while (end > 1 && tree[end - 1] == '/')
		end--;
	from = end;
	while (from > 0 && tree[from - 1] != '/')
		from--;
	if (from == end || end - from + 2 > PATH_MAX)
		return load_fail(a->shared, EINVAL, "a tar of '%.200s'", tree);
	memcpy(name, tree + from, end - from);
	name[end - from] = '\0';
	return 0;
}

/* Two blocks of zeros, and then as many as make the last record whole */
static int finish(struct writer *w)
{
	if (put(w, NULL, 2 * (uint64_t)USTAR_BLOCK) != 0)
		return -1;
	return pad(w, USTAR_RECORD);
}

int ustar_write(const struct load_args *a, const char *tree, int out,
		const char *path, bool progress, uint64_t *size)
{
	struct writer w = { .a = a, .out = out, .path = path,
			    .progress = progress };
	char name[PATH_MAX];
	int fd;

	if (top_name(a, tree, name) != 0)
		return -1;
	fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return load_fail(a->shared, errno, "open '%s'", tree);
	if (put_dir(&w, fd, name, 0) != 0)
		return -1;
	if (!load_stopped(a) && finish(&w) != 0)
		return -1;
	if (size != NULL)
		*size = w.total;
	return 0;
}
