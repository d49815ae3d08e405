/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.c - nodes of a file system in memory
 *
 * The nodes are in a balanced search tree (tsearch(3)) ordered by path. A
 * directory so comes before what is in it.
 */
#include "images/tree.h"

#include <errno.h>
#include <fts.h>
#include <search.h>
#include <string.h>
#include <sys/stat.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/text.h"

#define LINKS_MAX 40	/* symbolic links on the way of one path, as the kernel */
#define NAME_BYTES_MAX 255
#define TARGET_BYTES_MAX 4095

/**
 * struct item - a node as the tree keeps it
 * @n: the node; first, so that a node's address is its item's
 * @names: how many nodes name this one in their hardlink
 */
struct item {
	struct node n;
	unsigned int names;
};

struct tree {
	void *root;
};

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->n.path,
		      ((const struct item *)b)->n.path);
}

static struct item *lookup(const struct tree *t, const char *path)
{
	struct item key = { .n.path = (char *)path };
	void *const *slot = tfind(&key, &t->root, by_path);

	return slot ? *slot : NULL;
}

/* Takes ownership of @path, which must not be there yet. */
static struct item *insert(struct tree *t, char *path)
{
	struct item *e = xcalloc(1, sizeof(*e));

	e->n.path = path;
	e->n.mode = S_IFDIR | 0755;
	if (!tsearch(e, &t->root, by_path)) {
		fprintf(stderr, "kontest: out of memory\n");
		exit(1);
	}
	return e;
}

struct tree *tree_new(void)
{
	struct tree *t = xcalloc(1, sizeof(*t));

	insert(t, xstrdup("/"));
	return t;
}

static void item_free(void *p)
{
	struct item *e = p;

	free(e->n.path);
	free(e->n.data);
	free(e->n.hardlink);
	free(e);
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	tdestroy(t->root, item_free);
	free(t);
}

void tree_freep(struct tree **t)
{
	tree_free(*t);
}

/* struct walk - the state of one tree_each() */
struct walk {
	int (*fn)(const struct node *n, void *data);
	void *data;
	int ret;
};

static void walk_one(const void *slot, VISIT which, void *closure)
{
	const struct item *const *e = slot;
	struct walk *w = closure;

	if (!w->ret && (which == postorder || which == leaf))
		w->ret = w->fn(&(*e)->n, w->data);
}

int tree_each(struct tree *t, int (*fn)(const struct node *n, void *data),
	      void *data)
{
	struct walk w = { .fn = fn, .data = data };

	twalk_r(t->root, walk_one, &w);
	return w.ret;
}

static bool has_dotdot(const char *path)
{
	const char *p = path;

	while ((p = strstr(p, ".."))) {
		if ((p == path || p[-1] == '/') && (!p[2] || p[2] == '/'))
			return true;
		p += 2;
	}
	return false;
}

/* Drop the last component of a path without a trailing slash. */
static void pop(struct buf *b)
{
	while (b->len && b->data[b->len - 1] != '/')
		b->len--;
	if (b->len)
		b->len--;
	if (b->data)
		b->data[b->len] = '\0';
}

/**
 * resolve() - where a path leads to in the image
 * @t: the tree
 * @path: as somebody named it
 * @follow: follow the last component as well when it is a symbolic link
 * @err: what is wrong with the path
 *
 * Return: an absolute path without links in its directories, owned by the
 * caller, or NULL.
 */
static char *resolve(const struct tree *t, const char *path, bool follow,
		     struct error *err)
{
	cleanup_free char *rest = xstrdup(path);
	CLEANUP(buf_free) struct buf at = { 0 };
	const char *p = rest;
	int links = 0;

