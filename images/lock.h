/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock.h - the lock file of a recipe: which packages exactly, to the byte
 *
 *	# packages of recipe base: name version arch sha256 size_bytes
 *	gcc 4:12.2.0-3 amd64 bb63...e630 5216
 *
 * One package a line, sorted by name; lines that begin with # are comments.
 */
#ifndef KONTEST_LOCK_H
#define KONTEST_LOCK_H

#include "images/apt.h"

/**
 * struct lock - a lock file in memory
 * @packages: in the order of the file; owned
 * @replaces: SHA-256 of the lock whose packages could no longer be had and in
 *            whose place this one was made; "" for a shipped lock
 */
struct lock {
	struct packages packages;
	char replaces[SHA256_HEX];
};

/* lock_read() - a malformed line is an error with file and line */
int lock_read(const char *path, struct lock *l, struct error *err);
void lock_free(struct lock *l);

/* lock_text() - the file's content; what lock_write() writes and lock_digest()
 * digests */
void lock_text(const char *recipe, const struct lock *l, struct buf *text);
int lock_write(const char *path, const char *recipe, const struct lock *l,
	       struct error *err);
void lock_digest(const char *recipe, const struct lock *l,
		 char hex[SHA256_HEX]);

/* lock_changes() - how @now differs from @before, a line a package, for people;
 * "" when it does not; owned by the caller */
char *lock_changes(const struct packages *before, const struct packages *now);

#endif
