/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preflight_judge.c - what a kernel image gives away without a configuration
 *
 * Many a feature leaves a constant string in the image that is there exactly
 * when it is built in: the name of a file system, of a driver, of a slab cache.
 */
#include <elf.h>
#include <string.h>

#include "images/kernel_parts.h"
#include "images/preflight.h"
#include "results/base/text.h"

/**
 * struct evidence - a feature and its string
 * @option: without CONFIG_
 * @string: in the image exactly when the option is y
 * @needs: an option without which this one cannot be, earlier in the table
 * @printk: the string is a printk's: without CONFIG_PRINTK it proves nothing
 * @since: KVER of the first kernel that has the string; before, no judgement
 */
struct evidence {
	const char *option;
	const char *string;
	const char *needs;
	bool printk;
	unsigned int since;
};

static const struct evidence evidence[] = {
	{ "PRINTK", "console [%s%d] enabled", NULL, false, 0 },
	{ "BLK_DEV_INITRD", "retain_initrd", NULL, false, 0 },
	{ "BINFMT_ELF", "Uhuuh, elf segment at", NULL, true, KVER(4, 18) },
	{ "PROC_FS", "self/mounts", NULL, false, 0 },
	{ "PROC_SYSCTL", "drop_caches", "PROC_FS", false, 0 },
	{ "SYSFS", "sysfs", NULL, false, 0 },
	{ "DEVTMPFS", "devtmpfs", NULL, false, 0 },
	{ "TMPFS", "nr_blocks", NULL, false, 0 },
	{ "TTY", "Couldn't register /dev/tty driver", NULL, false, 0 },
	{ "SERIAL_8250", "serial8250", "TTY", false, 0 },
	{ "SERIAL_8250_CONSOLE", "uart8250", "SERIAL_8250", false, KVER(4, 4) },
	{ "FUTEX", "futex", NULL, false, 0 },
	{ "FILE_LOCKING", "file_lock_cache", NULL, false, 0 },
	{ "POSIX_TIMERS", "posix_timers_cache", NULL, false, 0 },
	{ "ACPI", "LNXSYBUS", NULL, false, 0 },
	{ "PCI", "PCI conf1", NULL, false, 0 },
	{ "BLOCK", "kblockd", NULL, false, 0 },
	{ "EFI_PARTITION", "Primary GPT is invalid", "BLOCK", true, 0 },
	{ "EXT4_FS", "ext4_inode_cache", "BLOCK", false, 0 },
	{ "INET", "ip_dst_cache", NULL, false, 0 },
	{ "VIRTIO_PCI", "virtio-pci", "PCI", false, 0 },
	{ "VIRTIO_BLK", "virtio_blk", "BLOCK", false, 0 },
	{ "SATA_AHCI", "JMB361 has only one port", "PCI", true, 0 },
	{ "ATA_PIIX", "invalid MAP value", "PCI", true, 0 },
	{ "BLK_DEV_SD", "Synchronizing SCSI cache", "BLOCK", true, 0 },
	{ "ACPI_NFIT", "ACPI0012", "ACPI", false, 0 },
	{ "LIBNVDIMM", "ndbus%d", "BLOCK", false, 0 },
	{ "BLK_DEV_PMEM", "unable to guarantee persistence of writes", "LIBNVDIMM",
	  true, KVER(4, 9) },
	{ "SWAP", "Filename\t\t\t\tType", NULL, false, 0 },
	{ "CGROUPS", "cgroup2", NULL, false, KVER(4, 5) },
	{ "MEMCG", "oom.group", "CGROUPS", false, KVER(4, 19) },
	{ "FAIR_GROUP_SCHED", "weight.nice", "CGROUPS", false, KVER(4, 15) },
	{ "PSI", "avg10=", "PROC_FS", false, KVER(4, 20) },
	{ "TASK_IO_ACCOUNTING", "cancelled_write_bytes", "PROC_FS", false, 0 },
};

#define EVIDENCE_N (sizeof(evidence) / sizeof(evidence[0]))

enum judgement { UNKNOWN, NO, YES };

static enum judgement earlier(const enum judgement *all, size_t n,
			      const char *option)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(evidence[i].option, option) == 0)
			return all[i];
	return UNKNOWN;
}

static void say(struct buf *out, const char *option, enum judgement j)
{
	if (j == YES)
		buf_printf(out, "CONFIG_%s=y\n", option);
	else if (j == NO)
		buf_printf(out, "# CONFIG_%s is not set\n", option);
}

void preflight_judge(const struct buf *vmlinux, const char *release,
		     struct buf *out)
{
	const unsigned char *elf = (const unsigned char *)vmlinux->data;
	enum judgement all[EVIDENCE_N];
	enum judgement x86_64 = UNKNOWN;

	if (vmlinux->len > EI_CLASS && memcmp(elf, ELFMAG, SELFMAG) == 0)
		x86_64 = elf[EI_CLASS] == ELFCLASS64 ? YES : NO;
	buf_printf(out, "# What the image of %s gives away; not a configuration\n",
		   release);
	say(out, "64BIT", x86_64);
	say(out, "X86_64", x86_64);
	for (size_t i = 0; i < EVIDENCE_N; i++) {
		const struct evidence *e = &evidence[i];

		if (kernel_version(release) < e->since)
			all[i] = UNKNOWN;
		else if (memmem(vmlinux->data, vmlinux->len, e->string, strlen(e->string)))
			all[i] = YES;
		else if (e->printk && all[0] != YES)
			all[i] = UNKNOWN;
		else
			all[i] = NO;
		if (e->needs && earlier(all, i, e->needs) == NO)
			all[i] = NO;
		say(out, e->option, all[i]);
	}
}