	if (has_dotdot(path)) {
		error_set(err, 0, "'%s': '..' may not be in a path of an image", path);
		return NULL;
	}
	buf_adds(&at, "");
	for (;;) {
		const struct item *e;
		size_t len;
		bool last;

		p += strspn(p, "/");
		len = strcspn(p, "/");
		if (!len)
			break;
		last = !p[len + strspn(p + len, "/")];
		if (len == 1 && *p == '.') {
			p += len;
			continue;
		}
		if (len == 2 && !strncmp(p, "..", 2)) {
			pop(&at);
			p += len;
			continue;
		}
		if (len > NAME_BYTES_MAX) {
			error_set(err, 0, "'%s': a name of more than %d bytes",
				  path, NAME_BYTES_MAX);
			return NULL;
		}
		buf_adds(&at, "/");
		buf_add(&at, p, len);
		p += len;
		e = lookup(t, at.data);
		if (e && S_ISLNK(e->n.mode) && (!last || follow)) {
			const char *target = e->n.data;
			char *next = xasprintf("%s/%s", target, p);

			if (++links > LINKS_MAX) {
				free(next);
				error_set(err, 0, "'%s': symbolic links go round in a circle",
					  path);
				return NULL;
			}
			if (*target == '/')
				at.len = 0;
			else
				pop(&at);
			at.data[at.len] = '\0';
			free(rest);
			p = rest = next;
		} else if (e && !last && !S_ISDIR(e->n.mode)) {
			error_set(err, 0, "'%s': '%s' is no directory", path, at.data);
			return NULL;
		}
	}
	return xstrdup(at.len ? at.data : "/");
}

const struct node *tree_find(const struct tree *t, const char *path)
{
	cleanup_free char *at = resolve(t, path, false, NULL);
	const struct item *e = at ? lookup(t, at) : NULL;

	return e ? &e->n : NULL;
}

/* Make what is missing of the directories above @path, which is resolved. */
static void make_parents(struct tree *t, const char *path)
{
	const char *slash = path;

	while ((slash = strchr(slash + 1, '/'))) {
		char *dir = xstrndup(path, (size_t)(slash - path));

		if (lookup(t, dir))
			free(dir);
		else
			insert(t, dir);
	}
}

/* struct heirs - who gets the inode of a hard-linked file that is replaced */
struct heirs {
	struct item *old;
	struct item *heir;
};

static int inherit(const struct node *n, void *data)
{
	struct item *e = (struct item *)n;
	struct heirs *h = data;

	if (!n->hardlink || strcmp(n->hardlink, h->old->n.path) != 0)
		return 0;
	free(e->n.hardlink);
	if (h->heir) {
		e->n.hardlink = xstrdup(h->heir->n.path);
		return 0;
	}
	h->heir = e;
	e->n.hardlink = NULL;
	e->n.data = steal_ptr(h->old->n.data);
	e->n.size = h->old->n.size;
	e->n.rdev_major = h->old->n.rdev_major;
	e->n.rdev_minor = h->old->n.rdev_minor;
	e->names = h->old->names - 1;
	return 0;
}

/* Take an item's content away, so that it can become something else. */
static void clear(struct tree *t, struct item *e)
{
	struct heirs h = { .old = e };
	struct item *file;

	if (e->names)
		tree_each(t, inherit, &h);
	file = e->n.hardlink ? lookup(t, e->n.hardlink) : NULL;
	if (file)
		file->names--;
	free(e->n.hardlink);
	free(e->n.data);
	e->n = (struct node){ .path = e->n.path };
	e->names = 0;
}

/* The item to fill for a node at @path, empty; NULL when it cannot be there. */
static struct item *place(struct tree *t, const char *path, bool is_dir,
			   struct error *err)
{
	cleanup_free char *at = resolve(t, path, is_dir, err);
	struct item *e;

	if (!at)
		return NULL;
	e = lookup(t, at);
	if (e && (bool)S_ISDIR(e->n.mode) != is_dir) {
		error_set(err, 0, is_dir ? "'%s' is there already and no directory"
					 : "'%s' is there already, as a directory", at);
		return NULL;
	}
	if (e) {
		clear(t, e);
		return e;
	}
	make_parents(t, at);
	return insert(t, steal_ptr(at));
}

int tree_add_node(struct tree *t, const struct node *n, struct error *err)
{
	cleanup_free void *data = n->data;
	struct item *e;

	if (S_ISLNK(n->mode) && (!n->size || n->size > TARGET_BYTES_MAX))
		return error_set(err, 0, "'%s': target of a symbolic link must have 1 to %d bytes",
				 n->path, TARGET_BYTES_MAX);
	e = place(t, n->path, S_ISDIR(n->mode), err);
	if (!e)
		return -1;
	e->n.mode = n->mode;
	e->n.uid = n->uid;
	e->n.gid = n->gid;
	e->n.data = steal_ptr(data);
	e->n.size = n->size;
	e->n.rdev_major = n->rdev_major;
	e->n.rdev_minor = n->rdev_minor;
	return 0;
}

