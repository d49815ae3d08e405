/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_deep_guestfs.c - the root file system of an image, out of libguestfs
 */
#include "images/guestfs.h"
#include "images/verify_deep_parts.h"
#include "results/base/cleanup.h"
#include "results/base/text.h"

int deep_guestfs(const char *image, const struct deep_opts *o, bool kvm,
		 int tar, struct error *err)
{
	CLEANUP(guestfs_end) struct guestfs g = {
		.remedy = ", or --kernel debian:PACKAGE" };
	cleanup_free char *to = xasprintf("/dev/fd/%d", tar);

	if (guestfs_open(&g, image, "raw", kvm, o->kernel, o->modules, err) < 0)
		return -1;
	/* noload: a journal would be replayed, into a layer of libguestfs's */
	if (g.mount_options(g.h, "ro,noload,nodev,noexec,nosuid", "/dev/sda3", "/") < 0)
		return guestfs_said(&g, "mount the root file system", err);
	if (g.tar_out(g.h, "/", to, GUESTFS_TAR_OUT_NUMERICOWNER, 1,
		      GUESTFS_ARGS_END) < 0)
		return guestfs_said(&g, "read the root file system", err);
	return 0;
}
