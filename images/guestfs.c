/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/guestfs.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/file.h"

#define LIBRARY "libguestfs.so.0"
/* supermin, which makes its appliance, copies that directory's mode */
#define HOST_MODULES "/lib/modules"

static int load(struct guestfs *g, struct error *err)
{
	const struct {
		const char *name;
		void *to;
	} wanted[] = {
		{ "guestfs_create", &g->create },
		{ "guestfs_close", &g->close },
		{ "guestfs_last_error", &g->last_error },
		{ "guestfs_set_error_handler", &g->set_error_handler },
		{ "guestfs_set_backend", &g->set_backend },
		{ "guestfs_set_backend_setting", &g->set_backend_setting },
		{ "guestfs_add_drive_opts", &g->add_drive },
		{ "guestfs_launch", &g->launch },
		{ "guestfs_shutdown", &g->shutdown },
		{ "guestfs_inspect_os", &g->inspect_os },
		{ "guestfs_inspect_get_mountpoints", &g->inspect_get_mountpoints },
		{ "guestfs_mount_options", &g->mount_options },
		{ "guestfs_glob_expand", &g->glob_expand },
		{ "guestfs_is_file_opts", &g->is_file },
		{ "guestfs_is_dir_opts", &g->is_dir },
		{ "guestfs_download", &g->download },
		{ "guestfs_tar_out_opts", &g->tar_out },
	};
	void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return error_set(err, 0, "there is no libguestfs (%s): install the Debian package libguestfs0",
				 dlerror());
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *sym = dlsym(lib, wanted[i].name);

		if (!sym)
			return error_set(err, 0, "the host's " LIBRARY " has no %s: install a newer libguestfs0",
					 wanted[i].name);
		memcpy(wanted[i].to, &sym, sizeof(sym));
	}
	return 0;
}

int guestfs_said(const struct guestfs *g, const char *what, struct error *err)
{
	const char *why = g->last_error(g->h);

	return error_set(err, 0, "libguestfs: %s: %s", what,
			 why ? why : "no reason given");
}

int guestfs_open(struct guestfs *g, const char *image, const char *format,
		 bool kvm, const char *kernel, const char *modules,
		 struct error *err)
{
	if (load(g, err) < 0)
		return -1;
	if (kernel && (setenv("SUPERMIN_KERNEL", kernel, 1) < 0 ||
		       setenv("SUPERMIN_MODULES", modules, 1) < 0))
		return error_set(err, 0, "out of memory");
	g->h = g->create();
	if (!g->h)
		return error_set(err, 0, "libguestfs cannot be set up");
	/* Errors are told once, by us. */
	g->set_error_handler(g->h, NULL, NULL);
	if (g->set_backend(g->h, "direct") < 0 ||
	    (!kvm && g->set_backend_setting(g->h, "force_tcg", "1") < 0))
		return guestfs_said(g, "set the backend", err);
	if (g->add_drive(g->h, image, GUESTFS_ADD_DRIVE_READONLY, 1,
			 GUESTFS_ADD_DRIVE_FORMAT, format, GUESTFS_ARGS_END) < 0)
		return guestfs_said(g, "add the image", err);
	if (!g->launch(g->h))
		return 0;
	guestfs_said(g, "launch", err);
	if (!path_is_dir(HOST_MODULES))
		return error_add(err, "; it wants the directory " HOST_MODULES " on the host, which may be empty: sudo mkdir " HOST_MODULES);
	if (kernel)
		return -1;
	error_add(err, "; it needs a kernel in /boot that this user can read (sudo chmod 0644 /boot/vmlinuz-*)");
	return g->remedy ? error_add(err, g->remedy) : -1;
}

void guestfs_end(struct guestfs *g)
{
	if (!g->h)
		return;
	/* Nothing was written, so nothing is lost if that fails. */
	(void)g->shutdown(g->h);
	g->close(g->h);
	g->h = NULL;
}
