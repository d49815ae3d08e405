/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/domain.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/base/digest.h"

size_t domain_disks(const struct boot_config *cfg,
		    struct domain_disk out[DOMAIN_DISKS])
{
	const struct domain_disk all[DOMAIN_DISKS] = {
		{ "system", &cfg->system },
		{ "work", &cfg->work },
		{ "other", &cfg->other },
		{ "swap", &cfg->swap },
		{ "results", &cfg->results },
	};
	size_t n = 0;

	for (size_t i = 0; i < DOMAIN_DISKS; i++)
		if (all[i].disk->path)
			out[n++] = all[i];
	return n;
}

char *domain_overlay(const struct boot_config *cfg, const char *role)
{
	return xasprintf("%s/%s.qcow2", cfg->dir, role);
}

void xml_text(struct buf *b, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '&':
			buf_adds(b, "&amp;");
			break;
		case '<':
			buf_adds(b, "&lt;");
			break;
		case '>':
			buf_adds(b, "&gt;");
			break;
		case '\'':
			buf_adds(b, "&apos;");
			break;
		case '"':
			buf_adds(b, "&quot;");
			break;
		default:
			buf_add(b, s, 1);
		}
	}
}

void xml_arg(struct buf *b, const char *fmt, ...)
{
	cleanup_free char *value = NULL;
	va_list ap;

	va_start(ap, fmt);
	value = xvasprintf(fmt, ap);
	va_end(ap);
	buf_adds(b, "    <qemu:arg value='");
	xml_text(b, value);
	buf_adds(b, "'/>\n");
}

/* <@tag>@text</@tag>, indented by @indent spaces */
static void element(struct buf *b, int indent, const char *tag, const char *text)
{
	buf_printf(b, "%*s<%s>", indent, "", tag);
	xml_text(b, text);
	buf_printf(b, "</%s>\n", tag);
}

static const char *const bus_names[] = {
	[KERNEL_BUS_VIRTIO] = "virtio",
	[KERNEL_BUS_AHCI] = "sata",
	[KERNEL_BUS_PIIX] = "ide",
};

/* What QEMU would say too, but not what to do about it. */
static int check_bus(const struct boot_config *cfg, const struct domain_disk *d,
		     size_t n, struct error *err)
{
	if (cfg->accel == ACCEL_EXACT || cfg->bus == KERNEL_BUS_VIRTIO)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (d[i].disk->readonly)
			return error_set(err, 0, "domain '%s': disk '%s' cannot be read-only on %s: make it a scratch disk",
					 cfg->name, d[i].role, bus_names[cfg->bus]);
	if (cfg->bus == KERNEL_BUS_PIIX && n > DOMAIN_IDE_DISKS)
		return error_set(err, 0, "profile '%s' has %zu disks, and IDE takes %d: leave out [disk other] or [disk swap], or give a kernel with CONFIG_SATA_AHCI or CONFIG_VIRTIO_BLK",
				 cfg->profile->name, n, DOMAIN_IDE_DISKS);
	return 0;
}

