/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * appliance.c - a kernel for libguestfs where the host has none to read
 *
 *	CACHE/appliance/KEY/vmlinuz
 *	CACHE/appliance/KEY/lib/modules/RELEASE/	with what depmod makes
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/appliance.h"
#include "images/apt.h"
#include "images/tree.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/proc.h"

#define IMAGE "/boot/vmlinuz-"
#define MODULES "/lib/modules/"

static bool host_has_kernel(void)
{
	cleanup_closedir DIR *d = opendir("/boot");
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		cleanup_free char *kernel = xasprintf("/boot/%s", e->d_name);
		cleanup_free char *modules = NULL;

		if (!str_starts(e->d_name, "vmlinuz-"))
			continue;
		modules = xasprintf(MODULES "%s/modules.dep",
				    e->d_name + strlen("vmlinuz-"));
		if (!access(kernel, R_OK) && !access(modules, R_OK))
			return true;
	}
	return false;
}

bool appliance_wanted(void)
{
	return !host_has_kernel() && !getenv("SUPERMIN_KERNEL");
}

/* struct unpacking - of a package; @release: once the image was met; owned */
struct unpacking {
	const char *dir;
	char *release;
	struct error *err;
};

static int put_node(const struct node *n, void *data)
{
	struct unpacking *u = data;
	cleanup_free char *to = NULL;
	cleanup_free char *parent = NULL;

	if (!S_ISREG(n->mode) || n->hardlink)
		return 0;
	if (str_starts(n->path, IMAGE)) {
		free(u->release);
		u->release = xstrdup(n->path + strlen(IMAGE));
		to = xasprintf("%s/vmlinuz", u->dir);
	} else if (str_starts(n->path, MODULES)) {
		to = xasprintf("%s%s", u->dir, n->path);
	} else {
		return 0;
	}
	parent = xstrdup(to);
	*strrchr(parent, '/') = '\0';
	if (make_dirs(parent, u->err) < 0)
		return -1;
	return file_put(to, n->data, n->size, u->err);
}

static int unpack(const char *deb, const char *dir, struct error *err)
{
	static const char *const exclude[] = { "/usr/share/*", NULL };
	CLEANUP(tree_freep) struct tree *t = tree_new();
	struct unpacking u = { .dir = dir, .err = err };
	cleanup_free char *release = NULL;
	int ret = tree_add_deb(t, deb, exclude, err);

	if (!ret)
		ret = tree_each(t, put_node, &u);
	release = u.release;
	if (ret)
		return -1;
	if (!release)
		return error_set(err, 0, "'%s' has no kernel", deb);
	return proc_run((const char *const[]){ "depmod", "-b", dir, release, NULL },
			NULL, err) < 0 ?
	       error_add(err, "; the Debian package kmod has depmod") :
	       put_sync(dir, err);
}

/* The one directory below lib/modules; owned by the caller; NULL: none. */
static char *modules_in(const char *dir)
{
	cleanup_free char *path = xasprintf("%s" MODULES, dir);
	cleanup_closedir DIR *d = opendir(path);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			return xasprintf("%s%s", path, e->d_name);
	return NULL;
}

static int make_layer(const struct cache *c, const char *deb, const char *key,
		      const char *dir, struct error *err)
{
	cleanup_close int lock = cache_lock(c, "appliance", key, err);
	cleanup_free char *tmp = cache_making(c, "appliance", key);

	if (lock < 0)
		return -1;
	if (path_is_dir(dir))
		return 0;
	if (make_dirs(tmp, err) < 0)
		return -1;
	if (unpack(deb, tmp, err) < 0 || rename(tmp, dir) < 0) {
		(void)remove_tree(tmp, NULL);
		return err && *err->text ? -1 :
		       error_set(err, errno, "rename '%s'", tmp);
	}
	return 0;
}

int appliance_kernel(const struct cache *c, const char *package, char **kernel,
		     char **modules, struct error *err)
{
	CLEANUP(packages_clear) struct packages found = { 0 };
	cleanup_free char *real = NULL;
	cleanup_free char *dir = NULL;
	const char *names[] = { package, NULL };
	struct step step;

	step_begin(&step, c, "appliance kernel");
	if (!apt_meta(c, package, "linux-image-", &real, NULL))
		names[0] = real;
	if (apt_resolve(c, names, true, &found, err) < 0 ||
	    apt_fetch(c, &found, err) < 0)
		return -1;
	if (found.n != 1 || !found.v[0].path)
		return error_set(err, 0, "apt names %zu packages for '%s'", found.n,
				 names[0]);
	dir = cache_path(c, "appliance", found.v[0].sha256, "");
	if (!path_is_dir(dir) &&
	    make_layer(c, found.v[0].path, found.v[0].sha256, dir, err) < 0)
		return error_prefix(err, "unpack %s", names[0]);
	*modules = modules_in(dir);
	if (!*modules)
		return error_set(err, 0, "'%s' is damaged: remove that directory, it is made again",
				 dir);
	*kernel = xasprintf("%s/vmlinuz", dir);
	step_end(&step, false, "%s", names[0]);
	return 0;
}
