/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job.c - the work disk of an experiment, with the tree of its job
 */
#include "images/job.h"

#include <string.h>

#include "images/lock.h"
#include "images/share.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

/* Raised when job_linux.c makes another tree of the same inputs. */
#define LINUX_FORMAT "1"
/* What an ext4 takes beside the content, and a build beside its source. */
#define LINUX_BYTES ((uint64_t)96 << 20)
#define ROOM_BYTES ((uint64_t)32 << 20)

void job_tree_free(struct job_tree *j)
{
	free(j->name);
	free(j->package);
	free(j->note);
	*j = (struct job_tree){ 0 };
}

/**
 * struct linux_source - where a kernel's tree comes from
 * @c: layer cache
 * @files: path of the manifest
 * @config: path of the configuration
 * @lock: the package that is used
 */
struct linux_source {
	const struct cache *c;
	char *files, *config;
	struct lock lock;
};

static void linux_source_free(struct linux_source *s)
{
	free(s->files);
	free(s->config);
	lock_free(&s->lock);
}

/* The locked package is gone: the newest in its place, unless @locked. */
static int renew(struct linux_source *s, bool locked, const char *gone,
		 struct job_tree *j, struct error *err)
{
	const char *const names[] = { s->lock.packages.v[0].name, NULL };
	struct packages now = { 0 };

	if (locked)
		return error_set(err, 0, "the mirror has no more: %s, which the job %s locks; without --locked the newest version is taken (other digests, other figures)",
				 gone, j->name);
	if (apt_resolve(s->c, names, true, &now, err))
		return -1;
	j->note = xasprintf("job %s: %s -> %s", j->name, gone, now.v[0].version);
	packages_clear(&s->lock.packages);
	s->lock.packages = now;
	return 0;
}

static int fill_linux(struct tree *t, const void *data, struct error *err)
{
	const struct linux_source *s = data;
	struct packages p = s->lock.packages;

	if (apt_fetch(s->c, &p, err))
		return -1;
	return linux_tree(t, p.v[0].path, s->files, s->config, err);
}

static int linux_key(const struct linux_source *s, struct work_source *w,
		     struct job_tree *j, struct error *err)
{
	char files[SHA256_HEX];
	struct sha256 sum;

	if (sha256_file(s->files, files, err) ||
	    sha256_file(s->config, j->config, err))
		return -1;
	sha256_init(&sum);
	sha256_adds(&sum, JOB_LINUX " " LINUX_FORMAT);
	sha256_adds(&sum, s->lock.packages.v[0].sha256);
	sha256_adds(&sum, files);
	sha256_adds(&sum, j->config);
	sha256_final(&sum, w->key);
	/* Package, list and configuration decide on every byte of the tree. */
	memcpy(j->digest, w->key, SHA256_HEX);
	free(j->package);
	j->package = xasprintf("%s %s", s->lock.packages.v[0].name,
			       s->lock.packages.v[0].version);
	return 0;
}

static int build_linux(const struct cache *c, bool locked, uint64_t size,
		       struct job_tree *j, struct disk_image *d,
		       struct error *err)
{
	CLEANUP(linux_source_free) struct linux_source s = { .c = c };
	CLEANUP(strings_clear) struct strings gone = { 0 };
	struct work_source w = { .fill = fill_linux, .data = &s };
	cleanup_free char *lock = xasprintf("%s/images/" JOB_LINUX ".lock",
					    share_dir());

	s.files = xasprintf("%s/images/" JOB_LINUX ".files", share_dir());
	s.config = xasprintf("%s/images/" JOB_LINUX ".config", share_dir());
	if (size < LINUX_BYTES)
		return error_set(err, 0, "source and objects want a work disk of %llu MiB, and the profile's has %llu MiB: make its [disk work] size larger",
				 (unsigned long long)(LINUX_BYTES >> 20),
				 (unsigned long long)(size >> 20));
	if (lock_read(lock, &s.lock, err) || linux_key(&s, &w, j, err))
		return -1;
	if (!work_cached(c, &w, size)) {
		if (apt_gone(c, &s.lock.packages, &gone, err))
			return -1;
		if (gone.n && (renew(&s, locked, gone.v[0], j, err) ||
			       linux_key(&s, &w, j, err)))
			return -1;
	}
	return work_build_from(c, &w, size, d, err);
}

static int add_bytes(const struct node *n, void *data)
{
	*(uint64_t *)data += n->size + 4096;
	return 0;
}

static int check_room(struct tree *t, const char *dir, uint64_t size,
		      struct error *err)
{
	uint64_t bytes = ROOM_BYTES;

	tree_each(t, add_bytes, &bytes);
	if (bytes <= size)
		return 0;
	return error_set(err, 0, "the job's tree '%s' wants a work disk of %llu MiB, and the profile's has %llu MiB: make its [disk work] size larger, or the tree smaller",
			 dir, (unsigned long long)(bytes >> 20) + 1,
			 (unsigned long long)(size >> 20));
}

static int build_command(const struct cache *c, const char *dir, uint64_t size,
			 struct job_tree *j, struct disk_image *d,
			 struct error *err)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();

	if (!dir)
		return error_set(err, 0, "it has no tree: give [job] tree = DIR in the plan");
	if (dir_tree(t, dir, err) || check_room(t, dir, size, err))
		return -1;
	tree_digest(t, j->digest);
	return work_build_tree(c, t, size, d, err);
}

static int build_own(const struct cache *c, const char *name, uint64_t size,
		     struct job_tree *j, struct disk_image *d, struct error *err)
{
	cleanup_free char *dir = xasprintf("%s/loads/jobs/%s", share_dir(), name);

	if (work_build(c, name, size, d, err))
		return -1;
	return sha256_tree(dir, j->digest, err);
}

int job_build(const struct cache *c, const char *name, const char *dir,
	      bool locked, uint64_t size, struct job_tree *j,
	      struct disk_image *d, struct error *err)
{
	int ret;

	*j = (struct job_tree){ .name = xstrdup(name) };
	if (!strcmp(name, JOB_LINUX))
		ret = build_linux(c, locked, size, j, d, err);
	else if (!strcmp(name, JOB_COMMAND))
		ret = build_command(c, dir, size, j, d, err);
	else
		ret = build_own(c, name, size, j, d, err);
	if (!ret)
		return 0;
	job_tree_free(j);
	return error_prefix(err, "job '%s'", name);
}