/* XML cannot say control characters at all, and no path needs them. */
static int check_text(const char *what, const char *s, struct error *err)
{
	if (!s)
		return 0;
	for (const char *c = s; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return error_set(err, 0,
				"%s '%s' has a control character: rename it",
				what, s);
	return 0;
}

static int check_config(const struct boot_config *cfg, struct error *err)
{
	struct domain_disk d[DOMAIN_DISKS];
	size_t n = domain_disks(cfg, d);

	if (cfg->accel == ACCEL_AUTO)
		return error_set(err, 0,
			"domain '%s': no accelerator was chosen", cfg->name);
	if (!cfg->profile->cpus || !cfg->profile->memory)
		return error_set(err, 0, "profile '%s': cpus and memory must not be 0",
				 cfg->profile->name);
	for (size_t i = 0; i < n; i++)
		if (check_text("disk", d[i].disk->path, err) < 0)
			return -1;
	if (check_bus(cfg, d, n, err) < 0)
		return -1;
	if (check_text("domain name", cfg->name, err) < 0 ||
	    check_text("directory", cfg->dir, err) < 0 ||
	    check_text("kernel", cfg->vmlinuz, err) < 0 ||
	    check_text("initramfs", cfg->initrd, err) < 0 ||
	    check_text("command line", cfg->cmdline, err) < 0)
		return -1;
	return 0;
}

static void add_os(struct buf *b, const struct boot_config *cfg)
{
	const char *given = cfg->cmdline ? cfg->cmdline : "";
	cleanup_free char *cmdline = cfg->accel == ACCEL_EXACT ?
				     exact_cmdline(given) : xstrdup(given);

	buf_adds(b, "  <os>\n    <type arch='x86_64' machine='");
	xml_text(b, cfg->profile->machine);
	buf_adds(b, "'>hvm</type>\n");
	element(b, 4, "kernel", cfg->vmlinuz);
	if (cfg->initrd)
		element(b, 4, "initrd", cfg->initrd);
	element(b, 4, "cmdline", cmdline);
	buf_adds(b, "  </os>\n");
}

static void add_machine(struct buf *b, const struct boot_config *cfg)
{
	uint8_t uuid[16];
	char text[UUID_TEXT];

	uuid5(cfg->name, "domain", uuid);
	uuid_text(uuid, text);
	element(b, 2, "name", cfg->name);
	element(b, 2, "uuid", text);
	buf_printf(b, "  <memory unit='KiB'>%llu</memory>\n",
		   (unsigned long long)(cfg->profile->memory / 1024));
	buf_printf(b, "  <vcpu placement='static'>%u</vcpu>\n",
		   cfg->profile->cpus);
	add_os(b, cfg);
	buf_adds(b, "  <features>\n    <acpi/>\n    <apic/>\n");
	/* The default cache is too small for a compiler: it would be emptied
	 * and filled again and again. */
	if (cfg->accel != ACCEL_KVM)
		buf_printf(b, "    <tcg>\n      <tb-cache unit='MiB'>%d</tb-cache>\n"
			   "    </tcg>\n", DOMAIN_TB_CACHE_MIB);
	buf_adds(b, "  </features>\n");
	buf_printf(b, "  <clock offset='absolute' start='%lld'/>\n",
		   DOMAIN_RTC_EPOCH);
	/* preserve: the panic is reported as an event, and looked at, before
	 * the VM goes. */
	buf_adds(b, "  <on_poweroff>destroy</on_poweroff>\n"
		 "  <on_reboot>destroy</on_reboot>\n"
		 "  <on_crash>preserve</on_crash>\n");
}

/* A file that cannot be opened past the page cache (tmpfs) is used through it;
 * what QEMU has written outlives QEMU in both cases. */
static const char *cache_mode(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);

	return fd >= 0 ? "none" : "writeback";
}

static void add_rate(struct buf *b, const char *tag, uint64_t rate)
{
	if (rate)
		buf_printf(b, "        <%s>%llu</%s>\n", tag,
			   (unsigned long long)rate, tag);
}

static void add_iotune(struct buf *b, const struct profile_disk *r)
{
	if (!r || !(r->rbps || r->wbps || r->riops || r->wiops))
		return;
	buf_adds(b, "      <iotune>\n");
	add_rate(b, "read_bytes_sec", r->rbps);
	add_rate(b, "write_bytes_sec", r->wbps);
	add_rate(b, "read_iops_sec", r->riops);
	add_rate(b, "write_iops_sec", r->wiops);
	buf_adds(b, "      </iotune>\n");
}

/* The same place in every boot. */
static void add_address(struct buf *b, enum kernel_bus bus, size_t index)
{
	/* On the root bus: no bridges to enumerate. */
	if (bus == KERNEL_BUS_VIRTIO)
		buf_printf(b, "      <address type='pci' domain='0x0000' bus='0x00' "
			   "slot='0x%02zx' function='0x0'/>\n", index + 4);
	else
		buf_printf(b, "      <address type='drive' controller='0' bus='%zu' "
			   "target='0' unit='%zu'/>\n",
			   bus == KERNEL_BUS_PIIX ? index / 2 : 0,
			   bus == KERNEL_BUS_PIIX ? index % 2 : index);
}

