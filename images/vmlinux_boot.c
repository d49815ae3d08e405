/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmlinux_boot.c - from where a boot loader leaves off to a kernel's startup_64
 *
 * Data to the program that this is compiled into, code in the images it makes.
 */
#include "images/vmlinux_boot.h"

#define STR_(x) #x
#define STR(x) STR_(x)

/*
 * The setup code. QEMU jumps to 0x200 in real mode, with DS, ES and SS at the
 * start of this: it asks the BIOS for the memory map, which goes with a copy of
 * the header into a struct boot_params at 0x1000, and enters protected mode.
 * GRUB does all that by itself and reads the header only.
 */
__asm__(
"	.pushsection .rodata\n"
"	.balign 16\n"
"	.globl vmlinux_setup\n"
"	.set BP, 0x1000\n"		/* boot_params, from DS:0 */
"	.set SMAP, 0x534d4150\n"
"	.code16\n"
"vmlinux_setup:\n"
"	.org vmlinux_setup + 0x1f1\n"
"	.byte " STR(VMLINUX_SETUP_BYTES) " / 512 - 1\n"	/* setup_sects */
"	.word 1\n"			/* root_flags: read-only */
"	.long 0\n"			/* 0x1f4 syssize: filled in */
"	.word 0, 0xffff, 0\n"		/* ram_size, vid_mode, root_dev */
"	.word 0xaa55\n"
"	.byte 0xeb, setup_start - header\n"		/* 0x200: jmp */
"header: .ascii \"HdrS\"\n"
"	.word 0x020c\n"			/* boot protocol 2.12 */
"	.long 0\n"			/* realmode_swtch */
"	.word 0x1000\n"			/* start_sys_seg */
"	.word " STR(VMLINUX_VERSION_OFF) " - 0x200\n"
"	.byte 0, 1\n"			/* type_of_loader; LOADED_HIGH */
"	.word 0x8000\n"			/* setup_move_size */
"	.long " STR(VMLINUX_LOAD) "\n"	/* code32_start */
"	.long 0, 0, 0\n"		/* ramdisk_image, _size, bootsect_kludge */
"	.word 0\n"			/* heap_end_ptr */
"	.byte 0, 0\n"
"	.long 0\n"			/* cmd_line_ptr */
"	.long 0x7fffffff\n"		/* initrd_addr_max */
"	.long 0x200000\n"		/* kernel_alignment */
"	.byte 0, 21\n"			/* not relocatable; min_alignment */
"	.word 0\n"			/* xloadflags */
"	.long 2047\n"			/* cmdline_size */
"	.long 0\n"			/* hardware_subarch */
"	.quad 0\n"
"	.long " STR(VMLINUX_CODE_BYTES) ", 0\n"	/* payload; 0x24c: filled in */
"	.quad 0\n"			/* setup_data */
"	.quad " STR(VMLINUX_LOAD) "\n"	/* pref_address */
"	.long 0\n"			/* 0x260 init_size: filled in */
"	.long 0\n"			/* handover_offset */
"header_end:\n"

"setup_start:\n"
"	cld\n"
"	movw %ds, %ax\n"
"	movw %ax, %es\n"
"	movw $BP, %di\n"
"	xorl %eax, %eax\n"
"	movw $1024, %cx\n"
"	rep stosl\n"
"	movw $0x1f1, %si\n"
"	movw $(BP + 0x1f1), %di\n"
"	movw $(header_end - vmlinux_setup - 0x1f1), %cx\n"
"	rep movsb\n"
	/* e820: a count at 0x1e8, at most 128 entries of 20 bytes from 0x2d0 */
"	movw $(BP + 0x2d0), %di\n"
"	xorl %ebx, %ebx\n"
"1:	movl $0xe820, %eax\n"
"	movl $20, %ecx\n"
"	movl $SMAP, %edx\n"
"	int $0x15\n"
"	jc 2f\n"
"	cmpl $SMAP, %eax\n"
"	jne 2f\n"
"	addw $20, %di\n"
"	incb (BP + 0x1e8)\n"
"	js 2f\n"
"	testl %ebx, %ebx\n"
"	jnz 1b\n"
	/* address line 20, by the BIOS and by the port that PCs have for it */
"2:	movw $0x2401, %ax\n"
"	int $0x15\n"
"	inb $0x92, %al\n"
"	orb $2, %al\n"
"	andb $0xfe, %al\n"
"	outb %al, $0x92\n"
"	cli\n"
"	xorl %ebx, %ebx\n"
"	movw %ds, %bx\n"
"	shll $4, %ebx\n"
"	leal (setup_gdt - vmlinux_setup)(%ebx), %eax\n"
"	movl %eax, (setup_gdtr - vmlinux_setup + 2)\n"
"	leal BP(%ebx), %esi\n"
"	lgdtl (setup_gdtr - vmlinux_setup)\n"
"	movl %cr0, %eax\n"
"	orb $1, %al\n"
"	movl %eax, %cr0\n"
"	ljmpl $0x10, $" STR(VMLINUX_LOAD) "\n"
"	.balign 8\n"
"setup_gdt:\n"
"	.quad 0, 0, 0x00cf9a000000ffff, 0x00cf92000000ffff\n"
"setup_gdtr:\n"
"	.word setup_gdtr - setup_gdt - 1\n"
"	.long 0\n"
"	.org vmlinux_setup + " STR(VMLINUX_VERSION_OFF) "\n"
"	.org vmlinux_setup + " STR(VMLINUX_SETUP_BYTES) "\n"
"	.code64\n"
"	.popsection\n"
);

