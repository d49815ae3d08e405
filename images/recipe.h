/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recipe.h - what a root file system is made of, an INI file
 *
 *	[base]
 *	name = base		; of its lock and the seed of its UUID
 *	label = kontest-root	; of the ext4, at most 16 bytes
 *	epoch = 1767225600	; every time in it, seconds since 1970 UTC
 *
 *	[packages]
 *	install = gcc make	; Debian packages; what they depend on comes along
 *	without = dpkg		; but not these
 *
 *	[exclude]
 *	path = /usr/share/doc*	; fnmatch(3) pattern; * matches / too
 *
 *	[layout]		; links that are there before the packages
 *	/bin = usr/bin
 *	[directory]		; path = permissions
 *	/tmp = 1777
 *	[link]			; path = target; they replace what packages brought
 *	/usr/bin/cc = gcc
 *	[file]			; path = a line; once more for another line
 *	/etc/passwd = root:x:0:0:root:/root:/bin/sh
 *	[tree]			; path = a directory below share_dir()
 *	/usr/share/kontest/jobs = loads/jobs
 *
 * The syntax is that of images/ini_file.h. Keys may come several times. An unknown section or key is an error.
 */
#ifndef KONTEST_RECIPE_H
#define KONTEST_RECIPE_H

#include <sys/types.h>

#include "results/base/digest.h"
#include "results/base/text.h"

/**
 * struct recipe_item - one line of [layout], [directory], [link], [file], [tree]
 * @path: absolute in the image; owned
 * @value: target, content or directory; NULL for a directory; owned
 * @perm: permissions of a directory
 */
struct recipe_item {
	char *path;
	char *value;
	mode_t perm;
};
DEFINE_VECTOR(recipe_items, struct recipe_item)

/**
 * struct recipe - a recipe in memory; everything owned
 * @text: the file as it was read, comments and all
 * @exclude: ends in a NULL that @exclude.n does not count, once loaded
 * @install: the same
 */
struct recipe {
	char *text;
	char *name;
	char *label;
	uint32_t epoch;
	struct strings install, without, exclude;
	struct recipe_items layout, directories, links, files, trees;
};

int recipe_load(const char *path, struct recipe *r, struct error *err);
void recipe_free(struct recipe *r);

#endif
