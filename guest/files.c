/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.c - whole directory trees: remove them, copy them
 */
#include "guest/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 64

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define auto_closedir __attribute__((cleanup(closedirp)))

static int remove_below(int parent, const char *name, int depth, struct fail *f)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
			O_CLOEXEC);
	auto_closedir DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;

	if (!d) {
		fail_set(f, errno, "open directory '%s'", name);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (depth > DEPTH_MAX)
		return fail_set(f, ELOOP, "directory '%s'", name);
	for (errno = 0; (e = readdir(d)); errno = 0) {
		int isdir = 0;

		if (is_dots(e->d_name))
			continue;
		if (unlinkat(fd, e->d_name, 0) != 0) {
			isdir = errno == EISDIR || errno == EPERM;
			if (!isdir && errno != ENOENT)
				return fail_set(f, errno, "remove '%s'",
						e->d_name);
		}
		if (isdir && (remove_below(fd, e->d_name, depth + 1, f) != 0))
			return -1;
		if (isdir && unlinkat(fd, e->d_name, AT_REMOVEDIR) != 0)
			return fail_set(f, errno, "remove directory '%s'",
					e->d_name);
	}
	if (errno)
		return fail_set(f, errno, "read directory '%s'", name);
	return 0;
}

int empty_dir(const char *path, struct fail *f)
{
	return remove_below(AT_FDCWD, path, 0, f);
}

int delete_tree(const char *path, struct fail *f)
{
	if (unlink(path) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return fail_set(f, errno, "remove '%s'", path);
	if (empty_dir(path, f) != 0)
		return -1;
	if (rmdir(path) != 0)
		return fail_set(f, errno, "remove directory '%s'", path);
	return 0;
}

static int copy_bytes(int in, int out, const char *name, struct fail *f)
{
	char buf[16384];

	for (;;) {
		ssize_t n = read(in, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_set(f, errno, "read '%s'", name);
		if (n == 0)
			return 0;
		if (write_full(out, buf, (size_t)n) != 0)
			return fail_set(f, errno, "write the copy of '%s'",
					name);
	}
}

static int copy_file(const char *from, const char *to, const struct stat *st,
		     struct fail *f)
{
	auto_close int in = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	auto_close int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
				  st->st_mode & 07777);
	struct timespec times[2] = { st->st_mtim, st->st_mtim };

	if (in < 0 || out < 0)
		return fail_set(f, errno, "copy '%s' to '%s'", from, to);
	if (copy_bytes(in, out, from, f) != 0)
		return -1;
	if (fchmod(out, st->st_mode & 07777) != 0 || futimens(out, times) != 0)
		return fail_set(f, errno, "set mode and time of '%s'", to);
	return 0;
}

static int copy_link(const char *from, const char *to, struct fail *f)
{
	char target[PATH_MAX];
	ssize_t n = readlink(from, target, sizeof(target) - 1);

	if (n < 0)
		return fail_set(f, errno, "read link '%s'", from);
	target[n] = '\0';
	if (symlink(target, to) != 0)
		return fail_set(f, errno, "make link '%s'", to);
	return 0;
}

static int copy_node(const char *from, const char *to, int depth,
		     struct fail *f);

static int copy_dir(const char *from, const char *to, const struct stat *st,
		    int depth, struct fail *f)
{
	auto_closedir DIR *d = opendir(from);
	struct timespec times[2] = { st->st_mtim, st->st_mtim };
	char a[PATH_MAX], b[PATH_MAX];
	const struct dirent *e;

	if (!d)
		return fail_set(f, errno, "open directory '%s'", from);
	if (depth > DEPTH_MAX)
		return fail_set(f, ELOOP, "directory '%s'", from);
	if (mkdir(to, st->st_mode & 07777) != 0)
		return fail_set(f, errno, "make directory '%s'", to);
	for (errno = 0; (e = readdir(d)); errno = 0) {
		if (is_dots(e->d_name))
			continue;
		if (snprintf(a, sizeof(a), "%s/%s", from, e->d_name) >=
		    (int)sizeof(a) ||
		    snprintf(b, sizeof(b), "%s/%s", to, e->d_name) >=
		    (int)sizeof(b))
			return fail_set(f, ENAMETOOLONG, "'%s'", from);
		if (copy_node(a, b, depth + 1, f) != 0)
			return -1;
	}
	if (errno)
		return fail_set(f, errno, "read directory '%s'", from);
	/* Last, because every file made in it moves the time again */
	if (utimensat(AT_FDCWD, to, times, 0) != 0)
		return fail_set(f, errno, "set time of '%s'", to);
	return 0;
}

static int copy_node(const char *from, const char *to, int depth,
		     struct fail *f)
{
	struct stat st;

	if (lstat(from, &st) != 0)
		return fail_set(f, errno, "look at '%s'", from);
	if (S_ISDIR(st.st_mode))
		return copy_dir(from, to, &st, depth, f);
	if (S_ISREG(st.st_mode))
		return copy_file(from, to, &st, f);
	if (S_ISLNK(st.st_mode))
		return copy_link(from, to, f);
	return fail_set(f, 0, "'%s' is no file, directory or link: not copied",
			from);
}

int copy_tree(const char *from, const char *to, struct fail *f)
{
	return copy_node(from, to, 0, f);
}
