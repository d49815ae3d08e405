/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_guestfs.c - a kernel out of a disk image by libguestfs: LVM, xfs, btrfs,
 * whatever its appliance can read
 *
 *	SCRATCH.dir/vmlinuz, config		what the child downloads
 *	SCRATCH.dir/modules.tar			/lib/modules/VERSION, without what no boot needs
 *	SCRATCH.dir/name			path of the kernel in the image
 */
#include <archive_entry.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/appliance.h"
#include "images/guestfs.h"
#include "images/kernel_archive.h"
#include "images/kernel_disk.h"
#include "results/base/worker.h"
#include "results/base/cleanup.h"
#include "results/base/clock.h"
#include "results/base/file.h"

#define MODULES "/lib/modules"
/* A launch takes half a minute under emulation, on a busy host several. */
#define KVM_TIMEOUT_S 45
#define TCG_TIMEOUT_S 900

static void names_free(char **v)
{
	for (size_t i = 0; v && v[i]; i++)
		free(v[i]);
	free(v);
}

/* "/" before "/boot" before "/boot/efi" */
static int mount_all(struct guestfs *g, const char *root, struct error *err)
{
	char **m = g->inspect_get_mountpoints(g->h, root);
	size_t longest = 0;
	int ret = 0;

	if (!m)
		return guestfs_said(g, "find what is to be mounted", err);
	for (size_t i = 0; m[i] && m[i + 1]; i += 2)
		if (strlen(m[i]) > longest)
			longest = strlen(m[i]);
	for (size_t len = 1; !ret && len <= longest; len++)
		for (size_t i = 0; !ret && m[i] && m[i + 1]; i += 2)
			/* What cannot be mounted but the root may be of no interest. */
			if (strlen(m[i]) == len &&
			    g->mount_options(g->h, "ro,nodev,noexec,nosuid", m[i + 1], m[i]) < 0 &&
			    len == 1)
				ret = guestfs_said(g, "mount the root file system", err);
	names_free(m);
	return ret;
}

/* "6.1.0" of "/boot/vmlinuz-6.1.0" or "/lib/modules/6.1.0/vmlinuz"; owned */
static char *version_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *begin;

	if (str_starts(slash, "/vmlinuz-"))
		return xstrdup(slash + strlen("/vmlinuz-"));
	begin = path + strlen(MODULES "/");
	return slash > begin ? xstrndup(begin, (size_t)(slash - begin)) : NULL;
}

/* The wanted or newest of what matches; @version: owned, NULL when none does. */
static char *choose(struct guestfs *g, const char *pattern, const char *wanted,
		    char **version)
{
	char **found = g->glob_expand(g->h, pattern);
	char *best = NULL;

	for (size_t i = 0; found && found[i]; i++) {
		cleanup_free char *v = version_of(found[i]);

		if (!v || !*v || (wanted ? strcmp(v, wanted) != 0 :
				  *version && kernel_version_cmp(v, *version) <= 0))
			continue;
		free(*version);
		free(best);
		*version = steal_ptr(v);
		best = xstrdup(found[i]);
	}
	names_free(found);
	return best;
}

static int fetch_modules(struct guestfs *g, const char *dir, const char *version,
			 struct error *err)
{
	static const char *const exclude[] = {
		"drivers/gpu", "drivers/media", "drivers/net", "drivers/infiniband",
		"kernel/sound", NULL
	};
	cleanup_free char *from = xasprintf(MODULES "/%s", version);
	cleanup_free char *to = xasprintf("%s/modules.tar", dir);

	if (g->is_dir(g->h, from, GUESTFS_ARGS_END) != 1)
		return 0;
	return g->tar_out(g->h, from, to, GUESTFS_TAR_OUT_NUMERICOWNER, 1,
			  GUESTFS_TAR_OUT_EXCLUDES, exclude, GUESTFS_ARGS_END) < 0 ?
	       guestfs_said(g, "read the modules", err) : 0;
}

static int fetch(struct guestfs *g, const struct disk_source *d, const char *dir,
		 struct error *err)
{
	cleanup_free char *version = NULL, *name = NULL, *config = NULL;
	cleanup_free char *image = xasprintf("%s/vmlinuz", dir);
	cleanup_free char *text = xasprintf("%s/config", dir);
	cleanup_free char *path = choose(g, "/boot/vmlinuz-*", d->version, &version);

	if (!path)
		path = choose(g, MODULES "/*/vmlinuz", d->version, &version);
	if (!path)
		return error_set(err, 0, "no kernel %s in it (/boot/vmlinuz-*)",
				 d->version ? d->version : "at all");
	if (g->download(g->h, path, image) < 0)
		return guestfs_said(g, "read the kernel", err);
	config = xasprintf("/boot/config-%s", version);
	if (g->is_file(g->h, config, GUESTFS_ARGS_END) == 1 &&
	    g->download(g->h, config, text) < 0)
		return guestfs_said(g, "read the configuration", err);
	if (fetch_modules(g, dir, version, err) < 0)
		return -1;
	name = xasprintf("%s/name", dir);
	return file_put(name, path, strlen(path), err);
}

