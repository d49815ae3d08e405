/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grub.h - GRUB for PCs with a BIOS, put into a disk image without root
 *
 * boot.img goes into the MBR, GRUB's core into the BIOS boot partition. The
 * core finds its grub.cfg on GRUB_ESP_PARTITION of the disk it was read from.
 */
#ifndef KONTEST_GRUB_H
#define KONTEST_GRUB_H

#include <sys/types.h>

#include "results/base/digest.h"
#include "results/base/text.h"

/* GRUB_DIR - GRUB's modules for BIOS, Debian package grub-pc-bin */
#define GRUB_DIR "/usr/lib/grub/i386-pc"
#define GRUB_ESP_PARTITION 2
#define GRUB_CFG "grub/grub.cfg"	/* on that partition */

/* grub_inputs() - add to @s everything on this host that shapes the boot code;
 * fails when something is missing, with the package that has it */
int grub_inputs(struct sha256 *s, struct error *err);

/* grub_core() - append the core image to @core */
int grub_core(struct buf *core, struct error *err);

/**
 * grub_embed() - write the boot code
 * @fd: disk image, already partitioned
 * @path: its name for error texts
 * @core: from grub_core(); told where it lies
 * @off: start of the BIOS boot partition, bytes
 * @size: its size, bytes
 * @err: reason of a failure
 *
 * Return: 0, or -1.
 */
int grub_embed(int fd, const char *path, struct buf *core, off_t off,
	       uint64_t size, struct error *err);

#endif
