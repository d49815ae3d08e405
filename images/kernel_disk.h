/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_disk.h - a kernel out of a distribution's disk image
 *
 * ext4 is read by libext2fs, all else by libguestfs: the host's kernel mounts
 * nothing, and the image is never written.
 */
#ifndef KONTEST_KERNEL_DISK_H
#define KONTEST_KERNEL_DISK_H

#include "images/kernel_parts.h"

/**
 * struct disk_source - where to look, and for what
 * @path: the disk image
 * @qcow2: it is one; else it is raw
 * @version: of the kernel that is meant, NULL: the newest
 * @scratch: a path that nothing is at, for what is big; what is made there is
 *           removed again
 * @cache: for the kernel that libguestfs may need
 */
struct disk_source {
	const char *path;
	bool qcow2;
	const char *version;
	const char *scratch;
	const struct cache *cache;
};

/* kernel_disk_is() - a disk image, by its first bytes? @qcow2: it is one. A raw
 * image has a partition table or an ext file system at its start. */
bool kernel_disk_is(const void *magic, size_t len, bool *qcow2);

/* kernel_disk_read() - kernel, configuration and modules of one version */
int kernel_disk_read(const struct disk_source *d, struct kernel_parts *p,
		     struct error *err);

/* kernel_version_cmp() - like strcmp(), of two kernel versions, as people count:
 * 6.1.0-9 < 6.1.0-10 < 6.12.0; a rescue kernel is less than any */
int kernel_version_cmp(const char *a, const char *b);

/**
 * kernel_ext_read() - look through the ext file systems of a raw disk image
 * @raw: path of the image
 * @d: what is looked for; names in error texts are those of @d
 * @p: gets what was found
 * @why: when 0 is returned: what was not found, owned by the caller
 * @err: a damaged file system, a version that is not there
 *
 * Return: 1 kernel and modules found, 0 not (another file system may have them),
 * -1 on failure.
 */
int kernel_ext_read(const char *raw, const struct disk_source *d,
		    struct kernel_parts *p, char **why, struct error *err);

/* kernel_guestfs_read() - the same through libguestfs, whatever file system */
int kernel_guestfs_read(const struct disk_source *d, struct kernel_parts *p,
			struct error *err);

#endif
