/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base.h - the root file system that every kernel shares, from recipe and lock
 */
#ifndef KONTEST_BASE_H
#define KONTEST_BASE_H

#include "images/cache.h"
#include "images/profile.h"

/**
 * struct base - a built root file system
 * @path: the ext4 image in the cache; owned
 * @digest: SHA-256 of the image
 * @lock_digest: SHA-256 of the lock that it was made from
 * @recipe_digest: SHA-256 of the recipe's text
 * @recipe, @lock: both texts; owned
 * @files: path of the list of its files (manifest.h), in the cache; owned
 * @files_digest: SHA-256 of that list
 * @size: bytes
 * @uuid: of the file system
 * @epoch: SOURCE_DATE_EPOCH of the recipe
 * @new_lock: path of a lock written because a locked version had gone from the
 *            mirror, else NULL; owned
 * @changes: what differs from the shipped lock, lines for the user; owned
 */
struct base {
	char *path;
	char digest[SHA256_HEX];
	char lock_digest[SHA256_HEX];
	char recipe_digest[SHA256_HEX];
	char files_digest[SHA256_HEX];
	char *recipe, *lock;
	char *files;
	uint64_t size;
	uint8_t uuid[16];
	uint32_t epoch;
	char *new_lock;
	char *changes;
};

/**
 * base_build() - make the root file system, or take it from the cache
 * @c: layer cache
 * @recipe: path of the recipe; its lock is the same name with .lock
 * @locked: refuse to go on when a locked version cannot be had
 * @b: the result; base_free() ends it
 */
int base_build(const struct cache *c, const char *recipe, bool locked,
	       struct base *b, struct error *err);
void base_free(struct base *b);

/* struct disk_image - an image in the cache: path owned */
struct disk_image {
	char *path;
	char digest[SHA256_HEX];
	uint64_t size;
};
void disk_image_free(struct disk_image *d);

/* work_build() - ext4 "kontest-work" with the job's tree as /JOB, and /tmp;
 * @job: a directory below share_dir()/loads/jobs, or NULL for none */
int work_build(const struct cache *c, const char *job, uint64_t size,
	       struct disk_image *d, struct error *err);
struct tree;
/**
 * struct work_source - a work disk's content that is made only when needed
 * @key: SHA-256 of all that it is made from
 * @fill: puts it into a tree
 * @data: handed to @fill
 */
struct work_source {
	char key[SHA256_HEX];
	int (*fill)(struct tree *t, const void *data, struct error *err);
	const void *data;
};
/* work_build_tree() - the same as work_build(), with @t (and /tmp) on it */
int work_build_tree(const struct cache *c, struct tree *t, uint64_t size,
		    struct disk_image *d, struct error *err);
/* work_cached() - would work_build_from() have nothing to do? */
bool work_cached(const struct cache *c, const struct work_source *from,
		 uint64_t size);
/* work_build_from() - the same as work_build(), with the content of @from */
int work_build_from(const struct cache *c, const struct work_source *from,
		    uint64_t size, struct disk_image *d, struct error *err);
/* other_build() - an empty ext4 "kontest-other" */
int other_build(const struct cache *c, uint64_t size, struct disk_image *d,
		struct error *err);
/* swap_build() - a swap area with label "kontest-swap" (mkswap's format, v1) */
int swap_build(const struct cache *c, uint64_t size, struct disk_image *d,
	       struct error *err);

#endif
