/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel.c - tell what a kernel spec is, and bring it into the cache
 */
#include "images/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "images/apt.h"
#include "images/kernel_disk.h"
#include "images/kernel_parts.h"
#include "images/vmlinux.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/text.h"

/* Part of every key: another layout, other roots, other judgement must not find
 * the layers that this one made. */
#define LAYER_FORMAT "kontest kernel layer 2"
#define MAGIC_BYTES 4096
#define KERNEL_FORMS "a bzImage, a vmlinux, a .deb, a tar of make tar-pkg, a disk image"

const char *const kernel_roots[] = {
	"virtio_pci", "virtio_blk",			/* measured modes */
	"ahci", "ata_piix", "sd_mod",			/* plain -drive */
	"libnvdimm", "nfit", "nd_pmem",			/* exact mode */
	"mq_deadline", "nbd",				/* its modelled disks */
	"ext4",
	"i6300esb", "pvpanic", "pvpanic_pci", "pvpanic_mmio",
	NULL
};

void kernel_parts_free(struct kernel_parts *p)
{
	free(p->where);
	free(p->package);
	free(p->version);
	buf_free(&p->image);
	bzimage_free(&p->bz);
	buf_free(&p->config);
	buf_free(&p->builtin);
	buf_free(&p->vmlinux);
	modules_free(p->modules);
	module_list_free(&p->needed);
}

void kernel_free(struct kernel *k)
{
	free(k->label);
	free(k->spec);
	free(k->kind);
	free(k->release);
	free(k->package);
	free(k->package_version);
	free(k->vmlinuz);
	free(k->modules);
	free(k->builtin);
	free(k->config);
	free(k->judged);
	*k = (struct kernel){ 0 };
}

/* Header, needed modules, and that they belong together. */
static int parts_check(struct kernel_parts *p, struct error *err)
{
	if (!p->bz.release &&
	    bzimage_parse(p->image.data, p->image.len, p->where, &p->bz, err) < 0)
		return -1;
	if (p->builtin.len)
		modules_set_builtin(p->modules, p->builtin.data);
	if (modules_closure(p->modules, kernel_roots, &p->needed, err) < 0)
		return error_prefix(err, "kernel '%s'", p->where);
	for (size_t i = 0; i < p->needed.n; i++) {
		const struct module *mod = p->needed.v[i];

		if (mod->release && strcmp(mod->release, p->bz.release) != 0)
			return error_set(err, 0, "module '%s' is of release %s, but kernel '%s' is of release %s; give the modules that were built with it",
					 mod->file ? mod->file : mod->path,
					 mod->release, p->where, p->bz.release);
	}
	return 0;
}

static void key_begin(struct sha256 *s, const char *kind)
{
	sha256_init(s);
	sha256_adds(s, LAYER_FORMAT);
	for (size_t i = 0; kernel_roots[i]; i++)
		sha256_adds(s, kernel_roots[i]);
	sha256_adds(s, kind);
}

static void key_add(struct sha256 *s, const void *data, size_t len)
{
	char hex[SHA256_HEX];

	sha256_of(data, len, hex);
	sha256_adds(s, hex);
}

static void parts_key(const struct kernel_parts *p, char key[SHA256_HEX])
{
	struct sha256 s;

	key_begin(&s, "parts");
	key_add(&s, p->image.data, p->image.len);
	key_add(&s, p->config.data, p->config.len);
	key_add(&s, p->builtin.data, p->builtin.len);
	for (size_t i = 0; i < p->needed.n; i++) {
		sha256_adds(&s, p->needed.v[i]->path);
		key_add(&s, p->needed.v[i]->data, p->needed.v[i]->size);
	}
	sha256_final(&s, key);
}

static size_t count_ko(const struct kernel *k)
{
	struct modules *m = modules_new();
	size_t n = 0;

	if (k->modules && modules_add_dir(m, k->modules, NULL) == 0)
		n = modules_count(m);
	modules_free(m);
	return n;
}

/* struct source - what a kernel is streamed from, once; @scratch: see
 * kernel_disk.h */
struct source {
	int (*read)(const struct source *s, const char *scratch,
		    struct kernel_parts *p, struct error *err);
	const struct cache *cache;
	const char *path;
	const char *version;
	bool qcow2;
};

static int read_source(const struct cache *c, const char *key,
		       const struct source *src, struct kernel_parts *p,
		       struct error *err)
{
	/* Named so that whoever takes the lock next removes it. */
	cleanup_free char *hidden = xasprintf(".%s.", key);
	cleanup_free char *scratch = cache_path(c, "kernels", hidden, "raw");

	return src->read(src, scratch, p, err) < 0 ? -1 : parts_check(p, err);
}

/*
 * Takes the layer KEY from the cache, or makes it from @p; with @src, @p is
 * still empty and filled from there.
 */
static int layer_get(const struct cache *c, const char *key,
		     const struct source *src, struct kernel_parts *p,
		     struct kernel *k, struct error *err)
{
	cleanup_free char *dir = kernel_layer_dir(c, key);
	cleanup_close int lock = -1;
	struct step step;
	int have;

