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

static int not_dots(const struct dirent *e)
{
	return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* What is done with each entry of a directory */
typedef int (*entry_fn)(const char *dir, const char *name, const char *to,
			int depth, struct fail *f);

/* In the order of the names, so that it never depends on the file system */
static int each_entry(const char *dir, const char *to, int depth, entry_fn fn,
		      struct fail *f)
{
	struct dirent **list;
	int n = scandir(dir, &list, not_dots, compare_names);
	int ret = 0;

	if (n < 0)
		return fail_set(f, errno, "read directory '%s'", dir);
	for (int i = 0; i < n; i++) {
		if (ret == 0)
			ret = fn(dir, list[i]->d_name, to, depth, f);
		free(list[i]);
	}
	free(list);
	return ret;
}

static int join(char path[PATH_MAX], const char *dir, const char *name,
		struct fail *f)
{
	int n = snprintf(path, PATH_MAX, "%s/%s", dir, name);

	return n < PATH_MAX ? 0 : fail_set(f, ENAMETOOLONG, "'%s'", dir);
}

static int delete_entry(const char *dir, const char *name, const char *to,
			int depth, struct fail *f)
{
	char path[PATH_MAX];

	(void)to;
	if (join(path, dir, name, f) != 0)
		return -1;
	if (unlink(path) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return fail_set(f, errno, "remove '%s'", path);
	if (depth > DEPTH_MAX)
		return fail_set(f, ELOOP, "directory '%s'", path);
	if (each_entry(path, NULL, depth + 1, delete_entry, f) != 0)
		return -1;
	if (rmdir(path) != 0)
		return fail_set(f, errno, "remove directory '%s'", path);
	return 0;
}

int empty_dir(const char *path, struct fail *f)
{
	return each_entry(path, NULL, 0, delete_entry, f);
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

static int copy_entry(const char *dir, const char *name, const char *to,
		      int depth, struct fail *f)
{
	char a[PATH_MAX], b[PATH_MAX];

	if (join(a, dir, name, f) != 0 || join(b, to, name, f) != 0)
		return -1;
	return copy_node(a, b, depth, f);
}

static int copy_dir(const char *from, const char *to, const struct stat *st,
		    int depth, struct fail *f)
{
	struct timespec times[2] = { st->st_mtim, st->st_mtim };

	if (depth > DEPTH_MAX)
		return fail_set(f, ELOOP, "directory '%s'", from);
	if (mkdir(to, st->st_mode & 07777) != 0)
		return fail_set(f, errno, "make directory '%s'", to);
	if (each_entry(from, to, depth + 1, copy_entry, f) != 0)
		return -1;
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
