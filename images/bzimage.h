/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bzimage.h - what an x86 kernel image says about itself
 *
 * Source of offsets: Linux, Documentation/arch/x86/boot.rst (the setup header).
 */
#ifndef KONTEST_BZIMAGE_H
#define KONTEST_BZIMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/base/error.h"
#include "results/base/text.h"

/**
 * struct bzimage - a parsed setup header; points into the image
 * @protocol: boot protocol, 0x020f is 2.15
 * @version: the whole version string, "6.1.0 (user@host) #1 SMP ...", printable
 *           ASCII; owned
 * @release: its first word, what uname -r will say; owned
 * @payload: the compressed vmlinux, NULL when the protocol has no such field
 * @payload_len: bytes of it
 */
struct bzimage {
	unsigned int protocol;
	char *version;
	char *release;
	const uint8_t *payload;
	size_t payload_len;
};

/* bzimage_is() - has it the magic of an x86 kernel image? */
bool bzimage_is(const void *data, size_t size);

/**
 * bzimage_parse() - read the setup header
 * @data: the whole file, which must outlive @bz
 * @size: bytes
 * @path: for error texts
 * @bz: result; bzimage_free() ends it
 * @err: not a bzImage, cut short, no version string. A 32-bit kernel is none:
 *       preflight refuses it, with all else that it lacks
 */
int bzimage_parse(const void *data, size_t size, const char *path,
		  struct bzimage *bz, struct error *err);
void bzimage_free(struct bzimage *bz);

/* bzimage_vmlinux() - decompress the payload: an ELF file, stripped */
int bzimage_vmlinux(const struct bzimage *bz, const char *path,
		    struct buf *vmlinux, struct error *err);

/**
 * bzimage_ikconfig() - the configuration that CONFIG_IKCONFIG builds in
 * @vmlinux: the decompressed payload
 * @path: of the image, for error texts
 * @config: gets the text
 * @err: reason of a failure
 *
 * Return: 1 found, 0 none is built in, -1 it is damaged.
 */
int bzimage_ikconfig(const struct buf *vmlinux, const char *path,
		     struct buf *config, struct error *err);

#endif
