/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kbuild_source.c - a kernel's source tree: a directory, or Debian's package
 */
#include "images/kbuild.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "images/apt.h"
#include "images/archive_cleanup.h"
#include "images/tree.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define DEBIAN "debian:"
#define KIND "sources"
/* Part of the key: another way to unpack must not find what this one left. */
#define SOURCE_FORMAT "kontest kernel source 1"

void kbuild_source_free(struct kbuild_source *s)
{
	free(steal_ptr(s->dir));
}

static int fetch(const struct cache *c, const char *spec, struct packages *p,
		 struct error *err)
{
	const char *names[] = { spec + strlen(DEBIAN), NULL };

	if (!str_starts(names[0], "linux-source-"))
		return error_set(err, 0, "source '%s': not a package of kernel source; they are called linux-source-..., such as debian:linux-source-6.1",
				 spec);
	if (apt_resolve(c, names, true, p, err) < 0 || apt_fetch(c, p, err) < 0)
		return error_prefix(err, "source '%s'", spec);
	if (p->n != 1 || !p->v[0].path)
		return error_set(err, 0, "source '%s': apt names %zu packages for it; name one",
				 spec, p->n);
	return 0;
}

static int find_tree(const char *dir, struct kbuild_source *s, struct error *err)
{
	cleanup_free char *kconfig = xasprintf("%s/Kconfig", dir);
	cleanup_free char *makefile = xasprintf("%s/Makefile", dir);

	if (!path_exists(kconfig) || !path_exists(makefile))
		return error_set(err, 0, "source '%s': no tree of kernel source (it has no Kconfig or no Makefile); give one, or debian:linux-source-6.1",
				 dir);
	s->dir = realpath(dir, NULL);
	if (!s->dir)
		return error_set(err, errno, "source '%s'", dir);
	return sha256_tree(s->dir, s->digest, err);
}

int kbuild_source_find(const struct cache *c, const char *spec,
		       struct kbuild_source *s, struct error *err)
{
	CLEANUP(packages_clear) struct packages p = { 0 };

	*s = (struct kbuild_source){ 0 };
	if (!str_starts(spec, DEBIAN))
		return find_tree(spec, s, err);
	if (fetch(c, spec, &p, err) < 0)
		return -1;
	memcpy(s->digest, p.v[0].sha256, sizeof(s->digest));
	return 0;
}

/* "linux-source-6.1/kernel/fork.c" -> "DIR/kernel/fork.c"; NULL: the top */
static char *place(const char *dir, const char *name)
{
	const char *slash = strchr(name, '/');

	return slash && slash[1] ? xasprintf("%s/%s", dir, slash + 1) : NULL;
}

static int copy_entry(struct archive *in, struct archive *out,
		      struct archive_entry *e)
{
	const void *block;
	la_int64_t off;
	size_t size;
	int ret = archive_write_header(out, e);

	if (ret != ARCHIVE_OK || archive_entry_size(e) == 0)
		return ret == ARCHIVE_OK ? archive_write_finish_entry(out) : ret;
	while ((ret = archive_read_data_block(in, &block, &size, &off)) == ARCHIVE_OK)
		if (archive_write_data_block(out, block, size, off) < ARCHIVE_OK)
			return ARCHIVE_FATAL;
	return ret == ARCHIVE_EOF ? archive_write_finish_entry(out) : ret;
}

static int unpack_into(const struct node *tar, const char *dir,
		       struct error *err)
{
	cleanup_reader struct archive *in = archive_read_new();
	cleanup_disk_writer struct archive *out = archive_write_disk_new();
	struct archive_entry *e;
	int ret;

	if (!in || !out)
		return error_set(err, 0, "out of memory");
	archive_read_support_filter_xz(in);
	archive_read_support_format_tar(in);
	archive_write_disk_set_options(out, ARCHIVE_EXTRACT_SECURE_NODOTDOT |
				       ARCHIVE_EXTRACT_SECURE_SYMLINKS);
	if (archive_read_open_memory(in, tar->data, tar->size) != ARCHIVE_OK)
		return error_set(err, 0, "'%s': %s", tar->path,
				 archive_error_string(in));
	while ((ret = archive_read_next_header(in, &e)) == ARCHIVE_OK ||
	       ret == ARCHIVE_WARN) {
		cleanup_free char *path = place(dir, archive_entry_pathname(e));
		cleanup_free char *link = NULL;

		if (!path)
			continue;
		archive_entry_set_pathname(e, path);
		if (archive_entry_hardlink(e)) {
			link = place(dir, archive_entry_hardlink(e));
			archive_entry_set_hardlink(e, link);
		}
		if (copy_entry(in, out, e) != ARCHIVE_OK)
			return error_set(err, archive_errno(out), "unpack '%s': %s",
					 path, archive_error_string(out) ?
					 archive_error_string(out) : "damaged");
	}
	if (ret != ARCHIVE_EOF)
		return error_set(err, 0, "'%s': damaged: %s; remove the package from the cache, it is fetched again",
				 tar->path, archive_error_string(in));
	return 0;
}

static int find_tar(const struct node *n, void *data)
{
	const struct node **found = data;

	if (str_starts(n->path, "/usr/src/linux-source-") &&
	    str_ends(n->path, ".tar.xz") && n->data)
		*found = n;
	return 0;
}

static int unpack_deb(const char *deb, const char *dir, struct error *err)
{
	static const char *const exclude[] = { "/usr/share/*", NULL };
	CLEANUP(tree_freep) struct tree *package = tree_new();
	const struct node *tar = NULL;

	if (tree_add_deb(package, deb, exclude, err))
		return -1;
	tree_each(package, find_tar, &tar);
	if (!tar)
		return error_set(err, 0, "package '%s' has no /usr/src/linux-source-*.tar.xz",
				 deb);
	if (make_dirs(dir, err) < 0)
		return -1;
	return unpack_into(tar, dir, err);
}

int kbuild_source_get(const struct cache *c, const char *spec,
		      struct kbuild_source *s, struct error *err)
{
	CLEANUP(packages_clear) struct packages p = { 0 };
	cleanup_free char *dir = NULL, *making = NULL, *seed = NULL;
	cleanup_close int lock = -1;
	char key[SHA256_HEX];
	struct step step;
	bool have;

	if (s->dir)
		return 0;
	if (fetch(c, spec, &p, err) < 0)
		return -1;
	seed = xasprintf("%s %s", SOURCE_FORMAT, p.v[0].sha256);
	sha256_of(seed, strlen(seed), key);
	dir = cache_path(c, KIND, key, NULL);
	making = cache_making(c, KIND, key);
	step_begin(&step, c, "source");
	lock = cache_lock(c, KIND, key, err);
	if (lock < 0)
		return -1;
	have = path_is_dir(dir);
	if (!have && (unpack_deb(p.v[0].path, making, err) < 0 ||
		      put_sync(making, err) < 0))
		return -1;
	if (!have && rename(making, dir) < 0)
		return error_set(err, errno, "rename '%s'", making);
	step_end(&step, have, "%s %s", p.v[0].name, p.v[0].version);
	s->dir = steal_ptr(dir);
	return 0;
}
