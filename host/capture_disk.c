/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_disk.c - how fast a disk is, within bounds of time and space
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "host/capture.h"
#include "results/base/cleanup.h"
#include "results/base/clock.h"

#define CHUNK ((size_t)1 << 20)
#define FILE_BYTES ((uint64_t)256 << 20)
#define SMALL 4096u
#define PHASE_S 3.0

/**
 * struct scratch - the file that is measured on
 * @buf: one chunk, aligned for O_DIRECT; owned
 * @bytes: of the file that have been written
 */
struct scratch {
	const char *dir;
	int fd;
	char *buf;
	uint64_t bytes;
};

static void scratch_free(struct scratch *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->buf);
}

/* Without a name from the start where the file system can do that. */
static int scratch_open(struct scratch *s, struct error *err)
{
	cleanup_free char *name = xasprintf("%s/.kontest-measure.%d", s->dir,
					    (int)getpid());

	s->fd = open(s->dir, O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
	if (s->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
		s->fd = open(name, O_CREAT | O_EXCL | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
		if (s->fd >= 0 && unlink(name) < 0)
			return error_set(err, errno, "remove '%s'", name);
	}
	if (s->fd < 0 && errno == EINVAL)
		return error_set(err, 0, "'%s' cannot be measured: its file system has no O_DIRECT (tmpfs has none); name a directory on the disk",
				 s->dir);
	if (s->fd < 0)
		return error_set(err, errno, "make a scratch file in '%s'", s->dir);
	if (posix_memalign((void **)&s->buf, SMALL, CHUNK))
		return error_set(err, ENOMEM, "measure '%s'", s->dir);
	/* Neither zeros nor a pattern: some disks compress. */
	for (size_t i = 0, x = 1; i < CHUNK; i += sizeof(uint32_t)) {
		uint32_t v;

		x = x * 6364136223846793005ull + 1442695040888963407ull;
		v = (uint32_t)(x >> 32);
		memcpy(s->buf + i, &v, sizeof(v));
	}
	return 0;
}

static int request(const struct scratch *s, bool out, size_t len, uint64_t off,
		   struct error *err)
{
	ssize_t n = out ? pwrite(s->fd, s->buf, len, (off_t)off) :
			  pread(s->fd, s->buf, len, (off_t)off);

	if (n == (ssize_t)len)
		return 0;
	if (n >= 0)
		errno = out ? ENOSPC : EIO;
	return error_set(err, errno, "%s a scratch file in '%s'",
			 out ? "write" : "read", s->dir);
}

static int sequential(struct scratch *s, bool out, uint64_t *bps,
		      struct error *err)
{
	uint64_t end = out ? FILE_BYTES : s->bytes, off = 0;
	double t0 = clock_now_s(), t;

	do {
		if (request(s, out, CHUNK, off, err) < 0)
			return -1;
		off += CHUNK;
	} while (off < end && clock_now_s() - t0 < PHASE_S);
	/* What the disk itself holds back counts as well. */
	if (out && fdatasync(s->fd) < 0)
		return error_set(err, errno, "write a scratch file in '%s'", s->dir);
	t = clock_now_s() - t0;
	if (out)
		s->bytes = off;
	*bps = t > 0 ? (uint64_t)((double)off / t) : 0;
	return 0;
}

static int random_places(const struct scratch *s, bool out, uint64_t *iops,
			 struct error *err)
{
	uint64_t x = 1, n = 0;
	double t0 = clock_now_s(), t;

	do {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		if (request(s, out, SMALL, (x >> 33) % (s->bytes / SMALL) * SMALL,
			    err) < 0)
			return -1;
		n++;
		t = clock_now_s() - t0;
	} while (t < PHASE_S && n < 20000);
	if (out && fdatasync(s->fd) < 0)
		return error_set(err, errno, "write a scratch file in '%s'", s->dir);
	t = clock_now_s() - t0;
	*iops = t > 0 ? (uint64_t)((double)n / t) : 0;
	return 0;
}

/* The whole disk's name: .../block/sda/sda1 -> sda */
static char *disk_name(int fd)
{
	struct stat st;
	char link[64], to[4096];
	const char *name;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return xstrdup("");
	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(st.st_dev),
		 minor(st.st_dev));
	n = readlink(link, to, sizeof(to) - 1);
	if (n <= 0)
		return xstrdup("");
	to[n] = '\0';
	name = strstr(to, "/block/");
	if (!name)
		return xstrdup("");
	name += strlen("/block/");
	return xstrndup(name, strcspn(name, "/"));
}

int capture_measure(const char *dir, struct captured_rates *r,
		    struct error *err)
{
	CLEANUP(scratch_free) struct scratch s = { .dir = dir, .fd = -1 };

	*r = (struct captured_rates){ 0 };
	if (scratch_open(&s, err) < 0 ||
	    sequential(&s, true, &r->write_bps, err) < 0 ||
	    sequential(&s, false, &r->read_bps, err) < 0 ||
	    random_places(&s, false, &r->read_iops, err) < 0 ||
	    random_places(&s, true, &r->write_iops, err) < 0)
		return -1;
	r->disk = disk_name(s.fd);
	return 0;
}