	step_begin(&step, c, "kernel");
	have = kernel_layer_read(dir, k, err);
	if (have < 0)
		return -1;
	if (!have) {
		lock = cache_lock(c, "kernels", key, err);
		if (lock < 0)
			return -1;
		have = kernel_layer_read(dir, k, err);
		if (have < 0)
			return -1;
	}
	if (!have) {
		if (src && read_source(c, key, src, p, err) < 0)
			return -1;
		if (kernel_layer_write(c, key, p, err) < 0 ||
		    kernel_layer_read(dir, k, err) < 0)
			return -1;
	}
	step_end(&step, have, "%s, %zu modules", k->release, count_ko(k));
	return 0;
}

static int read_deb(const struct source *s, const char *scratch,
		    struct kernel_parts *p, struct error *err)
{
	(void)scratch;
	return kernel_deb_read(s->path, p, err);
}

static int read_tar(const struct source *s, const char *scratch,
		    struct kernel_parts *p, struct error *err)
{
	(void)scratch;
	return kernel_tar_read(s->path, p, err);
}

static int read_disk(const struct source *s, const char *scratch,
		     struct kernel_parts *p, struct error *err)
{
	struct disk_source d = {
		.path = s->path,
		.qcow2 = s->qcow2,
		.version = s->version,
		.scratch = scratch,
		.cache = s->cache,
	};

	return kernel_disk_read(&d, p, err);
}

/* A file that is known by its digest: once taken apart, it need not be again. */
static int from_digest(const struct source *src, const char *kind,
		       const char *digest, struct kernel *k, struct error *err)
{
	CLEANUP(kernel_parts_free) struct kernel_parts p = { 0 };
	char key[SHA256_HEX];
	struct sha256 s;

	key_begin(&s, kind);
	sha256_adds(&s, digest);
	if (src->version)
		sha256_adds(&s, src->version);
	sha256_final(&s, key);
	return layer_get(src->cache, key, src, &p, k, err);
}

static int from_deb(const struct cache *c, const char *deb, const char *digest,
		    struct kernel *k, struct error *err)
{
	const struct source src = { .read = read_deb, .cache = c, .path = deb };

	return from_digest(&src, "deb", digest, k, err);
}

static int from_debian(const struct cache *c, const char *name,
		       struct kernel *k, struct error *err)
{
	CLEANUP(packages_clear) struct packages found = { 0 };
	cleanup_free char *real = NULL;
	const char *names[] = { name, NULL };

	if (!str_starts(name, "linux-image-"))
		return error_set(err, 0, "kernel 'debian:%s': not a kernel package; they are called linux-image-..., apt-cache search linux-image lists them",
				 name);
	/* A real package depends on no other linux-image: then it is meant itself. */
	if (!strchr(name, '=') &&
	    apt_meta(c, name, "linux-image-", &real, NULL) == 0)
		names[0] = real;
	if (apt_resolve(c, names, true, &found, err) < 0 ||
	    apt_fetch(c, &found, err) < 0)
		return error_prefix(err, "kernel 'debian:%s'", name);
	if (found.n != 1 || !found.v[0].path)
		return error_set(err, 0, "kernel 'debian:%s': apt names %zu packages for %s; name one",
				 name, found.n, names[0]);
	return from_deb(c, found.v[0].path, found.v[0].sha256, k, err);
}

static int from_parts(const struct cache *c, struct kernel_parts *p,
		      struct kernel *k, struct error *err)
{
	char key[SHA256_HEX];

	if (parts_check(p, err) < 0)
		return -1;
	parts_key(p, key);
	return layer_get(c, key, NULL, p, k, err);
}

static int from_tree(const struct cache *c, const char *dir, struct kernel *k,
		     struct error *err)
{
	CLEANUP(kernel_parts_free) struct kernel_parts p = { 0 };

	if (kernel_tree_read(dir, &p, err) < 0)
		return -1;
	return from_parts(c, &p, k, err);
}

static int from_image(const struct cache *c, const char *path,
		      const struct kernel_opts *opts, struct kernel *k,
		      struct error *err)
{
	CLEANUP(kernel_parts_free) struct kernel_parts p = { 0 };

	if (kernel_image_read(path, opts, &p, err) < 0)
		return -1;
	return from_parts(c, &p, k, err);
}

/* Says what a file that is no kernel of ours is, and what to give instead. */
static int refuse(const char *path, const unsigned char *magic, size_t len,
		  struct error *err)
{
	if (len == 0)
		return error_set(err, 0, "kernel '%s': an empty file; copy or build it again", path);
	if (len >= 60 && (memcmp(magic + 56, "ARM\x64", 4) == 0 ||
			  memcmp(magic + 56, "RSC\x05", 4) == 0))
		return error_set(err, 0, "kernel '%s': a kernel for %s; kontest measures x86-64 kernels, give a bzImage",
				 path, magic[56] == 'A' ? "arm64" : "RISC-V");
	if (len >= 8 && memcmp(magic, "!<arch>\n", 8) == 0)
		return error_set(err, 0, "kernel '%s': an ar archive, but no Debian package; give a .deb or a bzImage",
				 path);
	return error_set(err, 0, "kernel '%s': none of " KERNEL_FORMS "; give one of these, a built kernel tree, or debian:PACKAGE",
			 path);
}

