/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_deep.h - a stranger's image looked through, file by file
 *
 * The file system is read by a kernel in a virtual machine of libguestfs's and
 * handed out as a tar archive; the host's kernel never mounts it. libguestfs is
 * loaded when it is wanted (dlopen), so kontest neither needs it nor its headers
 * for anything else.
 */
#ifndef KONTEST_VERIFY_DEEP_H
#define KONTEST_VERIFY_DEEP_H

#include "images/verify.h"

/**
 * struct deep_opts - how to look
 * @kvm: try KVM before emulation
 * @kernel: for libguestfs's appliance, with @modules, its /lib/modules/RELEASE;
 *          NULL: those that are installed on the host
 * @timeout_s: for the whole; a launch under KVM that takes a quarter of it is
 *             given up and tried again under emulation
 */
struct deep_opts {
	bool kvm;
	const char *kernel, *modules;
	unsigned int timeout_s;
};

/**
 * struct deep_result - what was seen
 * @files: how many were compared
 * @differences: how many do not agree with the list
 * @lines: the first DEEP_LINES_MAX of them, a sentence each
 * @emulated: KVM did not do, so it was emulated
 */
#define DEEP_LINES_MAX 20
struct deep_result {
	size_t files, differences;
	struct strings lines;
	bool emulated;
};

/**
 * verify_deep() - compare every file with the image's own list
 * @image: path of a raw disk image
 * @o: see there
 * @r: result; deep_result_free() ends it
 * @err: no list in it; no libguestfs, no kernel for it, a launch that failed or
 *       took too long
 *
 * Compared are type, mode, owner and group, size, SHA-256 and link target in
 * the root file system, and the digests of kernel and initramfs in the ESP.
 *
 * Return: 0 when it was compared, or -1.
 */
int verify_deep(const char *image, const struct deep_opts *o,
		struct deep_result *r, struct error *err);
void deep_result_free(struct deep_result *r);

/* deep_compare_tar() - the comparison alone: @fd gives the root file system as
 * an archive; ends at @deadline_s (CLOCK_MONOTONIC) */
int deep_compare_tar(int fd, const struct listing *list, double deadline_s,
		     struct deep_result *r, struct error *err);

#endif
