/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accel.h - the parts of accel_choose()
 */
#ifndef KONTEST_ACCEL_H
#define KONTEST_ACCEL_H

#include "host/boot.h"

/* Under working KVM a kernel is up in one or two seconds. */
#define ACCEL_PROBE_SILENCE_S 15
#define ACCEL_PROBE_S 60

/**
 * kvm_device_check() - can KVM be there at all?
 * @device: /dev/kvm
 * @err: which of the reasons it is that it cannot, with the remedy
 *
 * Return: 0 when it may be worth a boot, or -1.
 */
int kvm_device_check(const char *device, struct error *err);

/**
 * struct kvm_probe - one boot under KVM
 * @qemu: path of QEMU
 * @profile: machine, CPU model, CPUs and memory
 * @vmlinuz, @initrd: a kernel and an initramfs that knows "kontest.probe"
 * @silence_s, @total_s: deadlines
 */
struct kvm_probe {
	const char *qemu;
	const struct profile *profile;
	const char *vmlinuz, *initrd;
	unsigned int silence_s, total_s;
};

/* kvm_probe_boot() - 0 when the guest said "kontest probe ok"; else -1 and what
 * it did instead */
int kvm_probe_boot(const struct kvm_probe *p, struct error *err);

/**
 * kvm_answer_path() - the file that keeps whether KVM works
 * @p: the boot that found out, or would
 * @q: its QEMU
 * @dir: directory of such files
 * @err: reason of a failure
 *
 * Return: a path that is another one for everything on which the answer depends
 * (host kernel, CPU, QEMU, guest kernel, machine); owned by the caller; or NULL.
 */
char *kvm_answer_path(const struct kvm_probe *p, const struct qemu_info *q,
		      const char *dir, struct error *err);

#endif
