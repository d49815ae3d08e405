/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io_load.c - zeros over a file of RAM size, again and again
 *
 * Open and truncate, write in blocks of st_blksize up to the size, close,
 * repeat; no fsync, so that the page cache fills with dirty pages as fast as
 * the kernel lets it. Progress is counted in bytes that write() has taken.
 */
#include "loads/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IO_FILE "io_load.data"
#define BLOCK_MAX (1u << 20)	/* some network file systems say far more */

struct io_file {
	char path[4096];
	uint64_t size;		/* bytes */
	char *zeros;
	size_t block;		/* bytes of @zeros */
};

static uint64_t file_size(const struct load_args *a)
{
	return a->size != 0 ? a->size : a->mem;
}

/* One buffer for all files; the file system says how large its blocks are */
static int get_block(const struct load_args *a, struct io_file *f, int fd)
{
	struct stat st;

	if (f->zeros != NULL)
		return 0;
	if (fstat(fd, &st) != 0)
		return load_fail(a->shared, errno, "stat '%s'", f->path);
	f->block = st.st_blksize > 0 ? (size_t)st.st_blksize : 4096;
	if (f->block > BLOCK_MAX)
		f->block = BLOCK_MAX;
	f->zeros = calloc(1, f->block);
	if (f->zeros == NULL)
		return load_fail(a->shared, errno, "get %zu bytes", f->block);
	/* Real pages, not the kernel's one page of zeros */
	memset(f->zeros, 0, f->block);
	return 0;
}

static int fill(const struct load_args *a, const struct io_file *f, int fd)
{
	uint64_t done = 0;

	while (done < f->size && !load_stopped(a)) {
		size_t want = f->block;
		ssize_t n;

		if (want > f->size - done)
			want = (size_t)(f->size - done);
		n = write(fd, f->zeros, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return load_fail(a->shared, n < 0 ? errno : EIO,
				"write '%s' at %" PRIu64 " of %" PRIu64 " bytes",
				f->path, done, f->size);
		done += (uint64_t)n;
		load_progress(a, (uint64_t)n);
	}
	return 0;
}

static int write_once(const struct load_args *a, struct io_file *f)
{
	int fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int ret;

	if (fd < 0)
		return load_fail(a->shared, errno, "open '%s'", f->path);
	ret = get_block(a, f, fd);
	if (ret == 0)
		ret = fill(a, f, fd);
	if (close(fd) != 0)
		ret = load_fail(a->shared, errno, "close '%s'", f->path);
	return ret;
}

/* Leaves the disk as it was found, with nothing left for the next run to write */
static int tidy_up(const struct load_args *a, const struct io_file *f)
{
	int dir, ret = 0;

	if (unlink(f->path) != 0 && errno != ENOENT)
		ret = load_fail(a->shared, errno, "remove '%s'", f->path);
	dir = open(a->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return load_fail(a->shared, errno, "open '%s'", a->dir);
	if (syncfs(dir) != 0)
		ret = load_fail(a->shared, errno, "sync '%s'", a->dir);
	if (close(dir) != 0)
		ret = load_fail(a->shared, errno, "close '%s'", a->dir);
	return ret;
}

static int run(const struct load_args *a)
{
	struct io_file f = { .size = file_size(a) };
	int n = snprintf(f.path, sizeof(f.path), "%s/%s", a->dir, IO_FILE);
	int ret = 0;

	if (n < 0 || (size_t)n >= sizeof(f.path))
		return load_fail(a->shared, ENAMETOOLONG, "'%.200s'", a->dir);
	if (f.size == 0)
		return load_fail(a->shared, EINVAL, "io_load of 0 bytes");

	while (ret == 0 && !load_stopped(a))
		ret = write_once(a, &f);
	if (tidy_up(a, &f) != 0)
		ret = -1;
	free(f.zeros);
	return ret;
}

const struct load_ops io_load_ops = {
	.name = "io_load",
	.unit = "file of RAM size written",
	.size_unit = "bytes",
	.size = file_size,
	.per_load = file_size,
	.run = run,
	.work_disk = true,
};
