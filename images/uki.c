/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/uki.h"

#include <endian.h>
#include <string.h>

/*
 * Offsets are those of Microsoft's "PE Format", the only ones needed here.
 * From the start of the COFF file header:
 */
#define COFF_MACHINE 0
#define COFF_SECTIONS 2
#define COFF_TIME 4
#define COFF_SYMTAB 8
#define COFF_SYMBOLS 12
#define COFF_OPT_SIZE 16
#define COFF_SIZE 20
/* From the start of the optional header (PE32+): */
#define OPT_MAGIC 0
#define OPT_INITIALIZED 8
#define OPT_SECTION_ALIGN 32
#define OPT_FILE_ALIGN 36
#define OPT_IMAGE_SIZE 56
#define OPT_HEADERS_SIZE 60
#define OPT_CHECKSUM 64
#define OPT_DIRS 108
#define OPT_DIR_SECURITY (112 + 4 * 8)
#define OPT_MIN 152
/* In a section header: */
#define SEC_VSIZE 8
#define SEC_VADDR 12
#define SEC_RAW_SIZE 16
#define SEC_RAW_OFF 20
#define SEC_FLAGS 36
#define SEC_SIZE 40

#define MACHINE_AMD64 0x8664
#define PE32_PLUS 0x20b
/* initialised data, readable */
#define DATA_FLAGS 0x40000040u
/* The kernel starts where its section is loaded, and wants whole pages. */
#define PAGE 4096u
#define NEW_SECTIONS 4
#define FILE_ALIGN_MAX 65536u
/* Largest kernel or initramfs: keeps every sum below in 32 bits. */
#define PART_MAX (1u << 30)

static uint16_t get16(const struct buf *b, size_t off)
{
	uint16_t v;

	memcpy(&v, b->data + off, sizeof(v));
	return le16toh(v);
}

static uint32_t get32(const struct buf *b, size_t off)
{
	uint32_t v;

	memcpy(&v, b->data + off, sizeof(v));
	return le32toh(v);
}

static void put16(struct buf *b, size_t off, uint16_t v)
{
	v = htole16(v);
	memcpy(b->data + off, &v, sizeof(v));
}

static void put32(struct buf *b, size_t off, uint32_t v)
{
	v = htole32(v);
	memcpy(b->data + off, &v, sizeof(v));
}

static uint32_t round_up(uint32_t v, uint32_t unit)
{
	return (v + unit - 1) / unit * unit;
}

/**
 * struct stub - what is needed of the stub's headers
 * @coff, @opt, @table: file offsets of COFF header, optional header, sections
 * @sections: how many it has
 * @section_align, @file_align: bytes
 * @raw_end: end of the last section in the file
 * @mem_end: end of the last section in memory
 */
struct stub {
	size_t coff, opt, table;
	unsigned int sections;
	uint32_t section_align, file_align;
	uint32_t raw_end, mem_end;
};

static int bad_stub(const struct uki_parts *p, const char *why,
		    struct error *err)
{
	return error_set(err, 0, "'%s' cannot be used as EFI stub: %s; reinstall the Debian package systemd-boot-efi",
			 p->stub_path, why);
}

static int parse_headers(const struct uki_parts *p, struct stub *s,
			 struct error *err)
{
	const struct buf *b = p->stub;

	if (b->len < 64 || memcmp(b->data, "MZ", 2))
		return bad_stub(p, "it is no PE file", err);
	s->coff = (size_t)get32(b, 60) + 4;
	s->opt = s->coff + COFF_SIZE;
	if (s->opt + OPT_MIN > b->len ||
	    memcmp(b->data + s->coff - 4, "PE\0\0", 4))
		return bad_stub(p, "it is no PE file", err);
	if (get16(b, s->coff + COFF_MACHINE) != MACHINE_AMD64 ||
	    get16(b, s->opt + OPT_MAGIC) != PE32_PLUS)
		return bad_stub(p, "it is not for x86-64", err);
	s->table = s->opt + get16(b, s->coff + COFF_OPT_SIZE);
	s->sections = get16(b, s->coff + COFF_SECTIONS);
	s->section_align = get32(b, s->opt + OPT_SECTION_ALIGN);
	s->file_align = get32(b, s->opt + OPT_FILE_ALIGN);
	if (s->table < s->opt + OPT_MIN || !s->sections ||
	    s->table + (size_t)s->sections * SEC_SIZE > b->len)
		return bad_stub(p, "its section table is damaged", err);
	if (!s->section_align || s->section_align > 1u << 20 ||
	    !s->file_align || s->file_align > FILE_ALIGN_MAX)
		return bad_stub(p, "its alignments are damaged", err);
	return 0;
}

static bool ours(const char name[8])
{
	static const char taken[][8] = { ".osrel", ".cmdline", ".initrd", ".linux" };

	for (size_t i = 0; i < NEW_SECTIONS; i++)
		if (!memcmp(name, taken[i], 8))
			return true;
	return false;
}

static int parse_sections(const struct uki_parts *p, struct stub *s,
			  struct error *err)
{
	const struct buf *b = p->stub;
	size_t table_end = s->table + (size_t)s->sections * SEC_SIZE;
	uint32_t first_raw = UINT32_MAX;

