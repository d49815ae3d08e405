/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file.h - files that are whole or not there
 */
#ifndef KONTEST_FILE_H
#define KONTEST_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "results/base/error.h"
#include "results/base/text.h"

/* file_read() - append a whole file to @out; fails above @max bytes */
int file_read(const char *path, size_t max, struct buf *out, struct error *err);

/* full_pread/full_pwrite() - all @len bytes or a failure; @path for the text */
int full_pread(int fd, void *data, size_t len, off_t off, const char *path,
	       struct error *err);
int full_pwrite(int fd, const void *data, size_t len, off_t off,
		const char *path, struct error *err);

/**
 * struct newfile - a file being written under a temporary name
 * @path: the name it will have; owned
 * @tmp: the name it has now, in the same directory; owned
 * @fd: open for reading and writing
 *
 * newfile_open(), write through @fd, newfile_commit(). A newfile that goes out
 * of scope uncommitted (CLEANUP(newfile_abort)) is removed.
 */
struct newfile {
	char *path;
	char *tmp;
	int fd;
};

/* newfile_open() - create DIR/.NAME.XXXXXX with the permissions @mode & ~umask */
int newfile_open(struct newfile *f, const char *path, mode_t mode,
		 struct error *err);
/* newfile_commit() - fsync, rename into place, fsync the directory; frees */
int newfile_commit(struct newfile *f, struct error *err);
/* newfile_abort() - close and remove what was not committed; safe on { .fd = -1 } */
void newfile_abort(struct newfile *f);

/* dir_sync() - make the names in a directory lasting, after a rename */
int dir_sync(const char *dir, struct error *err);

/* file_write() - write a whole file through a struct newfile */
int file_write(const char *path, const void *data, size_t len,
	       struct error *err);

/* file_put() - write a file into a directory that nobody knows yet: quicker than
 * file_write(), and on the disk only after put_sync() of the directory */
int file_put(const char *path, const void *data, size_t len, struct error *err);
/* file_put_copy() - as file_put(), of the bytes of another file, however many */
int file_put_copy(const char *from, const char *path, struct error *err);
int put_sync(const char *dir, struct error *err);

/* file_copy_range() - copy @len bytes between open files, in the kernel where
 * possible; holes are kept when @sparse and the target is still all zero */
int file_copy_range(int in, off_t in_off, int out, off_t out_off, uint64_t len,
		    const char *what, struct error *err);

/* dirent_visible() - for scandir(): names without a dot before them */
int dirent_visible(const struct dirent *e);

/* make_dirs() - mkdir -p */
int make_dirs(const char *path, struct error *err);
/* remove_tree() - rm -rf; never follows links, stays on one file system */
int remove_tree(const char *path, struct error *err);

bool path_exists(const char *path);
bool path_is_dir(const char *path);

#endif
