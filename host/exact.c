/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact.c - virtual time that depends on the guest's instructions alone
 *
 * Disks are NVDIMMs: a store to memory has no completion that arrives in the
 * host's time, as a virtio request's does.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "host/domain.h"
#include "results/base/cleanup.h"
#include "results/base/digest.h"

#define PAGE_BYTES 4096ULL
#define MIB (1024ULL * 1024)

char *exact_cmdline(const char *cmdline)
{
	if (strstr(cmdline, "swiotlb="))
		return xstrdup(cmdline);
	return xasprintf("%s%sswiotlb=noforce", cmdline, *cmdline ? " " : "");
}

static int disk_bytes(const struct domain_disk *d, uint64_t *bytes,
		      struct error *err)
{
	struct stat st;

	if (stat(d->disk->path, &st) < 0)
		return error_set(err, errno, "%s disk '%s'", d->role,
				 d->disk->path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, 0,
			"%s disk '%s' is not a regular file, which exact mode needs",
			d->role, d->disk->path);
	if (st.st_size <= 0 || (uint64_t)st.st_size % PAGE_BYTES)
		return error_set(err, 0,
			"%s disk '%s' has %lld bytes: exact mode needs a multiple of 4096",
			d->role, d->disk->path, (long long)st.st_size);
	*bytes = (uint64_t)st.st_size;
	return 0;
}

/*
 * What becomes of the guest's writes:
 *   scratch	share=off: a private mapping; the file is never changed
 *   readonly	the guest is told so (unarmed) and QEMU maps it so; the mapping
 *		is shared, so that no page is copied
 *   results	share=on: a store is in the host's page cache at once, and
 *		outlives QEMU there
 */
static void add_nvdimm(struct buf *b, const struct domain_disk *d, size_t slot,
		       uint64_t bytes)
{
	struct buf path CLEANUP(buf_free) = { 0 };
	const char *mode = "share=on";

	/* In QEMU's options a comma is written twice. */
	for (const char *c = d->disk->path; *c; c++) {
		buf_add(&path, c, 1);
		if (*c == ',')
			buf_add(&path, c, 1);
	}
	if (d->disk->readonly)
		mode = "share=on,readonly=on";
	else if (d->disk->scratch)
		mode = "share=off";
	xml_arg(b, "-object");
	xml_arg(b, "memory-backend-file,id=mem-%s,mem-path=%s,size=%llu,%s",
		d->role, path.data, (unsigned long long)bytes, mode);
	xml_arg(b, "-device");
	xml_arg(b, "nvdimm,id=nvdimm-%s,memdev=mem-%s,slot=%zu%s", d->role,
		d->role, slot, d->disk->readonly ? ",unarmed=on" : "");
}

static int add_nvdimms(struct buf *b, const struct boot_config *cfg,
		       struct error *err)
{
	struct domain_disk d[DOMAIN_DISKS];
	uint64_t bytes[DOMAIN_DISKS];
	size_t n = domain_disks(cfg, d);
	uint64_t max = cfg->profile->memory;

	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (disk_bytes(&d[i], &bytes[i], err) < 0)
			return -1;
		max += (bytes[i] + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
	}
	xml_arg(b, "-machine");
	xml_arg(b, "nvdimm=on");
	xml_arg(b, "-m");
	xml_arg(b, "size=%lluK,slots=%zu,maxmem=%lluK",
		(unsigned long long)(cfg->profile->memory / 1024), n,
		(unsigned long long)(max / 1024));
	for (size_t i = 0; i < n; i++)
		add_nvdimm(b, &d[i], i, bytes[i]);
	return 0;
}

int exact_args(struct buf *b, const struct boot_config *cfg, struct error *err)
{
	uint8_t uuid[16];
	char text[UUID_TEXT];

	if (cfg->profile->cpus != 1)
		return error_set(err, 0,
			"profile '%s' has %u CPUs, and exact mode can do one only: QEMU's instruction counter starves the second CPU while it starts; choose accel = tcg or kvm, or a profile with one CPU",
			cfg->profile->name, cfg->profile->cpus);
	/* libvirt's UUID is unique on the host; the one that the guest can read
	 * must be the same in every boot. */
	uuid5("exact", "machine", uuid);
	uuid_text(uuid, text);
	xml_arg(b, "-uuid");
	xml_arg(b, "%s", text);
	/*
	 * rr=record, its log thrown away, for the lock that comes with it: without
	 * it QEMU's main loop can look at the clock between a vCPU's HLT and the
	 * moment when the instructions up to it are counted, and then lets the
	 * time of an idle machine jump too far by these. It happened about once
	 * in 20 000 times that the guest went to sleep, for 2 ns or 4.
	 */
	xml_arg(b, "-icount");
	xml_arg(b, "shift=%u,sleep=off,align=off,rr=record,rrfile=/dev/null", cfg->profile->icount_shift);
	xml_arg(b, "-seed");
	xml_arg(b, "1");
	xml_arg(b, "-rtc");
	xml_arg(b, "base=%s,clock=vm", DOMAIN_RTC_BASE);
	return add_nvdimms(b, cfg, err);
}
