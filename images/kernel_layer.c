/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_layer.c - a kernel taken apart, in the cache
 *
 *	CACHE/kernels/KEY/info			release=, digest=, package=, version=
 *	CACHE/kernels/KEY/vmlinuz
 *	CACHE/kernels/KEY/config		or "judged" when there is none
 *	CACHE/kernels/KEY/modules.builtin	when the kernel came with one
 *	CACHE/kernels/KEY/modules/PATH.ko	those that a boot needs, decompressed
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "images/kernel_parts.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/text.h"

char *kernel_layer_dir(const struct cache *c, const char *key)
{
	return cache_path(c, "kernels", key, "");
}

/* The configuration that is built in, else what the image gives away. */
static int write_config(const char *dir, const struct kernel_parts *p,
			struct error *err)
{
	cleanup_free char *config = xasprintf("%s/config", dir);
	cleanup_free char *judged = xasprintf("%s/judged", dir);
	CLEANUP(buf_free) struct buf vmlinux = { 0 }, text = { 0 };
	const struct buf *elf;
	int found;

	if (p->config.len)
		return file_put(config, p->config.data, p->config.len, err);
	if (!p->vmlinux.len && bzimage_vmlinux(&p->bz, p->where, &vmlinux, err) < 0)
		return error_prefix(err, "there is no configuration, and the image gives none away (--config FILE gives one)");
	elf = p->vmlinux.len ? &p->vmlinux : &vmlinux;
	found = bzimage_ikconfig(elf, p->where, &text, err);
	if (found < 0)
		return -1;
	if (found)
		return file_put(config, text.data, text.len, err);
	preflight_judge(elf, p->bz.release, &text);
	return file_put(judged, text.data, text.len, err);
}

static int write_modules(const char *dir, const struct kernel_parts *p,
			 struct error *err)
{
	for (size_t i = 0; i < p->needed.n; i++) {
		const struct module *mod = p->needed.v[i];
		cleanup_free char *path = xasprintf("%s/modules/%s", dir, mod->path);
		cleanup_free char *parent = xstrdup(path);

		*strrchr(parent, '/') = '\0';
		if (make_dirs(parent, err) < 0 ||
		    file_put(path, mod->data, mod->size, err) < 0)
			return -1;
	}
	return 0;
}

static int write_parts(const char *dir, const struct kernel_parts *p,
		       struct error *err)
{
	cleanup_free char *image = xasprintf("%s/vmlinuz", dir);
	cleanup_free char *builtin = xasprintf("%s/modules.builtin", dir);
	cleanup_free char *info = xasprintf("%s/info", dir);
	CLEANUP(buf_free) struct buf text = { 0 };
	char digest[SHA256_HEX];

	sha256_of(p->image.data, p->image.len, digest);
	buf_printf(&text, "release=%s\ndigest=%s\n", p->bz.release, digest);
	if (p->package)
		buf_printf(&text, "package=%s\nversion=%s\n", p->package, p->version);
	if (file_put(image, p->image.data, p->image.len, err) < 0 ||
	    write_config(dir, p, err) < 0 || write_modules(dir, p, err) < 0)
		return -1;
	if (p->builtin.len &&
	    file_put(builtin, p->builtin.data, p->builtin.len, err) < 0)
		return -1;
	return file_put(info, text.data, text.len, err);
}

int kernel_layer_write(const struct cache *c, const char *key,
		       const struct kernel_parts *p, struct error *err)
{
	cleanup_free char *dir = kernel_layer_dir(c, key);
	cleanup_free char *tmp = cache_making(c, "kernels", key);

	if (make_dirs(tmp, err) < 0)
		return -1;
	if (write_parts(tmp, p, err) < 0 || put_sync(tmp, err) < 0) {
		(void)remove_tree(tmp, NULL);
		return -1;
	}
	if (rename(tmp, dir) < 0) {
		error_set(err, errno, "rename '%s' to '%s'", tmp, dir);
		(void)remove_tree(tmp, NULL);
		return -1;
	}
	return 0;
}

static char *info_field(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (strncmp(text, name, len) == 0 && text[len] == '=')
			return xstrndup(text + len + 1, strcspn(text + len + 1, "\n"));
	return NULL;
}

/* DIR/NAME when it is there, else NULL; owned by the caller. */
static char *member(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);

	if (path_exists(path))
		return path;
	free(path);
	return NULL;
}

int kernel_layer_read(const char *dir, struct kernel *k, struct error *err)
{
	cleanup_free char *info = xasprintf("%s/info", dir);
	cleanup_free char *digest = NULL;
	CLEANUP(buf_free) struct buf text = { 0 };

	if (!path_exists(dir))
		return 0;
	if (file_read(info, KERNEL_TEXT_MAX_BYTES, &text, err) < 0)
		return -1;
	buf_adds(&text, "");
	k->release = info_field(text.data, "release");
	k->package = info_field(text.data, "package");
	k->package_version = info_field(text.data, "version");
	digest = info_field(text.data, "digest");
	k->vmlinuz = member(dir, "vmlinuz");
	k->modules = member(dir, "modules");
	k->builtin = member(dir, "modules.builtin");
	k->config = member(dir, "config");
	k->judged = member(dir, "judged");
	if (!k->release || !digest || strlen(digest) != SHA256_HEX - 1 ||
	    !k->vmlinuz || (!k->config && !k->judged))
		return error_set(err, 0, "kernel layer '%s' is damaged; remove that directory, it is made again",
				 dir);
	memcpy(k->digest, digest, SHA256_HEX);
	return 1;
}
