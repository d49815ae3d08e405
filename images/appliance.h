/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * appliance.h - a kernel for libguestfs where the host has none to read
 */
#ifndef KONTEST_APPLIANCE_H
#define KONTEST_APPLIANCE_H

#include <stdbool.h>

#include "images/cache.h"

/**
 * appliance_kernel() - a kernel for libguestfs from a Debian package
 * @c: layer cache: packages, and the kernel unpacked in appliance/
 * @package: its name, or that of a meta-package
 * @kernel, @modules: paths; owned by the caller
 * @err: reason of a failure
 *
 * Return: 0, or -1.
 */
int appliance_kernel(const struct cache *c, const char *package, char **kernel,
		     char **modules, struct error *err);

/* appliance_wanted() - has libguestfs no kernel by itself: none in /boot that this
 * user can read, with its modules, and none that SUPERMIN_KERNEL names? */
bool appliance_wanted(void);
#define APPLIANCE_PACKAGE "linux-image-cloud-amd64"	/* a good one then */

#endif
