/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disk_model.h - when a disk of one head and one platter would have done it
 *
 * Arithmetic alone: no I/O, no clock. The model is that of the textbooks
 * (Ruemmler and Wilkes, "An introduction to disk drive modeling", 1994), less
 * what a profile cannot know:
 *
 *	seek		settle + (average - settle) * sqrt(distance/size) / (8/15)
 *			for another track, 0 within one; 8/15 is the mean of
 *			sqrt(distance/size) over all pairs of places, so that the
 *			mean of random seeks is the average that data sheets give
 *	rotation	until the sector comes round: its place on the track
 *			against where the platter is at that moment
 *	transfer	bytes / rate; tracks are skewed, so that going on to the
 *			next one costs nothing
 *
 * What follows right behind the last request is neither sought nor waited for:
 * the drive's buffer (BUFFER_BYTES) has read on, or takes the write early.
 */
#ifndef KONTEST_GUEST_DISK_MODEL_H
#define KONTEST_GUEST_DISK_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define DISK_MODEL_BUFFER_BYTES (2u << 20)

/**
 * struct disk_model - a disk and the state of its mechanics
 * @rbps, @wbps: bytes a second at the platter; 0: no time for the transfer
 * @seek_ns: average seek; 0: none
 * @settle_ns: shortest seek, to the next track
 * @rotation_ns: one turn; 0: no wait for the sector
 * @bytes: of the disk, the longest distance of a seek
 * @head: byte behind the last one read or written
 * @free_ns: when that was done
 */
struct disk_model {
	uint64_t rbps, wbps;
	uint64_t seek_ns, settle_ns, rotation_ns;
	uint64_t bytes;
	uint64_t head;
	uint64_t free_ns;
};

/**
 * disk_model_serve() - the next request
 * @m: disk; its state moves on
 * @now_ns: when the request came, on a clock that never goes back
 * @off, @len: bytes on the disk
 * @write: to the platter
 *
 * Return: when it is done, never before @now_ns.
 */
uint64_t disk_model_serve(struct disk_model *m, uint64_t now_ns, uint64_t off,
			  uint64_t len, bool write);

#endif
