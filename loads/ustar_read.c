/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ustar_read.c - a tar archive to a tree
 *
 * An archive is believed nothing: checksums, numbers and names are checked, and
 * every component of a name is opened without following a symbolic link.
 */
#include "loads/ustar.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loads/files.h"
#include "loads/ops.h"

#define PAX_MAX 65536

/**
 * struct reader - an archive under way
 * @at: bytes taken
 * @record: as last read, @have bytes of it, @used taken
 * @pax: the extended header for the next file, @pax_len bytes
 */
struct reader {
	const struct load_args *a;
	int in;
	const char *path;
	int dir;
	uint64_t at;
	size_t have, used, pax_len;
	char record[USTAR_RECORD];
	char pax[PAX_MAX + 1];
};

/**
 * struct entry - one file of it
 * @name, @target: with a NUL
 */
struct entry {
	char type;
	mode_t mode;
	uint64_t size;
	int64_t mtime;
	char name[PATH_MAX];
	char target[PATH_MAX];
};

static int bad(const struct reader *r, const char *what)
{
	return load_fail(r->a->shared, EINVAL, "tar '%s' at %llu: %s", r->path,
			 (unsigned long long)r->at, what);
}

/* Return: 1 when there is something in r->record, 0 at the end, -1 */
static int fill(struct reader *r)
{
	while (r->used == r->have) {
		ssize_t n = read(r->in, r->record, sizeof(r->record));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return load_fail(r->a->shared, errno, "read '%s'",
					 r->path);
		if (n == 0)
			return 0;
		r->have = (size_t)n;
		r->used = 0;
	}
	return 1;
}

/* Return: bytes at *@data, at most @want; they are taken. 0: failed, said */
static size_t take(struct reader *r, const char **data, uint64_t want)
{
	int got = fill(r);
	size_t n;

	if (got <= 0) {
		if (got == 0)
			bad(r, "it ends too early");
		return 0;
	}
	n = r->have - r->used;
	if (n > want)
		n = (size_t)want;
	*data = r->record + r->used;
	r->used += n;
	r->at += n;
	return n;
}

static int take_all(struct reader *r, char *to, size_t len)
{
	while (len > 0) {
		const char *data = NULL;
		size_t n = take(r, &data, len);

		if (n == 0)
			return -1;
		memcpy(to, data, n);
		to += n;
		len -= n;
	}
	return 0;
}

static int skip(struct reader *r, uint64_t len)
{
	while (len > 0) {
		const char *data;
		size_t n = take(r, &data, len);

		if (n == 0)
			return -1;
		len -= n;
	}
	return 0;
}

static uint64_t padding(uint64_t size)
{
	return (USTAR_BLOCK - size % USTAR_BLOCK) % USTAR_BLOCK;
}

/* Digits, with spaces before them and a NUL or space behind */
static int octal(const char *field, size_t width, uint64_t *value)
{
	size_t i = 0, digits = 0;

	*value = 0;
	while (i < width && field[i] == ' ')
		i++;
	for (; i < width && field[i] >= '0' && field[i] <= '7'; i++, digits++)
		*value = *value << 3 | (unsigned int)(field[i] - '0');
	for (; i < width; i++)
		if (field[i] != ' ' && field[i] != '\0')
			return -1;
	return digits > 0 ? 0 : -1;
}

/* One value of the extended header. Return: 0, or -1 when it makes no sense */
static int pax_value(struct entry *e, const char *key, const char *value)
{
	char *end;

	if (strcmp(key, "path") == 0 || strcmp(key, "linkpath") == 0) {
		char *to = key[0] == 'p' ? e->name : e->target;

		if (strlen(value) >= PATH_MAX)
			return -1;
		strcpy(to, value);
	} else if (strcmp(key, "size") == 0) {
		errno = 0;
		e->size = strtoull(value, &end, 10);
		if (errno != 0 || end == value || *end != '\0' || *value == '-')
			return -1;
	} else if (strcmp(key, "mtime") == 0) {
		errno = 0;
		e->mtime = strtoll(value, &end, 10);
		/* A fraction may follow, which is dropped */
		if (errno != 0 || end == value)
			return -1;
	}
	return 0;
}

