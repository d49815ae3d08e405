/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * provenance.h - where a run's figures come from: all that decides them
 *
 * Read from the boots' contexts alone, so it is what was used and not what is
 * there now. What depends on the host stands in "host".
 */
#ifndef KONTEST_PROVENANCE_H
#define KONTEST_PROVENANCE_H

#include <stdio.h>

#include "results/record.h"
#include "results/store.h"

/**
 * provenance_json() - as an object; the caller's
 * @boots: of one run
 *
 * Members are always there, null where an older journal does not say: kontest,
 * accel, order_seed, plan, profile, job, guest, lock, base, work, swap, other
 * (digests), qemu (version, package, machine, cpu), kernels[] (label, release,
 * package, version, and digests: digest, system, initramfs; cmdline), host
 * (libvirt, kernel, cpu, machine, nested: it is a virtual machine itself).
 */
json_t *provenance_json(const struct boot_records *boots);

/* provenance_put() - the same for people, "name: value" lines */
void provenance_put(const struct boot_records *boots, struct buf *b);

/* provenance_print() - that of a run in the store */
int provenance_print(struct store *s, const char *run_id, FILE *out,
		     struct error *err);

#endif
