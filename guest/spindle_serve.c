/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spindle_serve.c - answers requests when a disk would have done them
 */
#include "guest/spindle_serve.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/nbd.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "guest/console.h"

#ifndef PR_SET_IO_FLUSHER
#define PR_SET_IO_FLUSHER 57	/* Linux 5.6 */
#endif
#define PAGE 4096

/* Return: 1 all of it, 0 the other side has closed, -1 with errno */
static int get(int sock, void *to, size_t len)
{
	char *p = to;

	while (len > 0) {
		ssize_t n = read(sock, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return (int)n;
		p += n;
		len -= (size_t)n;
	}
	return 1;
}

static bool is_pending(int sock)
{
	int waiting = 0;

	return ioctl(sock, FIONREAD, &waiting) == 0 && waiting > 0;
}

/* What lies between the disks is never written, and reads as zeros */
static int move(const struct spindle_map *map, char *buf, uint64_t off,
		size_t len, bool write)
{
	for (int i = 0; i < map->nparts; i++) {
		const struct spindle_part *p = &map->parts[i];

		if (off < p->start || off - p->start >= p->bytes)
			continue;
		off -= p->start;
		while (len > 0) {
			ssize_t n = write ? pwrite(p->fd, buf, len, (off_t)off) :
				    pread(p->fd, buf, len, (off_t)off);

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				return n < 0 ? errno : EIO;
			buf += n;
			off += (uint64_t)n;
			len -= (size_t)n;
		}
		return 0;
	}
	if (write)
		return EIO;
	memset(buf, 0, len);
	return 0;
}

static int answer(const struct spindle_map *map, const struct nbd_request *req,
		  int failed, void *data, size_t len)
{
	struct nbd_reply reply = { .magic = htonl(NBD_REPLY_MAGIC),
				   .error = htonl((uint32_t)failed) };
	struct iovec v[2] = { { &reply, sizeof(reply) }, { data, len } };
	int n = failed || len == 0 ? 1 : 2;
	struct iovec *at = v;

	memcpy(&reply.handle, &req->handle, sizeof(reply.handle));
	while (n > 0) {
		ssize_t sent = writev(map->sock, at, n);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -1;
		while (n > 0 && (size_t)sent >= at->iov_len) {
			sent -= (ssize_t)at->iov_len;
			at++;
			n--;
		}
		if (n > 0) {
			at->iov_base = (char *)at->iov_base + sent;
			at->iov_len -= (size_t)sent;
		}
	}
	return 1;
}

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec ts = {
		.tv_sec = (time_t)(ns / 1000000000u),
		.tv_nsec = (long)(ns % 1000000000u),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ==
	       EINTR)
		;
}

int spindle_serve_one(struct spindle_map *map, void *buf)
{
	/* It has waited since the last one was done, or comes just now */
	bool queued = is_pending(map->sock);
	struct nbd_request req;
	uint64_t off, came;
	uint32_t type, len;
	bool write;
	int got = get(map->sock, &req, sizeof(req));
	int failed;

	if (got != 1)
		return got;
	came = clock_ns();
	if (queued && map->done_ns)
		came = map->done_ns;
	type = ntohl(req.type) & 0xffff;
	off = be64toh(req.from);
	len = ntohl(req.len);
	write = type == NBD_CMD_WRITE;
	if (ntohl(req.magic) != NBD_REQUEST_MAGIC || len > SPINDLE_REQUEST_MAX) {
		errno = EPROTO;
		return -1;
	}
	if (type == NBD_CMD_DISC)
		return 0;
	if (type != NBD_CMD_READ && !write)
		return answer(map, &req, type == NBD_CMD_FLUSH ? 0 : EINVAL,
			      NULL, 0);
	if (write && (got = get(map->sock, buf, len)) != 1)
		return got;
	/* The data moves in no time at all, before the moment that counts */
	failed = move(map, buf, off, len, write);
	map->done_ns = disk_model_serve(&map->model, came, off, len, write);
	sleep_until(map->done_ns);
	return answer(map, &req, failed, buf, write ? 0 : len);
}

/* Nothing that it does may wait for memory, or for anybody else's turn */
static int get_ready(void)
{
	const struct sched_param first = {
		.sched_priority = sched_get_priority_max(SCHED_FIFO) / 2,
	};

	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0 ||
	    sched_setscheduler(0, SCHED_FIFO, &first) != 0 ||
	    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0) != 0)
		return -1;
	/* Older kernels do without */
	if (prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0) != 0 && errno != EINVAL)
		return -1;
	return 0;
}

_Noreturn void spindle_serve(struct spindle_map *map)
{
	void *buf = aligned_alloc(PAGE, SPINDLE_REQUEST_MAX);
	int got = 1;

	if (!buf || get_ready() != 0) {
		console_say("a modelled disk: %s", strerror(errno));
		_exit(1);
	}
	memset(buf, 0, SPINDLE_REQUEST_MAX);
	while (got == 1)
		got = spindle_serve_one(map, buf);
	if (got < 0)
		console_say("a modelled disk: %s", strerror(errno));
	_exit(got < 0 ? 1 : 0);
}