/*
 * The 32-bit code, entered at VMLINUX_LOAD with a struct boot_params in %esi and
 * flat segments at 0x10 and 0x18. The kernel follows it: it is moved to where it
 * is linked to, from its end on, for the two places may overlap. Then the first
 * 4 GiB are mapped as they are, in pages of 2 MiB, and the kernel is entered.
 */
__asm__(
"	.pushsection .rodata\n"
"	.balign 16\n"
"	.globl vmlinux_code\n"
"	.set LOAD, " STR(VMLINUX_LOAD) "\n"
"	.set PARAMS, LOAD + " STR(VMLINUX_PARAMS) "\n"
"	.set TABLES, LOAD + 0x2000\n"
"	.set STACK, LOAD + 0x2000\n"
"	.code32\n"
"vmlinux_code:\n"
"	jmp code_start\n"
"	.org vmlinux_code + " STR(VMLINUX_PARAMS) "\n"
"	.long 0, 0, 0\n"		/* filled in */
"code_start:\n"
"	cli\n"
"	movl $0x18, %eax\n"
"	movl %eax, %ds\n"
"	movl %eax, %es\n"
"	movl %eax, %ss\n"
"	movl %esi, %ebp\n"
"	movl PARAMS + 4, %ecx\n"
"	movl PARAMS, %edi\n"
"	leal -4(%edi, %ecx), %edi\n"
"	leal (LOAD + " STR(VMLINUX_CODE_BYTES) " - 4)(%ecx), %esi\n"
"	shrl $2, %ecx\n"
"	std\n"
"	rep movsl\n"
"	cld\n"
"	movl $STACK, %esp\n"
	/* one table of level 4, one of level 3, four of level 2 */
"	movl $TABLES, %edi\n"
"	xorl %eax, %eax\n"
"	movl $2048, %ecx\n"
"	rep stosl\n"
"	movl $(TABLES + 0x1000 + 7), TABLES\n"
"	movl $(TABLES + 0x2000 + 7), %eax\n"
"	movl $(TABLES + 0x1000), %edi\n"
"	movl $4, %ecx\n"
"1:	movl %eax, (%edi)\n"
"	addl $0x1000, %eax\n"
"	addl $8, %edi\n"
"	loop 1b\n"
"	movl $0x83, %eax\n"
"	movl $(TABLES + 0x2000), %edi\n"
"	movl $2048, %ecx\n"
"2:	movl %eax, (%edi)\n"
"	movl $0, 4(%edi)\n"
"	addl $0x200000, %eax\n"
"	addl $8, %edi\n"
"	loop 2b\n"
"	lgdt LOAD + code_gdtr - vmlinux_code\n"
"	movl %cr4, %eax\n"
"	orl $0x20, %eax\n"		/* PAE */
"	movl %eax, %cr4\n"
"	movl $TABLES, %eax\n"
"	movl %eax, %cr3\n"
"	movl $0xc0000080, %ecx\n"	/* EFER */
"	rdmsr\n"
"	btsl $8, %eax\n"		/* LME */
"	wrmsr\n"
"	movl %cr0, %eax\n"
"	orl $0x80000001, %eax\n"	/* PG, PE */
"	movl %eax, %cr0\n"
"	ljmp $0x10, $(LOAD + code_long - vmlinux_code)\n"
"	.code64\n"
"code_long:\n"
"	movl $0x18, %eax\n"
"	movl %eax, %ds\n"
"	movl %eax, %es\n"
"	movl %eax, %ss\n"
"	movl %ebp, %esi\n"		/* the upper half is zero then */
"	xorl %ebp, %ebp\n"
"	movl PARAMS + 8, %eax\n"
"	jmp *%rax\n"
"	.balign 8\n"
"code_gdt:\n"
"	.quad 0, 0, 0x00af9a000000ffff, 0x00cf92000000ffff\n"
"code_gdtr:\n"
"	.word code_gdtr - code_gdt - 1\n"
"	.long LOAD + code_gdt - vmlinux_code\n"
"	.org vmlinux_code + " STR(VMLINUX_CODE_BYTES) "\n"
"	.popsection\n"
);
