/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spindle_serve.h - the process behind a modelled disk
 */
#ifndef KONTEST_GUEST_SPINDLE_SERVE_H
#define KONTEST_GUEST_SPINDLE_SERVE_H

#include "guest/disk_model.h"
#include "guest/disks.h"

#define SPINDLE_SECTOR 512

/**
 * struct spindle_part - where a disk lies on the spindle
 * @fd: the disk that holds its data, opened with O_DIRECT
 * @start, @bytes: on the spindle
 */
struct spindle_part {
	int fd;
	uint64_t start, bytes;
};

/**
 * struct spindle_map - a spindle
 * @sock: to the kernel, which speaks the network block device's protocol
 * @done_ns: when the last request was done, 0: there was none
 */
struct spindle_map {
	struct disk_model model;
	struct spindle_part parts[DISK_ROLES];
	int nparts;
	int sock;
	uint64_t done_ns;
};

/* spindle_serve() - answer requests until the kernel closes the socket */
_Noreturn void spindle_serve(struct spindle_map *map);

/**
 * spindle_serve_one() - wait for one request and answer it
 * @map: spindle
 * @buf: SPINDLE_REQUEST_MAX bytes for the data, aligned for O_DIRECT
 *
 * Return: 1, 0 when the kernel has closed the device, -1 with errno.
 */
int spindle_serve_one(struct spindle_map *map, void *buf);

#define SPINDLE_REQUEST_MAX (1u << 20)

#endif
