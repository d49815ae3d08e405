/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_deep.c - libguestfs in a child, its archive read and compared here
 */
#include "images/verify_deep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "images/fat.h"
#include "images/verify_deep_parts.h"
#include "images/verify_parts.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define KILL_WAIT_MS 5000
#define WHY_BYTES 1024

double deep_now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void deep_result_free(struct deep_result *r)
{
	strings_clear(&r->lines);
	*r = (struct deep_result){ 0 };
}

/* --- the child ------------------------------------------------------------------ */

/**
 * struct child - libguestfs at work
 * @tar: its archive is read here
 * @why: its last words are
 */
struct child {
	pid_t pid;
	int tar, why;
};

/* Ask first: libguestfs then removes what it made. Its QEMU is in the same
 * process group, which is ended in any case. */
static void child_end(struct child *c)
{
	const struct timespec pause = { .tv_nsec = 20000000L };

	if (c->tar >= 0)
		close(c->tar);
	if (c->why >= 0)
		close(c->why);
	c->tar = c->why = -1;
	if (c->pid <= 0)
		return;
	kill(c->pid, SIGTERM);
	for (int i = 0; i < KILL_WAIT_MS / 20; i++) {
		pid_t got = waitpid(c->pid, NULL, WNOHANG);

		if (got == c->pid || (got < 0 && errno != EINTR)) {
			kill(-c->pid, SIGKILL);
			c->pid = 0;
			return;
		}
		nanosleep(&pause, NULL);
	}
	kill(-c->pid, SIGKILL);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
}

static void child_main(const char *image, const struct deep_opts *o, bool kvm,
		       int tar, int why)
{
	struct error err = { 0 };
	int ret;

	setpgid(0, 0);
	signal(SIGPIPE, SIG_IGN);
	ret = deep_guestfs(image, o, kvm, tar, &err);
	if (ret < 0 && write(why, err.text, strlen(err.text)) < 0)
		_exit(2);
	_exit(ret < 0 ? 1 : 0);
}

static int child_start(const char *image, const struct deep_opts *o, bool kvm,
		       struct child *c, struct error *err)
{
	int tar[2], why[2];

	if (pipe2(tar, O_CLOEXEC) < 0)
		return error_set(err, errno, "make a pipe");
	c->tar = tar[0];
	if (pipe2(why, O_CLOEXEC) < 0) {
		close(tar[1]);
		return error_set(err, errno, "make a pipe");
	}
	c->why = why[0];
	fflush(NULL);
	c->pid = fork();
	if (!c->pid)
		child_main(image, o, kvm, tar[1], why[1]);
	close(tar[1]);
	close(why[1]);
	if (c->pid < 0)
		return error_set(err, errno, "start a process");
	/* both do it: whoever comes first */
	setpgid(c->pid, c->pid);
	return 0;
}

/* How the child ended: 0 when it gave the whole archive away. */
static int child_verdict(struct child *c, double deadline, struct error *err)
{
	char text[WHY_BYTES] = "";
	size_t len = 0;

	while (len < sizeof(text) - 1 && deep_wait_readable(c->why, deadline)) {
		ssize_t n = read(c->why, text + len, sizeof(text) - 1 - len);

		if (n <= 0)
			break;
		len += (size_t)n;
	}
	text[len] = '\0';
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	if (!len)
		return 0;
	return error_set(err, 0, "%s", text);
}

/* One attempt: 0 compared, 1 the launch took too long, -1 failed. */
static int attempt(const char *image, const struct deep_opts *o, bool kvm,
		   const struct listing *list, double deadline,
		   struct deep_result *r, struct error *err)
{
	CLEANUP(child_end) struct child c = { .tar = -1, .why = -1 };
	double launch = kvm ? deep_now_s() + o->timeout_s / 4.0 : deadline;
	struct error why = { 0 };
	int ret;

	if (child_start(image, o, kvm, &c, err) < 0)
		return -1;
	if (!deep_wait_readable(c.tar, launch)) {
		error_set(err, 0, "libguestfs did not come up within %u s; on a slow or busy host give --timeout SECONDS",
			  o->timeout_s);
		return kvm ? 1 : -1;
	}
	ret = deep_compare_tar(c.tar, list, deadline, r, err);
	if (child_verdict(&c, deadline, &why) < 0) {
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
	double deadline = deep_now_s() + o->timeout_s;
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
