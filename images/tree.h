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

#include "results/base/digest.h"
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

/* struct tree - the nodes, always sorted by path; the root "/" is always there */
struct tree;

struct tree *tree_new(void);
void tree_free(struct tree *t);
/* for CLEANUP(tree_freep) */
void tree_freep(struct tree **t);

/* tree_add_*() - add or replace a node; missing parents appear as 0755 root.
 * A path through a symbolic link to a directory (/bin -> usr/bin) is followed.
 * A directory never takes the place of something else, nor the reverse. */
int tree_add_dir(struct tree *t, const char *path, mode_t perm,
		 struct error *err);
/* takes ownership of @data (malloc'ed), also when it fails */
int tree_add_file(struct tree *t, const char *path, mode_t perm, void *data,
		  size_t size, struct error *err);
int tree_add_symlink(struct tree *t, const char *path, const char *target,
		     struct error *err);
/* tree_add_hardlink() - another name for the file at @target, there already;
 * its inode outlives a later replacement of @target */
int tree_add_hardlink(struct tree *t, const char *path, const char *target,
		      struct error *err);
/* tree_add_node() - a node of any type with owner and device number; takes
 * ownership of @n->data, also when it fails; @n->hardlink must be NULL */
int tree_add_node(struct tree *t, const struct node *n, struct error *err);
/* tree_add_host() - a host directory's regular files, below @path: 0644, or
 * 0755 where executable by its owner; root:root */
int tree_add_host(struct tree *t, const char *path, const char *host_dir,
		  struct error *err);
/* tree_add_deb() - everything in a Debian package, but paths that match one of
 * the NULL-terminated fnmatch(3) patterns in @exclude (NULL: none). Patterns are
 * of absolute paths as the package names them, and '*' matches '/' as well. As dpkg does it, a directory that is there already stays
 * where a package has a symbolic link, and keeps owner and mode (but for plain
 * 0755 root:root, so that the order of packages plays no part). */
int tree_add_deb(struct tree *t, const char *deb,
		 const char *const exclude[], struct error *err);

/* tree_find() - follows links to directories on the way, not the last one;
 * NULL when there is nothing. A hard link has mode and owner, but no data. */
const struct node *tree_find(const struct tree *t, const char *path);
/* tree_each() - in the order of path (strcmp); stops at the first non-zero */
int tree_each(struct tree *t, int (*fn)(const struct node *n, void *data),
	      void *data);

/* tree_digest() - SHA-256 of all nodes with all that an image keeps of them */
void tree_digest(struct tree *t, char hex[SHA256_HEX]);

/* TREE_FORMAT - raised when the writers below turn the same tree into other
 * bytes; belongs into the key of whatever is cached of them */
#define TREE_FORMAT "1"

/**
 * struct ext4_opts - the file system to make
 * @label: volume label, at most 16 bytes ("kontest-root", "kontest-work")
 * @uuid: its UUID; the directory hash seed is derived from it
 * @size: bytes, a multiple of 4 KiB
 * @journal: with a journal, to be mounted read-write
 * @time: seconds since 1970 for every time in it (SOURCE_DATE_EPOCH), not 0
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

/* tree_ext4_size() - bytes, a whole MiB, that surely hold the tree with @o's
 * journal and reserve_inodes and @free_bytes more; @o->size is not looked at */
uint64_t tree_ext4_size(struct tree *t, const struct ext4_opts *o,
			uint64_t free_bytes);
/* tree_write_ext4() - make the file system in a new file; same tree and opts
 * give the same bytes, whoever does it, whenever, wherever. What is zero is a
 * hole in the file. /lost+found is made when the tree has none. */
int tree_write_ext4(struct tree *t, const char *path,
		    const struct ext4_opts *opts, struct error *err);
/* tree_write_cpio() - a newc archive, uncompressed: sorted, inode numbers from 1,
 * times 0 */
int tree_write_cpio(struct tree *t, const char *path, struct error *err);

#endif
