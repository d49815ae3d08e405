/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules.h - a kernel's modules: index, dependencies, load order
 *
 * Everything is taken from the .ko files themselves (section .modinfo), for
 * modules.dep is made at installation and is not in a package. Files are read
 * and decompressed only when the closure reaches them: of the thousand modules
 * of a distribution's kernel some ten are.
 */
#ifndef KONTEST_MODULES_H
#define KONTEST_MODULES_H

#include <stdbool.h>
#include <stddef.h>

#include "results/base/error.h"
#include "results/base/text.h"

/**
 * struct module - one .ko
 * @name: as the kernel calls it, '_' for '-'; owned
 * @path: below the modules directory, "kernel/fs/ext4/ext4.ko"; the suffix of
 *        a compression is taken off; owned
 * @file: host path, or NULL when @data came from an archive; owned
 * @data: the file; decompressed once @loaded; owned
 * @size: bytes of @data
 * @loaded: read, decompressed, its .modinfo looked at
 * @depends: names of modules that it cannot do without
 * @pre, @post: soft dependencies: names or aliases, before and after it
 * @aliases: other names that it answers to
 * @release: first word of its vermagic, or NULL; owned
 * @mark: state of the walk over the dependencies
 */
struct module {
	char *name;
	char *path;
	char *file;
	char *data;
	size_t size;
	bool loaded;
	struct strings depends, pre, post, aliases;
	char *release;
	int mark;
};
DEFINE_VECTOR(module_list, struct module *)

/* struct modules - the modules of one kernel */
struct modules;

struct modules *modules_new(void);
void modules_free(struct modules *m);

/* modules_is_ko() - does @path end in .ko, .ko.gz, .ko.xz or .ko.zst? */
bool modules_is_ko(const char *path);

/* modules_never_needed() - is it below a directory of which no boot needs a
 * module? These are half of a distribution's, and need not be read at all. */
bool modules_never_needed(const char *path);

/* modules_add() - one .ko from memory; takes ownership of @data (malloc'ed) */
void modules_add(struct modules *m, const char *path, void *data, size_t size);
/* modules_add_file() - one .ko that stays on the host until it is needed */
void modules_add_file(struct modules *m, const char *path, const char *file);
/* modules_add_dir() - every .ko below a directory; links are not followed */
int modules_add_dir(struct modules *m, const char *dir, struct error *err);
/* modules_set_builtin() - the text of modules.builtin */
void modules_set_builtin(struct modules *m, const char *text);

size_t modules_count(const struct modules *m);
/* modules_find() - by name, '-' and '_' equal; NULL when there is none */
struct module *modules_find(struct modules *m, const char *name);
bool modules_builtin(const struct modules *m, const char *name);

/* module_load() - read and decompress it, take in its .modinfo */
int module_load(struct module *mod, struct error *err);

/**
 * modules_closure() - what is to be loaded, in what order
 * @m: the modules
 * @roots: names, NULL-terminated; one that is built in or not there is skipped
 * @out: every module needed, dependencies first; the pointers are @m's
 * @err: a damaged module, a dependency that is not there, a circle
 *
 * Depth first over @roots in their order and each module's pre-softdeps,
 * dependencies, itself, post-softdeps: the order depends on the modules'
 * contents alone. A softdep that names no module is looked for among the
 * aliases of the modules in crypto directories (crc32c -> crc32c_intel), for
 * that is what the storage stack's softdeps are about.
 */
int modules_closure(struct modules *m, const char *const roots[],
		    struct module_list *out, struct error *err);

#endif
