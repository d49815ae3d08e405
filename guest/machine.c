/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.c - flush, swap, randomness, RAM
 */
#include "guest/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/random.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/swap.h>
#include <unistd.h>

int machine_swap_on(const struct disk *swap, struct fail *f)
{
	if (swap->present && swapon(swap->path, 0) != 0)
		return fail_set(f, errno, "swapon '%s'", swap->path);
	return 0;
}

int machine_count_io(const struct disk *disk, struct fail *f)
{
	char path[128];
	uint64_t on;

	snprintf(path, sizeof(path), "/sys/class/block/%s/queue/iostats",
		 disk->name);
	if (!disk->present || (read_u64(path, &on) && on == 1))
		return 0;
	return write_text(path, "1", f);
}

int machine_flush(const struct disk *swap, struct fail *f)
{
	sync();
	if (write_text("/proc/sys/vm/drop_caches", "3", f) != 0)
		return -1;
	if (swap->present && swapoff(swap->path) != 0)
		return fail_set(f, errno, "swapoff '%s'", swap->path);
	return machine_swap_on(swap, f);
}

/* splitmix64 (Steele, Lea, Flood 2014): spreads a small seed over all bits */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

int machine_seed(uint64_t seed, struct fail *f)
{
	auto_close int fd = open("/dev/urandom", O_WRONLY | O_CLOEXEC);
	struct {
		struct rand_pool_info info;
		uint64_t pool[8];
	} e = { .info = { .entropy_count = 512, .buf_size = 64 } };

	if (fd < 0)
		return fail_set(f, errno, "open '/dev/urandom'");
	for (int i = 0; i < 8; i++)
		e.pool[i] = next_random(&seed);
	if (ioctl(fd, RNDADDENTROPY, &e) != 0)
		return fail_set(f, errno, "stir the seed into the random pool");
	/* Since Linux 4.14; and refused (ENODATA) before the pool is ready */
	if (ioctl(fd, RNDRESEEDCRNG) != 0 && errno != EINVAL &&
	    errno != ENODATA && errno != ENOTTY)
		return fail_set(f, errno, "reseed the random pool");
	return 0;
}

uint64_t machine_ram_bytes(const char *iomem)
{
	uint64_t sum = 0, from, to;

	/* Top-level lines only: "00100000-0ffdffff : System RAM" */
	for (const char *p = iomem; p && *p; p = strchr(p, '\n')) {
		char what[32] = "";

		p += *p == '\n';
		if (*p == ' ' || sscanf(p, "%" SCNx64 "-%" SCNx64 " : %31[^\n]",
					&from, &to, what) != 3)
			continue;
		if (strcmp(what, "System RAM") == 0 && to > from)
			sum += to - from + 1;
	}
	return sum;
}
