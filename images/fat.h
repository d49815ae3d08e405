/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fat.h - read a FAT16 inside a disk image that may be anybody's
 *
 * Nothing that it says is believed: chains end, directories are bounded, and no
 * offset leaves the partition.
 */
#ifndef KONTEST_FAT_H
#define KONTEST_FAT_H

#include <stdbool.h>
#include <stdint.h>

#include "results/base/error.h"
#include "results/base/text.h"

#define FAT_DIR 0x10u			/* attribute of a directory */
#define FAT_ENTRY 32u			/* bytes of a directory entry */

/**
 * struct fat - an opened FAT16
 * @fd: the disk image, the caller's
 * @path: its name for error texts
 * @off, @size: of the partition, bytes
 * @sector: bytes; @cluster: bytes
 * @clusters: how many; they are numbered from 2
 * @fat_off, @fat_size, @fats: first table, bytes of each, how many
 * @root_off, @root_size: root directory
 * @data_off: of cluster 2
 * @table: the first table; owned
 *
 * All offsets are bytes from the start of the disk image.
 */
struct fat {
	int fd;
	const char *path;
	uint64_t off, size;
	uint32_t sector, cluster, clusters;
	uint64_t fat_off, fat_size;
	unsigned int fats;
	uint64_t root_off, root_size, data_off;
	uint16_t *table;
};

/**
 * struct fat_entry - a file or directory
 * @path: below the root, "EFI/BOOT/BOOTX64.EFI"
 * @attr: attributes
 * @first: its first cluster, 0 for none
 * @size: bytes
 * @at: where its directory entry is, bytes from the start of the disk image
 */
struct fat_entry {
	const char *path;
	unsigned int attr;
	uint32_t first;
	uint32_t size;
	uint64_t at;
};

/* fat_open() - read the boot sector and the table; fat_close() ends it */
int fat_open(struct fat *f, int fd, const char *path, uint64_t off,
	     uint64_t size, struct error *err);
void fat_close(struct fat *f);

/* fat_next() - the cluster behind @cluster in its chain, 0 at its end or where
 * the chain is broken */
uint32_t fat_next(const struct fat *f, uint32_t cluster);
/* fat_cluster_off() - where a cluster lies, bytes from the start of the image */
uint64_t fat_cluster_off(const struct fat *f, uint32_t cluster);

/* fat_walk() - every file and directory, a directory before what is in it; stops
 * at the first non-zero of @fn, which it returns; -1 also when it is damaged */
int fat_walk(const struct fat *f,
	     int (*fn)(const struct fat_entry *e, void *data), void *data,
	     struct error *err);

/* fat_read() - append a file's content; fails above @max bytes. err->errnum is
 * ENOENT when there is none */
int fat_read(const struct fat *f, const char *name, size_t max, struct buf *out,
	     struct error *err);

#endif