/* struct fetching - what the child is to do; see kernel_guestfs_read() */
struct fetching {
	const struct disk_source *d;
	const char *dir;
	bool kvm;
	const char *kernel, *modules;
};

static int child_work(void *data, struct error *err)
{
	const struct fetching *f = data;
	CLEANUP(guestfs_end) struct guestfs g = { 0 };
	char **roots;
	int ret;

	if (guestfs_open(&g, f->d->path, f->d->qcow2 ? "qcow2" : "raw", f->kvm,
			 f->kernel, f->modules, err) < 0)
		return -1;
	roots = g.inspect_os(g.h);
	if (!roots)
		return guestfs_said(&g, "look for an operating system", err);
	if (!roots[0])
		ret = error_set(err, 0, "no operating system in it");
	else
		ret = mount_all(&g, roots[0], err);
	names_free(roots);
	return ret < 0 ? -1 : fetch(&g, f->d, f->dir, err);
}

static int attempt(struct fetching *f, struct error *err)
{
	CLEANUP(worker_end) struct worker c = WORKER_NONE;
	int timeout_s = f->kvm ? KVM_TIMEOUT_S : TCG_TIMEOUT_S;
	int ret;

	if (make_dirs(f->dir, err) < 0 || worker_start(&c, child_work, f, err) < 0)
		return -1;
	ret = worker_wait(&c, "libguestfs", clock_now_s() + timeout_s, err);
	return ret > 0 ? error_set(err, 0, "libguestfs was not done after %d s",
				   timeout_s) : ret;
}

static int add_modules(const char *tar, const char *where, const char *version,
		       struct kernel_parts *p, struct error *err)
{
	cleanup_reader struct archive *a = archive_read_new();
	struct archive_entry *entry;
	int ret;

	if (!a || archive_read_support_format_tar(a) != ARCHIVE_OK ||
	    archive_read_open_filename(a, tar, 65536) != ARCHIVE_OK)
		return kernel_archive_damaged(where, a, err);
	while ((ret = archive_read_next_header(a, &entry)) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(entry);
		cleanup_free char *path = NULL;

		if (!name || archive_entry_filetype(entry) != S_IFREG)
			continue;
		path = xasprintf("lib/modules/%s/%s", version, name + strspn(name, "./"));
		archive_entry_set_pathname(entry, path);
		if (kernel_archive_entry(a, entry, where, p, err) < 0)
			return -1;
	}
	return ret == ARCHIVE_EOF ? 0 : kernel_archive_damaged(where, a, err);
}

static int take(const struct disk_source *d, const char *dir,
		struct kernel_parts *p, struct error *err)
{
	cleanup_free char *image = xasprintf("%s/vmlinuz", dir);
	cleanup_free char *config = xasprintf("%s/config", dir);
	cleanup_free char *tar = xasprintf("%s/modules.tar", dir);
	cleanup_free char *path = xasprintf("%s/name", dir);
	cleanup_free char *version = NULL;
	CLEANUP(buf_free) struct buf name = { 0 };

	if (file_read(path, 4096, &name, err) < 0)
		return -1;
	version = version_of(name.data);
	/* What the search among ext file systems may have found */
	buf_free(&p->image);
	buf_free(&p->config);
	free(p->where);
	p->where = xasprintf("%s:%s", d->path, name.data);
	if (file_read(image, KERNEL_IMAGE_MAX_BYTES, &p->image, err) < 0)
		return -1;
	if (path_exists(config) &&
	    file_read(config, KERNEL_TEXT_MAX_BYTES, &p->config, err) < 0)
		return -1;
	return path_exists(tar) ? add_modules(tar, d->path, version, p, err) : 0;
}

int kernel_guestfs_read(const struct disk_source *d, struct kernel_parts *p,
			struct error *err)
{
	cleanup_free char *dir = xasprintf("%s.dir", d->scratch);
	cleanup_free char *kernel = NULL, *modules = NULL;
	struct fetching f = { .d = d, .dir = dir,
			      .kvm = access("/dev/kvm", R_OK | W_OK) == 0 };
	int ret;

	if (appliance_wanted() &&
	    appliance_kernel(d->cache, APPLIANCE_PACKAGE, &kernel, &modules, err) < 0)
		return -1;
	/* A KVM that is there need not work: then it is done again without. */
	f.kernel = kernel;
	f.modules = modules;
	ret = f.kvm ? attempt(&f, err) : -1;
	f.kvm = false;
	if (ret < 0 && !remove_tree(dir, err))
		ret = attempt(&f, err);
	if (!ret)
		ret = take(d, dir, p, err);
	if (remove_tree(dir, ret ? NULL : err) < 0)
		return -1;
	return ret;
}
