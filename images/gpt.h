/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpt.h - partition tables with chosen ids, in a file, by libfdisk
 */
#ifndef KONTEST_GPT_H
#define KONTEST_GPT_H

#include <stddef.h>
#include <stdint.h>

#include "results/base/error.h"

#define GPT_SECTOR 512u
/* Partition types, UEFI specification and UAPI "Discoverable Partitions" */
#define GPT_TYPE_BIOS_BOOT "21686148-6449-6E6F-744E-656564454649"
#define GPT_TYPE_ESP "C12A7328-F81F-11D2-BA4B-00A0C93EC93B"
#define GPT_TYPE_ROOT_X86_64 "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709"

/**
 * struct gpt_part - a partition
 * @start, @size: bytes, multiples of GPT_SECTOR
 * @type: GPT_TYPE_...
 * @name: at most 36 characters
 * @uuid: its PARTUUID, in network byte order (as uuid5() makes it)
 */
struct gpt_part {
	uint64_t start, size;
	const char *type;
	const char *name;
	uint8_t uuid[16];
};

/**
 * gpt_write() - partition a disk image
 * @fd: the image, open for reading and writing, already as long as the disk
 * @path: its name for error texts
 * @disk_uuid: the disk's own id
 * @parts: partitions 1, 2, ...
 * @n: how many
 * @err: reason of a failure
 *
 * Writes protective MBR, primary and backup table. Nothing in them depends on
 * time, chance or host.
 *
 * Return: 0, or -1.
 */
int gpt_write(int fd, const char *path, const uint8_t disk_uuid[16],
	      const struct gpt_part *parts, size_t n, struct error *err);

#endif
