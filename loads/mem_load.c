/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mem_load.c - 110 % of RAM, referenced over and over in the worst order
 *
 * The memory is n blocks of 1 MiB. First every byte of it is written; from then
 * on block (i + n/2) % n is copied onto block i, for i from 0 to n-1 and again.
 * Before a block is used for the second time all others have been, so what
 * was thrown out longest ago is always what is needed next.
 *
 * Progress is counted in pages copied, and only after the first writing: by
 * then more is in use than there is RAM, and pages do get swapped. One Load is
 * 1000 of them, as contest 0.50 counted accesses: a pass over the whole takes
 * minutes, far longer than many a job.
 */
#include "loads/mem_load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loads/ops.h"

#define BLOCKS_MIN 2
#define STEP 4096u		/* bytes of a page, on every machine alike */
#define PAGES_PER_LOAD 1000
#define OOM_SCORE_ADJ "1000"	/* the kernel is to take this, not the job */
#define OTHERS_SHARE 8		/* 1/8 of RAM stays for the job */
#define SET_UP_S 60
#define SET_UP_S_MAX 3600
#define SET_UP_SLOWEST (1u << 20)	/* bytes/s, far below any disk's rate */

static uint64_t mem_size(const struct load_args *a)
{
	uint64_t want = a->size != 0 ? a->size : a->mem + a->mem / 10;
	uint64_t blocks = want / MEM_BLOCK;

	if (want % MEM_BLOCK != 0 && blocks < UINT64_MAX / MEM_BLOCK)
		blocks++;
	return (blocks < BLOCKS_MIN ? BLOCKS_MIN : blocks) * MEM_BLOCK;
}

static uint64_t per_load(const struct load_args *a)
{
	(void)a;
	return PAGES_PER_LOAD;
}

/* Being written for the first time the memory goes through the swap disk */
static unsigned int proof_s(const struct load_args *a)
{
	uint64_t s = SET_UP_S + mem_size(a) / SET_UP_SLOWEST;

	return s < SET_UP_S_MAX ? (unsigned int)s : SET_UP_S_MAX;
}

/* --- is there room? ------------------------------------------------------- */

/* The figure of the line "@name: 123 kB". Return: 0, -1 when there is none */
static int meminfo_bytes(const char *text, const char *name, uint64_t *bytes)
{
	size_t len = strlen(name);

	for (const char *line = text; line != NULL && *line != '\0';) {
		if (strncmp(line, name, len) == 0 && line[len] == ':')
			return sscanf(line + len + 1, "%" SCNu64, bytes) == 1 ?
			       (*bytes *= 1024, 0) : -1;
		line = strchr(line, '\n');
		if (line != NULL)
			line++;
	}
	return -1;
}

int mem_room_parse(const char *text, struct mem_room *room)
{
	/* MemAvailable came with 3.14 */
	if (meminfo_bytes(text, "MemAvailable", &room->available) != 0 &&
	    meminfo_bytes(text, "MemFree", &room->available) != 0)
		return -1;
	return meminfo_bytes(text, "SwapFree", &room->swap_free);
}

uint64_t mem_swap_needed(uint64_t size, uint64_t mem,
			 const struct mem_room *room)
{
	uint64_t others = mem / OTHERS_SHARE;

	if (size <= room->available)
		return 0;
	size -= room->available;
	return size > UINT64_MAX - others ? UINT64_MAX : size + others;
}

static int read_room(const struct load_args *a, struct mem_room *room)
{
	char text[4096];
	int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return load_fail(a->shared, errno, "open '/proc/meminfo'");
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		load_fail(a->shared, errno, "read '/proc/meminfo'");
	if (close(fd) != 0 || n < 0)
		return load_fail(a->shared, errno, "close '/proc/meminfo'");
	text[n] = '\0';
	if (mem_room_parse(text, room) != 0)
		return load_fail(a->shared, EINVAL, "'/proc/meminfo' does not "
				 "say what memory and swap are free");
	return 0;
}

static int check_room(const struct load_args *a, uint64_t size)
{
	struct mem_room room;
	uint64_t needed;

	if (read_room(a, &room) != 0)
		return -1;
	needed = mem_swap_needed(size, a->mem, &room);
	if (needed <= room.swap_free)
		return 0;
	return load_fail(a->shared, ENOMEM, "needs %" PRIu64 " MiB of "
			 "swap, there are %" PRIu64 ": give the profile's swap "
			 "disk that size, or the plan a smaller mem_load",
			 needed / MEM_BLOCK + (needed % MEM_BLOCK != 0),
			 room.swap_free / MEM_BLOCK);
}

static int offer_to_oom_killer(const struct load_args *a)
{
	static const char path[] = "/proc/self/oom_score_adj";
	static const char score[] = OOM_SCORE_ADJ;
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return load_fail(a->shared, errno, "open '%s'", path);
	if (write(fd, score, strlen(score)) != (ssize_t)strlen(score))
		ret = load_fail(a->shared, errno, "write '%s'", path);
	if (close(fd) != 0)
		ret = load_fail(a->shared, errno, "close '%s'", path);
	return ret;
}

/* --- the load ------------------------------------------------------------- */

/* No two pages alike and none that shrinks: neither KSM nor zswap saves any */
void mem_touch(const struct load_args *a, unsigned char *base, size_t blocks)
{
	uint64_t x = 0;

	for (size_t at = 0; at < blocks * MEM_BLOCK; at += STEP) {
		uint64_t *word = (uint64_t *)(void *)(base + at);

		if (load_stopped(a))
			return;
		for (size_t i = 0; i < STEP / sizeof(*word); i++) {
			x += UINT64_C(0x9e3779b97f4a7c15);
			word[i] = (x ^ (x >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
		}
	}
}

void mem_pass(const struct load_args *a, unsigned char *base, size_t blocks)
{
	for (size_t i = 0; i < blocks; i++) {
		unsigned char *to = base + i * MEM_BLOCK;
		const unsigned char *from =
			base + (i + blocks / 2) % blocks * MEM_BLOCK;

		for (size_t at = 0; at < MEM_BLOCK; at += STEP) {
			if (load_stopped(a))
				return;
			memcpy(to + at, from + at, STEP);
			load_progress(a, 1);
		}
	}
}

static int run(const struct load_args *a)
{
	uint64_t size = mem_size(a);
	unsigned char *base;

	if (check_room(a, size) != 0 || offer_to_oom_killer(a) != 0)
		return -1;
	base = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return load_fail(a->shared, errno, "get %" PRIu64 " bytes",
				 size);
	mem_touch(a, base, size / MEM_BLOCK);
	while (!load_stopped(a))
		mem_pass(a, base, size / MEM_BLOCK);
	if (munmap(base, size) != 0)
		return load_fail(a->shared, errno, "give back %" PRIu64
				 " bytes", size);
	return 0;
}

const struct load_ops mem_load_ops = {
	.name = "mem_load",
	.unit = "1000 pages of 4 KiB copied",
	.size_unit = "bytes",
	.size = mem_size,
	.per_load = per_load,
	.proof_s = proof_s,
	.run = run,
};
