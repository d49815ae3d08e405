/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mem_load.h - the parts of mem_load that can be tested without over-committing
 * anybody's memory
 */
#ifndef KONTEST_LOADS_MEM_LOAD_H
#define KONTEST_LOADS_MEM_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "loads/load.h"

#define MEM_BLOCK (1u << 20)	/* bytes; what is copied at a time */

/**
 * struct mem_room - what /proc/meminfo says, in bytes
 * @available: MemAvailable, or MemFree where the kernel does not say that
 * @swap_free: SwapFree
 */
struct mem_room {
	uint64_t available;
	uint64_t swap_free;
};

/**
 * mem_room_parse() - read the text of /proc/meminfo
 * @text: the text
 * @room: filled in
 *
 * Return: 0, or -1 when a line that is needed is not there.
 */
int mem_room_parse(const char *text, struct mem_room *room);

/**
 * mem_swap_needed() - how much swap has to be free for the load to fit
 * @size: bytes that the load will reference
 * @mem: bytes of RAM of the profile; an eighth of it is left to others
 * @room: what there is
 *
 * Return: bytes; 0 when memory alone suffices.
 */
uint64_t mem_swap_needed(uint64_t size, uint64_t mem,
			 const struct mem_room *room);

/**
 * mem_touch() - write every byte of the blocks once
 * @a: looks at shared->stop, counts nothing
 * @base: the memory, @blocks x MEM_BLOCK bytes
 * @blocks: how many
 */
void mem_touch(const struct load_args *a, unsigned char *base, size_t blocks);

/**
 * mem_pass() - one pass: block (i + n/2) % n is copied onto block i, for all i
 * @a: looks at shared->stop and counts every page of 4 KiB in shared->done
 * @base: the memory, @blocks x MEM_BLOCK bytes
 * @blocks: how many; 2 at least
 */
void mem_pass(const struct load_args *a, unsigned char *base, size_t blocks);

#endif
