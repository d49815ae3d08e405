/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * initramfs.c - PID 1, its plan and the modules that it loads, as one cpio
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "images/kernel_parts.h"
#include "images/tree.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/text.h"

/* Part of every key: another layout must not find what this one made. */
#define INITRAMFS_FORMAT "kontest initramfs 1"
#define GUEST_MAX_BYTES ((size_t)64 << 20)

static void modules_freep(struct modules **m)
{
	modules_free(*m);
}

void initramfs_free(struct initramfs *i)
{
	free(i->path);
	*i = (struct initramfs){ 0 };
}

static int read_modules(const struct kernel *k, struct modules *m,
			struct module_list *order, struct error *err)
{
	CLEANUP(buf_free) struct buf builtin = { 0 };

	if (k->builtin && file_read(k->builtin, KERNEL_TEXT_MAX_BYTES, &builtin, err) < 0)
		return -1;
	if (builtin.len)
		modules_set_builtin(m, builtin.data);
	if (k->modules && modules_add_dir(m, k->modules, err) < 0)
		return -1;
	return modules_closure(m, kernel_roots, order, err);
}

/* "kernel/fs/ext4/ext4.ko" as number 7 -> "/modules/007-ext4.ko" */
static char *module_path(const struct module_list *order, size_t i)
{
	const char *slash = strrchr(order->v[i]->path, '/');

	return xasprintf("/modules/%03zu-%s", i,
			 slash ? slash + 1 : order->v[i]->path);
}

static void make_key(const struct kernel *k, const struct module_list *order,
		     const struct buf *guest, const char *plan,
		     char key[SHA256_HEX])
{
	char hex[SHA256_HEX];
	struct sha256 s;

	sha256_init(&s);
	sha256_adds(&s, INITRAMFS_FORMAT);
	sha256_adds(&s, k->digest);
	for (size_t i = 0; i < order->n; i++) {
		sha256_adds(&s, order->v[i]->path);
		sha256_of(order->v[i]->data, order->v[i]->size, hex);
		sha256_adds(&s, hex);
	}
	sha256_of(guest->data, guest->len, hex);
	sha256_adds(&s, hex);
	sha256_adds(&s, plan);
	sha256_final(&s, key);
}

/* tree_add_file() takes its data over; this one copies it first. */
static int add_copy(struct tree *t, const char *path, mode_t perm,
		    const void *data, size_t size, struct error *err)
{
	void *copy = xmalloc(size ? size : 1);

	if (size)
		memcpy(copy, data, size);
	return tree_add_file(t, path, perm, copy, size, err);
}

static int write_cpio(const char *path, const struct module_list *order,
		      const struct buf *guest, const char *plan,
		      struct error *err)
{
	static const char *const dirs[] = { "/dev", "/proc", "/sys", "/root", "/modules" };
	CLEANUP(tree_freep) struct tree *t = tree_new();
	CLEANUP(buf_free) struct buf list = { 0 };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (tree_add_dir(t, dirs[i], 0755, err) < 0)
			return -1;
	for (size_t i = 0; i < order->n; i++) {
		cleanup_free char *to = module_path(order, i);

		buf_printf(&list, "%s\n", to);
		if (add_copy(t, to, 0644, order->v[i]->data, order->v[i]->size, err) < 0)
			return -1;
	}
	if (add_copy(t, "/init", 0755, guest->data, guest->len, err) < 0 ||
	    add_copy(t, "/plan", 0644, plan, strlen(plan), err) < 0 ||
	    add_copy(t, "/modules.list", 0644, list.data, list.len, err) < 0)
		return -1;
	return tree_write_cpio(t, path, err);
}

int initramfs_build(const struct cache *c, const struct kernel *k,
		    const char *guest, const char *plan,
		    struct initramfs *out, struct error *err)
{
	CLEANUP(modules_freep) struct modules *m = modules_new();
	CLEANUP(module_list_free) struct module_list order = { 0 };
	CLEANUP(buf_free) struct buf program = { 0 };
	cleanup_free char *path = NULL;
	cleanup_close int lock = -1;
	char key[SHA256_HEX];
	struct step step;
	struct stat st;
	bool cached;

	*out = (struct initramfs){ 0 };
	step_begin(&step, c, "initramfs");
	if (file_read(guest, GUEST_MAX_BYTES, &program, err) < 0)
		return error_prefix(err, "guest program (make builds it)");
	if (read_modules(k, m, &order, err) < 0)
		return error_prefix(err, "initramfs of kernel '%s'", k->spec);
	make_key(k, &order, &program, plan, key);
	path = cache_path(c, "initramfs", key, ".cpio");
	cached = path_exists(path);
	if (!cached) {
		lock = cache_lock(c, "initramfs", key, err);
		if (lock < 0)
			return -1;
		cached = path_exists(path);
	}
	if (!cached && write_cpio(path, &order, &program, plan, err) < 0)
		return -1;
	if (sha256_file(path, out->digest, err) < 0)
		return -1;
	if (stat(path, &st) < 0)
		return error_set(err, errno, "'%s'", path);
	sha256_of(program.data, program.len, out->guest_digest);
	sha256_of(plan, strlen(plan), out->plan_digest);
	out->size = (uint64_t)st.st_size;
	out->path = steal_ptr(path);
	step_end(&step, cached, "%s, %zu modules, %.1f MiB", k->release, order.n,
		 (double)out->size / (1 << 20));
	return 0;
}
