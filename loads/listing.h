/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listing.h - what `ls -lRa` prints of a directory and all below it
 */
#ifndef KONTEST_LOADS_LISTING_H
#define KONTEST_LOADS_LISTING_H

#include "loads/load.h"

/**
 * listing_write() - list a whole tree, long, recursively, with dot files
 * @a: says of a failure, counts and knows when to stop
 * @top: directory to begin with
 * @out: descriptor to write the text to
 * @progress: count entries with load_progress() as they are formatted
 * @entries: how many were listed ("." and ".." included); may be NULL
 *
 * In the order of the bytes of the names, and in C's own language. A directory of
 * another file system is gone into only when that one has a block device: that
 * leaves out /proc, /sys, /dev and every tmpfs, whose content is no disk's and
 * not the same from run to run. What vanishes meanwhile, or may not be read, is
 * left out.
 *
 * Owners are named from /etc/passwd and /etc/group alone.
 *
 * Return: 0 at the end or when load_stopped(), -1 when load_fail() has said why.
 */
int listing_write(const struct load_args *a, const char *top, int out,
		  bool progress, uint64_t *entries);

#endif
