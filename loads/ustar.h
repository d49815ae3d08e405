/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ustar.h - tar archives, written and read
 *
 * POSIX ustar. What its header has no room for (a long name or target, a size of
 * 8 GiB and more, a large owner number) is said by a pax extended header before it.
 *
 * Written are directories, regular files and symbolic links; sockets, pipes and
 * devices are left out, a file with several names is stored under each of them.
 */
#ifndef KONTEST_LOADS_USTAR_H
#define KONTEST_LOADS_USTAR_H

#include "loads/load.h"

#define USTAR_BLOCK 512
#define USTAR_RECORD (20 * USTAR_BLOCK)	/* archives are multiples of this */

/**
 * struct ustar_header - a header block as POSIX has it; numbers are octal text
 */
struct ustar_header {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char chksum[8];
	char typeflag;
	char linkname[100];
	char magic[6];
	char version[2];
	char uname[32];
	char gname[32];
	char devmajor[8];
	char devminor[8];
	char prefix[155];
	char pad[12];
};

/* ustar_checksum() - sum of the header's bytes, its chksum taken for spaces */
unsigned int ustar_checksum(const struct ustar_header *h);

/**
 * ustar_write() - an archive of a tree
 * @a: says of a failure and knows when to stop
 * @tree: directory; the archive's names begin with its last component
 * @out: descriptor to write to; -1: only reckon the size, without reading files
 * @path: name of @out, for what is said of a failure
 * @progress: count bytes with load_progress() as they are written
 * @size: bytes of the archive; may be NULL
 *
 * In the order of the names. The tree may change meanwhile: what has vanished is
 * left out, a file that shrinks is filled up with zeros, of one that grows there
 * is what its header says.
 *
 * Return: 0 when it is whole or load_stopped(), -1 when load_fail() has said why.
 */
int ustar_write(const struct load_args *a, const char *tree, int out,
		const char *path, bool progress, uint64_t *size);

/**
 * ustar_extract() - the files of an archive
 * @a: says of a failure and knows when to stop
 * @in: descriptor to read from
 * @path: name of @in, for what is said of a failure
 * @dir: descriptor of an empty directory; nothing outside it is touched,
 *       whatever the archive says
 *
 * Nothing is written over. Modes and times of files are restored (not the times
 * of directories, nor owners); a directory is always open to its owner.
 * Progress is counted in bytes of the archive whose content is in place.
 *
 * Return: 0 at its end or when load_stopped(), -1 when load_fail() has said why.
 */
int ustar_extract(const struct load_args *a, int in, const char *path, int dir);

#endif
