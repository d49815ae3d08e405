/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * archive_cleanup.h - libarchive's readers and writers that end with their scope
 */
#ifndef KONTEST_ARCHIVE_CLEANUP_H
#define KONTEST_ARCHIVE_CLEANUP_H

#include <archive.h>

#include "results/base/cleanup.h"

static inline void cleanup_readerp(struct archive **a)
{
	if (*a)
		archive_read_free(*a);
}

static inline void cleanup_disk_writerp(struct archive **a)
{
	if (*a)
		archive_write_free(*a);
}

#define cleanup_reader CLEANUP(cleanup_readerp)
#define cleanup_disk_writer CLEANUP(cleanup_disk_writerp)

#endif
