/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loads/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "loads/files.h"
#include "loads/ops.h"

#define OUT_BYTES 32768
#define RECENT_S (31556952 / 2)		/* half a mean year of the calendar */
#define DEPTH_MAX 256	/* each level has a descriptor open */

#define OWNER_MAX 36

/**
 * struct owners - users or groups by number
 */
struct owners {
	struct owner { unsigned int id; char name[OWNER_MAX]; } *v;
	size_t n;
};

/**
 * struct listing - under way
 * @dev: file system of the top directory
 * @now: when it began: the date of an older entry has the year, not the hour
 * @out: descriptor; @text: what is not written yet, @used bytes
 */
struct listing {
	const struct load_args *a;
	dev_t dev;
	time_t now;
	struct owners users, groups;
	bool progress;
	uint64_t entries;
	int out;
	size_t used;
	char text[OUT_BYTES];
};

/**
 * struct line - an entry as it will be printed, all but its padding
 * @name: not owned
 */
struct line {
	const char *name;
	struct stat st;
	char user[OWNER_MAX], group[OWNER_MAX];
	bool user_named, group_named;
	char links[24];
	char size[32];		/* of a device, the minor number */
	char major[16];		/* of a device */
	char *target;		/* of a symbolic link; owned */
};

struct widths {
	int links, user, group, size, major, minor;
};

/* --- owners --------------------------------------------------------------- */

static int add_owner(struct owners *o, unsigned int id, const char *name)
{
	struct owner *more = realloc(o->v, (o->n + 1) * sizeof(*more));

	if (more == NULL)
		return -1;
	o->v = more;
	o->v[o->n].id = id;
	snprintf(o->v[o->n].name, OWNER_MAX, "%s", name);
	o->n++;
	return 0;
}

/* "NAME:PASSWORD:NUMBER:..."; anything else is no owner */
static int read_owner(struct owners *o, char *line)
{
	char *password = strchr(line, ':'), *number, *end;
	unsigned long id;

	number = password != NULL ? strchr(password + 1, ':') : NULL;
	if (number == NULL)
		return 0;
	id = strtoul(number + 1, &end, 10);
	if (end == number + 1 || *end != ':' || id > UINT_MAX)
		return 0;
	*password = '\0';
	return add_owner(o, (unsigned int)id, line);
}

/*
 * The file alone: the C library's look-ups may ask services in the network. A
 * machine without it has numbers only.
 */
static int read_owners(struct listing *l, struct owners *o, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	if (f == NULL)
		return 0;
	while (ret == 0 && getline(&line, &size, f) > 0)
		ret = read_owner(o, line);
	free(line);
	fclose(f);
	return ret == 0 ? 0 :
	       load_fail(l->a->shared, ENOMEM, "names of '%s'", path);
}

/* Return: does it have a name? */
static bool put_id(char text[OWNER_MAX], const struct owners *o,
		   unsigned int id)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->v[i].id == id) {
			memcpy(text, o->v[i].name, OWNER_MAX);
			return true;
		}
	snprintf(text, OWNER_MAX, "%u", id);
	return false;
}

/* --- output --------------------------------------------------------------- */

static int flush(struct listing *l)
{
	size_t n = l->used;

	l->used = 0;
	return write_all(l->a, l->out, "the listing", l->text, n, false);
}

