/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_deep.c - libguestfs in a child, its archive read and compared here
 */
#include "images/verify_deep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "images/fat.h"
#include "images/verify_deep_parts.h"
#include "images/verify_parts.h"
#include "results/base/worker.h"
#include "results/base/cleanup.h"
#include "results/base/clock.h"
#include "results/base/file.h"

#define LAST_WORDS_S 5

void deep_result_free(struct deep_result *r)
{
	strings_clear(&r->lines);
	*r = (struct deep_result){ 0 };
}

/* --- the child ------------------------------------------------------------------ */

/**
 * struct looking - libguestfs at work
 * @tar: its archive goes through this pipe
 */
struct looking {
	const char *image;
	const struct deep_opts *o;
	bool kvm;
	int tar[2];
};

static void looking_end(struct looking *l)
{
	cleanup_closep(&l->tar[0]);
	cleanup_closep(&l->tar[1]);
}

static int child_work(void *data, struct error *err)
{
	struct looking *l = data;

	close(steal_fd(&l->tar[0]));
	return deep_guestfs(l->image, l->o, l->kvm, l->tar[1], err);
}

/* One attempt: 0 compared, 1 the launch took too long, -1 failed. */
static int attempt(const char *image, const struct deep_opts *o, bool kvm,
		   const struct listing *list, double deadline,
		   struct deep_result *r, struct error *err)
{
	/* The pipe is closed first: a child that writes to it is not kept waiting. */
	CLEANUP(worker_end) struct worker c = WORKER_NONE;
	CLEANUP(looking_end) struct looking l = { image, o, kvm, { -1, -1 } };
	double launch = kvm ? clock_now_s() + o->timeout_s / 4.0 : deadline;
	struct error why = { 0 };
	int ret;

	if (pipe2(l.tar, O_CLOEXEC) < 0)
		return error_set(err, errno, "make a pipe");
	if (worker_start(&c, child_work, &l, err) < 0)
		return -1;
	close(steal_fd(&l.tar[1]));
	if (!worker_readable(l.tar[0], launch)) {
		error_set(err, 0, "libguestfs did not come up within %u s; on a slow or busy host give --timeout SECONDS",
			  o->timeout_s);
		return kvm ? 1 : -1;
	}
	ret = deep_compare_tar(l.tar[0], list, deadline, r, err);
	/* What cut the archive short says more than that it was; that follows soon. */
	if (ret < 0 && deadline > clock_now_s() + LAST_WORDS_S)
		deadline = clock_now_s() + LAST_WORDS_S;
	if (worker_wait(&c, "libguestfs", deadline, &why) < 0) {
		if (err)
			*err = why;
		return kvm ? 1 : -1;
	}
	return ret;
}

/* --- kernel and initramfs --------------------------------------------------------- */

static int compare_member(const struct fat *f, const char *name,
			  const char *hex, struct deep_result *r,
			  struct error *err)
{
	CLEANUP(buf_free) struct buf b = { 0 };
	char got[SHA256_HEX];

	if (fat_read(f, name, (size_t)1 << 30, &b, err) < 0)
		return -1;
	sha256_of(b.data, b.len, got);
	r->files++;
	if (strcmp(got, hex))
		deep_differ(r, "ESP: %s: SHA-256 is %.12s..., the manifest says %.12s...",
			    name, got, hex);
	return 0;
}

static int compare_esp(int fd, const char *image, const struct manifest *m,
		       struct deep_result *r, struct error *err)
{
	CLEANUP(disk_parts_free) struct disk_parts parts = { 0 };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set(err, errno, "'%s'", image);
	if (!gpt_parts(fd, (uint64_t)st.st_size, false, &parts))
		return error_set(err, 0, "'%s': its partition table is damaged", image);
	for (size_t i = 0; i < parts.n; i++) {
		CLEANUP(fat_close) struct fat f = { 0 };

		if (!gpt_is_esp(&parts.v[i]))
			continue;
		if (fat_open(&f, fd, image, parts.v[i].start, parts.v[i].size, err) < 0 ||
		    compare_member(&f, "vmlinuz", m->kernel, r, err) < 0)
			return -1;
		return compare_member(&f, "initrd", m->initramfs, r, err);
	}
	return error_set(err, 0, "'%s': there is no EFI system partition", image);
}

/* --- the whole --------------------------------------------------------------------- */

int verify_deep(const char *image, const struct deep_opts *o,
		struct deep_result *r, struct error *err)
{
	CLEANUP(verify_texts_free) struct verify_texts t = { 0 };
	CLEANUP(listing_clear) struct listing list = { 0 };
	cleanup_close int fd = open(image, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	cleanup_free char *what = xasprintf("'%s': " MANIFEST_FILES, image);
	double deadline = clock_now_s() + o->timeout_s;
	char got[SHA256_HEX];
	int ret = 1;

	*r = (struct deep_result){ 0 };
	if (fd < 0)
		return error_set(err, errno, "open '%s'", image);
	if (verify_read_texts(fd, image, &t, err) < 0)
		return -1;
	sha256_of(t.files.data, t.files.len, got);
	if (strcmp(got, t.manifest.files))
		deep_differ(r, "ESP: " MANIFEST_FILES ": SHA-256 is %.12s..., the manifest says %.12s...",
			    got, t.manifest.files);
	buf_adds(&t.files, "");
	if (manifest_parse_files(t.files.data, what, &list, err) < 0 ||
	    compare_esp(fd, image, &t.manifest, r, err) < 0)
		return -1;
	if (o->kvm)
		ret = attempt(image, o, true, &list, deadline, r, err);
	if (ret > 0) {
		r->emulated = true;
		ret = attempt(image, o, false, &list, deadline, r, err);
	}
	if (ret < 0)
		deep_result_free(r);
	return ret < 0 ? -1 : 0;
}