	for (size_t sec = s->table; sec < table_end; sec += SEC_SIZE) {
		uint64_t raw = get32(b, sec + SEC_RAW_OFF);
		uint64_t raw_end = raw + get32(b, sec + SEC_RAW_SIZE);
		uint64_t mem_end = (uint64_t)get32(b, sec + SEC_VADDR) +
				   get32(b, sec + SEC_VSIZE);

		if (ours(b->data + sec))
			return bad_stub(p, "it has a kernel in it already", err);
		if (raw_end > b->len || mem_end > PART_MAX)
			return bad_stub(p, "it is cut short", err);
		if (raw && raw < first_raw)
			first_raw = (uint32_t)raw;
		if (raw_end > s->raw_end)
			s->raw_end = (uint32_t)raw_end;
		if (mem_end > s->mem_end)
			s->mem_end = (uint32_t)mem_end;
	}
	table_end += NEW_SECTIONS * SEC_SIZE;
	if (table_end > first_raw ||
	    table_end > get32(b, s->opt + OPT_HEADERS_SIZE))
		return bad_stub(p, "its headers have no room for four more sections",
				err);
	return 0;
}

static void pad_to(struct buf *b, size_t base, uint32_t unit)
{
	static const char zeros[4096];
	size_t want = (b->len - base + unit - 1) / unit * unit + base;

	while (b->len < want) {
		size_t n = want - b->len;

		buf_add(b, zeros, n < sizeof(zeros) ? n : sizeof(zeros));
	}
}

/* Put a section behind everything else, in the file and in memory. */
static void add_section(struct buf *out, size_t base, struct stub *s,
			const char name[8], const void *data, size_t len)
{
	size_t sec = base + s->table + (size_t)s->sections * SEC_SIZE;
	uint32_t unit = s->section_align > PAGE ? s->section_align : PAGE;
	uint32_t vaddr = round_up(s->mem_end, unit);
	uint32_t raw = (uint32_t)(out->len - base);

	buf_add(out, data, len);
	pad_to(out, base, s->file_align);
	memset(out->data + sec, 0, SEC_SIZE);
	memcpy(out->data + sec, name, 8);
	put32(out, sec + SEC_VSIZE, (uint32_t)len);
	put32(out, sec + SEC_VADDR, vaddr);
	put32(out, sec + SEC_RAW_SIZE, (uint32_t)(out->len - base) - raw);
	put32(out, sec + SEC_RAW_OFF, raw);
	put32(out, sec + SEC_FLAGS, DATA_FLAGS);
	s->mem_end = vaddr + (uint32_t)len;
	s->sections++;
	put16(out, base + s->coff + COFF_SECTIONS, (uint16_t)s->sections);
}

/* Room for everything at once: growing by steps would copy it all again. */
static void reserve(struct buf *out, const struct uki_parts *p)
{
	size_t want = out->len + p->stub->len + p->linux_image->len +
		      p->initrd->len + strlen(p->cmdline) + strlen(p->osrel) +
		      (NEW_SECTIONS + 2) * FILE_ALIGN_MAX;

	if (out->cap >= want)
		return;
	out->data = xrealloc(out->data, want);
	out->cap = want;
}

int uki_build(const struct uki_parts *p, struct buf *out, struct error *err)
{
	struct stub s = { 0 };
	size_t base = out->len, opt;
	uint32_t unit;

	if (p->linux_image->len > PART_MAX || p->initrd->len > PART_MAX)
		return error_set(err, 0, "kernel or initramfs is larger than 1 GiB: too large for an EFI program");
	if (parse_headers(p, &s, err) < 0 || parse_sections(p, &s, err) < 0)
		return -1;
	reserve(out, p);
	/* What lies behind the sections (symbols, signature) is left out. */
	buf_add(out, p->stub->data, s.raw_end);
	pad_to(out, base, s.file_align);
	add_section(out, base, &s, ".osrel\0\0", p->osrel, strlen(p->osrel));
	add_section(out, base, &s, ".cmdline", p->cmdline, strlen(p->cmdline));
	add_section(out, base, &s, ".initrd\0", p->initrd->data, p->initrd->len);
	/* Last, since a kernel uses the memory behind its image. */
	add_section(out, base, &s, ".linux\0\0", p->linux_image->data,
		    p->linux_image->len);

	opt = base + s.opt;
	unit = s.section_align;
	put32(out, base + s.coff + COFF_TIME, 0);
	put32(out, base + s.coff + COFF_SYMTAB, 0);
	put32(out, base + s.coff + COFF_SYMBOLS, 0);
	put32(out, opt + OPT_IMAGE_SIZE, round_up(s.mem_end, unit));
	put32(out, opt + OPT_INITIALIZED,
	      get32(out, opt + OPT_INITIALIZED) +
	      (uint32_t)(out->len - base) - s.raw_end);
	put32(out, opt + OPT_CHECKSUM, 0);
	if (get32(out, opt + OPT_DIRS) > 4)
		memset(out->data + opt + OPT_DIR_SECURITY, 0, 8);
	return 0;
}