static bool is_deb(const unsigned char *magic, size_t len)
{
	return len >= 21 && memcmp(magic, "!<arch>\ndebian-binary", 21) == 0;
}

/* What the file at @src->path is, by its first bytes; NULL: none of ours, or it
 * cannot be read. */
static const char *kind_of(struct source *src, struct error *err)
{
	const char *path = src->path;
	unsigned char magic[MAGIC_BYTES] = { 0 };
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t len = 0;

	if (fd < 0 && errno == ENOENT)
		error_set(err, 0, "kernel '%s': No such file or directory; give " KERNEL_FORMS ", a built kernel tree, or debian:PACKAGE",
			  path);
	else if (fd < 0 || fstat(fd, &st) < 0)
		error_set(err, errno, "kernel '%s'", path);
	else if (S_ISDIR(st.st_mode) && kernel_tree_is(path))
		return "tree";
	else if (S_ISDIR(st.st_mode))
		error_set(err, 0, "kernel '%s': a directory, but no kernel tree (it has no arch/x86/boot/bzImage); give a tree, a bzImage or a .deb",
			  path);
	else if (!S_ISREG(st.st_mode))
		error_set(err, 0, "kernel '%s': not a regular file; give " KERNEL_FORMS " or a built kernel tree",
			  path);
	else if ((len = pread(fd, magic, sizeof(magic), 0)) < 0)
		error_set(err, errno, "read kernel '%s'", path);
	else if (is_deb(magic, (size_t)len))
		return "deb";
	else if (bzimage_is(magic, (size_t)len))
		return "bzImage";
	else if (vmlinux_is(magic, (size_t)len))
		return "vmlinux";
	else if (kernel_tar_is(magic, (size_t)len))
		return "tar";
	else if (kernel_disk_is(magic, (size_t)len, &src->qcow2))
		return "disk";
	else
		refuse(path, magic, (size_t)len, err);
	return NULL;
}

static int from_path(const struct cache *c, const char *path, const char *version,
		     const struct kernel_opts *opts, struct kernel *k,
		     struct error *err)
{
	struct source src = { .cache = c, .path = path, .version = version };
	const char *kind = kind_of(&src, err);
	char digest[SHA256_HEX];

	if (!kind)
		return -1;
	k->kind = xstrdup(kind);
	if (version && strcmp(kind, "disk") != 0)
		return error_set(err, 0, "kernel '%s:%s': a version is chosen of a disk image's kernels, and '%s' is none (%s)",
				 path, version, path, kind);
	if (strcmp(kind, "bzImage") == 0 || strcmp(kind, "vmlinux") == 0)
		return from_image(c, path, opts, k, err);
	if (opts->modules || opts->config)
		return error_set(err, 0, "kernel '%s': modules and config go with a bzImage or vmlinux; a %s brings its own, leave them away",
				 path, strcmp(kind, "tree") == 0 ? "kernel tree" :
				 strcmp(kind, "disk") == 0 ? "disk image" : "package");
	if (strcmp(kind, "tree") == 0)
		return from_tree(c, path, k, err);
	if (sha256_file(path, digest, err) < 0)
		return -1;
	src.read = strcmp(kind, "deb") == 0 ? read_deb :
		   strcmp(kind, "tar") == 0 ? read_tar : read_disk;
	return from_digest(&src, kind, digest, k, err);
}

/* FILE, or FILE:VERSION when there is no such file */
static int from_file(const struct cache *c, const char *spec,
		     const struct kernel_opts *opts, struct kernel *k,
		     struct error *err)
{
	const char *colon = strrchr(spec, ':');
	cleanup_free char *path = colon ? xstrndup(spec, (size_t)(colon - spec)) : NULL;

	if (path && colon[1] && !path_exists(spec) && path_exists(path))
		return from_path(c, path, colon + 1, opts, k, err);
	return from_path(c, spec, NULL, opts, k, err);
}

int kernel_resolve(const struct cache *c, const char *spec,
		   const struct kernel_opts *opts, struct kernel *k,
		   struct error *err)
{
	static const struct kernel_opts none;
	int ret;

	*k = (struct kernel){ 0 };
	opts = opts ? opts : &none;
	k->spec = xstrdup(spec);
	if (!str_starts(spec, "debian:")) {
		ret = from_file(c, spec, opts, k, err);
	} else if (opts->modules || opts->config) {
		ret = error_set(err, 0, "kernel '%s': modules and config go with a bzImage or vmlinux; a package brings its own, leave them away",
				spec);
	} else {
		k->kind = xstrdup("debian");
		ret = from_debian(c, spec + strlen("debian:"), k, err);
	}
	if (ret < 0) {
		kernel_free(k);
		return -1;
	}
	k->label = xstrdup(opts->label ? opts->label : k->release);
	return 0;
}
