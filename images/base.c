/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base.c - the root file system that every kernel shares, from recipe and lock
 *
 * What decides its bytes: the recipe's text, the lock, the job trees and the
 * two version numbers below. Their digest is its name in the cache. Beside the
 * image lie the list of its files and a small file with the digests of both, so
 * that finding them again costs no reading of the image.
 */
#include "images/base.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "images/lock.h"
#include "images/manifest.h"
#include "images/recipe.h"
#include "images/tree.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

/* Raised when build() below makes other bytes of the same recipe and lock. */
#define BASE_FORMAT "1"
#define INFO_MAX_BYTES 4096

void base_free(struct base *b)
{
	free(b->path);
	free(b->new_lock);
	free(b->changes);
	free(b->recipe);
	free(b->lock);
	free(b->files);
	memset(b, 0, sizeof(*b));
}

/* [tree]: read once, so that the key and the image are of the same content. */
static int read_host_trees(const struct recipe *r, struct tree *t,
			   struct error *err)
{
	for (size_t i = 0; i < r->trees.n; i++) {
		const struct recipe_item *item = &r->trees.v[i];
		cleanup_free char *dir = xasprintf("%s/%s", share_dir(),
						   item->value);

		if (!path_is_dir(dir))
			return error_set(err, ENOENT, "directory '%s' of the recipe (KONTEST_SHARE names where the program's data are)",
					 dir);
		if (tree_add_host(t, item->path, dir, err))
			return -1;
	}
	return 0;
}

static void make_key(const struct recipe *r, struct tree *host,
		     const char *lock_hex, char key[SHA256_HEX])
{
	char trees_hex[SHA256_HEX];
	struct sha256 s;

	tree_digest(host, trees_hex);
	sha256_init(&s);
	sha256_adds(&s, "base " BASE_FORMAT " tree " TREE_FORMAT);
	sha256_adds(&s, r->text);
	sha256_adds(&s, lock_hex);
	sha256_adds(&s, trees_hex);
	sha256_final(&s, key);
}

/* Is the image there, and as long as it was made? Then its digest is known. */
static bool find_built(const struct cache *c, const char *key, struct base *b)
{
	cleanup_free char *path = cache_path(c, "base", key, ".ext4");
	cleanup_free char *info = cache_path(c, "base", key, ".info");
	cleanup_free char *files = cache_path(c, "base", key, ".mtree");
	CLEANUP(buf_free) struct buf text = { 0 };
	unsigned long long size;
	struct stat st;

	if (stat(path, &st) || !path_exists(files) ||
	    file_read(info, INFO_MAX_BYTES, &text, NULL) ||
	    sscanf(text.data, "sha256 %64[0-9a-f] size %llu files %64[0-9a-f]\n",
		   b->digest, &size, b->files_digest) != 3 ||
	    strlen(b->digest) != SHA256_HEX - 1 ||
	    strlen(b->files_digest) != SHA256_HEX - 1 ||
	    (unsigned long long)st.st_size != size)
		return false;
	b->size = size;
	free(b->path);
	free(b->files);
	b->path = steal_ptr(path);
	b->files = steal_ptr(files);
	return true;
}

/* [layout]: links that send what packages bring to where it belongs */
static int add_layout(const struct recipe *r, struct tree *t,
		      struct error *err)
{
	for (size_t i = 0; i < r->layout.n; i++) {
		const struct recipe_item *item = &r->layout.v[i];
		cleanup_free char *target = xasprintf("%s%s",
			*item->value == '/' ? "" : "/", item->value);

		if (tree_add_dir(t, target, 0755, err) ||
		    tree_add_symlink(t, item->path, item->value, err))
			return -1;
	}
	return 0;
}

struct copying {
	struct tree *to;
	struct error *err;
};

static int copy_node(const struct node *n, void *data)
{
	struct copying *c = data;
	struct node copy = *n;

	if (S_ISDIR(n->mode))
		return tree_add_dir(c->to, n->path, n->mode & 07777, c->err);
	if (n->size) {
		copy.data = xmalloc(n->size);
		memcpy(copy.data, n->data, n->size);
	}
	return tree_add_node(c->to, &copy, c->err);
}

static int add_items(const struct recipe *r, struct tree *t, struct error *err)
{
	const struct recipe_item *item;

	for (size_t i = 0; i < r->directories.n; i++) {
		item = &r->directories.v[i];
		if (tree_add_dir(t, item->path, item->perm, err))
			return -1;
	}
	for (size_t i = 0; i < r->links.n; i++) {
		item = &r->links.v[i];
		if (tree_add_symlink(t, item->path, item->value, err))
			return -1;
	}
	for (size_t i = 0; i < r->files.n; i++) {
		item = &r->files.v[i];
		if (tree_add_file(t, item->path, 0644, xstrdup(item->value),
				  strlen(item->value), err))
			return -1;
	}
	return 0;
}

