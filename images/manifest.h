/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * manifest.h - what a system image says about itself, in its ESP
 *
 *	kontest/manifest.json	what it is made of: versions and digests
 *	kontest/base.recipe	the recipe of its root file system
 *	kontest/base.lock	the packages of that, each with its digest
 *	kontest/files.mtree	every file of the root file system, mtree(5)
 *
 * Nothing in them depends on who built the image, where or when, so they can be
 * part of bytes that are the same for everybody. manifest.json:
 *
 *	format		"kontest-image 1"
 *	kontest		version of the tool
 *	kernel		release, package and version (null without a package),
 *			digest (of the bzImage)
 *	base		recipe, lock, image, files: digests of the recipe, the lock,
 *			the ext4 and files.mtree; epoch: every time in it
 *	initramfs	digest, guest (program), plan (that is carried)
 *	boot		grub (core, as made), stub (of the UKI): digests
 *	cmdline		what GRUB and the UKI pass
 *
 * Digests are SHA-256.
 */
#ifndef KONTEST_MANIFEST_H
#define KONTEST_MANIFEST_H

#include "images/base.h"
#include "images/kernel.h"
#include "images/tree.h"
#include "results/base/text.h"

#define MANIFEST_JSON "kontest/manifest.json"
#define MANIFEST_RECIPE "kontest/base.recipe"
#define MANIFEST_LOCK "kontest/base.lock"
#define MANIFEST_FILES "kontest/files.mtree"
#define MANIFEST_MAX_BYTES ((size_t)64 << 10)
#define MANIFEST_TEXT_MAX_BYTES ((size_t)16 << 20)

/**
 * struct manifest - manifest.json; strings owned
 * @package, @version: NULL when the kernel came in no package
 * @kernel: digest of the bzImage
 * @recipe, @lock, @root, @files: digests of the base's parts
 * @initramfs, @guest, @plan: digests
 * @grub, @stub: digests of the boot code
 */
struct manifest {
	char *kontest;
	char *release, *package, *version;
	char *cmdline;
	char kernel[SHA256_HEX];
	char recipe[SHA256_HEX], lock[SHA256_HEX], root[SHA256_HEX];
	char files[SHA256_HEX];
	char initramfs[SHA256_HEX], guest[SHA256_HEX], plan[SHA256_HEX];
	char grub[SHA256_HEX], stub[SHA256_HEX];
};

/**
 * manifest_write() - manifest.json of an image
 * @b: root file system
 * @k: kernel
 * @i: initramfs
 * @grub, @stub: digests of the boot code
 * @cmdline: of a stand-alone boot
 * @out: gets the text
 */
void manifest_write(const struct base *b, const struct kernel *k,
		    const struct initramfs *i, const char *grub,
		    const char *stub, const char *cmdline, struct buf *out);

/* manifest_parse() - read it back; @what for error texts. Believes nothing: a
 * missing member, a digest that is none, a name that is none are errors */
int manifest_parse(const void *data, size_t len, const char *what,
		   struct manifest *m, struct error *err);
void manifest_free(struct manifest *m);

/* manifest_files() - files.mtree of a tree, with the /lost+found that the ext4
 * writer adds */
int manifest_files(struct tree *t, struct buf *out, struct error *err);

/**
 * struct listed - a line of files.mtree
 * @path: absolute; owned
 * @mode: with the type
 * @size: of a regular file
 * @link: target of a symbolic link; owned
 * @digest: of a regular file
 */
struct listed {
	char *path;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	uint64_t size;
	char *link;
	char digest[SHA256_HEX];
};
DEFINE_VECTOR(listing, struct listed)

/* manifest_parse_files() - read files.mtree back, sorted by path (strcmp); an
 * error names its line */
int manifest_parse_files(const char *text, const char *what,
			 struct listing *out, struct error *err);
void listing_clear(struct listing *l);

#endif
