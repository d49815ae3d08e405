/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctar_load.c - a tar archive made of the job's source tree, again and again
 *
 * Each archive is written over the one before, without fsync. The job builds in
 * the tree meanwhile, so one archive may be larger than another; one Load is the
 * size of an archive of the tree in its starting state.
 */
#include "loads/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "loads/files.h"
#include "loads/ustar.h"

#define TAR_FILE "ctar.tar"

static int prepare(const struct load_args *a)
{
	uint64_t size = 0;

	if (ustar_write(a, a->tree, -1, "", false, &size) != 0)
		return -1;
	set_per_load(a, size);
	return 0;
}

static int make_tar(const struct load_args *a, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int ret;

	if (fd < 0)
		return load_fail(a->shared, errno, "open '%s'", path);
	ret = ustar_write(a, a->tree, fd, path, true, NULL);
	if (close(fd) != 0)
		ret = load_fail(a->shared, errno, "close '%s'", path);
	return ret;
}

static int run(const struct load_args *a)
{
	char path[PATH_MAX];
	int ret = 0;

	if (load_path(a, TAR_FILE, path) != 0)
		return -1;
	while (ret == 0 && !load_stopped(a))
		ret = make_tar(a, path);
	return tidy_up(a, TAR_FILE) != 0 ? -1 : ret;
}

const struct load_ops ctar_load_ops = {
	.name = "ctar_load",
	.unit = "tar of the job's source tree made",
	.per_load = found_per_load,
	.prepare = prepare,
	.run = run,
	.work_disk = true,
};
