/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io_load.c - zeros over a file of RAM size, again and again, on the job's own
 * disk (io_load) or on another one (io_other)
 *
 * Open and truncate, write in blocks of st_blksize up to the size, close,
 * repeat; no fsync, so that the page cache fills with dirty pages as fast as
 * the kernel lets it. Progress is counted in bytes that write() has taken.
 */
#include "loads/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "loads/files.h"

#define IO_FILE "io_load.data"

static uint64_t file_size(const struct load_args *a)
{
	return a->size != 0 ? a->size : a->mem;
}

static int fill(const struct load_args *a, const struct block *zeros, int fd,
		const char *path)
{
	uint64_t left = file_size(a);

	while (left > 0 && !load_stopped(a)) {
		size_t want = left < zeros->size ? (size_t)left : zeros->size;

		/* A full disk ends here, and with it the run */
		if (write_all(a, fd, path, zeros->data, want, true) != 0)
			return -1;
		left -= want;
	}
	return 0;
}

static int write_once(const struct load_args *a, struct block *zeros,
		      const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int ret;

	if (fd < 0)
		return load_fail(a->shared, errno, "open '%s'", path);
	ret = block_get(a, zeros, fd, path);
	if (ret == 0)
		ret = fill(a, zeros, fd, path);
	if (close(fd) != 0)
		ret = load_fail(a->shared, errno, "close '%s'", path);
	return ret;
}

static int run(const struct load_args *a)
{
	struct block zeros = { 0 };
	char path[PATH_MAX];
	int ret = 0;

	if (load_path(a, IO_FILE, path) != 0)
		return -1;
	if (file_size(a) == 0)
		return load_fail(a->shared, EINVAL, "a file of 0 bytes");

	while (ret == 0 && !load_stopped(a))
		ret = write_once(a, &zeros, path);
	block_free(&zeros);
	return tidy_up(a, IO_FILE) != 0 ? -1 : ret;
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

const struct load_ops io_other_ops = {
	.name = "io_other",
	.unit = "file of RAM size written on the other disk",
	.size_unit = "bytes",
	.size = file_size,
	.per_load = file_size,
	.run = run,
	.other_disk = true,
};
