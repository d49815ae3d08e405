/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify.c - build an image anew from what it says about itself
 */
#include "images/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "images/fat.h"
#include "images/gpt.h"
#include "images/lock.h"
#include "images/system.h"
#include "images/verify_parts.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define RECIPE "base.recipe"
#define LOCK "base.lock"

bool verify_is_image(int fd)
{
	char magic[8] = { 0 };

	return pread(fd, magic, sizeof(magic), GPT_SECTOR) == sizeof(magic) &&
	       !memcmp(magic, "EFI PART", sizeof(magic));
}

void verify_texts_free(struct verify_texts *t)
{
	manifest_free(&t->manifest);
	buf_free(&t->recipe);
	buf_free(&t->lock);
	buf_free(&t->files);
}

void verify_result_free(struct verify_result *r)
{
	free(r->difference);
	free(r->where);
	strings_clear(&r->notes);
	*r = (struct verify_result){ 0 };
}

/* --- what the image carries ------------------------------------------------------- */

static int check_digest(const struct buf *text, const char *hex,
			const char *path, const char *name, struct error *err)
{
	char got[SHA256_HEX];

	sha256_of(text->data, text->len, got);
	if (!strcmp(got, hex))
		return 0;
	return error_set(err, 0, "'%s': file %s on its EFI system partition has the digest %.12s..., its manifest says %.12s...",
			 path, name, got, hex);
}

static int read_from(int fd, const char *path, const struct disk_part *p,
		     struct verify_texts *t, struct error *err)
{
	CLEANUP(fat_close) struct fat fat = { 0 };
	CLEANUP(buf_free) struct buf json = { 0 };
	cleanup_free char *what = xasprintf("'%s': " MANIFEST_JSON, path);

	if (fat_open(&fat, fd, path, p->start, p->size, err) < 0 ||
	    fat_read(&fat, MANIFEST_JSON, MANIFEST_MAX_BYTES, &json, err) < 0 ||
	    manifest_parse(json.data, json.len, what, &t->manifest, err) < 0 ||
	    fat_read(&fat, MANIFEST_RECIPE, MANIFEST_TEXT_MAX_BYTES, &t->recipe, err) < 0 ||
	    fat_read(&fat, MANIFEST_LOCK, MANIFEST_TEXT_MAX_BYTES, &t->lock, err) < 0 ||
	    fat_read(&fat, MANIFEST_FILES, MANIFEST_TEXT_MAX_BYTES, &t->files, err) < 0)
		return -1;
	if (check_digest(&t->recipe, t->manifest.recipe, path, MANIFEST_RECIPE, err) < 0)
		return -1;
	return check_digest(&t->lock, t->manifest.lock, path, MANIFEST_LOCK, err);
}

int verify_read_texts(int fd, const char *path, struct verify_texts *t,
		      struct error *err)
{
	struct error first = { 0 };
	bool any = false;
	struct stat st;

	*t = (struct verify_texts){ 0 };
	if (fstat(fd, &st) < 0)
		return error_set(err, errno, "'%s'", path);
	/* A damaged table may have hidden the ESP: the backup may know it. */
	for (int backup = 0; backup <= 1; backup++) {
		CLEANUP(disk_parts_free) struct disk_parts parts = { 0 };

		gpt_parts(fd, (uint64_t)st.st_size, backup, &parts);
		for (size_t i = 0; i < parts.n; i++) {
			struct error why = { 0 };

			if (!gpt_is_esp(&parts.v[i]))
				continue;
			if (!read_from(fd, path, &parts.v[i], t, &why))
				return 0;
			verify_texts_free(t);
			*t = (struct verify_texts){ 0 };
			if (!any)
				first = why;
			any = true;
		}
	}
	if (!any)
		return error_set(err, 0, "'%s' is no system image: it has no partition table with an EFI system partition; `kontest build` makes one",
				 path);
	if (first.errnum == ENOENT)
		error_add(&first, ": not made by this kontest, or by one before manifests");
	if (err)
		*err = first;
	return -1;
}

/* --- building it anew --------------------------------------------------------------- */

/**
 * struct rebuild - what is being made
 * @dir: the directory of its own, in which all layers are made; owned
 * @cache: of that directory
 */
struct rebuild {
	char *dir;
	struct cache cache;
	struct kernel kernel;
	struct base base;
	struct initramfs initramfs;
	struct system_image system;
};

static void rebuild_free(struct rebuild *b)
{
	kernel_free(&b->kernel);
	base_free(&b->base);
	initramfs_free(&b->initramfs);
	system_image_free(&b->system);
	if (b->dir)
		(void)remove_tree(b->dir, NULL);
	free(b->dir);
}

/* Packages are shared: their names are their digests, which are checked. */
static int make_dir(const struct cache *c, struct rebuild *b, struct error *err)
{
	cleanup_free char *parent = xasprintf("%s/verify", c->dir);
	cleanup_free char *dir = xasprintf("%s/XXXXXX", parent);
	cleanup_free char *debs = xasprintf("%s/debs", c->dir);
	cleanup_free char *link = NULL;

	if (make_dirs(parent, err) < 0 || make_dirs(debs, err) < 0)
		return -1;
	if (!mkdtemp(dir))
		return error_set(err, errno, "make a directory in '%s'", parent);
	b->dir = steal_ptr(dir);
	link = xasprintf("%s/debs", b->dir);
	if (symlink(debs, link) < 0)
		return error_set(err, errno, "make link '%s'", link);
	b->cache = *c;
	b->cache.dir = b->dir;
	return 0;
}

