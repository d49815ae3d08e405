/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preflight.c - can this kernel run a boot of ours? Asked before any boot.
 */
#include "images/preflight.h"

#include <stdio.h>
#include <string.h>

#include "images/kconfig.h"
#include "images/kernel.h"
#include "images/modules.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/text.h"

#define CONFIG_MAX_BYTES ((size_t)16 << 20)

/**
 * struct need - an option that has to be there
 * @option: without CONFIG_
 * @module: the module that will do as well, or NULL: it must be built in
 * @since: KVER that made it an option; before, the feature was always there
 */
struct need {
	const char *option;
	const char *module;
	unsigned int since;
};

static const struct need always[] = {
	{ "64BIT", NULL, 0 },
	{ "X86_64", NULL, 0 },
	/* PID 1 is in the initramfs; it is not compressed: no CONFIG_RD_* */
	{ "BLK_DEV_INITRD", NULL, 0 },
	{ "BINFMT_ELF", NULL, 0 },
	{ "BINFMT_SCRIPT", NULL, KVER(3, 10) },	/* #! */
	{ "PRINTK", NULL, 0 },			/* the console is the evidence */
	{ "TTY", NULL, KVER(3, 9) },
	{ "SERIAL_8250", NULL, 0 },
	{ "SERIAL_8250_CONSOLE", NULL, 0 },
	{ "PROC_FS", NULL, 0 },
	{ "PROC_SYSCTL", NULL, 0 },		/* drop_caches before each run */
	{ "SYSFS", NULL, 0 },
	{ "DEVTMPFS", NULL, 0 },		/* there is no udev */
	{ "SHMEM", NULL, 0 },			/* counters shared with the loads */
	{ "TMPFS", NULL, 0 },
	{ "FUTEX", NULL, 0 },			/* glibc's threads and stdio */
	{ "FILE_LOCKING", NULL, 0 },		/* make --output-sync */
	{ "POSIX_TIMERS", NULL, KVER(4, 11) },	/* setitimer(), alarm() */
	{ "ACPI", NULL, 0 },			/* power-off ends a boot */
	{ "PCI", NULL, 0 },
	{ "BLOCK", NULL, 0 },
	{ "EFI_PARTITION", NULL, 0 },		/* the root is on a GPT disk */
	{ "EXT4_FS", "ext4", 0 },
	{ NULL, NULL, 0 }
};

/* The disks of exact mode */
static const struct need nvdimm[] = {
	{ "ACPI_NFIT", "nfit", 0 },
	{ "LIBNVDIMM", "libnvdimm", 0 },
	{ "BLK_DEV_PMEM", "nd_pmem", 0 },
	{ "NET", NULL, 0 },			/* a disk with a speed is served */
	{ "UNIX", NULL, 0 },			/* through a socket */
	{ "BLK_DEV_NBD", "nbd", 0 },
	{ NULL, NULL, 0 }
};

/* chat: its users talk over loopback TCP */
static const struct need inet[] = {
	{ "NET", NULL, 0 },
	{ "INET", NULL, 0 },
	{ NULL, NULL, 0 }
};

/* The disks of the measured modes, the fastest first: one bus will do */
static const struct need buses[][3] = {
	[KERNEL_BUS_VIRTIO] = { { "VIRTIO_PCI", "virtio_pci", 0 },
				{ "VIRTIO_BLK", "virtio_blk", 0 } },
	[KERNEL_BUS_AHCI] = { { "SATA_AHCI", "ahci", 0 },
			      { "BLK_DEV_SD", "sd_mod", 0 } },
	[KERNEL_BUS_PIIX] = { { "ATA_PIIX", "ata_piix", 0 },
			      { "BLK_DEV_SD", "sd_mod", 0 } },
};

static const char *const bus_names[] = {
	[KERNEL_BUS_VIRTIO] = "virtio",
	[KERNEL_BUS_AHCI] = "AHCI",
	[KERNEL_BUS_PIIX] = "IDE",
};

/* Without these a boot runs, but a figure is missing or means less. */
static const struct {
	const char *option;
	unsigned int since;
	const char *costs;
} wishes[] = {
	{ "SMP", 0, "it uses one CPU only, whatever the profile has" },
	{ "SWAP", 0, "it does not swap, a profile with swap will not match" },
	{ "CGROUPS", 0, "load and job share one group, their figures are not kept apart" },
	{ "MEMCG", KVER(3, 6), "no memory figures for load and job" },
	{ "BLK_CGROUP", 0, "no disk figures for load and job" },
	{ "FAIR_GROUP_SCHED", 0, "no CPU controller, load and job compete task by task" },
	{ "VM_EVENT_COUNTERS", 0, "no counts of page faults and of pages swapped" },
	{ "HIGH_RES_TIMERS", 0, "sleeps and samples come with the clock's tick only" },
	{ "PSI", KVER(4, 20), "no pressure figures" },
	{ "TASK_IO_ACCOUNTING", 0, "no bytes read and written by process" },
	{ "EFI_STUB", 0, "its image does not start by UEFI outside of kontest" },
};

unsigned int kernel_version(const char *release)
{
	unsigned int major = 0, minor = 0;

	if (sscanf(release, "%u.%u", &major, &minor) < 1)
		return 0;
	return KVER(major, minor);
}

/* struct facts - all that is known of a kernel */
struct facts {
	struct kconfig config;
	bool judged;
	struct modules *modules;
	unsigned int version;
};

static void facts_free(struct facts *f)
{
	kconfig_free(&f->config);
	modules_free(f->modules);
}

