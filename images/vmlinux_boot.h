/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmlinux_boot.h - the boot code in front of a converted vmlinux
 *
 * For vmlinux.c and vmlinux_boot.c alone. The image is VMLINUX_SETUP_BYTES of
 * setup code, a page of 32-bit code, and the kernel as it lies in memory.
 */
#ifndef KONTEST_VMLINUX_BOOT_H
#define KONTEST_VMLINUX_BOOT_H

/* In assembler code too: plain numbers. */
#define VMLINUX_SETUP_BYTES	2048	/* four sectors, the boot sector included */
#define VMLINUX_VERSION_OFF	0x400	/* of the version string, NUL-terminated */
#define VMLINUX_VERSION_MAX	0x200
#define VMLINUX_CODE_BYTES	4096
#define VMLINUX_LOAD		0x100000	/* where the 32-bit code comes to lie */
#define VMLINUX_PARAMS		0x10	/* in it: where to, how much, entry; u32 each */
/* What lies between is page tables and stack, once the kernel was moved up. */
#define VMLINUX_LOWEST		0x200000

#ifndef __ASSEMBLER__
extern const unsigned char vmlinux_setup[VMLINUX_SETUP_BYTES];
extern const unsigned char vmlinux_code[VMLINUX_CODE_BYTES];
#endif

#endif
