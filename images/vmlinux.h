/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmlinux.h - an uncompressed kernel (ELF), made into an image that boots
 *
 * QEMU starts a vmlinux only when it was built with CONFIG_PVH, GRUB and UEFI
 * never. With a setup header, a start in real mode and one in protected mode in
 * front of it (vmlinux_boot.c) it is a bzImage like any other, to QEMU and to
 * GRUB; only UEFI does not start it, for what that needs is in the bzImage that
 * the kernel's own build makes.
 */
#ifndef KONTEST_VMLINUX_H
#define KONTEST_VMLINUX_H

#include <stdbool.h>
#include <stddef.h>

#include "results/base/error.h"
#include "results/base/text.h"

/* vmlinux_is() - has it the magic of an ELF file? */
bool vmlinux_is(const void *data, size_t size);

/**
 * vmlinux_convert() - put a setup header and boot code before a kernel
 * @elf: the whole vmlinux
 * @path: of it, for error texts
 * @image: gets the bzImage appended; the same vmlinux gives the same bytes
 * @err: not an x86-64 kernel, cut short, or loaded where it cannot be
 *
 * Only what the ELF file says is loaded is taken over: debugging information
 * and symbols are left out.
 *
 * Source: Linux, Documentation/arch/x86/boot.rst, the 16-bit and 32-bit boot
 * protocols; arch/x86/kernel/head_64.S, what startup_64 expects.
 *
 * Return: 0, or -1.
 */
int vmlinux_convert(const struct buf *elf, const char *path, struct buf *image,
		    struct error *err);

#endif
