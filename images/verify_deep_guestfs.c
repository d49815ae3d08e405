/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_deep_guestfs.c - libguestfs, loaded when it is wanted
 *
 * The few functions are declared here, as guestfs(3) has them: its ABI has been
 * stable since 1.0, and so kontest builds without libguestfs's headers.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/verify_deep_parts.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define LIBRARY "libguestfs.so.0"
/* supermin, which makes its appliance, copies that directory's mode */
#define HOST_MODULES "/lib/modules"
/* Optional arguments by number, as in guestfs.h */
#define ADD_DRIVE_READONLY 0
#define ADD_DRIVE_FORMAT 1
#define TAR_OUT_NUMERICOWNER 1
#define ARGS_END (-1)

/* struct guestfs - the functions of the library that we call */
struct guestfs {
	void *(*create)(void);
	int (*set_backend)(void *g, const char *backend);
	int (*set_backend_setting)(void *g, const char *name, const char *value);
	void (*set_error_handler)(void *g, void *fn, void *data);
	int (*add_drive)(void *g, const char *file, ...);
	int (*launch)(void *g);
	int (*mount_options)(void *g, const char *options, const char *device,
			     const char *dir);
	int (*tar_out)(void *g, const char *dir, const char *file, ...);
	int (*shutdown)(void *g);
	void (*close)(void *g);
	const char *(*last_error)(void *g);
};

static int load(struct guestfs *f, struct error *err)
{
	const struct {
		const char *name;
		void *to;
	} wanted[] = {
		{ "guestfs_create", &f->create },
		{ "guestfs_set_backend", &f->set_backend },
		{ "guestfs_set_backend_setting", &f->set_backend_setting },
		{ "guestfs_set_error_handler", &f->set_error_handler },
		{ "guestfs_add_drive_opts", &f->add_drive },
		{ "guestfs_launch", &f->launch },
		{ "guestfs_mount_options", &f->mount_options },
		{ "guestfs_tar_out_opts", &f->tar_out },
		{ "guestfs_shutdown", &f->shutdown },
		{ "guestfs_close", &f->close },
		{ "guestfs_last_error", &f->last_error },
	};
	void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return error_set(err, 0, "--deep needs libguestfs (%s): install the Debian package libguestfs0",
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

static int said(const struct guestfs *f, void *g, const char *what,
		const struct deep_opts *o, struct error *err)
{
	const char *why = f->last_error(g);

	error_set(err, 0, "libguestfs: %s: %s", what, why ? why : "no reason given");
	if (!strcmp(what, "launch") && !path_is_dir(HOST_MODULES))
		error_add(err, "; it wants the directory " HOST_MODULES " on the host, which may be empty: sudo mkdir " HOST_MODULES);
	else if (!strcmp(what, "launch") && !o->kernel)
		error_add(err, "; it needs a kernel in /boot that this user can read (sudo chmod 0644 /boot/vmlinuz-*), or --kernel debian:PACKAGE");
	return -1;
}

static int open_and_read(const struct guestfs *f, void *g, const char *image,
			 const struct deep_opts *o, bool kvm, int tar,
			 struct error *err)
{
	cleanup_free char *to = xasprintf("/dev/fd/%d", tar);

	/* Errors are told once, by us. */
	f->set_error_handler(g, NULL, NULL);
	if (f->set_backend(g, "direct") < 0 ||
	    (!kvm && f->set_backend_setting(g, "force_tcg", "1") < 0))
		return said(f, g, "set the backend", o, err);
	if (f->add_drive(g, image, ADD_DRIVE_READONLY, 1, ADD_DRIVE_FORMAT, "raw",
			 ARGS_END) < 0)
		return said(f, g, "add the image", o, err);
	if (f->launch(g) < 0)
		return said(f, g, "launch", o, err);
	/* noload: a journal would be replayed, into a layer of libguestfs's */
	if (f->mount_options(g, "ro,noload,nodev,noexec,nosuid", "/dev/sda3", "/") < 0)
		return said(f, g, "mount the root file system", o, err);
	if (f->tar_out(g, "/", to, TAR_OUT_NUMERICOWNER, 1, ARGS_END) < 0)
		return said(f, g, "read the root file system", o, err);
	return 0;
}

int deep_guestfs(const char *image, const struct deep_opts *o, bool kvm,
		 int tar, struct error *err)
{
	struct guestfs f = { 0 };
	void *g;
	int ret;

	if (load(&f, err) < 0)
		return -1;
	if (o->kernel && (setenv("SUPERMIN_KERNEL", o->kernel, 1) < 0 ||
			  setenv("SUPERMIN_MODULES", o->modules, 1) < 0))
		return error_set(err, 0, "out of memory");
	g = f.create();
	if (!g)
		return error_set(err, 0, "libguestfs cannot be set up");
	ret = open_and_read(&f, g, image, o, kvm, tar, err);
	/* Nothing was written, so nothing is lost if that fails. */
	(void)f.shutdown(g);
	f.close(g);
	return ret;
}
