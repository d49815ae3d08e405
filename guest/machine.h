/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.h - the machine's state between runs
 */
#ifndef KONTEST_GUEST_MACHINE_H
#define KONTEST_GUEST_MACHINE_H

#include <stdint.h>

#include "guest/disks.h"

/* machine_swap_on() - start to use the swap disk, if there is one */
int machine_swap_on(const struct disk *swap, struct fail *f);

/**
 * machine_count_io() - have the kernel count a disk's requests
 *
 * It does so by itself for every ordinary disk, but before 6.11 not for an
 * NVDIMM, which in exact mode stands for one.
 */
int machine_count_io(const struct disk *disk, struct fail *f);

/**
 * machine_flush() - nothing left in memory from before: write back, drop
 * caches, bring swap back to RAM and start it empty
 */
int machine_flush(const struct disk *swap, struct fail *f);

/* machine_seed() - stir a number into the kernel's random pool and reseed */
int machine_seed(uint64_t seed, struct fail *f);

/* machine_ram_bytes() - "System RAM" of an iomem text (/proc/iomem) */
uint64_t machine_ram_bytes(const char *iomem);

#endif
