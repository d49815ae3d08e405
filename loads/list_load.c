/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list_load.c - `ls -lRa /`, again and again, without ls
 *
 * One Load is as many entries as a complete listing had before the load started;
 * the job makes files meanwhile, so a later listing may have a few more.
 */
#include "loads/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "loads/files.h"
#include "loads/listing.h"

#define TOP "/"
#define NOWHERE "/dev/null"

static int open_out(const struct load_args *a)
{
	int fd = open(NOWHERE, O_WRONLY | O_CLOEXEC);

	return fd >= 0 ? fd : load_fail(a->shared, errno, "open '" NOWHERE "'");
}

static int close_out(const struct load_args *a, int fd)
{
	return close(fd) == 0 ? 0 :
	       load_fail(a->shared, errno, "close '" NOWHERE "'");
}

static int prepare(const struct load_args *a)
{
	uint64_t entries = 0;
	int out = open_out(a), ret;

	if (out < 0)
		return -1;
	ret = listing_write(a, TOP, out, false, &entries);
	if (close_out(a, out) != 0 || ret != 0)
		return -1;
	set_per_load(a, entries);
	return 0;
}

static int run(const struct load_args *a)
{
	int out = open_out(a), ret = 0;

	if (out < 0)
		return -1;
	while (ret == 0 && !load_stopped(a))
		ret = listing_write(a, TOP, out, true, NULL);
	return close_out(a, out) != 0 ? -1 : ret;
}

const struct load_ops list_load_ops = {
	.name = "list_load",
	.unit = "listing of every file system on a disk",
	.per_load = found_per_load,
	.prepare = prepare,
	.run = run,
};