static int facts_read(const struct kernel *k, struct facts *f, struct error *err)
{
	const char *path = k->config ? k->config : k->judged;
	cleanup_free char *name = xasprintf("configuration of kernel '%s'", k->spec);
	CLEANUP(buf_free) struct buf text = { 0 };

	f->modules = modules_new();
	f->judged = !k->config;
	f->version = kernel_version(k->release);
	if (k->modules && modules_add_dir(f->modules, k->modules, err) < 0)
		return -1;
	if (!path)
		return error_set(err, 0, "kernel '%s': no configuration; give its .config with --config",
				 k->spec);
	if (file_read(path, CONFIG_MAX_BYTES, &text, err) < 0)
		return -1;
	return kconfig_parse(text.len ? text.data : "", name, &f->config, err);
}

enum state { ABSENT, LOST, ONLY_MODULE, UNKNOWN, BUILTIN, MODULE };

static enum state state_of(const struct facts *f, const struct need *n)
{
	const char *value = kconfig_get(&f->config, n->option);
	bool ko = n->module && modules_find(f->modules, n->module);

	if (f->version < n->since || (value && strcmp(value, "y") == 0))
		return BUILTIN;
	if (f->judged && ko)
		return MODULE;
	if (f->judged && !value)
		return UNKNOWN;
	if (!value || strcmp(value, "m") != 0)
		return ABSENT;
	if (!n->module)
		return ONLY_MODULE;
	return ko ? MODULE : LOST;
}

static bool have_all(const struct facts *f, const struct need *needs)
{
	for (; needs->option; needs++)
		if (state_of(f, needs) < UNKNOWN)
			return false;
	return true;
}

static void list_missing(const struct facts *f, const struct need *needs,
			 struct buf *out, bool *lost)
{
	for (; needs->option; needs++) {
		enum state s = state_of(f, needs);

		if (s >= UNKNOWN)
			continue;
		buf_printf(out, "%sCONFIG_%s", out->len ? ", " : "", needs->option);
		if (s == ONLY_MODULE)
			buf_adds(out, " (is =m, must be =y)");
		if (s == LOST)
			buf_printf(out, " (is =m, but %s.ko is not among its modules)",
				   needs->module);
		*lost |= s == LOST || (f->judged && needs->module);
	}
}

/* Any bus will do: so one entry that names the choice. */
static void list_buses(const struct facts *f, struct buf *out, bool *lost)
{
	for (size_t i = 0; i < KERNEL_BUSES; i++)
		if (have_all(f, buses[i]))
			return;
	buf_printf(out, "%sa disk driver (", out->len ? ", " : "");
	for (size_t i = 0; i < KERNEL_BUSES; i++) {
		CLEANUP(buf_free) struct buf one = { 0 };

		list_missing(f, buses[i], &one, lost);
		buf_printf(out, "%s%s", i ? "; or " : "", one.data);
	}
	buf_adds(out, ")");
}

static void take_notes(const struct kernel *k, const struct facts *f, bool exact,
		       struct strings *notes)
{
	if (f->judged)
		strings_add(notes, xasprintf("%s: no configuration was found; judged by what its image gives away (--config FILE makes sure)",
					     k->label));
	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		const struct need n = { wishes[i].option, NULL, wishes[i].since };

		if (state_of(f, &n) < UNKNOWN)
			strings_add(notes, xasprintf("%s: CONFIG_%s is not set: %s", k->label,
						     wishes[i].option, wishes[i].costs));
	}
	if (!have_all(f, buses[KERNEL_BUS_AHCI]) && !have_all(f, buses[KERNEL_BUS_PIIX]))
		strings_add(notes, xasprintf("%s: neither CONFIG_SATA_AHCI nor CONFIG_ATA_PIIX with CONFIG_BLK_DEV_SD: outside of kontest its image needs a virtio disk%s",
					     k->label, exact ? " or NVDIMM" : ""));
}

int kernel_preflight(const struct kernel *k, unsigned int needs,
		     struct strings *notes, struct error *err)
{
	CLEANUP(facts_free) struct facts f = { .judged = false };
	CLEANUP(buf_free) struct buf missing = { 0 };
	bool lost = false;

	if (facts_read(k, &f, err) < 0)
		return -1;
	list_missing(&f, always, &missing, &lost);
	if (needs & KERNEL_INET)
		list_missing(&f, inet, &missing, &lost);
	if (needs & KERNEL_EXACT)
		list_missing(&f, nvdimm, &missing, &lost);
	else
		list_buses(&f, &missing, &lost);
	if (missing.len)
		return error_set(err, 0, "kernel '%s' (%s) lacks %s; set them and build it again%s%s",
				 k->spec, k->release, missing.data,
				 lost ? ", or give its modules (--modules DIR)" : "",
				 f.judged ? "; judged by its image, --config FILE gives its configuration" : "");
	if (notes)
		take_notes(k, &f, needs & KERNEL_EXACT, notes);
	return 0;
}

const char *kernel_bus_name(enum kernel_bus bus)
{
	return bus_names[bus];
}

int kernel_disk_buses(const struct kernel *k, unsigned int *set,
		      struct error *err)
{
	CLEANUP(facts_free) struct facts f = { .judged = false };

	*set = 0;
	if (facts_read(k, &f, err) < 0)
		return -1;
	for (size_t i = 0; i < KERNEL_BUSES; i++)
		if (have_all(&f, buses[i]))
			*set |= 1u << i;
	if (*set)
		return 0;
	return error_set(err, 0, "kernel '%s' (%s) has no driver for a virtio, AHCI or IDE disk: set CONFIG_VIRTIO_PCI and CONFIG_VIRTIO_BLK",
			 k->spec, k->release);
}
