/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_ext.c - a kernel out of the ext file systems of a raw disk image
 */
#include <errno.h>
#include <ext2fs/ext2fs.h>
#include <libfdisk.h>
#include <string.h>
#include <sys/stat.h>

#include "images/kernel_disk.h"
#include "results/base/cleanup.h"
#include "results/base/text.h"

/* The image may be anybody's: what is read of it has bounds. */
#define PARTITIONS_MAX 64
#define DEPTH_MAX 12
#define NAMES_MAX 100000
#define MODULES_MAX_BYTES ((uint64_t)4 << 30)

/* struct fs - an open file system and where it was found */
struct fs {
	ext2_filsys fs;
	uint64_t offset;
};
DEFINE_VECTOR(fs_list, struct fs)

/* struct found - an image: in which file system, and the version in its name */
struct found {
	const struct fs *fs;
	ext2_ino_t ino;
	char *path;
	char *version;
};

/* struct look - everything that a search knows */
struct look {
	const struct disk_source *d;
	struct kernel_parts *p;
	struct fs_list all;
	struct found best;
	struct strings versions;
	uint64_t taken;
	size_t names;
	struct error *err;
};

static void look_end(struct look *l)
{
	for (size_t i = 0; i < l->all.n; i++)
		ext2fs_free(l->all.v[i].fs);
	fs_list_free(&l->all);
	free(l->best.path);
	free(l->best.version);
	strings_clear(&l->versions);
}

static void open_at(struct look *l, const char *raw, uint64_t offset)
{
	cleanup_free char *options = xasprintf("offset=%llu", (unsigned long long)offset);
	struct fs f = { .offset = offset };

	/* What it is not, or a feature that the library does not know: not ours. */
	if (!ext2fs_open2(raw, options, EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &f.fs))
		fs_list_add(&l->all, f);
}

static void open_partitions(struct look *l, const char *raw,
			    struct fdisk_context *cxt)
{
	struct fdisk_table *table = NULL;
	uint64_t sector = fdisk_get_sector_size(cxt);

	if (!fdisk_has_label(cxt) || fdisk_get_partitions(cxt, &table))
		return;
	for (size_t i = 0; i < fdisk_table_get_nents(table) && i < PARTITIONS_MAX; i++) {
		struct fdisk_partition *pa = fdisk_table_get_partition(table, i);

		if (fdisk_partition_has_start(pa) && !fdisk_partition_is_container(pa))
			open_at(l, raw, fdisk_partition_get_start(pa) * sector);
	}
	fdisk_unref_table(table);
}

static int open_all(struct look *l, const char *raw)
{
	struct fdisk_context *cxt = fdisk_new_context();

	open_at(l, raw, 0);
	if (!l->all.n && cxt && !fdisk_assign_device(cxt, raw, 1)) {
		open_partitions(l, raw, cxt);
		fdisk_deassign_device(cxt, 1);
	}
	fdisk_unref_context(cxt);
	return 0;
}

static int damaged(struct look *l, const char *path, errcode_t e)
{
	return error_set(l->err, 0, "'%s': '%s' in it cannot be read (%s); copy the image again, or repair its file system",
			 l->d->path, path, error_message(e));
}

static int read_inode(struct look *l, const struct fs *f, ext2_ino_t ino,
		      const char *path, size_t max, struct buf *out)
{
	ext2_file_t file;
	uint64_t size;
	unsigned int got = 0;
	errcode_t e = ext2fs_file_open(f->fs, ino, 0, &file);

	if (e)
		return damaged(l, path, e);
	e = ext2fs_file_get_lsize(file, (__u64 *)&size);
	if (!e && size > max) {
		ext2fs_file_close(file);
		return error_set(l->err, 0, "'%s': '%s' in it has %llu bytes, more than a kernel's has; it is damaged",
				 l->d->path, path, (unsigned long long)size);
	}
	if (!e) {
		buf_free(out);
		out->data = xmalloc(size + 1);
		out->cap = size + 1;
		e = ext2fs_file_read(file, out->data, (unsigned int)size, &got);
		out->len = got;
		out->data[got] = '\0';
	}
	if (!e && got != size)
		e = EXT2_ET_SHORT_READ;
	ext2fs_file_close(file);
	return e ? damaged(l, path, e) : 0;
}

static mode_t mode_of(const struct fs *f, ext2_ino_t ino)
{
	struct ext2_inode inode;

	return ext2fs_read_inode(f->fs, ino, &inode) ? 0 : inode.i_mode;
}

