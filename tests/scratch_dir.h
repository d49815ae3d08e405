/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scratch_dir.h - one directory of a test program's own, removed with all in it
 */
#ifndef KONTEST_SCRATCH_DIR_H
#define KONTEST_SCRATCH_DIR_H

#include <stdlib.h>

#include "results/base/file.h"
#include "results/base/text.h"

static char *dir;

static int setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	dir = xasprintf("%s/kontest-unit-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	int ret = remove_tree(dir, NULL);

	(void)state;
	free(dir);
	return ret;
}

#endif
