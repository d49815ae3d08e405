/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * targets.h - the readers of what strangers hand over, each as a function of bytes
 *
 * tests/fuzz/libfuzzer.c makes a libFuzzer program of one of them (make fuzz);
 * tests/unit_fuzz.c gives all of them their corpus and a fixed number of changed
 * inputs (make check). A reader may refuse what it likes: it must not crash, leak
 * or read what is not its own. A new one is a function and a line in the table
 * below, and a directory corpus/NAME.
 */
#ifndef KONTEST_FUZZ_TARGETS_H
#define KONTEST_FUZZ_TARGETS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/plan.h"
#include "images/bundle.h"
#include "images/bzimage.h"
#include "images/fat.h"
#include "images/kernel_parts.h"
#include "images/lock.h"
#include "images/manifest.h"
#include "images/modules.h"
#include "images/profile.h"
#include "images/recipe.h"
#include "images/verify.h"
#include "images/verify_parts.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/import.h"
#include "results/journal_file.h"
#include "results/record.h"

/* struct fuzz_file - the bytes as a file, for readers that want a path */
struct fuzz_file {
	int fd;
	char path[64];
};

static inline struct fuzz_file fuzz_file(const uint8_t *data, size_t size)
{
	struct fuzz_file f = { .fd = memfd_create("fuzz", MFD_CLOEXEC) };

	if (f.fd < 0 || (size && full_pwrite(f.fd, data, size, 0, "fuzz", NULL) < 0))
		abort();
	snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	return f;
}

static inline void fuzz_file_close(struct fuzz_file *f)
{
	close(f->fd);
}

#define FUZZ_FILE(name) \
	CLEANUP(fuzz_file_close) struct fuzz_file name = fuzz_file(data, size)

static inline void fuzz_deb(const uint8_t *data, size_t size)
{
	FUZZ_FILE(f);
	CLEANUP(kernel_parts_free) struct kernel_parts p = { 0 };

	(void)kernel_deb_read(f.path, &p, NULL);
}

/* A package of the base: the whole tree, and its list */
static inline void fuzz_tree(const uint8_t *data, size_t size)
{
	static const char *const exclude[] = { "/usr/share/doc/*", NULL };
	FUZZ_FILE(f);
	CLEANUP(tree_freep) struct tree *t = tree_new();
	CLEANUP(buf_free) struct buf list = { 0 };
	CLEANUP(listing_clear) struct listing l = { 0 };

	/* What can be listed must be readable again. */
	if (!tree_add_deb(t, f.path, exclude, NULL) &&
	    !manifest_files(t, &list, NULL) &&
	    manifest_parse_files(list.data, "list", &l, NULL) < 0)
		abort();
}

static inline void fuzz_bzimage(const uint8_t *data, size_t size)
{
	CLEANUP(bzimage_free) struct bzimage bz = { 0 };
	CLEANUP(buf_free) struct buf vmlinux = { 0 }, config = { 0 };

	if (bzimage_parse(data, size, "fuzz", &bz, NULL) < 0 ||
	    bzimage_vmlinux(&bz, "fuzz", &vmlinux, NULL) < 0)
		return;
	if (bzimage_ikconfig(&vmlinux, "fuzz", &config, NULL) == 0)
		preflight_judge(&vmlinux, bz.release, &config);
}

static inline void fuzz_module(const uint8_t *data, size_t size)
{
	static const char *const roots[] = { "a", NULL };
	static const char *const names[] = { "kernel/a.ko", "kernel/a.ko.xz",
					     "kernel/a.ko.gz", "kernel/a.ko.zst" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct modules *m = modules_new();
		struct module_list order = { 0 };
		void *copy = xmalloc(size ? size : 1);

		if (size)
			memcpy(copy, data, size);
		modules_add(m, names[i], copy, size);
		(void)modules_closure(m, roots, &order, NULL);
		module_list_free(&order);
		modules_free(m);
	}
}

static inline void fuzz_journal(const uint8_t *data, size_t size)
{
	FUZZ_FILE(f);
	struct journal j = { 0 };
	struct boot_record b = { 0 };

	if (!journal_read(f.path, &j, NULL))
		journal_free(&j);
	if (!boot_record_load(f.path, &b, NULL))
		boot_record_free(&b);
}

static inline void fuzz_profile(const uint8_t *data, size_t size)
{
	FUZZ_FILE(f);
	struct profile p;

	if (!profile_load(f.path, &p, NULL))
		profile_free(&p);
}

static inline void fuzz_plan(const uint8_t *data, size_t size)
{
	FUZZ_FILE(f);
	struct plan p;

	plan_init(&p);
	(void)plan_read(&p, f.path, NULL);
	plan_free(&p);
}

static inline void fuzz_recipe(const uint8_t *data, size_t size)
{
	FUZZ_FILE(f);
	struct recipe r = { 0 };

	if (!recipe_load(f.path, &r, NULL))
		recipe_free(&r);
}

