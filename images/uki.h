/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uki.h - unified kernel image: one EFI program out of stub, kernel, initramfs
 *
 * The layout is that of the UAPI group's "Unified Kernel Image" specification:
 * systemd's EFI stub with PE sections .osrel, .cmdline, .initrd and .linux.
 */
#ifndef KONTEST_UKI_H
#define KONTEST_UKI_H

#include "results/base/error.h"
#include "results/base/text.h"

/* UKI_STUB - systemd's stub, Debian package systemd-boot-efi */
#define UKI_STUB "/usr/lib/systemd/boot/efi/linuxx64.efi.stub"

/**
 * struct uki_parts - what goes in; all buffers are the caller's
 * @stub: an x86-64 EFI program in PE32+ format
 * @stub_path: its name for error texts
 * @linux_image: the bzImage
 * @initrd: the initramfs
 * @cmdline: kernel command line
 * @osrel: os-release(5) text, shown by boot menus
 */
struct uki_parts {
	const struct buf *stub;
	const char *stub_path;
	const struct buf *linux_image;
	const struct buf *initrd;
	const char *cmdline;
	const char *osrel;
};

/**
 * uki_build() - make the EFI program
 * @p: parts
 * @out: gets the program; anything in it before is kept in front (so pass { 0 })
 * @err: reason of a failure: the stub is no PE32+ file for x86-64, is cut short,
 *       carries such sections already, or has no room for their headers
 *
 * The same parts give the same bytes: time stamp and checksum are zero (firmware
 * verifies neither) and neither symbols nor signature of the stub are kept.
 *
 * Return: 0, or -1.
 */
int uki_build(const struct uki_parts *p, struct buf *out, struct error *err);

#endif
