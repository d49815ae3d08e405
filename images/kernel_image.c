/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_image.c - a kernel from a bzImage or vmlinux and what belongs to it
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "images/kernel_parts.h"
#include "images/vmlinux.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/text.h"

/* What a directory that holds modules directories holds, for the error text. */
static char *releases_in(const char *dir)
{
	CLEANUP(buf_free) struct buf names = { 0 };
	cleanup_closedir DIR *d = opendir(dir);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		cleanup_free char *kernel = xasprintf("%s/%s/kernel", dir, e->d_name);
		cleanup_free char *order = xasprintf("%s/%s/modules.order", dir, e->d_name);

		if (e->d_name[0] != '.' &&
		    (path_is_dir(kernel) || path_exists(order)))
			buf_printf(&names, "%s%s", names.len ? ", " : "", e->d_name);
	}
	return names.len ? xstrdup(names.data) : NULL;
}

/* Where DIR keeps this release's modules: it may be /lib/modules/RELEASE itself,
 * its parent, or the root of an installation. Owned by the caller. */
static char *modules_dir(const char *dir, const char *release, const char *image,
			 struct error *err)
{
	static const char *const below[] = { "", "/lib/modules", "/usr/lib/modules" };
	cleanup_free char *kernel = xasprintf("%s/kernel", dir);

	if (!path_exists(dir)) {
		error_set(err, errno, "modules directory '%s'", dir);
		return NULL;
	}
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		char *path = xasprintf("%s%s/%s", dir, below[i], release);

		if (path_is_dir(path))
			return path;
		free(path);
	}
	for (size_t i = 0; !path_is_dir(kernel) &&
	     i < sizeof(below) / sizeof(below[0]); i++) {
		cleanup_free char *path = xasprintf("%s%s", dir, below[i]);
		cleanup_free char *there = releases_in(path);

		if (there) {
			error_set(err, 0, "'%s' has modules of release %s, but kernel '%s' is of release %s; install that release's modules there (make modules_install INSTALL_MOD_PATH=DIR)",
				  path, there, image, release);
			return NULL;
		}
	}
	return xstrdup(dir);
}

static int read_modules(const char *given, struct kernel_parts *p,
			struct error *err)
{
	cleanup_free char *dir = modules_dir(given, p->bz.release, p->where, err);
	cleanup_free char *builtin = NULL;

	if (!dir || modules_add_dir(p->modules, dir, err) < 0)
		return -1;
	if (modules_count(p->modules) == 0)
		return error_set(err, 0, "'%s': no module (.ko) below it; give /lib/modules/%s, or leave --modules away for a kernel without modules",
				 dir, p->bz.release);
	builtin = xasprintf("%s/modules.builtin", dir);
	if (path_exists(builtin))
		return file_read(builtin, KERNEL_TEXT_MAX_BYTES, &p->builtin, err);
	return 0;
}

static int read_config(const char *given, struct kernel_parts *p,
		       struct error *err)
{
	const char *slash = strrchr(p->where, '/');
	cleanup_free char *beside = NULL;

	if (given)
		return file_read(given, KERNEL_TEXT_MAX_BYTES, &p->config, err);
	beside = xasprintf("%.*sconfig-%s", slash ? (int)(slash + 1 - p->where) : 0,
			   p->where, p->bz.release);
	if (path_exists(beside))
		return file_read(beside, KERNEL_TEXT_MAX_BYTES, &p->config, err);
	return 0;
}

int kernel_image_read(const char *path, const struct kernel_opts *opts,
		      struct kernel_parts *p, struct error *err)
{
	p->modules = modules_new();
	p->where = xstrdup(path);
	if (file_read(path, KERNEL_IMAGE_MAX_BYTES, &p->image, err) < 0)
		return -1;
	if (vmlinux_is(p->image.data, p->image.len)) {
		p->vmlinux = p->image;
		p->image = (struct buf){ 0 };
		if (vmlinux_convert(&p->vmlinux, path, &p->image, err) < 0)
			return -1;
	}
	if (bzimage_parse(p->image.data, p->image.len, path, &p->bz, err) < 0 ||
	    read_config(opts->config, p, err) < 0)
		return -1;
	return opts->modules ? read_modules(opts->modules, p, err) : 0;
}
