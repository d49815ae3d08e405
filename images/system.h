/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * system.h - the system disk: GPT with GRUB (BIOS), UKI (UEFI) and the root
 */
#ifndef KONTEST_SYSTEM_H
#define KONTEST_SYSTEM_H

#include "images/base.h"
#include "images/kernel.h"

/**
 * struct system_image - a built system disk; strings owned
 * @path: raw GPT disk
 * @digest: SHA-256 of the whole disk
 * @size: bytes
 * @vmlinuz: the very kernel that is on the ESP, for direct boot
 * @initrd: the very initramfs that is on the ESP
 * @cmdline: what GRUB and the UKI pass to the kernel
 */
struct system_image {
	char *path;
	char digest[SHA256_HEX];
	uint64_t size;
	char *vmlinuz;
	char *initrd;
	char *cmdline;
};

/* SYSTEM_CMDLINE - of a stand-alone boot: serial console and screen */
#define SYSTEM_CMDLINE "console=tty0 console=ttyS0,115200 panic=-1 quiet"

/**
 * system_build() - put base, kernel and initramfs on one disk
 * p1 BIOS boot (GRUB core), p2 ESP (vmlinuz, initramfs, grub.cfg,
 * EFI/BOOT/BOOTX64.EFI = UKI of the same bytes), p3 root (the base's ext4).
 * Disk and partition GUIDs, FAT volume id: from uuid5().
 */
int system_build(const struct cache *c, const struct base *b,
		 const struct kernel *k, const struct initramfs *i,
		 struct system_image *out, struct error *err);
void system_image_free(struct system_image *s);

#endif
