/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_tree.c - a kernel from the tree that it was built in
 */
#include <string.h>

#include "images/kernel_parts.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/text.h"

bool kernel_tree_is(const char *dir)
{
	static const char *const signs[] = {
		"arch/x86/boot/bzImage", "include/config/kernel.release",
		"Kbuild", "Kconfig",
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		cleanup_free char *path = xasprintf("%s/%s", dir, signs[i]);

		if (path_exists(path))
			return true;
	}
	return false;
}

/* Reads DIR/NAME when it is there. */
static int read_text(const char *dir, const char *name, struct buf *out,
		     struct error *err)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);

	return path_exists(path) ? file_read(path, KERNEL_TEXT_MAX_BYTES, out, err) : 0;
}

/*
 * A line of modules.order: "fs/ext4/ext4.ko"; with "kernel/" before it until
 * Linux 5.14, with ".o" behind it since 6.2. What was not built is skipped.
 */
static void add_ordered(struct modules *m, const char *dir, const char *line,
			size_t len)
{
	size_t skip = len > 7 && strncmp(line, "kernel/", 7) == 0 ? 7 : 0;
	cleanup_free char *plain = NULL, *cut = NULL, *path = NULL;

	if (len > 2 && memcmp(line + len - 2, ".o", 2) == 0)
		plain = xasprintf("%.*s.ko", (int)len - 2, line);
	else
		plain = xstrndup(line, len);
	/* The tree has a directory kernel/ of its own. */
	path = xasprintf("%s/%s", dir, plain);
	if (skip && !path_exists(path)) {
		cut = xstrdup(plain + skip);
		free(path);
		path = xasprintf("%s/%s", dir, cut);
	}
	if (modules_is_ko(plain) && path_exists(path))
		modules_add_file(m, cut ? cut : plain, path);
}

static int read_modules(const char *dir, struct kernel_parts *p,
			struct error *err)
{
	CLEANUP(buf_free) struct buf order = { 0 };

	if (read_text(dir, "modules.order", &order, err) < 0)
		return -1;
	for (const char *s = order.data; s && *s;) {
		size_t len = strcspn(s, "\n");

		if (len)
			add_ordered(p->modules, dir, s, len);
		s += len + (s[len] == '\n');
	}
	return 0;
}

/* The tree's own idea of its release must be what its bzImage was built as. */
static int check_release(const char *dir, struct kernel_parts *p,
			 struct error *err)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	struct bzimage bz;
	int ret = 0;

	if (read_text(dir, "include/config/kernel.release", &text, err) < 0)
		return -1;
	if (!text.len)
		return 0;
	text.data[strcspn(text.data, "\n")] = '\0';
	if (bzimage_parse(p->image.data, p->image.len, p->where, &bz, err) < 0)
		return -1;
	if (strcmp(text.data, bz.release) != 0)
		ret = error_set(err, 0, "kernel tree '%s': its bzImage is of release %s, the tree is at %s now; run make in it again",
				dir, bz.release, text.data);
	bzimage_free(&bz);
	return ret;
}

int kernel_tree_read(const char *dir, struct kernel_parts *p, struct error *err)
{
	p->modules = modules_new();
	p->where = xasprintf("%s/arch/x86/boot/bzImage", dir);
	if (!path_exists(p->where))
		return error_set(err, 0, "kernel tree '%s': no arch/x86/boot/bzImage in it; build it first (make bzImage modules), for x86",
				 dir);
	if (file_read(p->where, KERNEL_IMAGE_MAX_BYTES, &p->image, err) < 0 ||
	    check_release(dir, p, err) < 0 ||
	    read_text(dir, ".config", &p->config, err) < 0 ||
	    read_text(dir, "modules.builtin", &p->builtin, err) < 0)
		return -1;
	return read_modules(dir, p, err);
}