static int fill(const struct recipe *r, struct tree *host,
		const struct packages *p, struct tree *t, struct error *err)
{
	struct copying copying = { .to = t, .err = err };

	if (add_layout(r, t, err))
		return -1;
	for (size_t i = 0; i < p->n; i++)
		if (tree_add_deb(t, p->v[i].path,
				 (const char *const *)r->exclude.v, err))
			return error_prefix(err, "unpack %s %s", p->v[i].name,
					    p->v[i].version);
	if (add_items(r, t, err))
		return -1;
	return tree_each(host, copy_node, &copying);
}

static int build(const struct cache *c, const struct recipe *r,
		 struct tree *host, const struct packages *p, const char *key,
		 struct error *err)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	cleanup_free char *path = cache_path(c, "base", key, ".ext4");
	cleanup_free char *info = cache_path(c, "base", key, ".info");
	cleanup_free char *list = cache_path(c, "base", key, ".mtree");
	cleanup_free char *text = NULL;
	CLEANUP(buf_free) struct buf files = { 0 };
	struct ext4_opts opts = { .label = r->label, .time = r->epoch };
	char hex[SHA256_HEX], files_hex[SHA256_HEX];
	/* The caller's lock is that of the recipe; this is that of the files. */
	cleanup_close int lock = cache_lock(c, "base", key, err);

	if (lock < 0 || fill(r, host, p, t, err))
		return -1;
	uuid5(r->name, "root", opts.uuid);
	opts.size = tree_ext4_size(t, &opts, 0);
	if (tree_write_ext4(t, path, &opts, err) ||
	    sha256_file(path, hex, err) || manifest_files(t, &files, err) ||
	    file_write(list, files.data, files.len, err))
		return -1;
	sha256_of(files.data, files.len, files_hex);
	text = xasprintf("sha256 %s size %llu files %s\n", hex,
			 (unsigned long long)opts.size, files_hex);
	return file_write(info, text, strlen(text), err);
}

/* Resolve the recipe's packages anew, without those that it leaves out. */
static int resolve(const struct cache *c, const struct recipe *r,
		   struct packages *out, struct error *err)
{
	CLEANUP(packages_clear) struct packages all = { 0 };

	if (apt_resolve(c, (const char *const *)r->install.v, false, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		bool wanted = true;

		for (size_t k = 0; wanted && k < r->without.n; k++)
			wanted = strcmp(all.v[i].name, r->without.v[k]) != 0;
		if (!wanted)
			continue;
		packages_add(out, all.v[i]);
		memset(&all.v[i], 0, sizeof(all.v[i]));
	}
	return 0;
}

/**
 * struct making - what base_build() knows on its way
 * @host: content of the recipe's [tree] section
 * @lock_path: the shipped lock
 * @new_path: where a lock in its place is written
 * @shipped: content of @lock_path; no packages when there is none
 * @shipped_hex: its digest
 * @now: the lock that is used
 */
struct making {
	const struct cache *c;
	struct recipe recipe;
	struct tree *host;
	char *lock_path, *new_path;
	struct lock shipped, now;
	char shipped_hex[SHA256_HEX];
};

static void making_free(struct making *m)
{
	recipe_free(&m->recipe);
	tree_free(m->host);
	free(m->lock_path);
	free(m->new_path);
	lock_free(&m->shipped);
	lock_free(&m->now);
}

static int making_load(struct making *m, const char *recipe, struct error *err)
{
	size_t stem = strlen(recipe);

	if (str_ends(recipe, ".recipe"))
		stem -= strlen(".recipe");
	if (recipe_load(recipe, &m->recipe, err))
		return -1;
	m->host = tree_new();
	if (read_host_trees(&m->recipe, m->host, err))
		return -1;
	m->lock_path = xasprintf("%.*s.lock", (int)stem, recipe);
	m->new_path = cache_path(m->c, "base", m->recipe.name, ".lock");
	if (path_exists(m->lock_path) &&
	    lock_read(m->lock_path, &m->shipped, err))
		return -1;
	lock_digest(m->recipe.name, &m->shipped, m->shipped_hex);
	return 0;
}

/* Describe @m->now to the user when it is not the shipped lock. */
static void note_new_lock(const struct making *m, struct base *b)
{
	free(b->new_lock);
	free(b->changes);
	b->new_lock = xstrdup(m->new_path);
	b->changes = lock_changes(&m->shipped.packages, &m->now.packages);
}

static char *join(const struct strings *s)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < s->n; i++)
		buf_printf(&text, "%s%s", i ? ", " : "", s->v[i]);
	return text.data;
}

/* A lock made in place of this very shipped lock by an earlier call, if any. */
static bool load_new_lock(struct making *m, struct error *err)
{
	if (!path_exists(m->new_path) || lock_read(m->new_path, &m->now, err))
		return false;
	if (!strcmp(m->now.replaces, m->shipped_hex))
		return true;
	lock_free(&m->now);
	return false;
}

