/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * esp.h - the EFI system partition: FAT16 by mkfs.fat and mtools
 *
 * FAT16, not FAT32: UEFI firmware must read both on any disk (UEFI
 * specification, 13.3), and FAT32 begins at 32 MiB only.
 */
#ifndef KONTEST_ESP_H
#define KONTEST_ESP_H

#include <stdbool.h>
#include <stdint.h>

#include "results/base/digest.h"
#include "results/base/text.h"

/**
 * struct esp_file - a file to put on the partition
 * @name: "EFI/BOOT/BOOTX64.EFI": components joined by "/"; directories are made,
 *        their own names of at most 8.3 characters
 * @path: host file with the content, or NULL
 * @data: the content when @path is NULL
 * @size: bytes; for a layout before the content exists, an upper bound
 */
struct esp_file {
	const char *name;
	const char *path;
	const struct buf *data;
	uint64_t size;
};

/**
 * struct esp_layout - geometry, from esp_plan()
 * @size: of the partition in bytes, a multiple of 1 MiB
 * @cluster: bytes
 */
struct esp_layout {
	uint64_t size;
	uint32_t cluster;
};

/* esp_inputs() - add to @s everything on this host that shapes the partition;
 * fails when a tool is missing, with the package that has it */
int esp_inputs(struct sha256 *s, struct error *err);

/* esp_plan() - the smallest partition that holds the files; fails when they are
 * too large for FAT16 (2 GiB) */
int esp_plan(const struct esp_file *files, size_t n, struct esp_layout *l,
	     struct error *err);

/**
 * esp_write() - make the file system with its files inside a disk image
 * @image: the disk image, which reads as zeros where the partition lies
 * @off: start of the partition, bytes
 * @l: from esp_plan()
 * @volume_id: the FAT's serial number
 * @epoch: time of every file, seconds since 1970
 * @files: in the order in which they are to lie on the disk
 * @n: how many
 * @err: reason of a failure
 *
 * The same arguments give the same bytes: the user's mtools configuration,
 * time zone and clock play no part.
 *
 * Return: 0, or -1.
 */
int esp_write(const char *image, uint64_t off, const struct esp_layout *l,
	      uint32_t volume_id, uint32_t epoch, const struct esp_file *files,
	      size_t n, struct error *err);

#endif
