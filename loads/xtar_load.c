/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xtar_load.c - a tar archive of the job's source tree extracted, again and again
 *
 * The archive is made before the load starts. Every extraction goes to a new
 * directory; the one before is removed first, which is part of the load but no
 * progress. No fsync, so that of a small tree little ever gets to the disk.
 */
#include "loads/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loads/files.h"
#include "loads/ustar.h"

#define TAR_FILE "xtar.tar"
#define TAR_DIR "xtar"

static int prepare(const struct load_args *a)
{
	char path[PATH_MAX];
	uint64_t size = 0;
	int fd, ret;

	if (load_path(a, TAR_FILE, path) != 0)
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return load_fail(a->shared, errno, "open '%s'", path);
	ret = ustar_write(a, a->tree, fd, path, false, &size);
	if (ret == 0 && fdatasync(fd) != 0)
		ret = load_fail(a->shared, errno, "sync '%s'", path);
	if (close(fd) != 0)
		ret = load_fail(a->shared, errno, "close '%s'", path);
	if (ret == 0)
		set_per_load(a, size);
	return ret;
}

/* A directory that is new and empty. Return: descriptor, or -1 */
static int fresh_dir(const struct load_args *a, int dir)
{
	int fd;

	if (remove_at(dir, TAR_DIR) != 0)
		return load_fail(a->shared, errno, "remove '%s/%s'", a->dir,
				 TAR_DIR);
	if (mkdirat(dir, TAR_DIR, 0700) != 0)
		return load_fail(a->shared, errno, "make directory '%s/%s'",
				 a->dir, TAR_DIR);
	fd = openat(dir, TAR_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
		    O_CLOEXEC);
	if (fd < 0)
		return load_fail(a->shared, errno, "open '%s/%s'", a->dir,
				 TAR_DIR);
	return fd;
}

static int extract(const struct load_args *a, int dir, int tar,
		   const char *path)
{
	int fd, ret;

	if (lseek(tar, 0, SEEK_SET) != 0)
		return load_fail(a->shared, errno, "rewind '%s'", path);
	fd = fresh_dir(a, dir);
	if (fd < 0)
		return -1;
	ret = ustar_extract(a, tar, path, fd);
	if (close(fd) != 0)
		ret = load_fail(a->shared, errno, "close '%s/%s'", a->dir,
				TAR_DIR);
	return ret;
}

static int extract_all(const struct load_args *a, int dir, const char *path)
{
	int tar = open(path, O_RDONLY | O_CLOEXEC);
	int ret = 0;

	if (tar < 0)
		return load_fail(a->shared, errno, "open '%s'", path);
	while (ret == 0 && !load_stopped(a))
		ret = extract(a, dir, tar, path);
	if (close(tar) != 0)
		ret = load_fail(a->shared, errno, "close '%s'", path);
	return ret;
}

static int run(const struct load_args *a)
{
	int dir = open(a->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char path[PATH_MAX];
	int ret;

	if (dir < 0)
		return load_fail(a->shared, errno, "open '%s'", a->dir);
	ret = load_path(a, TAR_FILE, path);
	if (ret == 0)
		ret = extract_all(a, dir, path);
	if (remove_at(dir, TAR_DIR) != 0)
		ret = load_fail(a->shared, errno, "remove '%s/%s'", a->dir,
				TAR_DIR);
	if (close(dir) != 0)
		ret = load_fail(a->shared, errno, "close '%s'", a->dir);
	return tidy_up(a, TAR_FILE) != 0 ? -1 : ret;
}

const struct load_ops xtar_load_ops = {
	.name = "xtar_load",
	.unit = "tar of the job's source tree extracted",
	.per_load = found_per_load,
	.prepare = prepare,
	.run = run,
	.work_disk = true,
};
