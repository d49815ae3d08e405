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
 * @size: bytes, a multiple of 2 MiB (it also serves as an NVDIMM)
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
 * @c: layer cache; the image is images/KEY.img, its digest images/KEY.sha256
 *     (as sha256sum(1) writes it)
 * @b: root file system
 * @k: kernel
 * @i: its initramfs
 * @out: the result; system_image_free() ends it
 * @err: reason of a failure
 *
 * p1 BIOS boot (GRUB core), p2 ESP (vmlinuz, initrd, grub/grub.cfg,
 * EFI/BOOT/BOOTX64.EFI = UKI of the same bytes, and what manifest.h says), p3 root (the base's ext4, byte
 * for byte). The ids of disk, partitions and FAT are uuid5() of the root file
 * system's UUID and a role, hence the same for every kernel on one base.
 *
 * Return: 0, or -1.
 */
int system_build(const struct cache *c, const struct base *b,
		 const struct kernel *k, const struct initramfs *i,
		 struct system_image *out, struct error *err);
void system_image_free(struct system_image *s);

/* system_root_partuuid() - PARTUUID of p3 of every system disk on this base */
void system_root_partuuid(const struct base *b, char text[UUID_TEXT]);

#endif
