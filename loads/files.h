/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.h - what the loads that work on files have in common
 *
 * As everywhere in loads/: 0, or -1 when load_fail() has said why.
 */
#ifndef KONTEST_LOADS_FILES_H
#define KONTEST_LOADS_FILES_H

#include <limits.h>
#include <sys/stat.h>

#include "loads/load.h"

/**
 * struct block - a buffer of the size that the file system calls its block
 * @data: real pages, zeroed; freed by block_free()
 * @size: bytes
 */
struct block {
	char *data;
	size_t size;
};

/* found_per_load() - what prepare() has left in @a->shared; 0: it has not run */
uint64_t found_per_load(const struct load_args *a);
void set_per_load(const struct load_args *a, uint64_t per_load);

/* load_path() - "@a->dir/@name" */
int load_path(const struct load_args *a, const char *name, char path[PATH_MAX]);

/**
 * block_get() - a buffer of st_blksize bytes, 1 MiB at most
 * @b: filled; left alone when it has a buffer already
 * @fd: a file of the file system
 * @path: its name, for what is said of a failure
 */
int block_get(const struct load_args *a, struct block *b, int fd,
	      const char *path);
void block_free(struct block *b);

/**
 * write_all() - all of some bytes into a file
 * @progress: count them with load_progress() as they are taken
 */
int write_all(const struct load_args *a, int fd, const char *path,
	      const void *data, size_t len, bool progress);

/* sync_dir() - syncfs() for @a->dir: the next run has nothing of ours to write */
int sync_dir(const struct load_args *a);

/**
 * remove_at() - a file, or a directory and all below it; absent is fine
 * @dir: descriptor of the directory that @name is in
 *
 * Return: 0, or -1 with errno; nothing is said.
 */
int remove_at(int dir, const char *name);

/**
 * tidy_up() - removes @name from @a->dir and syncs
 *
 * Leaves the disk as it was found.
 */
int tidy_up(const struct load_args *a, const char *name);

/**
 * struct names - the entries of a directory; free with names_free()
 * @v: the names, in order. @n: how many
 * @text: what they point into
 */
struct names {
	char **v;
	size_t n;
	char *text;
};

/**
 * names_read() - the entries of a directory in the order of their bytes
 * @names: filled, empty at a failure
 * @dir: descriptor of the directory; stays open
 * @dots: with "." and ".."
 *
 * Return: 0, or -1 with errno; nothing is said.
 */
int names_read(struct names *names, int dir, bool dots);
void names_free(struct names *names);

#endif