static int print(struct listing *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int print(struct listing *l, const char *fmt, ...)
{
	for (int i = 0; i < 2; i++) {
		size_t room = sizeof(l->text) - l->used;
		va_list ap;
		int n;

		va_start(ap, fmt);
		n = vsnprintf(l->text + l->used, room, fmt, ap);
		va_end(ap);
		if (n >= 0 && (size_t)n < room) {
			l->used += (size_t)n;
			return 0;
		}
		if (flush(l) != 0)
			return -1;
	}
	return load_fail(l->a->shared, EOVERFLOW, "a line of the listing");
}

static void put_mode(char text[11], mode_t mode)
{
	static const char types[] = "?pc?d?b?-?l?s???";

	text[0] = types[(mode & S_IFMT) >> 12];
	for (int i = 0; i < 9; i++)
		text[1 + i] = mode & (0400u >> i) ? "rwx"[i % 3] : '-';
	if (mode & S_ISUID)
		text[3] = text[3] == 'x' ? 's' : 'S';
	if (mode & S_ISGID)
		text[6] = text[6] == 'x' ? 's' : 'S';
	if (mode & S_ISVTX)
		text[9] = text[9] == 'x' ? 't' : 'T';
	text[10] = '\0';
}

static void put_date(char text[32], time_t t, time_t now)
{
	bool recent = t > now - RECENT_S && t <= now;
	struct tm tm;

	if (localtime_r(&t, &tm) == NULL ||
	    strftime(text, 32, recent ? "%b %e %H:%M" : "%b %e  %Y", &tm) == 0)
		snprintf(text, 32, "%lld", (long long)t);
}

static bool is_device(const struct line *e)
{
	return S_ISCHR(e->st.st_mode) || S_ISBLK(e->st.st_mode);
}

static int print_line(struct listing *l, const struct line *e,
		      const struct widths *w)
{
	char mode[11], date[32], size[80];

	put_mode(mode, e->st.st_mode);
	put_date(date, e->st.st_mtime, l->now);
	if (is_device(e))
		snprintf(size, sizeof(size), "%*s, %*s",
			 w->major + (w->size - w->major - 2 - w->minor),
			 e->major, w->minor, e->size);
	else
		snprintf(size, sizeof(size), "%*s", w->size, e->size);
	/* Names to the left, numbers to the right */
	if (print(l, "%s %*s %*s %*s %s %s %s%s%s\n", mode, w->links, e->links,
		  e->user_named ? -w->user : w->user, e->user,
		  e->group_named ? -w->group : w->group, e->group, size, date,
		  e->name, e->target ? " -> " : "",
		  e->target ? e->target : "") != 0)
		return -1;
	l->entries++;
	if (l->progress)
		load_progress(l->a, 1);
	return 0;
}

/* --- a directory ---------------------------------------------------------- */

/* Gone, or not for us: ls says so and goes on */
static bool is_gone(void)
{
	return errno == ENOENT || errno == ENOTDIR || errno == EACCES ||
	       errno == ELOOP;
}

static int read_target(const struct listing *l, int dir, struct line *e)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, e->name, target, sizeof(target) - 1);

	/* It may have become something else since */
	if (n < 0)
		return 0;
	target[n] = '\0';
	e->target = strdup(target);
	return e->target != NULL ? 0 :
	       load_fail(l->a->shared, ENOMEM, "target of '%s'", e->name);
}

/* Return: 1, 0 when it is gone, -1 */
static int look_at(struct listing *l, int dir, const char *name,
		   struct line *e)
{
	e->name = name;
	if (fstatat(dir, name, &e->st, AT_SYMLINK_NOFOLLOW) != 0)
		return is_gone() ? 0 :
		       load_fail(l->a->shared, errno, "stat '%s'", name);
	if (S_ISLNK(e->st.st_mode) && read_target(l, dir, e) != 0)
		return -1;
	e->user_named = put_id(e->user, &l->users, e->st.st_uid);
	e->group_named = put_id(e->group, &l->groups, e->st.st_gid);
	snprintf(e->links, sizeof(e->links), "%" PRIu64,
		 (uint64_t)e->st.st_nlink);
	if (is_device(e)) {
		snprintf(e->major, sizeof(e->major), "%u",
			 major(e->st.st_rdev));
		snprintf(e->size, sizeof(e->size), "%u", minor(e->st.st_rdev));
	} else {
		snprintf(e->size, sizeof(e->size), "%" PRId64,
			 (int64_t)e->st.st_size);
	}
	return 1;
}

static void widen(int *width, const char *text)
{
	int n = (int)strlen(text);

	if (n > *width)
		*width = n;
}

static void widen_all(struct widths *w, const struct line *e)
{
	widen(&w->links, e->links);
	widen(&w->user, e->user);
	widen(&w->group, e->group);
	if (!is_device(e)) {
		widen(&w->size, e->size);
		return;
	}
	widen(&w->major, e->major);
	widen(&w->minor, e->size);
	if (w->major + 2 + w->minor > w->size)
		w->size = w->major + 2 + w->minor;
}

