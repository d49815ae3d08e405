/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/replay.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "images/cache.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

int replay_unpack(struct bundle *b, const struct cache *c, const char *dir,
		  char **path, struct error *err)
{
	cleanup_free char *in_cache = dir ? NULL : cache_path(c, "bundles", b->digest, NULL);
	cleanup_free char *cwd = dir && *dir != '/' ? getcwd(NULL, 0) : NULL;
	cleanup_free char *to = !dir ? steal_ptr(in_cache) :
				*dir == '/' ? xstrdup(dir) :
				xasprintf("%s/%s", cwd ? cwd : ".", dir);
	cleanup_close int lock = -1;

	for (size_t n = strlen(to); n > 1 && to[n - 1] == '/'; n--)
		to[n - 1] = '\0';
	if (!dir) {
		lock = cache_lock(c, "bundles", b->digest, err);
		if (lock < 0)
			return -1;
	}
	if (path_exists(to)) {
		if (bundle_unpacked(b, to)) {
			*path = steal_ptr(to);
			return 0;
		}
		if (dir)
			return error_set(err, 0, "'%s' is there and is not what this bundle unpacks to: name another directory", dir);
		/* Somebody changed it, or a disk did. */
		if (remove_tree(to, err) < 0)
			return -1;
	}
	if (bundle_unpack(b, to, err) < 0)
		return -1;
	*path = steal_ptr(to);
	return 0;
}

static const struct bundle_file *find_file(const struct bundle *b, const char *name)
{
	for (size_t i = 0; i < b->m.files.n; i++)
		if (!strcmp(b->m.files.v[i].path, name))
			return &b->m.files.v[i];
	return NULL;
}

/* A disk of the bundle, which must be the one that the journals name. */
static int take_file(const struct bundle *b, const char *dir, const char *name,
		     const char *sha256, char **path, uint64_t *size,
		     struct error *err)
{
	const struct bundle_file *f = find_file(b, name);

	if (!f)
		return error_set(err, 0, "bundle '%s': member '%s' is missing, and its journals are of it", b->path, name);
	if (strcmp(f->sha256, sha256))
		return error_set(err, 0, "bundle '%s': member '%s' is not what its journals are of: SHA-256 %.12s..., theirs is %.12s...",
				 b->path, name, f->sha256, sha256);
	*path = xasprintf("%s/%s", dir, name);
	*size = f->size;
	return 0;
}

static int take_candidate(struct candidate *c, size_t k, const struct bundle *b,
			  const char *dir, struct error *err)
{
	cleanup_free char *system = xasprintf(BUNDLE_SYSTEM "-%zu.img", k + 1);
	cleanup_free char *vmlinuz = xasprintf(BUNDLE_VMLINUZ "-%zu", k + 1);
	cleanup_free char *initrd = xasprintf(BUNDLE_INITRD "-%zu", k + 1);
	uint64_t ignored;

	if (take_file(b, dir, system, c->system.digest, &c->system.path, &c->system.size, err) < 0 ||
	    take_file(b, dir, vmlinuz, c->kernel.digest, &c->system.vmlinuz, &ignored, err) < 0 ||
	    take_file(b, dir, initrd, c->initramfs.digest, &c->system.initrd, &ignored, err) < 0)
		return -1;
	return 0;
}

static int take_disk(struct disk_image *d, const char *name, const struct bundle *b,
		     const char *dir, struct error *err)
{
	return take_file(b, dir, name, d->digest, &d->path, &d->size, err);
}

/* The small members say nothing that the journals do not; they must not say
 * anything else either. */
static int check_text(const struct bundle *b, const char *role, const char *digest,
		      struct error *err)
{
	const struct bundle_member *m = bundle_find(b, role);

	if (m && !strcmp(m->sha256, digest))
		return 0;
	return error_set(err, 0, "bundle '%s': member '%s' is not that of its journals",
			 b->path, m ? m->path : role);
}

int replay_load(struct rerun *r, const struct bundle *b, const struct cache *c,
		const char *dir, struct error *err)
{
	CLEANUP(strings_clear) struct strings journals = { 0 };
	struct experiment *e = &r->e;

	for (size_t i = 0; i < b->m.members.n; i++)
		if (!strcmp(b->m.members.v[i].role, BUNDLE_JOURNAL))
			strings_add(&journals, xasprintf("%s/%s", dir, b->m.members.v[i].path));
	if (rerun_load(r, c, &journals, err) < 0)
		return error_prefix(err, "bundle '%s'", b->path);
	if (strcmp(r->boots.v[0].run_id, b->m.run_id))
		return error_set(err, 0, "bundle '%s': its journals are of run %s, the manifest says %s",
				 b->path, r->boots.v[0].run_id, b->m.run_id);
	if (check_text(b, BUNDLE_PLAN, r->plan.digest, err) < 0 ||
	    check_text(b, BUNDLE_PROFILE, e->profile.digest, err) < 0)
		return -1;
	for (size_t k = 0; k < e->n_candidates; k++)
		if (take_candidate(&e->candidates[k], k, b, dir, err) < 0)
			return -1;
	if (take_disk(&e->work, BUNDLE_WORK ".img", b, dir, err) < 0 ||
	    (e->profile.other.present && take_disk(&e->other, BUNDLE_OTHER ".img", b, dir, err) < 0) ||
	    (e->profile.swap.present && take_disk(&e->swap, BUNDLE_SWAP ".img", b, dir, err) < 0))
		return -1;
	return 0;
}
