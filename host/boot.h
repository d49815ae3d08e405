/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * boot.h - one VM's life, from domain XML to verdict
 */
#ifndef KONTEST_BOOT_H
#define KONTEST_BOOT_H

#include "images/kernel.h"
#include "images/profile.h"
#include "results/verdict.h"

/**
 * struct boot_disk - a disk of the VM; NULL path: not there
 * @path: raw image
 * @readonly: the guest cannot write it (system)
 * @scratch: writes are thrown away, the file is never changed (work, other,
 *           swap: every boot starts from identical bytes)
 * @rates: the profile's throttle, or NULL
 */
struct boot_disk {
	const char *path;
	bool readonly;
	bool scratch;
	const struct profile_disk *rates;
};

/**
 * struct boot_config - what to boot; all strings are the caller's
 * @name: domain name, unique on this host
 * @uri: libvirt URI, or NULL for the embedded driver
 * @dir: a directory of this boot's own: libvirt root, console.log, domain.xml
 * @profile: machine to imitate
 * @emulator: QEMU's path; NULL: $KONTEST_QEMU or the one in PATH
 * @accel: ACCEL_KVM, ACCEL_TCG or ACCEL_EXACT (never AUTO)
 * @vmlinuz, @initrd: direct boot
 * @cmdline: kernel command line
 * @system, @work, @other, @swap, @results: disks
 * @bus: what they are attached to; exact mode has NVDIMMs whatever it says.
 *       Disks on AHCI or IDE cannot be read-only: they are scratch then
 * @deadline_s: host seconds for the whole boot; 0: none but the silence rule
 * @silence_s: host seconds without a console byte or a journal record after
 *             which the guest counts as hung; 0: worked out from the boot.
 *             Before the RECEIPT it is 120 at least
 * @receipt: called with the RECEIPT's payload, @receipt_data and a buffer for
 *           the reason; false ends the boot as profile-mismatch. May be NULL
 */
struct boot_config {
	const char *name;
	const char *uri;
	const char *dir;
	const char *emulator;
	const struct profile *profile;
	enum accel accel;
	const char *vmlinuz, *initrd, *cmdline;
	struct boot_disk system, work, other, swap, results;
	enum kernel_bus bus;
	unsigned int deadline_s;
	unsigned int silence_s;
	bool (*receipt)(const char *payload, void *data, char *why,
			size_t why_len);
	void *receipt_data;
};

/**
 * boot_run() - boot, follow the journal, end the VM, append the VERDICT record
 * @cfg: what
 * @verdict: how it ended; the evidence is in the journal's VERDICT
 * @err: why the VM could not even be started
 *
 * Call it in a process of its own: libvirt's embedded driver allows one root a
 * process. When that process dies, however it dies, QEMU dies with it. When
 * its parent dies, or it gets SIGTERM, SIGINT or SIGHUP, the VM is ended and
 * the verdict is "killed". It keeps these signal handlers.
 *
 * Return: 0 when there is a verdict (good or bad), -1 when there is none.
 */
int boot_run(const struct boot_config *cfg, enum verdict *verdict,
	     struct error *err);

/**
 * boot_bury() - judge a boot whose process died before it could
 * @cfg: as it was given to boot_run(), with a results disk
 * @verdict: how it ended; taken from the journal's VERDICT when there is one,
 *           else worked out from journal and console and appended
 * @err: why the journal could not be read or written
 *
 * For the parent of the process that called boot_run(), once that was reaped
 * and has not exited by itself. What is left of the VM is gone by then or dies
 * within a second.
 *
 * Return: 0, or -1.
 */
int boot_bury(const struct boot_config *cfg, enum verdict *verdict,
	      struct error *err);

/* domain_xml() - the domain's XML, from @cfg alone; owned by the caller */
char *domain_xml(const struct boot_config *cfg, struct error *err);

/**
 * struct qemu_info - the QEMU that will run the boots; strings owned
 * @path: of qemu-system-x86_64 ($KONTEST_QEMU or in PATH)
 * @version: "7.2.18"
 * @package: package version, "" when QEMU does not say
 */
struct qemu_info {
	char *path;
	char *version;
	char *package;
};
int qemu_probe(struct qemu_info *q, struct error *err);
void qemu_info_free(struct qemu_info *q);

/**
 * accel_choose() - turn ACCEL_AUTO into what works here, check what was demanded
 * @wanted: from plan or profile
 * @profile: to boot the probe with
 * @vmlinuz, @initrd: a candidate kernel; under KVM only a booted kernel counts
 * @cache_dir: the answer is kept there per host kernel, QEMU, CPU and kernel
 * @got: ACCEL_KVM, ACCEL_TCG or ACCEL_EXACT
 * @why: one line for the user when @got is not the fastest, owned, or NULL
 *
 * Return: 0; -1 when what was demanded cannot be had, with the reason.
 */
int accel_choose(enum accel wanted, const struct profile *profile,
		 const char *vmlinuz, const char *initrd, const char *cache_dir,
		 enum accel *got, char **why, struct error *err);

#endif