/* Return: lines, or -1 */
static int look_at_all(struct listing *l, int dir, const struct names *names,
		       struct line *lines, struct widths *w, uint64_t *blocks)
{
	int count = 0;

	for (size_t i = 0; i < names->n && !load_stopped(l->a); i++) {
		struct line *e = &lines[count];
		int got = look_at(l, dir, names->v[i], e);

		if (got < 0)
			return -1;
		if (got == 0)
			continue;
		widen_all(w, e);
		*blocks += (uint64_t)e->st.st_blocks;
		count++;
	}
	return count;
}

static bool is_disk(const struct listing *l, dev_t dev)
{
	/* A file system without a block device has a number of major 0 */
	return dev == l->dev || major(dev) != 0;
}

static int list_dir(struct listing *l, const char *path, int depth);

static int list_below(struct listing *l, const char *path,
		      const struct line *lines, int n, int depth)
{
	const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";

	for (int i = 0; i < n && !load_stopped(l->a); i++) {
		const struct line *e = &lines[i];
		char *below;
		int ret;

		if (!S_ISDIR(e->st.st_mode) || !is_disk(l, e->st.st_dev) ||
		    strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0)
			continue;
		if (asprintf(&below, "%s%s%s", path, slash, e->name) < 0)
			return load_fail(l->a->shared, ENOMEM, "a name");
		ret = list_dir(l, below, depth + 1);
		free(below);
		if (ret != 0)
			return -1;
	}
	return 0;
}

static int list_entries(struct listing *l, const char *path, int dir,
			const struct names *names, int depth)
{
	struct line *lines = calloc(names->n + 1, sizeof(*lines));
	struct widths w = { 0 };
	uint64_t blocks = 0;
	int count, ret;

	if (lines == NULL)
		return load_fail(l->a->shared, errno, "list '%s'", path);
	count = look_at_all(l, dir, names, lines, &w, &blocks);
	ret = count < 0 ? -1 :
	      print(l, "%s%s:\ntotal %" PRIu64 "\n", depth > 0 ? "\n" : "",
		    path, blocks / 2);
	for (int i = 0; i < count && ret == 0 && !load_stopped(l->a); i++)
		ret = print_line(l, &lines[i], &w);
	if (ret == 0)
		ret = list_below(l, path, lines, count, depth);
	for (size_t i = 0; i < names->n; i++)
		free(lines[i].target);
	free(lines);
	return ret;
}

static int list_dir(struct listing *l, const char *path, int depth)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
		       (depth > 0 ? O_NOFOLLOW : 0));
	struct names names = { 0 };
	int ret;

	if (dir < 0)
		return depth > 0 && is_gone() ? 0 :
		       load_fail(l->a->shared, errno, "open '%s'", path);
	if (depth > DEPTH_MAX)
		ret = load_fail(l->a->shared, ELOOP, "list '%s'", path);
	else if (names_read(&names, dir, true) != 0)
		ret = load_fail(l->a->shared, errno, "read '%s'", path);
	else
		ret = list_entries(l, path, dir, &names, depth);
	names_free(&names);
	if (close(dir) != 0)
		ret = load_fail(l->a->shared, errno, "close '%s'", path);
	return ret;
}

static int list_top(struct listing *l, const char *top)
{
	struct stat st;

	if (stat(top, &st) != 0)
		return load_fail(l->a->shared, errno, "stat '%s'", top);
	l->dev = st.st_dev;
	if (list_dir(l, top, 0) != 0)
		return -1;
	return flush(l);
}

int listing_write(const struct load_args *a, const char *top, int out,
		  bool progress, uint64_t *entries)
{
	struct listing l = { .a = a, .out = out, .progress = progress,
			     .now = time(NULL) };
	int ret = read_owners(&l, &l.users, "/etc/passwd");

	if (ret == 0)
		ret = read_owners(&l, &l.groups, "/etc/group");
	if (ret == 0)
		ret = list_top(&l, top);
	if (entries != NULL)
		*entries = l.entries;
	free(l.users.v);
	free(l.groups.v);
	return ret;
}
