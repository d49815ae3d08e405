/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe.c - a job: does the disk below it take the time that the profile says?
 *
 * probe DEVICE RATE_MIB ACCESS_US: exit status 0 when it does; the figures in
 * any case.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MIB (1u << 20)
#define FILE_MIB 48
#define BLOCK (256 * 1024)
#define RANDOM_READS 4000

static char *buf;
static int bad;

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void must(int ok, const char *what)
{
	if (ok)
		return;
	printf("%s: %s\n", what, strerror(errno));
	exit(2);
}

static void judge(const char *what, double is, double wanted, double late)
{
	double off = is / wanted - 1;
	int wrong = off > late || off < -0.02;

	printf("%s: %.6f s, by the profile %.6f s, %+.2f %%%s\n", what, is,
	       wanted, 100 * off, wrong ? " WRONG" : "");
	bad |= wrong;
}

static void fill(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | flags, 0600);

	must(fd >= 0, path);
	for (int i = 0; i < FILE_MIB * (int)(MIB / BLOCK); i++)
		must(write(fd, buf, BLOCK) == BLOCK, "write");
	must(fdatasync(fd) == 0 && close(fd) == 0, "sync");
}

static void drain(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | flags);

	must(fd >= 0, path);
	for (int i = 0; i < FILE_MIB * (int)(MIB / BLOCK); i++)
		must(read(fd, buf, BLOCK) == BLOCK, "read");
	must(close(fd) == 0, "close");
}

static void forget(const char *path)
{
	int fd = open(path, O_RDONLY);

	must(fd >= 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0 &&
	     close(fd) == 0, "drop from the cache");
}

static void sequential(double rate_mib)
{
	static const struct {
		const char *what;
		void (*move)(const char *, int);
		int flags;
		double late;
	} tries[] = {
		{ "sequential direct write", fill, O_DIRECT, 0.02 },
		{ "sequential direct read", drain, O_DIRECT, 0.02 },
		{ "sequential read", drain, 0, 0.02 },
		/* Here the kernel holds the writer back, by up to 200 ms at a
		 * time (balance_dirty_pages), on any disk */
		{ "sequential write", fill, 0, 0.25 },
	};

	fill("data", O_TRUNC);	/* with its blocks: what follows has none to find */
	sync();
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		double start;

		forget("data");
		start = now_s();
		tries[i].move("data", tries[i].flags);
		judge(tries[i].what, now_s() - start, FILE_MIB / rate_mib,
		      tries[i].late);
	}
}

static void random_reads(const char *device, double access_s, double rate_mib)
{
	int fd = open(device, O_RDONLY | O_DIRECT);
	off_t blocks = fd < 0 ? 0 : lseek(fd, 0, SEEK_END) / 4096;
	uint64_t x = 88172645463325252u;
	double start;

	must(blocks > 0, device);
	start = now_s();
	for (int i = 0; i < RANDOM_READS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		must(pread(fd, buf, 4096, (off_t)(x % (uint64_t)blocks) * 4096) ==
		     4096, "read");
	}
	judge("random 4 KiB read", (now_s() - start) / RANDOM_READS,
	      access_s + 4096 / (rate_mib * MIB), 0.02);
}

int main(int argc, char **argv)
{
	double rate_mib, access_s;

	must(argc == 4, "probe DEVICE RATE_MIB ACCESS_US");
	rate_mib = atof(argv[2]);
	access_s = atof(argv[3]) / 1e6;
	buf = aligned_alloc(4096, BLOCK);
	must(buf != NULL, "memory");
	memset(buf, 'k', BLOCK);
	sequential(rate_mib);
	random_reads(argv[1], access_s, rate_mib);
	return bad;
}