static int make_new_lock(struct making *m, struct error *err)
{
	lock_free(&m->now);
	if (resolve(m->c, &m->recipe, &m->now.packages, err))
		return -1;
	memcpy(m->now.replaces, m->shipped_hex, SHA256_HEX);
	return lock_write(m->new_path, m->recipe.name, &m->now, err);
}

/* Have every package of @l in the cache; @gone gets those that the mirror has
 * no more, and then nothing is fetched. */
static int get_packages(const struct cache *c, struct lock *l,
			struct strings *gone, struct error *err)
{
	if (apt_gone(c, &l->packages, gone, err))
		return -1;
	return gone->n ? 0 : apt_fetch(c, &l->packages, err);
}

static int refuse(const struct making *m, const struct strings *gone,
		  struct error *err)
{
	cleanup_free char *names = gone->n ? join(gone) : NULL;

	if (!names)
		return error_set(err, ENOENT, "'%s' is needed for a locked build; without --locked it is made anew",
				 m->lock_path);
	return error_set(err, 0,
		"the mirror has no more: %s, which '%s' locks; without --locked the newest versions are taken (other digests, other figures), or add http://snapshot.debian.org to the host's apt sources",
		names, m->lock_path);
}

/* Decide on a lock, @m->now, whose packages are all in the cache. */
static int settle_lock(struct making *m, bool locked, struct base *b,
		       struct error *err)
{
	CLEANUP(strings_clear) struct strings gone = { 0 };

	if (m->shipped.packages.n) {
		if (get_packages(m->c, &m->shipped, &gone, err))
			return -1;
		if (!gone.n) {
			m->now = m->shipped;
			m->shipped = (struct lock){ 0 };
			return 0;
		}
	}
	if (locked)
		return refuse(m, &gone, err);
	strings_clear(&gone);
	if (!load_new_lock(m, err) || get_packages(m->c, &m->now, &gone, err) ||
	    gone.n) {
		if (make_new_lock(m, err) ||
		    apt_fetch(m->c, &m->now.packages, err))
			return -1;
	}
	note_new_lock(m, b);
	return 0;
}

/* The key of the image made from @l, in @key; true when it is in the cache */
static bool look_up(const struct making *m, const struct lock *l,
		    char key[SHA256_HEX], struct base *b)
{
	CLEANUP(buf_free) struct buf text = { 0 };

	lock_digest(m->recipe.name, l, b->lock_digest);
	lock_text(m->recipe.name, l, &text);
	free(b->lock);
	b->lock = steal_ptr(text.data);
	make_key(&m->recipe, m->host, b->lock_digest, key);
	return find_built(m->c, key, b);
}

/* Without asking apt or reading a package: is there an image already? */
static bool find_any(struct making *m, bool locked, struct base *b)
{
	char key[SHA256_HEX];
	bool found;

	if (m->shipped.packages.n && look_up(m, &m->shipped, key, b))
		return true;
	if (locked || !load_new_lock(m, NULL))
		return false;
	found = look_up(m, &m->now, key, b);
	if (found)
		note_new_lock(m, b);
	lock_free(&m->now);
	return found;
}

static int make_base(struct making *m, bool locked, struct base *b,
		     struct error *err)
{
	cleanup_close int lock = -1;
	char key[SHA256_HEX];
	struct step step;
	bool found;

	lock = cache_lock(m->c, "base", m->recipe.name, err);
	if (lock < 0)
		return -1;
	step_begin(&step, m->c, "packages");
	if (settle_lock(m, locked, b, err))
		return -1;
	step_end(&step, false, "%zu packages", m->now.packages.n);
	step_begin(&step, m->c, "base");
	found = look_up(m, &m->now, key, b);
	if (!found) {
		if (build(m->c, &m->recipe, m->host, &m->now.packages, key, err))
			return -1;
		if (!find_built(m->c, key, b))
			return error_set(err, 0, "image '%s' in '%s/base' was removed while it was made; try again",
					 key, m->c->dir);
	}
	step_end(&step, found, "%s, %llu MiB", m->recipe.name,
		 (unsigned long long)b->size >> 20);
	return 0;
}

int base_build(const struct cache *c, const char *recipe, bool locked,
	       struct base *b, struct error *err)
{
	CLEANUP(making_free) struct making m = { .c = c };
	CLEANUP(base_free) struct base made = { 0 };
	struct step step;

	step_begin(&step, c, "base");
	if (making_load(&m, recipe, err))
		return -1;
	made.epoch = m.recipe.epoch;
	made.recipe = xstrdup(m.recipe.text);
	sha256_of(made.recipe, strlen(made.recipe), made.recipe_digest);
	uuid5(m.recipe.name, "root", made.uuid);
	if (find_any(&m, locked, &made))
		step_end(&step, true, "%s, %llu MiB", m.recipe.name,
			 (unsigned long long)made.size >> 20);
	else if (make_base(&m, locked, &made, err))
		return error_prefix(err, "base '%s'", recipe);
	*b = made;
	made = (struct base){ 0 };
	return 0;
}
