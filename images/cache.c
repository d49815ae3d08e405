/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache.c - the content-addressed layer cache and the report of build steps
 */
#include "images/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "results/base/cleanup.h"
#include "results/base/clock.h"
#include "results/base/file.h"
#include "results/base/text.h"

/* Longer than any entry takes to make: who still holds a lock then is stuck. */
#define LOCK_TIMEOUT_S 3600
#define LOCK_POLL_NS 20000000L
#define LOCK_SUFFIX "lock"

char *cache_path(const struct cache *c, const char *kind, const char *key,
		 const char *suffix)
{
	cleanup_free char *dir = xasprintf("%s/%s", c->dir, kind);

	/* When this fails, opening the file below fails with the same reason. */
	if (!path_is_dir(dir))
		(void)make_dirs(dir, NULL);
	return xasprintf("%s/%s%s", dir, key, suffix ? suffix : "");
}

char *cache_making(const struct cache *c, const char *kind, const char *key)
{
	cleanup_free char *hidden = xasprintf(".%s.", key);

	return cache_path(c, kind, hidden, "new");
}

static int lock_wait(int fd, const char *path, struct error *err)
{
	const struct timespec pause = { .tv_nsec = LOCK_POLL_NS };
	double deadline = clock_now_s() + LOCK_TIMEOUT_S;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return error_set(err, errno, "lock '%s'", path);
		if (clock_now_s() > deadline)
			return error_set(err, 0,
				"another kontest has held '%s' for %d minutes; see what it does (fuser -v '%s') and end it",
				path, LOCK_TIMEOUT_S / 60, path);
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* Who was killed while making KEY left .KEY.* behind, a file under a temporary
 * name (struct newfile) or the directory of cache_making(); we hold the lock, so
 * nobody is at it now. */
static int remove_leftovers(const char *dir, const char *key, struct error *err)
{
	cleanup_free char *prefix = xasprintf(".%s.", key);
	cleanup_closedir DIR *d = opendir(dir);
	struct dirent *de;

	if (!d)
		return error_set(err, errno, "read directory '%s'", dir);
	while ((de = readdir(d))) {
		cleanup_free char *path = NULL;

		if (!str_starts(de->d_name, prefix) ||
		    !strcmp(de->d_name + strlen(prefix), LOCK_SUFFIX))
			continue;
		path = xasprintf("%s/%s", dir, de->d_name);
		if (remove_tree(path, err) < 0)
			return error_prefix(err, "what a killed kontest left");
	}
	return 0;
}

int cache_lock(const struct cache *c, const char *kind, const char *key,
	       struct error *err)
{
	cleanup_free char *dir = xasprintf("%s/%s", c->dir, kind);
	cleanup_free char *path = xasprintf("%s/.%s." LOCK_SUFFIX, dir, key);
	cleanup_close int fd = -1;

	if (make_dirs(dir, err))
		return error_prefix(err, "layer cache");
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd < 0)
		return error_set(err, errno,
			"open '%s' (the layer cache must be writable; XDG_CACHE_HOME moves it)",
			path);
	if (lock_wait(fd, path, err) < 0 || remove_leftovers(dir, key, err) < 0)
		return -1;
	return steal_fd(&fd);
}

void step_begin(struct step *s, const struct cache *c, const char *name)
{
	s->c = c;
	s->name = name;
	s->t0 = clock_now_s();
}

void step_end(struct step *s, bool cached, const char *fmt, ...)
{
	cleanup_free char *detail = NULL;
	va_list ap;

	if (!s->c->step)
		return;
	va_start(ap, fmt);
	detail = xvasprintf(fmt, ap);
	va_end(ap);
	s->c->step(s->c->step_data, s->name, detail, clock_now_s() - s->t0, cached);
}
