/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/bus.h"

#include <string.h>

#include "host/domain.h"
#include "results/base/cleanup.h"

#define BIT(bus) (1u << (bus))
#define IDE_MACHINE "pc-i440fx-"

static void list_buses(unsigned int set, struct buf *out)
{
	for (unsigned int i = 0; i < KERNEL_BUSES; i++)
		if (set & BIT(i))
			buf_printf(out, "%s%s", out->len ? " or " : "",
				   kernel_bus_name(i));
}

static int nothing_common(const struct kernel *k, unsigned int has,
			  unsigned int others, struct error *err)
{
	CLEANUP(buf_free) struct buf mine = { 0 }, theirs = { 0 };

	list_buses(has, &mine);
	list_buses(others, &theirs);
	return error_set(err, 0, "kernel '%s' has drivers for disks on %s, the ones before it for %s: their figures could not be compared; build it with CONFIG_VIRTIO_PCI and CONFIG_VIRTIO_BLK, or run them apart",
			 k->label, mine.data, theirs.data);
}

static int check_ide(const struct profile *p, const struct kernel *k,
		     struct error *err)
{
	size_t disks = 3u + p->other.present + p->swap.present;

	/* Any other machine of QEMU's has none: q35 has AHCI. */
	if (!str_starts(p->machine, IDE_MACHINE))
		return error_set(err, 0, "kernel '%s' has drivers for IDE disks alone, and machine %s of profile '%s' has no IDE: set machine = pc-i440fx-7.2 there, or build the kernel with CONFIG_SATA_AHCI or CONFIG_VIRTIO_BLK",
				 k->label, p->machine, p->name);
	if (disks > DOMAIN_IDE_DISKS)
		return error_set(err, 0, "kernel '%s' has drivers for IDE disks alone, which can be %d, and profile '%s' has %zu (system, work, results, other, swap): leave out [disk other] or [disk swap] there, or build the kernel with CONFIG_SATA_AHCI or CONFIG_VIRTIO_BLK",
				 k->label, DOMAIN_IDE_DISKS, p->name, disks);
	return 0;
}

int bus_choose(const struct kernel *const kernels[], size_t n,
	       const struct profile *profile, enum kernel_bus *bus, char **note,
	       struct error *err)
{
	unsigned int common = BIT(KERNEL_BUSES) - 1, has;
	/* the kernel that has cost the last one */
	const struct kernel *slowest = NULL;
	unsigned int i = 0;

	*note = NULL;
	for (size_t k = 0; k < n; k++) {
		if (kernel_disk_buses(kernels[k], &has, err) < 0)
			return -1;
		if (!(common & has))
			return nothing_common(kernels[k], has, common, err);
		if ((common & has & -(common & has)) != (common & -common))
			slowest = kernels[k];
		common &= has;
	}
	while (!(common & BIT(i)))
		i++;
	*bus = (enum kernel_bus)i;
	if (*bus == KERNEL_BUS_VIRTIO || !slowest)
		return 0;
	if (*bus == KERNEL_BUS_PIIX && check_ide(profile, slowest, err) < 0)
		return -1;
	*note = xasprintf("disks are on %s: kernel %s has no driver for %s",
			  kernel_bus_name(*bus), slowest->label,
			  *bus == KERNEL_BUS_AHCI ? "virtio" : "virtio or AHCI");
	return 0;
}
