/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * minisign.h - signatures that minisign(1) makes and checks: Ed25519 over the
 * BLAKE2b-512 digest of a file ("ED"), and over signature and trusted comment
 */
#ifndef KONTEST_MINISIGN_H
#define KONTEST_MINISIGN_H

#include <stdint.h>

#include "results/base/error.h"

#define MINISIGN_SUFFIX ".minisig"
#define MINISIGN_PUBLIC_BYTES 32
#define MINISIGN_SECRET_BYTES 64
#define MINISIGN_ID_HEX 17
#define MINISIGN_COMMENT_MAX 1024

/* struct minisign_public - a public key; @id: as it stands in the key file */
struct minisign_public {
	uint8_t id[8];
	uint8_t key[MINISIGN_PUBLIC_BYTES];
};

/* struct minisign_secret - minisign_wipe() it */
struct minisign_secret {
	uint8_t id[8];
	uint8_t key[MINISIGN_SECRET_BYTES];
};

/* minisign_public_read() - from a file, or from the base64 text of one itself */
int minisign_public_read(const char *file_or_text, struct minisign_public *p,
			 struct error *err);

/**
 * minisign_secret_read() - a secret key as `minisign -G` made it
 * @path: key file
 * @ask: called when the key has a password; gives it in memory that is wiped and
 *       freed here, or NULL with the reason. May be NULL: then there is none
 * @data: handed to @ask
 * @s: the key
 * @err: reason of a failure
 *
 * Return: 0, or -1.
 */
int minisign_secret_read(const char *path,
			 char *(*ask)(void *data, struct error *err),
			 void *data, struct minisign_secret *s,
			 struct error *err);
void minisign_wipe(struct minisign_secret *s);

/* minisign_sign() - write FILE.minisig, with a trusted comment in the manner of
 * minisign: timestamp (@time, seconds since 1970) and name of the file */
int minisign_sign(const char *path, const struct minisign_secret *s,
		  int64_t time, struct error *err);

/**
 * minisign_verify() - check FILE.minisig
 * @path: the file
 * @p: public key
 * @comment: gets the trusted comment, printable
 * @err: why not
 *
 * Return: 0 when file and trusted comment are what the key's owner signed.
 */
int minisign_verify(const char *path, const struct minisign_public *p,
		    char comment[MINISIGN_COMMENT_MAX], struct error *err);

/* minisign_signer() - id of the key that FILE.minisig claims, in minisign's
 * notation; 1 when there is a signature, 0 when there is none, -1 when it
 * cannot be read */
int minisign_signer(const char *path, char id[MINISIGN_ID_HEX],
		    struct error *err);
void minisign_id(const uint8_t id[8], char text[MINISIGN_ID_HEX]);

#endif