/* The inode at @path, links followed; 0 when there is none. */
static ext2_ino_t find(const struct fs *f, const char *path)
{
	ext2_ino_t ino;

	return ext2fs_namei_follow(f->fs, EXT2_ROOT_INO, EXT2_ROOT_INO, path, &ino) ?
	       0 : ino;
}

/* struct listing - the names in a directory */
struct listing {
	struct look *look;
	struct strings names;
};

static int add_name(struct ext2_dir_entry *e, int offset, int size, char *buf,
		    void *data)
{
	struct listing *li = data;
	size_t len = (size_t)ext2fs_dirent_name_len(e);

	(void)offset;
	(void)size;
	(void)buf;
	if (++li->look->names > NAMES_MAX)
		return DIRENT_ABORT;
	if (e->inode && len && memchr(e->name, '/', len) == NULL && e->name[0] != '.')
		strings_add(&li->names, xstrndup(e->name, len));
	return 0;
}

static int list_dir(struct look *l, const struct fs *f, ext2_ino_t dir,
		    const char *path, struct listing *li)
{
	errcode_t e;

	*li = (struct listing){ .look = l };
	e = ext2fs_dir_iterate(f->fs, dir, 0, NULL, add_name, li);
	if (l->names > NAMES_MAX)
		return error_set(l->err, 0, "'%s': more than %d names below '%s'; it is damaged",
				 l->d->path, NAMES_MAX, path);
	return e ? damaged(l, path, e) : 0;
}

static void consider(struct look *l, const struct fs *f, ext2_ino_t ino,
		     const char *path, const char *version)
{
	const char *wanted = l->d->version;

	if (!S_ISREG(mode_of(f, ino)) || !*version)
		return;
	strings_add(&l->versions, xstrdup(version));
	if (wanted ? strcmp(wanted, version) != 0 || l->best.fs :
	    l->best.fs && kernel_version_cmp(version, l->best.version) <= 0)
		return;
	free(l->best.path);
	free(l->best.version);
	l->best = (struct found){ f, ino, xstrdup(path), xstrdup(version) };
}

/* DIR/vmlinuz-VERSION, or DIR/VERSION/vmlinuz when @below */
static int look_in(struct look *l, const struct fs *f, const char *dir, bool below)
{
	ext2_ino_t ino = find(f, dir);
	struct listing li = { 0 };
	int ret = 0;

	if (!ino || !S_ISDIR(mode_of(f, ino)))
		return 0;
	ret = list_dir(l, f, ino, dir, &li);
	for (size_t i = 0; !ret && i < li.names.n; i++) {
		const char *name = li.names.v[i];
		cleanup_free char *path = xasprintf("%s/%s%s", dir, name,
						    below ? "/vmlinuz" : "");
		ext2_ino_t file;

		if (!below && !str_starts(name, "vmlinuz-"))
			continue;
		file = find(f, path);
		if (file)
			consider(l, f, file, path,
				 below ? name : name + strlen("vmlinuz-"));
	}
	strings_clear(&li.names);
	return ret;
}

static int look_everywhere(struct look *l)
{
	static const char *const dirs[] = { "/boot", "" };
	static const char *const below[] = { "/usr/lib/modules", "/lib/modules" };

	for (size_t i = 0; i < l->all.n; i++)
		for (size_t j = 0; j < 2; j++)
			if (look_in(l, &l->all.v[i], dirs[j], false) < 0)
				return -1;
	/* Where a distribution's packages put it beside the modules */
	for (size_t i = 0; !l->best.fs && i < l->all.n; i++)
		for (size_t j = 0; j < 2; j++)
			if (look_in(l, &l->all.v[i], below[j], true) < 0)
				return -1;
	return 0;
}

static int add_modules(struct look *l, const struct fs *f, ext2_ino_t dir,
		       const char *path, size_t root, int depth);

static int add_entry(struct look *l, const struct fs *f, const char *path,
		     ext2_ino_t ino, size_t root, int depth)
{
	mode_t mode = mode_of(f, ino);
	struct buf ko = { 0 };

	if (S_ISDIR(mode))
		return add_modules(l, f, ino, path, root, depth + 1);
	if (!S_ISREG(mode) || !modules_is_ko(path))
		return 0;
	if (read_inode(l, f, ino, path, KERNEL_IMAGE_MAX_BYTES, &ko) < 0) {
		buf_free(&ko);
		return -1;
	}
	l->taken += ko.len;
	if (l->taken > MODULES_MAX_BYTES) {
		buf_free(&ko);
		return error_set(l->err, 0, "'%s': the modules of kernel %s have more than %llu GiB; strip them of their debugging information",
				 l->d->path, l->best.version,
				 (unsigned long long)(MODULES_MAX_BYTES >> 30));
	}
	modules_add(l->p->modules, path + root, ko.data, ko.len);
	return 0;
}

