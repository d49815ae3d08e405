/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * digest.h - SHA-256 (libcrypto) and ids derived from one seed
 */
#ifndef KONTEST_DIGEST_H
#define KONTEST_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/base/error.h"

#define SHA256_HEX 65		/* 64 digits and a NUL */
#define UUID_TEXT 37		/* 36 characters and a NUL */

/* struct sha256 - a running digest; sha256_final() ends and frees it */
struct sha256 {
	void *ctx;
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t len);
/* sha256_adds() - a string with its NUL, so that fields cannot run together */
void sha256_adds(struct sha256 *s, const char *str);
void sha256_final(struct sha256 *s, char hex[SHA256_HEX]);

void sha256_of(const void *data, size_t len, char hex[SHA256_HEX]);
/* sha256_is() - is it a digest as text: 64 digits in lower case? NULL is none */
bool sha256_is(const char *s);
int sha256_file(const char *path, char hex[SHA256_HEX], struct error *err);

/**
 * sha256_tree() - digest of a directory's regular files
 * @dir: its path
 * @hex: digest over the sorted (relative name, size, content) of every
 *       regular file below it; modes and times play no part
 * @err: reason of a failure
 *
 * Return: 0, or -1.
 */
int sha256_tree(const char *dir, char hex[SHA256_HEX], struct error *err);

/**
 * uuid5() - the id of one role, derived from a seed
 * @seed: what the ids belong to, for instance a recipe's name
 * @role: what the id is for, for instance "root" or "esp"
 * @uuid: version-5 UUID of "@seed/@role" in kontest's own name space
 *        (RFC 4122, section 4.3), in network byte order
 */
void uuid5(const char *seed, const char *role, uint8_t uuid[16]);
void uuid_text(const uint8_t uuid[16], char text[UUID_TEXT]);

#endif
