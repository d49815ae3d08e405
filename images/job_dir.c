/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_dir.c - the user's own directory as the tree of a job
 */
#include "images/job.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"

static int add_link(struct tree *t, const char *path, const FTSENT *f,
		    struct error *err)
{
	char target[PATH_MAX];
	ssize_t len = readlink(f->fts_accpath, target, sizeof(target) - 1);

	if (len < 0)
		return error_set(err, errno, "read link '%s'", f->fts_path);
	target[len] = '\0';
	return tree_add_symlink(t, path, target, err);
}

static int add_file(struct tree *t, const char *path, const FTSENT *f,
		    struct error *err)
{
	CLEANUP(buf_free) struct buf b = { 0 };
	size_t len;

	if (file_read(f->fts_accpath, SIZE_MAX, &b, err))
		return -1;
	len = b.len;
	return tree_add_file(t, path, f->fts_statp->st_mode & 07777,
			     steal_ptr(b.data), len, err);
}

static int add_one(struct tree *t, const char *dir, const FTSENT *f,
		   struct error *err)
{
	cleanup_free char *path = xasprintf("/" JOB_COMMAND "%s",
					    f->fts_path + strlen(dir));

	switch (f->fts_info) {
	case FTS_D:
		return tree_add_dir(t, path, f->fts_statp->st_mode & 07777, err);
	case FTS_DP:
		return 0;
	case FTS_F:
		return add_file(t, path, f, err);
	case FTS_SL:
	case FTS_SLNONE:
		return add_link(t, path, f, err);
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		return error_set(err, f->fts_errno, "read '%s'", f->fts_path);
	default:
		return error_set(err, 0, "'%s' is no file, directory or link: a job's tree can have nothing else; remove it",
				 f->fts_path);
	}
}

int dir_tree(struct tree *t, const char *dir, struct error *err)
{
	cleanup_free char *top = realpath(dir, NULL);
	char *const roots[] = { top, NULL };
	cleanup_fts FTS *fts = NULL;
	FTSENT *f;

	if (!top)
		return error_set(err, errno, "the job's tree '%s' ([job] tree in the plan)",
				 dir);
	if (!path_is_dir(top))
		return error_set(err, ENOTDIR, "the job's tree '%s' ([job] tree in the plan)",
				 dir);
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!fts)
		return error_set(err, errno, "open directory '%s'", top);
	while ((errno = 0, f = fts_read(fts)))
		if (add_one(t, top, f, err))
			return -1;
	if (errno)
		return error_set(err, errno, "read directory '%s'", top);
	return 0;
}