static int add_modules(struct look *l, const struct fs *f, ext2_ino_t dir,
		       const char *path, size_t root, int depth)
{
	struct listing li = { 0 };
	int ret;

	/* Damaged directories may lead round in circles. */
	if (depth > DEPTH_MAX)
		return error_set(l->err, 0, "'%s': '%s' lies too deep; it is damaged",
				 l->d->path, path);
	if (modules_never_needed(path))
		return 0;
	ret = list_dir(l, f, dir, path, &li);
	for (size_t i = 0; !ret && i < li.names.n; i++) {
		cleanup_free char *name = xasprintf("%s/%s", path, li.names.v[i]);
		ext2_ino_t ino;

		/* Links are not followed: "build" and "source" lead elsewhere. */
		if (!ext2fs_namei(f->fs, EXT2_ROOT_INO, EXT2_ROOT_INO, name, &ino))
			ret = add_entry(l, f, name, ino, root, depth);
	}
	strings_clear(&li.names);
	return ret;
}

/* The text at @path, when it is there */
static int read_text(struct look *l, const struct fs *f, const char *path,
		     struct buf *out)
{
	ext2_ino_t ino = find(f, path);

	return ino ? read_inode(l, f, ino, path, KERNEL_TEXT_MAX_BYTES, out) : 0;
}

static int take_modules(struct look *l, bool *found)
{
	static const char *const roots[] = { "/usr/lib/modules", "/lib/modules" };

	for (size_t i = 0; !*found && i < l->all.n; i++) {
		const struct fs *f = &l->all.v[i];

		for (size_t j = 0; !*found && j < 2; j++) {
			cleanup_free char *dir = xasprintf("%s/%s", roots[j], l->best.version);
			cleanup_free char *builtin = xasprintf("%s/modules.builtin", dir);
			cleanup_free char *config = xasprintf("%s/config", dir);
			ext2_ino_t ino = find(f, dir);

			if (!ino || !S_ISDIR(mode_of(f, ino)))
				continue;
			*found = true;
			if (add_modules(l, f, ino, dir, strlen(dir) + 1, 0) < 0 ||
			    read_text(l, f, builtin, &l->p->builtin) < 0 ||
			    (!l->p->config.len &&
			     read_text(l, f, config, &l->p->config) < 0))
				return -1;
		}
	}
	return 0;
}

static int take_kernel(struct look *l)
{
	const struct found *b = &l->best;
	const char *slash = strrchr(b->path, '/');
	cleanup_free char *config = xasprintf("%.*s/config-%s", (int)(slash - b->path),
					      b->path, b->version);

	l->p->where = xasprintf("%s:%s", l->d->path, b->path);
	if (read_inode(l, b->fs, b->ino, b->path, KERNEL_IMAGE_MAX_BYTES,
		       &l->p->image) < 0)
		return -1;
	return read_text(l, b->fs, config, &l->p->config);
}

static int no_such_version(struct look *l)
{
	CLEANUP(buf_free) struct buf list = { 0 };

	for (size_t i = 0; i < l->versions.n; i++)
		buf_printf(&list, "%s%s", i ? ", " : "", l->versions.v[i]);
	return error_set(l->err, 0, "'%s': no kernel %s in it; there is %s",
			 l->d->path, l->d->version, list.data);
}

static int search(struct look *l, const char *raw, char **why)
{
	bool modules = false;

	if (open_all(l, raw) < 0 || look_everywhere(l) < 0)
		return -1;
	if (!l->best.fs && l->versions.n)
		return no_such_version(l);
	if (!l->best.fs) {
		*why = xstrdup("no kernel (vmlinuz-*) on an ext4 file system of it");
		return 0;
	}
	if (take_kernel(l) < 0 || take_modules(l, &modules) < 0)
		return -1;
	if (modules)
		return 1;
	*why = xasprintf("no modules of kernel %s on an ext4 file system of it",
			 l->best.version);
	return 0;
}

int kernel_ext_read(const char *raw, const struct disk_source *d,
		    struct kernel_parts *p, char **why, struct error *err)
{
	CLEANUP(look_end) struct look l = { .d = d, .p = p, .err = err };

	return search(&l, raw, why);
}
