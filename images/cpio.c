/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpio.c - a tree as a newc archive, the form of an initial RAM file system
 * (format: Documentation/driver-api/early-userspace/buffer-format.rst of Linux)
 *
 * Names of one inode share its number, and the last of them carries the data.
 */
#include "images/tree.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/text.h"

#define TRAILER "TRAILER!!!"
#define ARCHIVE_ALIGN_BYTES 512u

/**
 * struct member - one name in the archive
 * @n: its node
 * @file: node with the content: @n itself unless it is a hard link
 * @inode: the member of @file
 * @ino: number of the inode
 * @names: how many names the inode has
 * @last: this is the last of them
 * @seen: the last one has been found
 */
struct member {
	const struct node *n;
	const struct node *file;
	struct member *inode;
	uint32_t ino;
	uint32_t names;
	bool last, seen;
};
DEFINE_VECTOR(members, struct member)

static int collect(const struct node *n, void *data)
{
	/* The kernel's own root is there already. */
	if (strcmp(n->path, "/"))
		members_add(data, (struct member){ .n = n, .file = n });
	return 0;
}

static int member_cmp(const void *a, const void *b)
{
	return strcmp(((const struct member *)a)->n->path,
		      ((const struct member *)b)->n->path);
}

static struct member *member_find(const struct members *m, const char *path)
{
	const struct node n = { .path = (char *)path };
	const struct member key = { .n = &n };

	return bsearch(&key, m->v, m->n, sizeof(key), member_cmp);
}

/* The member that stands for the inode: itself, or what it is a hard link to. */
static struct member *inode_of(const struct members *m, struct member *it)
{
	return it->n->hardlink ? member_find(m, it->n->hardlink) : it;
}

static int number(struct members *m, struct error *err)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		struct member *it = &m->v[i], *inode = inode_of(m, it);

		if (!inode || inode->n->hardlink)
			return error_set(err, 0, "'%s' is a hard link to '%s', which is no file of the image",
					 it->n->path, it->n->hardlink);
		it->inode = inode;
		it->file = inode->n;
		it->ino = (uint32_t)(inode - m->v) + 1;
		inode->names++;
	}
	for (i = m->n; i-- > 0;) {
		struct member *it = &m->v[i];

		it->last = !it->inode->seen;
		it->inode->seen = true;
		it->names = it->inode->names;
	}
	return 0;
}

static void pad(struct buf *out, size_t align)
{
	static const char zeros[ARCHIVE_ALIGN_BYTES];
	size_t over = out->len % align;

	if (over)
		buf_add(out, zeros, align - over);
}

static void add_header(struct buf *out, const struct member *m, const char *name,
		       size_t size)
{
	const struct node *f = m->file;
	bool dir = f && S_ISDIR(f->mode);

	buf_printf(out, "070701%08x%08x%08x%08x%08x%08x%08zx%08x%08x%08x%08x%08zx%08x",
		   m->ino, f ? f->mode : 0, f ? f->uid : 0, f ? f->gid : 0,
		   dir ? 2 : m->names, 0, size, 0, 0, f ? f->rdev_major : 0,
		   f ? f->rdev_minor : 0, strlen(name) + 1, 0);
	buf_add(out, name, strlen(name) + 1);
	pad(out, 4);
}

static int add_member(struct buf *out, const struct member *m, struct error *err)
{
	size_t size = m->last ? m->file->size : 0;

	if (size > UINT32_MAX)
		return error_set(err, EFBIG, "'%s' in a cpio archive", m->n->path);
	add_header(out, m, m->n->path + 1, size);
	buf_add(out, m->file->data, size);
	pad(out, 4);
	return 0;
}

int tree_write_cpio(struct tree *t, const char *path, struct error *err)
{
	static const struct member trailer = { .names = 1 };
	CLEANUP(members_free) struct members m = { 0 };
	CLEANUP(buf_free) struct buf out = { 0 };
	size_t i;

	tree_each(t, collect, &m);
	if (number(&m, err))
		return error_prefix(err, "make '%s'", path);
	for (i = 0; i < m.n; i++)
		if (add_member(&out, &m.v[i], err))
			return error_prefix(err, "make '%s'", path);
	add_header(&out, &trailer, TRAILER, 0);
	pad(&out, ARCHIVE_ALIGN_BYTES);
	return file_write(path, out.data, out.len, err);
}
