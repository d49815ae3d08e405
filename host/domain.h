/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * domain.h - the parts that a domain's XML is made of
 */
#ifndef KONTEST_DOMAIN_H
#define KONTEST_DOMAIN_H

#include "host/boot.h"
#include "results/base/text.h"

/* What every domain gets, whatever clock the host shows. */
#define DOMAIN_RTC_BASE "2003-06-03T00:00:00"
#define DOMAIN_RTC_EPOCH 1054598400LL
#define DOMAIN_TB_CACHE_MIB 512

#define DOMAIN_DISKS 5
/* Two channels of two */
#define DOMAIN_IDE_DISKS 4

/**
 * struct domain_disk - a disk of the VM and what it is called there
 * @role: serial number of a disk: system, work, other, swap, results
 * @disk: from the struct boot_config
 */
struct domain_disk {
	const char *role;
	const struct boot_disk *disk;
};

/* domain_disks() - the disks that @cfg has, in the order in which the guest is
 * promised to see them: system, work, other, swap, results; returns how many */
size_t domain_disks(const struct boot_config *cfg,
		    struct domain_disk out[DOMAIN_DISKS]);

/* domain_overlay() - where a scratch virtio disk's writes go; owned by the
 * caller */
char *domain_overlay(const struct boot_config *cfg, const char *role);

/* xml_text() - append @s with the five special characters escaped */
void xml_text(struct buf *b, const char *s);

/* xml_arg() - append one <qemu:arg>, its value made by printf */
void xml_arg(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * exact_cmdline() - the kernel command line of exact mode
 * @cmdline: of the struct boot_config
 *
 * Memory that can be plugged in above 4 GiB, which is where NVDIMMs are, makes
 * x86 kernels set aside 64 MiB for bounce buffers that nothing uses here: a
 * quarter of a 256 MiB machine (measured with 6.1 and 6.12). "swiotlb=noforce"
 * gives it back, MemTotal is then that of the VM without NVDIMMs within 8 KiB.
 *
 * Return: @cmdline with that option; owned by the caller.
 */
char *exact_cmdline(const char *cmdline);

/**
 * exact_args() - append what exact mode hands to QEMU past libvirt
 * @b: inside <qemu:commandline>
 * @cfg: with one vCPU; the files of its disks must be there: their sizes are
 *       part of the machine
 * @err: reason of a failure
 *
 * Return: 0, or -1.
 */
int exact_args(struct buf *b, const struct boot_config *cfg, struct error *err);

#endif
