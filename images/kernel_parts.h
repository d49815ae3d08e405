/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_parts.h - a candidate kernel taken apart, before it becomes a layer
 *
 * For kernel*.c alone; everybody else sees kernel.h.
 */
#ifndef KONTEST_KERNEL_PARTS_H
#define KONTEST_KERNEL_PARTS_H

#include "images/bzimage.h"
#include "images/kernel.h"
#include "images/modules.h"

/* No bzImage is bigger: it must be loaded below 4 GiB, in one piece. */
#define KERNEL_IMAGE_MAX_BYTES ((size_t)1 << 30)
#define KERNEL_TEXT_MAX_BYTES ((size_t)16 << 20)

/**
 * struct kernel_parts - what was found; all owned
 * @where: of the image, for error texts
 * @package, @version: of a package, else NULL
 * @image: the bzImage, whole
 * @bz: its header, once parts_check() was called
 * @config: the configuration, empty when none was found
 * @builtin: modules.builtin, empty when none was found
 * @vmlinux: the uncompressed kernel, when that was given; else it is in @image
 * @modules: all of its modules
 * @taken: bytes of modules held in memory
 * @needed: those that a boot needs, in load order, once parts_check() was called
 */
struct kernel_parts {
	char *where;
	char *package;
	char *version;
	struct buf image;
	struct bzimage bz;
	struct buf config;
	struct buf builtin;
	struct buf vmlinux;
	struct modules *modules;
	uint64_t taken;
	struct module_list needed;
};

void kernel_parts_free(struct kernel_parts *p);

/* kernel_roots - modules wanted in every boot, when there and not built in */
extern const char *const kernel_roots[];

/* kernel_deb_read() - stream a Debian package once */
int kernel_deb_read(const char *deb, struct kernel_parts *p, struct error *err);
/* kernel_tar_is() - by its first bytes: may it be a tar archive? */
bool kernel_tar_is(const void *magic, size_t len);
/* kernel_tar_read() - stream the archive that `make tar-pkg` makes once */
int kernel_tar_read(const char *path, struct kernel_parts *p, struct error *err);
/* kernel_tree_is() - is this directory a built (or buildable) kernel tree? */
bool kernel_tree_is(const char *dir);
int kernel_tree_read(const char *dir, struct kernel_parts *p,
		     struct error *err);
/* kernel_image_read() - a bzImage or vmlinux, with what @opts names and what lies beside it */
int kernel_image_read(const char *path, const struct kernel_opts *opts,
		      struct kernel_parts *p, struct error *err);

/* kernel_layer_dir() - where the layer KEY is; owned by the caller */
char *kernel_layer_dir(const struct cache *c, const char *key);
/* kernel_layer_write() - make the layer KEY from parts that parts_check() passed;
 * the caller holds its lock */
int kernel_layer_write(const struct cache *c, const char *key,
		       const struct kernel_parts *p, struct error *err);
/* kernel_layer_read() - fill @k from a layer: 1, 0 when there is none, or -1 */
int kernel_layer_read(const char *dir, struct kernel *k, struct error *err);

/* preflight_judge() - the configuration as far as the image itself gives it
 * away: a text that kconfig_parse() reads; see preflight.c */
void preflight_judge(const struct buf *vmlinux, const char *release,
		     struct buf *out);

#endif
