/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bus.h - what the disks of a run are attached to
 */
#ifndef KONTEST_BUS_H
#define KONTEST_BUS_H

#include "images/kernel.h"
#include "images/profile.h"

/**
 * bus_choose() - the fastest bus for which every kernel of a run has drivers
 * @kernels: preflighted
 * @n: how many
 * @profile: its machine has IDE or not, its disks may be too many for IDE
 * @bus: result
 * @note: a line for the user when it is not virtio, owned, else NULL
 * @err: names the kernels that have no bus in common, or what the machine lacks
 *
 * All kernels get the same bus: with different ones the machines would differ,
 * and with them what is measured. Not for exact mode, which has NVDIMMs.
 *
 * Return: 0, or -1.
 */
int bus_choose(const struct kernel *const kernels[], size_t n,
	       const struct profile *profile, enum kernel_bus *bus, char **note,
	       struct error *err);

#endif