static int apply_pax(struct reader *r, struct entry *e)
{
	char *p = r->pax, *stop = r->pax + r->pax_len;

	while (p < stop) {
		char *body, *equals, *last;
		unsigned long len = strtoul(p, &body, 10);

		if (body == p || *body != ' ' || len > (size_t)(stop - p) ||
		    p + len <= body + 1 || p[len - 1] != '\n')
			return bad(r, "a bad extended header");
		last = p + len - 1;
		*last = '\0';
		equals = strchr(++body, '=');
		if (equals == NULL || strlen(body) != (size_t)(last - body))
			return bad(r, "a bad extended header");
		*equals = '\0';
		if (pax_value(e, body, equals + 1) != 0)
			return bad(r, "a bad value in an extended header");
		p += len;
	}
	r->pax_len = 0;
	return 0;
}

static bool is_zero(const char *block)
{
	for (size_t i = 0; i < USTAR_BLOCK; i++)
		if (block[i] != '\0')
			return false;
	return true;
}

static int parse(struct reader *r, const struct ustar_header *h,
		 struct entry *e)
{
	uint64_t sum, mode, mtime;

	if (octal(h->chksum, sizeof(h->chksum), &sum) != 0 ||
	    sum != ustar_checksum(h))
		return bad(r, "a wrong checksum");
	if (memcmp(h->magic, "ustar", 6) != 0)
		return bad(r, "no ustar header");
	if (octal(h->mode, sizeof(h->mode), &mode) != 0 ||
	    octal(h->size, sizeof(h->size), &e->size) != 0 ||
	    octal(h->mtime, sizeof(h->mtime), &mtime) != 0)
		return bad(r, "a bad number");
	e->type = h->typeflag == '\0' ? '0' : h->typeflag;
	e->mode = (mode_t)(mode & 07777);
	e->mtime = (int64_t)mtime;
	snprintf(e->name, sizeof(e->name), "%.*s%s%.*s",
		 (int)sizeof(h->prefix), h->prefix, h->prefix[0] ? "/" : "",
		 (int)sizeof(h->name), h->name);
	snprintf(e->target, sizeof(e->target), "%.*s",
		 (int)sizeof(h->linkname), h->linkname);
	return 0;
}

/* The next file's header, extended ones taken in. Return: 1, 0 the end, -1 */
static int next_entry(struct reader *r, struct entry *e)
{
	struct ustar_header h;

	for (;;) {
		if (take_all(r, (char *)&h, sizeof(h)) != 0)
			return -1;
		if (is_zero((const char *)&h))
			return r->pax_len == 0 ? 0 :
			       bad(r, "an extended header for no file");
		if (parse(r, &h, e) != 0)
			return -1;
		if (e->type != 'x' && e->type != 'g')
			return apply_pax(r, e) == 0 ? 1 : -1;
		if (e->size > PAX_MAX)
			return bad(r, "an extended header that is too large");
		/* A global one has nothing that the files would miss */
		if (e->type == 'g') {
			if (skip(r, e->size + padding(e->size)) != 0)
				return -1;
			continue;
		}
		r->pax_len = (size_t)e->size;
		if (take_all(r, r->pax, r->pax_len) != 0 ||
		    skip(r, padding(e->size)) != 0)
			return -1;
		r->pax[r->pax_len] = '\0';
	}
}

/*
 * Opens the directory that e->name is in, *@last is the rest. Never through a
 * symbolic link, never upwards.
 */
static int open_parent(struct reader *r, struct entry *e, char **last)
{
	char *p = e->name, *slash, *end = p + strlen(p);
	int fd = dup(r->dir);

	while (end > p && end[-1] == '/')
		*--end = '\0';
	for (; fd >= 0; p = slash + 1) {
		int next;

		slash = strchr(p, '/');
		if (slash != NULL)
			*slash = '\0';
		if (*p == '\0' || strcmp(p, ".") == 0 || strcmp(p, "..") == 0) {
			close(fd);
			return bad(r, "a name that leads elsewhere");
		}
		if (slash == NULL) {
			*last = p;
			return fd;
		}
		next = openat(fd, p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
			      O_CLOEXEC);
		if (next < 0) {
			load_fail(r->a->shared, errno, "open '%s' of tar '%s'",
				  e->name, r->path);
			close(fd);
			return -1;
		}
		close(fd);
		fd = next;
		*slash = '/';
	}
	return load_fail(r->a->shared, errno, "open the directory to extract to");
}

