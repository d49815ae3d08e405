/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kbuild.h - build a kernel from source, so that others get the same bytes
 *
 * Out of tree, in the layer cache, with everything fixed that a kernel's build
 * takes from its surroundings: date, user, host, build number, paths. What was
 * built is a directory with the shape of a build tree, which kernel.h takes as a
 * kernel: arch/x86/boot/bzImage (and bzImage beside it), .config, modules; vmlinux
 * and System.map for who debugs it; and what its own modules_install wants.
 */
#ifndef KONTEST_KBUILD_H
#define KONTEST_KBUILD_H

#include "images/cache.h"
#include "results/base/digest.h"
#include "results/base/text.h"

/**
 * struct kbuild_opts - what is built
 * @source: a source tree's directory, or debian:PACKAGE of linux-source-...
 * @config: "tinyconfig", "defconfig", or a configuration's file
 * @fragment: a file with options on top of it, or NULL
 * @sets: options on top of both, "HZ_1000=y", "NR_CPUS=8", "SMP=n"; each must
 *	be so in the end
 * @jobs: make -j; 0: as many as there are CPUs
 */
struct kbuild_opts {
	const char *source;
	const char *config;
	const char *fragment;
	struct strings sets;
	unsigned int jobs;
};

/**
 * struct kbuild - what was built
 * @dir: in the cache, never changed; owned
 * @compiler: first line of gcc --version; owned
 * @source: digest of the source: of the tree's files, or of the package
 * @key: digest of everything that it is made from
 * @notes: options of the fragment that did not survive, a line each; empty when
 *	it came from the cache
 */
struct kbuild {
	char *dir;
	char *compiler;
	char source[SHA256_HEX];
	char key[SHA256_HEX];
	struct strings notes;
};

/* kbuild_is_target() - is it made by the tree itself, tinyconfig or defconfig, and no
 * file? */
bool kbuild_is_target(const char *config);
/* kbuild_fragment() - the file for struct kbuild_opts when @asked was asked for: NULL is
 * kontest.config of a tinyconfig, which alone boots nowhere, "none" none. Owned by the
 * caller, NULL: there is none */
char *kbuild_fragment(const char *config, const char *asked);

/**
 * kbuild() - build a kernel, or find it built
 * @c: layer cache
 * @o: what
 * @out: result; kbuild_free() ends it
 * @err: reason of a failure; an option that did not survive is named with what
 *	it depends on
 *
 * The key is of source, configuration and compiler, so that the same request
 * compiles once. Needs gcc, make, bison, flex, bc, and what else the
 * configuration asks for (objtool: libelf-dev).
 *
 * Return: 0, or -1.
 */
int kbuild(const struct cache *c, const struct kbuild_opts *o,
	   struct kbuild *out, struct error *err);
void kbuild_free(struct kbuild *k);

/* struct kbuild_source - where the source is; @dir owned */
struct kbuild_source {
	char *dir;
	char digest[SHA256_HEX];
};

/* kbuild_source_find() - digest of a source; of a package, after fetching it.
 * kbuild_source_get(): and its tree in @dir, unpacked in the cache */
int kbuild_source_find(const struct cache *c, const char *spec,
		       struct kbuild_source *s, struct error *err);
int kbuild_source_get(const struct cache *c, const char *spec,
		      struct kbuild_source *s, struct error *err);
void kbuild_source_free(struct kbuild_source *s);

/* kbuild_set_ok() - is it NAME=VALUE, with or without CONFIG_ before it? */
int kbuild_set_ok(const char *set, struct error *err);
/* kbuild_set_text() - the line of a .config that it stands for */
void kbuild_set_text(const char *set, struct buf *out);
/**
 * kbuild_verify() - does a configuration have what was set?
 * @config: text of the .config that olddefconfig has left
 * @sets: as in struct kbuild_opts
 * @source: source tree, to look an option's dependencies up; may be NULL
 * @err: names the first that is not as it was set
 */
int kbuild_verify(const char *config, const struct strings *sets,
		  const char *source, struct error *err);
/* kbuild_lost() - which options of @fragment's text @config does not have so:
 * a line each */
int kbuild_lost(const char *config, const char *fragment, const char *name,
		struct strings *notes, struct error *err);

#endif
