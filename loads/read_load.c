/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read_load.c - a file of RAM size read from its start to its end, again and
 * again
 *
 * The file is there before the load starts: written, synced and out of the
 * cache. Between two passes nothing is flushed: a file as large as RAM has
 * pushed its own beginning out of the cache when its end is read. A smaller one
 * stays in the cache, and the load then copies memory instead of reading a disk.
 */
#include "loads/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "loads/files.h"

#define READ_FILE "read_load.data"

static uint64_t file_size(const struct load_args *a)
{
	return a->size != 0 ? a->size : a->mem;
}

/* No two blocks alike, for disks that would store those only once */
static int fill(const struct load_args *a, struct block *b, int fd,
		const char *path)
{
	const uint64_t size = file_size(a);

	if (block_get(a, b, fd, path) != 0)
		return -1;
	for (uint64_t at = 0; at < size && !load_stopped(a); at += b->size) {
		uint64_t left = size - at;

		memcpy(b->data, &at, sizeof(at));
		if (write_all(a, fd, path, b->data,
			      left < b->size ? (size_t)left : b->size,
			      false) != 0)
			return -1;
	}
	if (fdatasync(fd) != 0)
		return load_fail(a->shared, errno, "sync '%s'", path);
	return 0;
}

static int drop(const struct load_args *a, int fd, const char *path)
{
	int err = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);

	return err == 0 ? 0 :
	       load_fail(a->shared, err, "drop '%s' from the cache", path);
}

static int prepare(const struct load_args *a)
{
	struct block b = { 0 };
	char path[PATH_MAX];
	int fd, ret;

	if (load_path(a, READ_FILE, path) != 0)
		return -1;
	if (file_size(a) == 0)
		return load_fail(a->shared, EINVAL, "a file of 0 bytes");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return load_fail(a->shared, errno, "open '%s'", path);
	ret = fill(a, &b, fd, path);
	if (ret == 0)
		ret = drop(a, fd, path);
	block_free(&b);
	if (close(fd) != 0)
		ret = load_fail(a->shared, errno, "close '%s'", path);
	return ret;
}

/* Return: 0 at the end of the file or when it is time to stop */
static int read_once(const struct load_args *a, const struct block *b, int fd,
		     const char *path)
{
	uint64_t done = 0;

	if (lseek(fd, 0, SEEK_SET) != 0)
		return load_fail(a->shared, errno, "rewind '%s'", path);
	while (!load_stopped(a)) {
		ssize_t n = read(fd, b->data, b->size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return load_fail(a->shared, errno, "read '%s'", path);
		if (n == 0 && done != file_size(a))
			return load_fail(a->shared, EIO, "'%s' ends at %" PRIu64
					 " of %" PRIu64 " bytes", path, done,
					 file_size(a));
		if (n == 0)
			return 0;
		done += (uint64_t)n;
		load_progress(a, (uint64_t)n);
	}
	return 0;
}

static int read_file(const struct load_args *a, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct block b = { 0 };
	int ret;

	if (fd < 0)
		return load_fail(a->shared, errno, "open '%s'", path);
	ret = block_get(a, &b, fd, path);
	while (ret == 0 && !load_stopped(a))
		ret = read_once(a, &b, fd, path);
	block_free(&b);
	if (close(fd) != 0)
		ret = load_fail(a->shared, errno, "close '%s'", path);
	return ret;
}

static int run(const struct load_args *a)
{
	char path[PATH_MAX];
	int ret;

	if (load_path(a, READ_FILE, path) != 0)
		return -1;
	ret = read_file(a, path);
	return tidy_up(a, READ_FILE) != 0 ? -1 : ret;
}

const struct load_ops read_load_ops = {
	.name = "read_load",
	.unit = "file of RAM size read",
	.size_unit = "bytes",
	.size = file_size,
	.per_load = file_size,
	.prepare = prepare,
	.run = run,
	.work_disk = true,
};
