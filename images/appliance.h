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

/* appliance_host_kernel() - is there one in /boot that this user can read, with
 * its modules? That is what libguestfs takes by itself */
bool appliance_host_kernel(void);

#endif
