/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - a file system's content in memory, before it becomes an image
 *
 * Owners, modes and times are what the tree says, never what the building
 * user's file system says: so images need no root and come out bit-identical.
 */
#ifndef KONTEST_TREE_H
#define KONTEST_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "results/base/error.h"

/**
 * struct node - one file, directory, link or device
 * @path: absolute in the image, "/usr/bin/gcc"; no "." or ".." or "//"
 * @mode: type and permissions, as st_mode
 * @data: content of a regular file, or target of a symbolic link; owned
 * @size: bytes of @data
 * @hardlink: path of the node whose inode this shares, or NULL
 */
struct node {
	char *path;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	void *data;
	size_t size;
	char *hardlink;
	uint32_t rdev_major, rdev_minor;
};

/* struct tree - the nodes, sorted by path once tree_sort() was called */
struct tree;

struct tree *tree_new(void);
void tree_free(struct tree *t);

/* tree_add_*() - add or replace a node; missing parents appear as 0755 root.
 * A path through a symbolic link to a directory (/bin -> usr/bin) is followed. */
int tree_add_dir(struct tree *t, const char *path, mode_t perm,
		 struct error *err);
/* takes ownership of @data (malloc'ed) */
int tree_add_file(struct tree *t, const char *path, mode_t perm, void *data,
		  size_t size, struct error *err);
int tree_add_symlink(struct tree *t, const char *path, const char *target,
		     struct error *err);
/* tree_add_host() - a host directory's regular files, below @path: 0644, or
 * 0755 where executable by its owner; root:root */
int tree_add_host(struct tree *t, const char *path, const char *host_dir,
		  struct error *err);
/* tree_add_deb() - everything in a Debian package, but paths that match one of
 * the NULL-terminated fnmatch(3) patterns in @exclude */
int tree_add_deb(struct tree *t, const char *deb,
		 const char *const exclude[], struct error *err);

const struct node *tree_find(const struct tree *t, const char *path);
/* tree_each() - in the order of path (strcmp); stops at the first non-zero */
int tree_each(struct tree *t, int (*fn)(const struct node *n, void *data),
	      void *data);

/**
 * struct ext4_opts - the file system to make
 * @label: volume label, at most 16 bytes ("kontest-root", "kontest-work")
 * @uuid: its UUID; the directory hash seed is derived from it
 * @size: bytes, a multiple of 4 KiB
 * @journal: with a journal, to be mounted read-write
 * @time: seconds since 1970 for every time in it (SOURCE_DATE_EPOCH)
 * @reserve_inodes: free inodes to leave for files made later
 */
struct ext4_opts {
	const char *label;
	uint8_t uuid[16];
	uint64_t size;
	bool journal;
	uint32_t time;
	uint32_t reserve_inodes;
};

/* tree_write_ext4() - make the file system in a new file; same tree and opts
 * give the same bytes, whoever does it, whenever, wherever */
int tree_write_ext4(struct tree *t, const char *path,
		    const struct ext4_opts *opts, struct error *err);
/* tree_write_cpio() - a newc archive, uncompressed: sorted, inode numbers from 1,
 * times 0 */
int tree_write_cpio(struct tree *t, const char *path, struct error *err);

#endif
