/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tar_header.h - the headers of a tar archive that has regular files only
 */
#ifndef KONTEST_TAR_HEADER_H
#define KONTEST_TAR_HEADER_H

#include <stdint.h>

#include "results/base/error.h"

#define TAR_BLOCK 512u
#define TAR_NAME_MAX 100u

/* struct tar_header - what a header says; @name: at most 255 bytes, printable */
struct tar_header {
	char name[TAR_NAME_MAX + 157];
	uint64_t size;
	unsigned int mode;
};

/* tar_header_write() - a regular file's header, owner 0, time 0; the name has at most
 * TAR_NAME_MAX bytes, the size is below 8 GiB */
void tar_header_write(char block[TAR_BLOCK], const char *name, uint64_t size,
		 unsigned int mode);

/**
 * tar_header_read() - take a header apart
 * @block: it
 * @u: what it says
 * @err: what it is instead, with its name: a link, a device, a directory, an
 *       extension of tar, a size that is no number, no header at all
 *
 * Return: 0 when it is a regular file's header, or -1.
 */
int tar_header_read(const char block[TAR_BLOCK], struct tar_header *u,
	       struct error *err);

/* tar_padding() - zero bytes behind so many bytes of content */
static inline uint64_t tar_padding(uint64_t size)
{
	return (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
}

#endif
