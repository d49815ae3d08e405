/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mounts.h - from the initramfs to the root file system
 */
#ifndef KONTEST_GUEST_MOUNTS_H
#define KONTEST_GUEST_MOUNTS_H

#include "guest/guest.h"

/* mounts_early() - /dev, /proc and /sys in the initramfs */
int mounts_early(struct fail *f);

/* modules_load() - the modules of /modules.list, in order; what cannot be
 * loaded becomes a note, since only a missing disk is a reason to give up */
void modules_load(struct guest *g);

/**
 * mounts_root() - the root file system becomes /, read-only, with /dev, /proc,
 * /sys and an empty /run; the initramfs' files but /init are removed, so that
 * their memory is free
 */
int mounts_root(const struct disk *system, struct fail *f);

/**
 * mounts_work() - the work disk on /work, or a tmpfs with a copy of the job's
 * tree; the other disk on /other; /tmp is /work/tmp
 *
 * The file systems are mounted with the kernel's own defaults (ext4:
 * data=ordered, relatime, barriers), but noinit_itable, which only keeps the
 * kernel from filling unused inode tables while something is measured.
 */
int mounts_work(struct guest *g, struct fail *f);

/* mounts_end() - sync, unmount what was mounted read-write */
void mounts_end(void);

#endif
