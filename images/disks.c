/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disks.c - the disks of a boot beside the system disk: work, other, swap
 */
#include "images/base.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/tree.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/text.h"

/* 2003-01-01, that of every file: before any clock that a guest is given, so that
 * make never sees a source from the future. */
#define DISK_TIME 1041379200u
/* As mke2fs has it by default: an inode for every 16 KiB. */
#define BYTES_PER_INODE 16384u

#define SWAP_PAGE_BYTES 4096u
#define SWAP_HEADER_OFFSET 1024u
#define SWAP_MAGIC "SWAPSPACE2"
#define SWAP_LABEL "kontest-swap"
#define SWAP_PAGES_MIN 10u	/* a kernel takes no smaller ones */

void disk_image_free(struct disk_image *d)
{
	free(d->path);
	*d = (struct disk_image){ 0 };
}

/**
 * struct disk_spec - how to make one disk
 * @kind: directory of the cache, and name of the step
 * @key: digest of all that it is made from
 * @detail: for the user
 * @write: make the file; @data is handed to it
 */
struct disk_spec {
	const char *kind;
	char key[SHA256_HEX];
	const char *detail;
	int (*write)(const char *path, const void *data, struct error *err);
	const void *data;
};

/* The image and the digest noted beside it. Return: true when both are there. */
static bool disk_cached(const char *path, const char *note, struct disk_image *d)
{
	CLEANUP(buf_free) struct buf b = { 0 };
	struct stat st;

	if (stat(path, &st) || file_read(note, SHA256_HEX, &b, NULL) ||
	    b.len != SHA256_HEX - 1 || strspn(b.data, "0123456789abcdef") != b.len)
		return false;
	memcpy(d->digest, b.data, SHA256_HEX);
	d->size = (uint64_t)st.st_size;
	return true;
}

static int disk_make(const struct disk_spec *spec, const char *path,
		     const char *note, struct disk_image *d, struct error *err)
{
	struct stat st;

	if (!path_exists(path) && spec->write(path, spec->data, err))
		return -1;
	if (sha256_file(path, d->digest, err) ||
	    file_write(note, d->digest, SHA256_HEX - 1, err))
		return -1;
	if (stat(path, &st))
		return error_set(err, errno, "look at '%s'", path);
	d->size = (uint64_t)st.st_size;
	return 0;
}

/* Take the disk from the cache, or make it while others wait for it. */
static int disk_get(const struct cache *c, const struct disk_spec *spec,
		    struct disk_image *d, struct error *err)
{
	cleanup_free char *path = cache_path(c, spec->kind, spec->key, ".img");
	cleanup_free char *note = cache_path(c, spec->kind, spec->key, ".sha256");
	cleanup_close int lock = -1;
	struct step step;
	bool cached;

	*d = (struct disk_image){ 0 };
	step_begin(&step, c, spec->kind);
	cached = disk_cached(path, note, d);
	if (!cached) {
		lock = cache_lock(c, spec->kind, spec->key, err);
		if (lock < 0)
			return -1;
		cached = disk_cached(path, note, d);
		if (!cached && disk_make(spec, path, note, d, err))
			return -1;
	}
	d->path = steal_ptr(path);
	step_end(&step, cached, "%s, %llu MiB", spec->detail,
		 (unsigned long long)(d->size >> 20));
	return 0;
}

/* struct ext4_disk - a tree and what to make of it */
struct ext4_disk {
	struct tree *t;
	struct ext4_opts opts;
};

static int write_ext4(const char *path, const void *data, struct error *err)
{
	const struct ext4_disk *e = data;

	return tree_write_ext4(e->t, path, &e->opts, err);
}

/* Everything that decides on the bytes of an ext4 disk. */
static void ext4_key(const struct ext4_disk *e, char key[SHA256_HEX])
{
	cleanup_free char *sizes = xasprintf("%llu %u %u",
					     (unsigned long long)e->opts.size,
					     e->opts.time, e->opts.reserve_inodes);
	char content[SHA256_HEX];
	struct sha256 s;

	tree_digest(e->t, content);
	sha256_init(&s);
	sha256_adds(&s, "ext4 " TREE_FORMAT);
	sha256_adds(&s, e->opts.label);
	sha256_adds(&s, sizes);
	sha256_adds(&s, content);
	sha256_add(&s, e->opts.uuid, sizeof(e->opts.uuid));
	sha256_final(&s, key);
}

static struct ext4_opts ext4_opts(const char *label, uint64_t size)
{
	struct ext4_opts o = {
		.label = label,
		.size = size & ~(uint64_t)(SWAP_PAGE_BYTES - 1),
		.journal = true,
		.time = DISK_TIME,
		.reserve_inodes = (uint32_t)(size / BYTES_PER_INODE),
	};

	uuid5(label, "ext4", o.uuid);
	return o;
}

static int ext4_get(const struct cache *c, const char *kind, const char *label,
		    struct tree *t, uint64_t size, struct disk_image *d,
		    struct error *err)
{
	struct ext4_disk e = { .t = t, .opts = ext4_opts(label, size) };
	struct disk_spec spec = {
		.kind = kind,
		.detail = label,
		.write = write_ext4,
		.data = &e,
	};

	ext4_key(&e, spec.key);
	return disk_get(c, &spec, d, err);
}

