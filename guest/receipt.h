/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * receipt.h - what the guest got, for the host to compare with the profile
 */
#ifndef KONTEST_GUEST_RECEIPT_H
#define KONTEST_GUEST_RECEIPT_H

#include "guest/disks.h"
#include "guest/journal_write.h"
#include "guest/knob.h"

/**
 * receipt_write() - gather it and append the RECEIPT record
 * @cgroup2: cgroup v2 is in use
 * @knobs: what became of the plan's knobs
 */
int receipt_write(struct jw *j, const struct disk disks[DISK_ROLES],
		  bool cgroup2, const struct knobs *knobs, struct fail *f);

#endif