static int get_kernel(const struct cache *c, const struct verify_opts *o,
		      const struct manifest *m, struct rebuild *b,
		      struct verify_result *r, struct error *err)
{
	cleanup_free char *spec = NULL;

	if (!o->kernel && !m->package)
		return error_set(err, 0, "the image's kernel (%s, SHA-256 %.12s...) came in no package: name it with --kernel, and its modules with --modules",
				 m->release, m->kernel);
	spec = o->kernel ? xstrdup(o->kernel) :
			   xasprintf("debian:%s=%s", m->package, m->version);
	if (kernel_resolve(c, spec, &o->kernel_opts, &b->kernel, err) < 0)
		return o->kernel ? -1 : error_add(err, "; --kernel names another place for it, such as the .deb");
	if (strcmp(b->kernel.digest, m->kernel)) {
		strings_add(&r->notes, xasprintf("the kernel is another: '%s' has SHA-256 %.12s..., the image %.12s... (%s)",
						 spec, b->kernel.digest, m->kernel,
						 m->release));
	} else if (o->kernel) {
		/* The package is a name for these bytes, wherever they came from. */
		free(b->kernel.package);
		free(b->kernel.package_version);
		b->kernel.package = m->package ? xstrdup(m->package) : NULL;
		b->kernel.package_version = m->version ? xstrdup(m->version) : NULL;
	}
	return 0;
}

static int get_base(const struct verify_texts *t, struct rebuild *b,
		    struct verify_result *r, struct error *err)
{
	cleanup_free char *recipe = xasprintf("%s/" RECIPE, b->dir);
	cleanup_free char *lock = xasprintf("%s/" LOCK, b->dir);
	cleanup_free char *shipped = xasprintf("%s/images/" RECIPE, share_dir());
	CLEANUP(buf_free) struct buf ours = { 0 };

	if (file_read(shipped, MANIFEST_TEXT_MAX_BYTES, &ours, err) < 0)
		return -1;
	/* Whose recipe it is matters: it decides which files go in. */
	if (ours.len != t->recipe.len || memcmp(ours.data, t->recipe.data, ours.len))
		return error_set(err, 0, "the image was made from another recipe than this kontest's (SHA-256 %.12s...; it was made by kontest %s): verify it with that version",
				 t->manifest.recipe, t->manifest.kontest);
	if (file_write(recipe, t->recipe.data, t->recipe.len, err) < 0 ||
	    file_write(lock, t->lock.data, t->lock.len, err) < 0 ||
	    base_build(&b->cache, recipe, true, &b->base, err) < 0)
		return -1;
	if (strcmp(b->base.digest, t->manifest.root))
		strings_add(&r->notes, xasprintf("the root file system built anew has SHA-256 %.12s..., the manifest says %.12s...",
						 b->base.digest, t->manifest.root));
	return 0;
}

/* Not the lock of this kontest: built with other packages, which is no fault. */
static void note_lock(const struct verify_texts *t, struct verify_result *r)
{
	cleanup_free char *path = xasprintf("%s/images/" LOCK, share_dir());
	CLEANUP(lock_free) struct lock l = { 0 };
	char hex[SHA256_HEX];

	if (lock_read(path, &l, NULL) < 0)
		return;
	lock_digest("base", &l, hex);
	if (strcmp(hex, t->manifest.lock))
		strings_add(&r->notes, xstrdup("its packages are other versions than those that this kontest ships a lock of"));
}

static int rebuild(const struct cache *c, const struct verify_opts *o,
		   const struct verify_texts *t, struct rebuild *b,
		   struct verify_result *r, struct error *err)
{
	const struct manifest *m = &t->manifest;

	if (make_dir(c, b, err) < 0 || get_kernel(c, o, m, b, r, err) < 0 ||
	    get_base(t, b, r, err) < 0 ||
	    initramfs_build(&b->cache, &b->kernel, o->guest, o->plan,
			    &b->initramfs, err) < 0)
		return -1;
	note_lock(t, r);
	if (strcmp(m->kontest, KONTEST_VERSION))
		strings_add(&r->notes, xasprintf("the image was made by kontest %s, this is " KONTEST_VERSION,
						 m->kontest));
	if (strcmp(b->initramfs.guest_digest, m->guest))
		strings_add(&r->notes, xasprintf("the guest program is another: here %.12s..., in the image %.12s...",
						 b->initramfs.guest_digest, m->guest));
	return system_build(&b->cache, &b->base, &b->kernel, &b->initramfs,
			    &b->system, err);
}

int verify_image(const struct cache *c, const char *image,
		 const struct verify_opts *o, struct verify_result *r,
		 struct error *err)
{
	CLEANUP(verify_texts_free) struct verify_texts t = { 0 };
	CLEANUP(rebuild_free) struct rebuild b = { 0 };
	cleanup_close int fd = open(image, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*r = (struct verify_result){ 0 };
	if (fd < 0)
		return error_set(err, errno, "open '%s'", image);
	if (verify_read_texts(fd, image, &t, err) < 0 ||
	    rebuild(c, o, &t, &b, r, err) < 0 ||
	    sha256_file(image, r->digest, err) < 0 ||
	    verify_compare(b.system.path, image, r, err) < 0) {
		verify_result_free(r);
		return -1;
	}
	memcpy(r->rebuilt, b.system.digest, SHA256_HEX);
	return 0;
}