/* struct work_from - a work disk whose content is not made yet */
struct work_from {
	const struct work_source *source;
	struct ext4_opts opts;
};

static int write_work_from(const char *path, const void *data, struct error *err)
{
	const struct work_from *w = data;
	CLEANUP(tree_freep) struct tree *t = tree_new();

	if (w->source->fill(t, w->source->data, err) ||
	    tree_add_dir(t, "/tmp", 01777, err))
		return -1;
	return tree_write_ext4(t, path, &w->opts, err);
}

static void work_from_key(const struct work_from *w, char key[SHA256_HEX])
{
	cleanup_free char *what = xasprintf("work from " TREE_FORMAT " %llu %u %s",
					    (unsigned long long)w->opts.size,
					    w->opts.time, w->source->key);

	sha256_of(what, strlen(what), key);
}

bool work_cached(const struct cache *c, const struct work_source *from,
		 uint64_t size)
{
	struct work_from w = {
		.source = from, .opts = ext4_opts("kontest-work", size),
	};
	struct disk_image d;
	char key[SHA256_HEX];

	work_from_key(&w, key);
	cleanup_free char *path = cache_path(c, "work", key, ".img");
	cleanup_free char *note = cache_path(c, "work", key, ".sha256");

	return disk_cached(path, note, &d);
}

int work_build_from(const struct cache *c, const struct work_source *from,
		    uint64_t size, struct disk_image *d, struct error *err)
{
	struct work_from w = {
		.source = from, .opts = ext4_opts("kontest-work", size),
	};
	struct disk_spec spec = {
		.kind = "work",
		.detail = "kontest-work",
		.write = write_work_from,
		.data = &w,
	};

	*d = (struct disk_image){ 0 };
	work_from_key(&w, spec.key);
	return disk_get(c, &spec, d, err);
}

int work_build_tree(const struct cache *c, struct tree *t, uint64_t size,
		    struct disk_image *d, struct error *err)
{
	*d = (struct disk_image){ 0 };
	if (tree_add_dir(t, "/tmp", 01777, err))
		return -1;
	return ext4_get(c, "work", "kontest-work", t, size, d, err);
}

static int add_job(struct tree *t, const char *job, struct error *err)
{
	cleanup_free char *dir = xasprintf("%s/loads/jobs/%s", share_dir(), job);
	cleanup_free char *at = xasprintf("/%s", job);

	if (!*job || *job == '.' || strchr(job, '/'))
		return error_set(err, 0, "'%s' is no name of a job", job);
	if (!path_is_dir(dir))
		return error_set(err, 0, "there is no job '%s': no directory '%s'",
				 job, dir);
	return tree_add_host(t, at, dir, err);
}

int work_build(const struct cache *c, const char *job, uint64_t size,
	       struct disk_image *d, struct error *err)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();

	*d = (struct disk_image){ 0 };
	if (job && add_job(t, job, err))
		return -1;
	return work_build_tree(c, t, size, d, err);
}

int other_build(const struct cache *c, uint64_t size, struct disk_image *d,
		struct error *err)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();

	return ext4_get(c, "other", "kontest-other", t, size, d, err);
}

/* struct swap_header - at byte 1024 of a swap area, version 1; in the byte order
 * of the machine that uses it, here x86 */
struct swap_header {
	uint32_t version, last_page, bad_pages;
	uint8_t uuid[16];
	char label[16];
};

static int write_swap(const char *path, const void *data, struct error *err)
{
	CLEANUP(newfile_abort) struct newfile f = { .fd = -1 };
	uint64_t pages = *(const uint64_t *)data;
	struct swap_header h = {
		.version = htole32(1),
		.last_page = htole32((uint32_t)(pages - 1)),
		.label = SWAP_LABEL,
	};
	char page[SWAP_PAGE_BYTES] = { 0 };

	uuid5(SWAP_LABEL, "swap", h.uuid);
	memcpy(page + SWAP_HEADER_OFFSET, &h, sizeof(h));
	memcpy(page + sizeof(page) - strlen(SWAP_MAGIC), SWAP_MAGIC,
	       strlen(SWAP_MAGIC));
	if (newfile_open(&f, path, 0644, err))
		return -1;
	if (ftruncate(f.fd, (off_t)(pages * SWAP_PAGE_BYTES)))
		return error_set(err, errno, "make '%s' %llu MiB large", path,
				 (unsigned long long)(pages * SWAP_PAGE_BYTES >> 20));
	if (full_pwrite(f.fd, page, sizeof(page), 0, path, err))
		return -1;
	return newfile_commit(&f, err);
}

int swap_build(const struct cache *c, uint64_t size, struct disk_image *d,
	       struct error *err)
{
	uint64_t pages = size / SWAP_PAGE_BYTES;
	struct disk_spec spec = {
		.kind = "swap",
		.detail = SWAP_LABEL,
		.write = write_swap,
		.data = &pages,
	};
	cleanup_free char *what = xasprintf("swap 1 %llu", (unsigned long long)pages);

	*d = (struct disk_image){ 0 };
	if (pages < SWAP_PAGES_MIN || pages > UINT32_MAX)
		return error_set(err, 0, "a swap area of %llu bytes cannot be: 40 KiB to 16 TiB",
				 (unsigned long long)size);
	sha256_of(what, strlen(what), spec.key);
	return disk_get(c, &spec, d, err);
}
