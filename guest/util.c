/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * util.c - failures, time, small files
 */
#include "guest/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int fail_set(struct fail *f, int errnum, const char *fmt, ...)
{
	va_list ap;
	size_t used;

	if (!f)
		return -1;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	used = strlen(f->text);
	if (errnum)
		snprintf(f->text + used, sizeof(f->text) - used, ": %s",
			 strerror(errnum));
	return -1;
}

uint64_t now_ns(void)
{
	struct timespec ts;

	/* Cannot fail: the clock exists in every kernel and ts is ours */
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

void sleep_ms(unsigned int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000,
			       .tv_nsec = ms % 1000 * 1000000L };

	while (nanosleep(&ts, &ts) != 0 && errno == EINTR)
		;
}

void util_closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

ssize_t read_text(const char *path, char *buf, size_t size)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;

	buf[0] = '\0';
	if (fd < 0)
		return -1;
	while (have + 1 < size) {
		ssize_t n = read(fd, buf + have, size - 1 - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			buf[have] = '\0';
			return -1;
		}
		if (n == 0)
			break;
		have += (size_t)n;
	}
	if (have > 0 && buf[have - 1] == '\n')
		have--;
	buf[have] = '\0';
	return (ssize_t)have;
}

char *read_all(const char *path, size_t *len)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0, room = 16384;
	char *buf, *more;

	if (fd < 0)
		return NULL;
	buf = malloc(room + 1);
	while (buf) {
		ssize_t n = read(fd, buf + have, room - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			free(buf);
			return NULL;
		}
		if (n == 0)
			break;
		have += (size_t)n;
		if (have < room)
			continue;
		room *= 2;
		more = realloc(buf, room + 1);
		if (!more)
			free(buf);
		buf = more;
	}
	if (!buf)
		return NULL;
	buf[have] = '\0';
	if (len)
		*len = have;
	return buf;
}

bool scan_u64(const char *s, uint64_t *value)
{
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*value = strtoull(s, &end, 10);
	return errno == 0 && *end == '\0';
}

bool read_u64(const char *path, uint64_t *value)
{
	char buf[64];

	return read_text(path, buf, sizeof(buf)) > 0 && scan_u64(buf, value);
}

int write_full(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0) {
			errno = EIO;
			return -1;
		}
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int write_text(const char *path, const char *text, struct fail *f)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int failed = 0;
	ssize_t n;

	if (fd < 0)
		return fail_set(f, errno, "open '%s'", path);
	/* One write: files of /proc and /sys take a value whole or not at all */
	n = write(fd, text, strlen(text));
	if (n < 0 || (size_t)n != strlen(text))
		failed = n < 0 ? errno : EIO;
	if (close(fd) != 0 && failed == 0)
		failed = errno;
	if (failed)
		return fail_set(f, failed, "write '%s' to '%s'", text, path);
	return 0;
}

int make_dir(const char *path, mode_t mode, struct fail *f)
{
	if (mkdir(path, mode) != 0 && errno != EEXIST)
		return fail_set(f, errno, "make directory '%s'", path);
	return 0;
}
