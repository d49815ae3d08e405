/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_archive.h - between kernel_deb.c, kernel_tar.c and kernel_guestfs.c
 */
#ifndef KONTEST_KERNEL_ARCHIVE_H
#define KONTEST_KERNEL_ARCHIVE_H

#include <archive.h>

#include "images/archive_cleanup.h"
#include "images/kernel_parts.h"

/* kernel_archive_damaged() - what libarchive says about @where, and a remedy */
int kernel_archive_damaged(const char *where, struct archive *a, struct error *err);
/* kernel_archive_take() - an entry's data, at most @max bytes of it */
int kernel_archive_take(struct archive *a, struct archive_entry *entry,
			const char *where, size_t max, struct buf *out,
			struct error *err);
/* kernel_archive_entry() - take a file in when it is a part of the kernel:
 * boot/vmlinuz-*, boot/config-*, (usr/)lib/modules/... */
int kernel_archive_entry(struct archive *a, struct archive_entry *entry,
			 const char *where, struct kernel_parts *p,
			 struct error *err);

#endif