static void add_disk(struct buf *b, const struct boot_config *cfg,
		     const struct domain_disk *d, size_t index)
{
	cleanup_free char *overlay = d->disk->scratch ?
				     domain_overlay(cfg, d->role) : NULL;

	buf_adds(b, "    <disk type='file' device='disk'>\n");
	buf_printf(b, "      <driver name='qemu' type='%s' cache='%s'/>\n",
		   overlay ? "qcow2" : "raw", cache_mode(d->disk->path));
	buf_adds(b, "      <source file='");
	xml_text(b, overlay ? overlay : d->disk->path);
	buf_adds(b, "'/>\n");
	if (overlay) {
		buf_adds(b, "      <backingStore type='file'>\n"
			 "        <format type='raw'/>\n        <source file='");
		xml_text(b, d->disk->path);
		buf_adds(b, "'/>\n        <backingStore/>\n"
			 "      </backingStore>\n");
	}
	buf_printf(b, "      <target dev='%cd%c' bus='%s'/>\n",
		   cfg->bus == KERNEL_BUS_VIRTIO ? 'v' :
		   cfg->bus == KERNEL_BUS_AHCI ? 's' : 'h',
		   (char)('a' + index), bus_names[cfg->bus]);
	add_iotune(b, d->disk->rates);
	if (d->disk->readonly)
		buf_adds(b, "      <readonly/>\n");
	buf_printf(b, "      <serial>%s</serial>\n", d->role);
	add_address(b, cfg->bus, index);
	buf_adds(b, "    </disk>\n");
}

static void add_devices(struct buf *b, const struct boot_config *cfg)
{
	struct domain_disk d[DOMAIN_DISKS];
	size_t n = domain_disks(cfg, d);

	buf_adds(b, "  <devices>\n");
	if (cfg->emulator)
		element(b, 4, "emulator", cfg->emulator);
	for (size_t i = 0; cfg->accel != ACCEL_EXACT && i < n; i++)
		add_disk(b, cfg, &d[i], i);
	buf_adds(b, "    <controller type='usb' model='none'/>\n"
		 "    <serial type='file'>\n      <source path='");
	xml_text(b, cfg->dir);
	buf_adds(b, "/console.log'/>\n"
		 "      <target type='isa-serial' port='0'/>\n    </serial>\n");
	buf_adds(b, "    <panic model='isa'/>\n");
	/* A timer of the host's would be another clock in exact mode. */
	if (cfg->accel != ACCEL_EXACT)
		buf_adds(b, "    <watchdog model='i6300esb' action='none'>\n"
			 "      <address type='pci' domain='0x0000' bus='0x00' "
			 "slot='0x03' function='0x0'/>\n    </watchdog>\n");
	buf_adds(b, "    <memballoon model='none'/>\n  </devices>\n");
}

char *domain_xml(const struct boot_config *cfg, struct error *err)
{
	struct buf b CLEANUP(buf_free) = { 0 };

	if (check_config(cfg, err) < 0)
		return NULL;
	buf_printf(&b, "<domain type='%s' "
		   "xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>\n",
		   cfg->accel == ACCEL_KVM ? "kvm" : "qemu");
	add_machine(&b, cfg);
	add_devices(&b, cfg);
	buf_adds(&b, "  <qemu:commandline>\n");
	/* libvirt has its own list of CPU models, without versions ("-v1"). */
	xml_arg(&b, "-cpu");
	xml_arg(&b, "%s%s", cfg->profile->cpu_model,
		cfg->accel == ACCEL_EXACT ? ",-rdrand,-rdseed" : "");
	if (cfg->accel == ACCEL_EXACT && exact_args(&b, cfg, err) < 0)
		return NULL;
	buf_adds(&b, "  </qemu:commandline>\n</domain>\n");
	return steal_ptr(b.data);
}
