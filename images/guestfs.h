/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guestfs.h - libguestfs, loaded when it is wanted
 *
 * Its few functions are declared here as guestfs(3) has them, so that kontest is
 * built and runs without it. Call all of it in a forked child with a deadline:
 * guestfs_launch() blocks, and a SIGTERM to the child ends its appliance too.
 */
#ifndef KONTEST_GUESTFS_H
#define KONTEST_GUESTFS_H

#include <stdbool.h>

#include "results/base/error.h"

/* Optional arguments by number, as in the library's own header */
#define GUESTFS_ADD_DRIVE_READONLY 0
#define GUESTFS_ADD_DRIVE_FORMAT 1
#define GUESTFS_TAR_OUT_NUMERICOWNER 1
#define GUESTFS_TAR_OUT_EXCLUDES 2
#define GUESTFS_ARGS_END (-1)

/**
 * struct guestfs - the functions of the library that kontest calls, and a handle
 * @remedy: of the caller's, put behind the hint that the host's kernel cannot be
 *	read; NULL: none
 * @h: of guestfs_open()
 *
 * Lists of strings (char **) end with NULL and are freed with their strings.
 */
struct guestfs {
	const char *remedy;
	void *h;
	void *(*create)(void);
	void (*close)(void *h);
	const char *(*last_error)(void *h);
	void (*set_error_handler)(void *h, void *fn, void *data);
	int (*set_backend)(void *h, const char *backend);
	int (*set_backend_setting)(void *h, const char *name, const char *value);
	int (*add_drive)(void *h, const char *file, ...);
	int (*launch)(void *h);
	int (*shutdown)(void *h);
	char **(*inspect_os)(void *h);
	char **(*inspect_get_mountpoints)(void *h, const char *root);
	int (*mount_options)(void *h, const char *options, const char *device,
			     const char *dir);
	char **(*glob_expand)(void *h, const char *pattern);
	int (*is_file)(void *h, const char *path, ...);
	int (*is_dir)(void *h, const char *path, ...);
	int (*download)(void *h, const char *from, const char *to);
	int (*tar_out)(void *h, const char *dir, const char *file, ...);
};

/**
 * guestfs_open() - load the library, add a disk image read-only, launch
 * @g: zeroed but for @remedy; guestfs_end() ends it, also when this failed
 * @image: path
 * @format: "raw" or "qcow2"; it is never guessed
 * @kvm: hardware virtualization is known to work; else TCG is forced
 * @kernel, @modules: for the appliance where the host has no kernel that can be
 *	read (SUPERMIN_KERNEL, SUPERMIN_MODULES), or NULL
 * @err: no library, or what it says
 *
 * Return: 0, or -1.
 */
int guestfs_open(struct guestfs *g, const char *image, const char *format,
		 bool kvm, const char *kernel, const char *modules,
		 struct error *err);
void guestfs_end(struct guestfs *g);

/* guestfs_said() - the library's own words about what failed; -1 */
int guestfs_said(const struct guestfs *g, const char *what, struct error *err);

#endif