static inline void fuzz_lock(const uint8_t *data, size_t size)
{
	FUZZ_FILE(f);
	struct lock l = { 0 };

	if (!lock_read(f.path, &l, NULL))
		lock_free(&l);
}

/* What was understood prints as a document that gives the same again. */
static inline void fuzz_import(const uint8_t *data, size_t size)
{
	CLEANUP(buf_free) struct buf text = { 0 }, printed = { 0 }, again = { 0 };
	CLEANUP(buf_free) struct buf copy = { 0 };
	struct import imp = { 0 }, second = { 0 };

	buf_add(&text, data, size);
	if (import_parse("fuzz", &text, "name", &imp, NULL) < 0)
		return;
	import_print(&imp, &printed);
	import_document(&imp, &copy);
	if (import_parse("fuzz", &copy, NULL, &second, NULL) < 0)
		abort();
	import_print(&second, &again);
	if (printed.len != again.len || memcmp(printed.data, again.data, again.len))
		abort();
	import_free(&imp);
	import_free(&second);
}

static inline void fuzz_manifest(const uint8_t *data, size_t size)
{
	struct manifest m;

	if (!manifest_parse(data, size, "fuzz", &m, NULL))
		manifest_free(&m);
}

static inline void fuzz_files(const uint8_t *data, size_t size)
{
	CLEANUP(listing_clear) struct listing l = { 0 };
	cleanup_free char *text = xstrndup((const char *)data, size);

	(void)manifest_parse_files(text, "fuzz", &l, NULL);
}

static inline int fuzz_fat_entry(const struct fat_entry *e, void *data)
{
	*(size_t *)data += strlen(e->path);
	return 0;
}

static inline void fuzz_fat(const uint8_t *data, size_t size)
{
	FUZZ_FILE(f);
	CLEANUP(fat_close) struct fat fat = { 0 };
	CLEANUP(buf_free) struct buf out = { 0 };
	size_t names = 0;

	if (fat_open(&fat, f.fd, "fuzz", 0, size, NULL) < 0)
		return;
	(void)fat_walk(&fat, fuzz_fat_entry, &names, NULL);
	(void)fat_read(&fat, MANIFEST_JSON, MANIFEST_MAX_BYTES, &out, NULL);
}

/* A whole disk: its tables, its ESP and what that says */
static inline void fuzz_image(const uint8_t *data, size_t size)
{
	FUZZ_FILE(f);
	struct verify_texts t;

	if (!verify_read_texts(f.fd, "fuzz", &t, NULL))
		verify_texts_free(&t);
}

static inline void fuzz_bundle(const uint8_t *data, size_t size)
{
	FUZZ_FILE(f);
	struct bundle b = { 0 };

	if (bundle_open(&b, f.path, NULL) < 0)
		return;
	(void)bundle_check(&b, NULL);
	bundle_close(&b);
}

/* What was understood is written as a manifest that is the same again */
static inline void fuzz_bundle_manifest(const uint8_t *data, size_t size)
{
	struct bundle_manifest m = { 0 }, again = { 0 };
	cleanup_free char *text = NULL;

	if (bundle_manifest_parse((const char *)data, size, &m, NULL) < 0)
		return;
	text = bundle_manifest_text(&m);
	if (bundle_manifest_parse(text, strlen(text), &again, NULL) < 0)
		abort();
	bundle_manifest_free(&m);
	bundle_manifest_free(&again);
}

/* struct fuzz_target - @max_bytes: of an input; @changed: inputs that unit_fuzz
 * makes of each file of the corpus, fewer where one takes long */
struct fuzz_target {
	const char *name;
	void (*fn)(const uint8_t *data, size_t size);
	size_t max_bytes;
	int changed;
};

static const struct fuzz_target fuzz_targets[] = {
	{ "deb", fuzz_deb, 64 << 10, 30 },
	{ "tree", fuzz_tree, 64 << 10, 30 },
	{ "bzimage", fuzz_bzimage, 64 << 10, 60 },
	{ "module", fuzz_module, 16 << 10, 60 },
	{ "journal", fuzz_journal, 128 << 10, 60 },
	{ "profile", fuzz_profile, 8 << 10, 800 },
	{ "plan", fuzz_plan, 8 << 10, 800 },
	{ "recipe", fuzz_recipe, 8 << 10, 800 },
	{ "lock", fuzz_lock, 8 << 10, 800 },
	{ "import", fuzz_import, 8 << 10, 800 },
	{ "manifest", fuzz_manifest, 8 << 10, 800 },
	{ "files", fuzz_files, 8 << 10, 800 },
	{ "fat", fuzz_fat, 128 << 10, 200 },
	{ "image", fuzz_image, 128 << 10, 200 },
	{ "bundle", fuzz_bundle, 64 << 10, 200 },
	{ "bundle-manifest", fuzz_bundle_manifest, 16 << 10, 400 },
};
#define FUZZ_TARGETS (sizeof(fuzz_targets) / sizeof(fuzz_targets[0]))

#endif