int tree_add_dir(struct tree *t, const char *path, mode_t perm,
		 struct error *err)
{
	const struct node n = {
		.path = (char *)path,
		.mode = S_IFDIR | (perm & 07777),
	};

	return tree_add_node(t, &n, err);
}

int tree_add_file(struct tree *t, const char *path, mode_t perm, void *data,
		  size_t size, struct error *err)
{
	const struct node n = {
		.path = (char *)path,
		.mode = S_IFREG | (perm & 07777),
		.data = data,
		.size = size,
	};

	return tree_add_node(t, &n, err);
}

int tree_add_symlink(struct tree *t, const char *path, const char *target,
		     struct error *err)
{
	const struct node n = {
		.path = (char *)path,
		.mode = S_IFLNK | 0777,
		.data = xstrdup(target),
		.size = strlen(target),
	};

	return tree_add_node(t, &n, err);
}

int tree_add_hardlink(struct tree *t, const char *path, const char *target,
		      struct error *err)
{
	cleanup_free char *from = resolve(t, path, false, err);
	cleanup_free char *to = resolve(t, target, false, err);
	struct item *e, *file;

	if (!from || !to)
		return -1;
	file = lookup(t, to);
	if (!file || S_ISDIR(file->n.mode))
		return error_set(err, 0, "'%s' cannot be a hard link to '%s': no such file",
				 path, target);
	if (file->n.hardlink)
		file = lookup(t, file->n.hardlink);
	e = lookup(t, from);
	if (e && (e == file || (e->n.hardlink &&
				!strcmp(e->n.hardlink, file->n.path))))
		return 0;
	e = place(t, from, false, err);
	if (!e)
		return -1;
	e->n.mode = file->n.mode;
	e->n.uid = file->n.uid;
	e->n.gid = file->n.gid;
	e->n.hardlink = xstrdup(file->n.path);
	file->names++;
	return 0;
}

static int add_host_file(struct tree *t, const char *path, const FTSENT *f,
			 struct error *err)
{
	CLEANUP(buf_free) struct buf b = { 0 };
	mode_t perm = f->fts_statp->st_mode & 0100 ? 0755 : 0644;

	if (file_read(f->fts_path, SIZE_MAX, &b, err))
		return -1;
	return tree_add_file(t, path, perm, steal_ptr(b.data), b.len, err);
}

int tree_add_host(struct tree *t, const char *path, const char *host_dir,
		  struct error *err)
{
	char *const roots[] = { (char *)host_dir, NULL };
	cleanup_fts FTS *fts = NULL;
	FTSENT *f;

	if (!path_is_dir(host_dir))
		return error_set(err, ENOTDIR, "read '%s'", host_dir);
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!fts)
		return error_set(err, errno, "open directory '%s'", host_dir);
	if (tree_add_dir(t, path, 0755, err))
		return -1;
	while ((errno = 0, f = fts_read(fts))) {
		cleanup_free char *at = NULL;

		if (f->fts_info == FTS_DNR || f->fts_info == FTS_ERR ||
		    f->fts_info == FTS_NS)
			return error_set(err, f->fts_errno, "read '%s'", f->fts_path);
		if (f->fts_info != FTS_F)
			continue;
		at = xasprintf("%s/%s", path, f->fts_path + strlen(host_dir));
		if (add_host_file(t, at, f, err))
			return -1;
	}
	if (errno)
		return error_set(err, errno, "read directory '%s'", host_dir);
	return 0;
}

static int digest_node(const struct node *n, void *data)
{
	cleanup_free char *head = xasprintf("%o %u %u %u %u %zu", n->mode, n->uid,
					    n->gid, n->rdev_major, n->rdev_minor,
					    n->size);

	sha256_adds(data, n->path);
	sha256_adds(data, head);
	sha256_adds(data, n->hardlink ? n->hardlink : "");
	sha256_add(data, n->data, n->size);
	return 0;
}

void tree_digest(struct tree *t, char hex[SHA256_HEX])
{
	struct sha256 s;

	sha256_init(&s);
	tree_each(t, digest_node, &s);
	sha256_final(&s, hex);
}
