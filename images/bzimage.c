/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/bzimage.h"

#include <stdlib.h>
#include <string.h>

#include "images/unpack.h"

/* Offsets in the file; all little-endian. */
#define OFF_SETUP_SECTS		0x1f1	/* u8: 512-byte sectors of setup code */
#define OFF_BOOT_FLAG		0x1fe	/* u16: 0xaa55 */
#define OFF_HEADER		0x202	/* "HdrS" */
#define OFF_VERSION		0x206	/* u16: boot protocol */
#define OFF_KERNEL_VERSION	0x20e	/* u16: of the string, less 0x200 */
#define OFF_PAYLOAD_OFFSET	0x248	/* u32, since 2.08: in the 32-bit code */
#define OFF_PAYLOAD_LENGTH	0x24c	/* u32, since 2.08 */
#define HEADER_END		0x250

#define SETUP_SECTS_DEFAULT	4	/* what 0 means */
#define VERSION_MAX		512

/* A vmlinux of an allyesconfig has some 900 MiB. */
#define VMLINUX_MAX_BYTES ((size_t)2 << 30)
#define CONFIG_MAX_BYTES ((size_t)4 << 20)

static unsigned int get16(const uint8_t *p)
{
	return p[0] | (unsigned int)p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
	return get16(p) | (uint32_t)get16(p + 2) << 16;
}

bool bzimage_is(const void *data, size_t size)
{
	const uint8_t *p = data;

	return size >= HEADER_END && get16(p + OFF_BOOT_FLAG) == 0xaa55 &&
	       memcmp(p + OFF_HEADER, "HdrS", 4) == 0;
}

static int take_version(const uint8_t *p, size_t size, const char *path,
			struct bzimage *bz, struct error *err)
{
	size_t off = get16(p + OFF_KERNEL_VERSION);
	size_t len;

	if (off)
		off += 0x200;
	len = off && off < size ? strnlen((const char *)p + off, size - off) : 0;
	if (!len || len > VERSION_MAX || off + len == size)
		return error_set(err, 0, "'%s': its setup header has no version string; build it again, or give the package it came in",
				 path);
	bz->version = xstrndup((const char *)p + off, len);
	for (char *c = bz->version; *c; c++)
		if (*c < ' ' || *c > '~')
			return error_set(err, 0, "'%s': the version string in its setup header is not printable ASCII; build it again (CONFIG_LOCALVERSION, KBUILD_BUILD_USER)",
					 path);
	/* It names directories, and the boot's records keep it. */
	bz->release = xstrndup(bz->version, strcspn(bz->version, " "));
	if (!*bz->release || strchr(bz->release, '/') || bz->release[0] == '.')
		return error_set(err, 0, "'%s': the version string in its setup header is no release; build it again",
				 path);
	return 0;
}

static int take_payload(const uint8_t *p, size_t size, const char *path,
			struct bzimage *bz, struct error *err)
{
	uint64_t sects = p[OFF_SETUP_SECTS] ? p[OFF_SETUP_SECTS] : SETUP_SECTS_DEFAULT;
	uint64_t off, len;

	if (bz->protocol < 0x0208)
		return 0;
	off = (sects + 1) * 512 + get32(p + OFF_PAYLOAD_OFFSET);
	len = get32(p + OFF_PAYLOAD_LENGTH);
	if (!len || off > size || len > size - off)
		return error_set(err, 0, "'%s': cut short: its header promises %llu bytes, it has %zu; copy or build it again",
				 path, (unsigned long long)(off + len), size);
	bz->payload = p + off;
	bz->payload_len = len;
	return 0;
}

int bzimage_parse(const void *data, size_t size, const char *path,
		  struct bzimage *bz, struct error *err)
{
	const uint8_t *p = data;

	*bz = (struct bzimage){ 0 };
	if (!bzimage_is(data, size))
		return error_set(err, 0, "'%s': not an x86 kernel image (no setup header); give arch/x86/boot/bzImage",
				 path);
	bz->protocol = get16(p + OFF_VERSION);
	if (take_version(p, size, path, bz, err) < 0 ||
	    take_payload(p, size, path, bz, err) < 0) {
		bzimage_free(bz);
		return -1;
	}
	return 0;
}

void bzimage_free(struct bzimage *bz)
{
	free(bz->version);
	free(bz->release);
	*bz = (struct bzimage){ 0 };
}

int bzimage_vmlinux(const struct bzimage *bz, const char *path,
		    struct buf *vmlinux, struct error *err)
{
	const char *method = bz->payload ? unpack_method(bz->payload, bz->payload_len) : NULL;
	size_t len = bz->payload_len;

	if (!method)
		return error_set(err, 0, "'%s': the compressed kernel in it cannot be found; give its configuration with --config",
				 path);
	/* Linux appends the size, 4 bytes, to all but gzip, which has its own. */
	if (strcmp(method, "gzip") != 0)
		len = len > 4 ? len - 4 : 0;
	return unpack(bz->payload, len, VMLINUX_MAX_BYTES, vmlinux, path, err);
}

int bzimage_ikconfig(const struct buf *vmlinux, const char *path,
		     struct buf *config, struct error *err)
{
	/* kernel/configs.c: the gzip'ed file between these two marks */
	static const char start[] = "IKCFG_ST", end[] = "IKCFG_ED";
	const char *p, *q, *limit = vmlinux->data + vmlinux->len;

	if (!vmlinux->len)
		return 0;
	p = memmem(vmlinux->data, vmlinux->len, start, sizeof(start) - 1);
	if (!p)
		return 0;
	p += sizeof(start) - 1;
	q = memmem(p, (size_t)(limit - p), end, sizeof(end) - 1);
	if (!q)
		return 0;
	if (unpack(p, (size_t)(q - p), CONFIG_MAX_BYTES, config, path, err) < 0)
		return error_prefix(err, "built-in configuration (CONFIG_IKCONFIG)");
	return 1;
}
