/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * util.h - the guest's floor: failures, time, small files, directory trees
 *
 * A function that can fail returns int: 0, or -1 with the reason in *f:
 *
 *	return fail_set(f, errno, "open '%s'", path);
 */
#ifndef KONTEST_GUEST_UTIL_H
#define KONTEST_GUEST_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef KONTEST_VERSION
#define KONTEST_VERSION "unknown"
#endif

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull

/**
 * struct fail - the reason of a failure
 * @text: one line, what is wrong and, where one is known, the remedy
 */
struct fail {
	char text[1024];
};

/**
 * fail_set() - record a failure
 * @f: where to; NULL when the caller does not want the reason
 * @errnum: an errno whose description is appended as ": ...", or 0
 *
 * Return: -1, always.
 */
int fail_set(struct fail *f, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* now_ns() - CLOCK_MONOTONIC in ns */
uint64_t now_ns(void);
/* sleep_ms() - sleep the whole time, signals or not */
void sleep_ms(unsigned int ms);

/**
 * read_text() - a small file as a string
 * @path: file, in /proc or /sys or elsewhere
 * @buf: gets what is there, at most @size - 1 bytes, and a NUL; one newline
 *       at the end is dropped
 *
 * Return: bytes in @buf, or -1 with errno.
 */
ssize_t read_text(const char *path, char *buf, size_t size);
/* read_all() - a whole file, malloc'ed, with a NUL behind; NULL with errno */
char *read_all(const char *path, size_t *len);
/* read_u64() - a file with one number; false when it has none */
bool read_u64(const char *path, uint64_t *value);
/* write_text() - one write() of @text into an existing file */
int write_text(const char *path, const char *text, struct fail *f);
/* write_full() - all of the bytes; 0, or -1 with errno */
int write_full(int fd, const void *data, size_t len);
/* scan_u64() - a whole string as a decimal number */
bool scan_u64(const char *s, uint64_t *value);

/* make_dir() - a directory that may be there already */
int make_dir(const char *path, mode_t mode, struct fail *f);
/* delete_tree() - a directory and all below it, or a file; absent is fine */
int delete_tree(const char *path, struct fail *f);
/* empty_dir() - all below a directory, but not itself */
int empty_dir(const char *path, struct fail *f);
/* copy_tree() - directories, regular files and symbolic links, with modes and
 * modification times; @to must not exist */
int copy_tree(const char *from, const char *to, struct fail *f);

static inline void util_freep(void *p)
{
	__builtin_free(*(void **)p);
}

void util_closep(const int *fd);

/* scope-bound resources */
#define auto_free __attribute__((cleanup(util_freep)))
#define auto_close __attribute__((cleanup(util_closep)))

#endif
