/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel.h - candidate kernels: recognise, take apart, check before any boot
 */
#ifndef KONTEST_KERNEL_H
#define KONTEST_KERNEL_H

#include "images/cache.h"
#include "results/base/digest.h"
#include "results/base/text.h"

/**
 * struct kernel - one candidate; strings owned
 * @label: how tables call it
 * @spec: what the user gave: debian:PACKAGE, FILE.deb, bzImage, vmlinux, tar of
 *        make tar-pkg, build tree, DISK or DISK:VERSION
 * @kind: "debian", "deb", "bzImage", "vmlinux", "tar", "tree", "disk"
 * @release: uname -r, read from the image itself
 * @package: name of the package that it came in, else NULL
 * @package_version: of a package, else NULL
 * @vmlinuz: path of the bzImage in the cache; of a vmlinux, what was made of it
 * @modules: directory in the cache with the modules that a boot may need
 *           (decompressed, each with what it depends on), or NULL when there
 *           are none
 * @builtin: path of modules.builtin, or NULL
 * @config: path of the configuration, or NULL when none could be found
 * @judged: only when there is no @config: path of what could be told of it from
 *          the image alone
 * @digest: SHA-256 of the bzImage
 */
struct kernel {
	char *label;
	char *spec;
	char *kind;
	char *release;
	char *package;
	char *package_version;
	char *vmlinuz;
	char *modules;
	char *builtin;
	char *config;
	char *judged;
	char digest[SHA256_HEX];
};

/* struct kernel_opts - what goes with a bzImage or vmlinux; all may be NULL */
struct kernel_opts {
	const char *label;	/* else made from the spec or the release */
	const char *modules;	/* /lib/modules/RELEASE or its parent tree */
	const char *config;
};

int kernel_resolve(const struct cache *c, const char *spec,
		   const struct kernel_opts *opts, struct kernel *k,
		   struct error *err);
void kernel_free(struct kernel *k);

/* What is asked of a kernel: exact mode (NVDIMM disks); TCP over loopback */
#define KERNEL_EXACT 1u
#define KERNEL_INET 2u

/**
 * kernel_preflight() - can this kernel run a boot of ours?
 * @k: the kernel
 * @needs: KERNEL_EXACT, KERNEL_INET, both or none
 * @notes: gets one line a missing feature that costs a figure only, may be NULL
 * @err: on refusal names every missing CONFIG_ option that is needed
 *
 * Return: 0 when it can, -1 when not.
 */
int kernel_preflight(const struct kernel *k, unsigned int needs,
		     struct strings *notes, struct error *err);

/* enum kernel_bus - how a measured boot's disks are attached, the fastest first
 * (pc-i440fx has PIIX3 IDE, q35 has AHCI) */
enum kernel_bus {
	KERNEL_BUS_VIRTIO, KERNEL_BUS_AHCI, KERNEL_BUS_PIIX, KERNEL_BUSES
};
/* kernel_bus_name() - "virtio", "AHCI", "IDE" */
const char *kernel_bus_name(enum kernel_bus bus);
/* kernel_disk_buses() - those that the kernel has drivers for: a set of
 * 1 << KERNEL_BUS_..., never empty; without any it fails */
int kernel_disk_buses(const struct kernel *k, unsigned int *buses,
		      struct error *err);

/**
 * struct initramfs - a built initial RAM file system
 * @path: in the cache; owned
 * @digest: SHA-256 of it
 * @guest_digest, @plan_digest: SHA-256 of /init and of /plan
 */
struct initramfs {
	char *path;
	char digest[SHA256_HEX];
	char guest_digest[SHA256_HEX], plan_digest[SHA256_HEX];
	uint64_t size;
};

/**
 * initramfs_build() - our PID 1 and the modules it loads
 * @c: layer cache
 * @k: kernel; modules it builds in are left out
 * @guest: path of the static guest program, becomes /init
 * @plan: guest plan that the image carries (journal.h), becomes /plan
 * @out: result
 *
 * Uncompressed newc cpio: /init /plan /modules.list (one path a line, in load
 * order) /modules/NNN-NAME.ko (decompressed) and empty /dev /proc /sys /root.
 */
int initramfs_build(const struct cache *c, const struct kernel *k,
		    const char *guest, const char *plan,
		    struct initramfs *out, struct error *err);
void initramfs_free(struct initramfs *i);

#endif