static int set_attributes(const struct reader *r, int fd, const struct entry *e)
{
	const struct timespec times[2] = {
		{ .tv_sec = (time_t)e->mtime }, { .tv_sec = (time_t)e->mtime },
	};

	if (fchmod(fd, e->mode) != 0 || futimens(fd, times) != 0)
		return load_fail(r->a->shared, errno, "mode and time of '%s'",
				 e->name);
	return 0;
}

static int copy_content(struct reader *r, int fd, const struct entry *e)
{
	uint64_t left = e->size;

	while (left > 0 && !load_stopped(r->a)) {
		const char *data = NULL;
		size_t n = take(r, &data, left);

		if (n == 0 || write_all(r->a, fd, e->name, data, n, true) != 0)
			return -1;
		left -= n;
	}
	return 0;
}

static int make_file(struct reader *r, int parent, const char *last,
		     const struct entry *e)
{
	int fd = openat(parent, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
			O_CLOEXEC, 0600);
	int ret;

	if (fd < 0)
		return load_fail(r->a->shared, errno, "make '%s'", e->name);
	ret = copy_content(r, fd, e);
	if (ret == 0)
		ret = set_attributes(r, fd, e);
	if (close(fd) != 0)
		ret = load_fail(r->a->shared, errno, "close '%s'", e->name);
	return ret;
}

static int make_dir(struct reader *r, int parent, const char *last,
		    const struct entry *e)
{
	if (mkdirat(parent, last, 0700) != 0)
		return load_fail(r->a->shared, errno, "make directory '%s'",
				 e->name);
	/* The umask had no say; ours alone, so that it can be filled */
	if (fchmodat(parent, last, e->mode | 0700, 0) != 0)
		return load_fail(r->a->shared, errno, "mode of '%s'", e->name);
	return 0;
}

static int make_link(struct reader *r, int parent, const char *last,
		     const struct entry *e)
{
	const struct timespec times[2] = {
		{ .tv_sec = (time_t)e->mtime }, { .tv_sec = (time_t)e->mtime },
	};

	if (symlinkat(e->target, parent, last) != 0)
		return load_fail(r->a->shared, errno, "make link '%s'",
				 e->name);
	if (utimensat(parent, last, times, AT_SYMLINK_NOFOLLOW) != 0)
		return load_fail(r->a->shared, errno, "time of '%s'", e->name);
	return 0;
}

static int make_entry(struct reader *r, struct entry *e)
{
	char *last = NULL;
	int parent, ret;

	if (e->type != '0' && e->type != '2' && e->type != '5')
		return bad(r, "no file, directory or symbolic link");
	if (e->type != '0' && e->size != 0)
		return bad(r, "content where none belongs");
	parent = open_parent(r, e, &last);
	if (parent < 0)
		return -1;
	if (e->type == '0')
		ret = make_file(r, parent, last, e);
	else if (e->type == '5')
		ret = make_dir(r, parent, last, e);
	else
		ret = make_link(r, parent, last, e);
	if (close(parent) != 0)
		ret = load_fail(r->a->shared, errno, "close a directory");
	return ret;
}

/* All but the content itself, which was counted as it was written */
static void count_rest(struct reader *r, uint64_t from, uint64_t content)
{
	load_progress(r->a, r->at - from - content);
}

int ustar_extract(const struct load_args *a, int in, const char *path, int dir)
{
	struct reader r = { .a = a, .in = in, .path = path, .dir = dir };
	struct entry e = { 0 };
	uint64_t from;
	int got;

	for (;;) {
		from = r.at;
		if (load_stopped(a))
			return 0;
		got = next_entry(&r, &e);
		if (got <= 0)
			break;
		if (make_entry(&r, &e) != 0)
			return -1;
		if (load_stopped(a))
			return 0;
		if (skip(&r, padding(e.size)) != 0)
			return -1;
		count_rest(&r, from, e.size);
	}
	/* The zeros up to the end of the last record */
	while (got == 0 && (got = fill(&r)) == 1) {
		r.at += r.have - r.used;
		r.used = r.have;
		got = 0;
	}
	if (got == 0)
		count_rest(&r, from, 0);
	return got;
}
