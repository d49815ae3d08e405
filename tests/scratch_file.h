/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scratch_file.h - one file of a test program's own, for readers of files
 */
#ifndef KONTEST_SCRATCH_FILE_H
#define KONTEST_SCRATCH_FILE_H

#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/kontest-unit.XXXXXX";

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

#endif
