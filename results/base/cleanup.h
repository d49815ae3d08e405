/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cleanup.h - resources that end with the scope that took them
 *
 *	cleanup_free char *name = xasprintf("%s.tmp", path);
 *	cleanup_close int fd = open(name, O_RDONLY | O_CLOEXEC);
 *
 * steal_ptr()/steal_fd() hand a resource on to somebody else.
 */
#ifndef KONTEST_CLEANUP_H
#define KONTEST_CLEANUP_H

#include <dirent.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(fn) __attribute__((cleanup(fn)))

static inline void cleanup_freep(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

static inline void cleanup_ftsp(FTS **fts)
{
	if (*fts)
		fts_close(*fts);
}

#define cleanup_free CLEANUP(cleanup_freep)
#define cleanup_close CLEANUP(cleanup_closep)
#define cleanup_fclose CLEANUP(cleanup_fclosep)
#define cleanup_closedir CLEANUP(cleanup_closedirp)
#define cleanup_fts CLEANUP(cleanup_ftsp)

#define steal_ptr(p) ({ __typeof__(p) steal_tmp_ = (p); (p) = NULL; steal_tmp_; })

static inline int steal_fd(int *fd)
{
	int ret = *fd;

	*fd = -1;
	return ret;
}

#endif
