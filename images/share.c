/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/share.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/text.h"

#define BUILD_MARK "kontest.paths"	/* the Makefile's */
#define GUEST "guest/kontest-guest"

/* The directory of a path, "" for that of "/x"; owned by the caller. */
static char *parent(const char *path)
{
	const char *slash = strrchr(path, '/');

	return xstrndup(path, slash ? (size_t)(slash - path) : 0);
}

static bool has(const char *dir, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);

	return path_exists(path);
}

/* Path of this program, "" when /proc is missing; owned by the caller. */
static char *own_path(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	return xstrndup(path, n > 0 && n < PATH_MAX ? (size_t)n : 0);
}

char *share_find(const char *exe, const char *tree, const char *installed)
{
	cleanup_free char *dir = parent(exe);
	cleanup_free char *above = parent(dir);
	cleanup_free char *beside = xasprintf("%s/share/kontest", above);

	/* Unit tests lie one below. */
	if ((has(dir, BUILD_MARK) || has(above, BUILD_MARK)) &&
	    has(tree, "images/profiles"))
		return xstrdup(tree);
	return xstrdup(path_is_dir(beside) ? beside : installed);
}

const char *share_dir(void)
{
	static char *dir;
	const char *env = getenv("KONTEST_SHARE");
	cleanup_free char *exe = NULL;

	if (dir)
		return dir;
	exe = own_path();
	dir = env && *env ? xstrdup(env) :
			    share_find(exe, KONTEST_TREE, KONTEST_SHARE);
	return dir;
}

char *guest_find(const char *exe, const char *share, struct error *err)
{
	cleanup_free char *dir = parent(exe);
	cleanup_free char *built = xasprintf("%s/" GUEST, dir);
	cleanup_free char *installed = xasprintf("%s/" GUEST, share);

	if (path_exists(built))
		return steal_ptr(built);
	/* One from elsewhere would be of another version, or an older one. */
	if (has(dir, BUILD_MARK)) {
		error_set(err, 0, "there is no guest program '%s': build it with `make`, and the same O= as this kontest",
			  built);
		return NULL;
	}
	if (path_exists(installed))
		return steal_ptr(installed);
	error_set(err, 0, "there is no guest program '%s': install it with `make install`, or KONTEST_SHARE names where it is",
		  installed);
	return NULL;
}

char *guest_program(struct error *err)
{
	cleanup_free char *exe = own_path();

	return guest_find(exe, share_dir(), err);
}
