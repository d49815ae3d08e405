/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify.h - is a system image what it says it is?
 */
#ifndef KONTEST_VERIFY_H
#define KONTEST_VERIFY_H

#include "images/cache.h"
#include "images/kernel.h"
#include "images/manifest.h"
#include "results/base/text.h"

/**
 * struct verify_opts - what a rebuild needs and the image does not carry
 * @kernel: where the kernel comes from; NULL: the Debian package that the image
 *          names
 * @kernel_opts: what goes with it
 * @guest: path of the guest program
 * @plan: guest plan that images carry
 */
struct verify_opts {
	const char *kernel;
	struct kernel_opts kernel_opts;
	const char *guest;
	const char *plan;
};

/**
 * struct verify_result - how it went; strings owned
 * @identical: every byte is the same
 * @digest: SHA-256 of the image
 * @rebuilt: SHA-256 of what was built anew
 * @difference: the first one, in words; NULL when @identical
 * @where: how many bytes differ in which partition; NULL when @identical
 * @notes: what went in that is another than the image's manifest says, or
 *         another than this kontest ships
 */
struct verify_result {
	bool identical;
	char digest[SHA256_HEX], rebuilt[SHA256_HEX];
	char *difference;
	char *where;
	struct strings notes;
};

/* verify_is_image() - does the file begin like a GPT disk? */
bool verify_is_image(int fd);

/**
 * struct verify_texts - what the image carries, see manifest.h
 * @files: the list of its files
 */
struct verify_texts {
	struct manifest manifest;
	struct buf recipe, lock, files;
};

/* verify_read_texts() - take them out of an image's ESP; the digests of recipe
 * and lock are checked against the manifest */
int verify_read_texts(int fd, const char *path, struct verify_texts *t,
		      struct error *err);
void verify_texts_free(struct verify_texts *t);

/**
 * verify_image() - build the image anew and compare, byte by byte
 * @c: layer cache; packages and the kernel are taken from it, everything else is
 *     made anew in a directory of its own, which is removed
 * @image: path of a raw disk image that `kontest build` made
 * @o: see there
 * @r: result; verify_result_free() ends it
 * @err: why it could not be compared: no image of ours, no such kernel, a locked
 *       package that is gone
 *
 * Return: 0 when it was compared, or -1.
 */
int verify_image(const struct cache *c, const char *image,
		 const struct verify_opts *o, struct verify_result *r,
		 struct error *err);
void verify_result_free(struct verify_result *r);

/**
 * verify_compare() - two images, one of them trusted
 * @ref: the trusted one: made here a moment ago
 * @image: the other one; no structure in it is followed
 * @r: gets @identical, @difference and @where
 *
 * The names of files and fields are those that lie at the same place in @ref.
 */
int verify_compare(const char *ref, const char *image, struct verify_result *r,
		   struct error *err);

#endif
