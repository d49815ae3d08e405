/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_gpt.c - partition tables read back, and their fields by name
 *
 * Source of offsets: UEFI specification 2.10, 5.3 (GPT header, entries).
 */
#include <string.h>

#include "images/gpt.h"
#include "images/verify_parts.h"
#include "results/base/file.h"

#define ENTRY_BYTES 128u
#define ENTRIES 128u
#define TABLE_OFF (2 * GPT_SECTOR)
#define TABLE_BYTES (ENTRY_BYTES * ENTRIES)

enum { RANK_ENTRY, RANK_HEADER, RANK_MBR, RANK_CRC, RANK_BACKUP, RANK_SLACK };

static const uint8_t type_esp[16] = {
	0x28, 0x73, 0x2a, 0xc1, 0x1f, 0xf8, 0xd2, 0x11,
	0xba, 0x4b, 0x00, 0xa0, 0xc9, 0x3e, 0xc9, 0x3b };
static const uint8_t type_root[16] = {
	0xe3, 0xbc, 0x68, 0x4f, 0xcd, 0xe8, 0xb1, 0x4d,
	0x96, 0xe7, 0xfb, 0xca, 0xf9, 0x84, 0xb7, 0x09 };

static const struct field header_fields[] = {
	{ 0, 8, "signature", 'b', RANK_HEADER },
	{ 8, 4, "revision", 'x', RANK_HEADER },
	{ 12, 4, "header size", 'u', RANK_HEADER },
	{ 16, 4, "checksum of the header", 'x', RANK_CRC },
	{ 20, 4, "reserved field", 'x', RANK_HEADER },
	{ 24, 8, "own sector", 'u', RANK_HEADER },
	{ 32, 8, "sector of the backup header", 'u', RANK_HEADER },
	{ 40, 8, "first usable sector", 'u', RANK_HEADER },
	{ 48, 8, "last usable sector", 'u', RANK_HEADER },
	{ 56, 16, "disk id", 'b', RANK_HEADER },
	{ 72, 8, "sector of the entries", 'u', RANK_HEADER },
	{ 80, 4, "number of entries", 'u', RANK_HEADER },
	{ 84, 4, "size of an entry", 'u', RANK_HEADER },
	{ 88, 4, "checksum of the entries", 'x', RANK_CRC },
	{ 92, 420, "unused rest", 'b', RANK_SLACK },
	{ 0, 0, NULL, 0, 0 },
};

static const struct field entry_fields[] = {
	{ 0, 16, "type", 'b', RANK_ENTRY },
	{ 16, 16, "id (PARTUUID)", 'b', RANK_ENTRY },
	{ 32, 8, "first sector", 'u', RANK_ENTRY },
	{ 40, 8, "last sector", 'u', RANK_ENTRY },
	{ 48, 8, "attributes", 'x', RANK_ENTRY },
	{ 56, 72, "name", 'b', RANK_ENTRY },
	{ 0, 0, NULL, 0, 0 },
};

static const struct field mbr_fields[] = {
	{ 0, 440, "GRUB's boot code", 'b', RANK_MBR },
	{ 440, 6, "disk signature", 'b', RANK_MBR },
	{ 446, 64, "protective partition", 'b', RANK_MBR },
	{ 510, 2, "boot signature", 'b', RANK_MBR },
	{ 0, 0, NULL, 0, 0 },
};

static uint64_t le(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

bool gpt_is_esp(const struct disk_part *p)
{
	return !memcmp(p->type, type_esp, sizeof(type_esp));
}

bool gpt_is_root(const struct disk_part *p)
{
	return !memcmp(p->type, type_root, sizeof(type_root));
}

static void add_part(const uint8_t *e, uint64_t size, struct disk_parts *out)
{
	static const uint8_t none[16];
	struct disk_part p = { 0 };
	uint64_t first = le(e + 32, 8), last = le(e + 40, 8);

	if (!memcmp(e, none, sizeof(none)) || first > last ||
	    last >= size / GPT_SECTOR)
		return;
	memcpy(p.type, e, sizeof(p.type));
	p.start = first * GPT_SECTOR;
	p.size = (last - first + 1) * GPT_SECTOR;
	for (size_t i = 0; i < sizeof(p.name) - 1; i++) {
		uint64_t c = le(e + 56 + 2 * i, 2);

		if (!c)
			break;
		p.name[i] = c >= ' ' && c <= '~' ? (char)c : '?';
	}
	disk_parts_add(out, p);
}

bool gpt_parts(int fd, uint64_t size, bool backup, struct disk_parts *out)
{
	static const char magic[] = "EFI PART";
	uint64_t header = backup ? size - GPT_SECTOR : GPT_SECTOR;
	uint64_t table = backup ? header - TABLE_BYTES : TABLE_OFF;
	uint8_t h[GPT_SECTOR], entries[TABLE_BYTES];

	if (size < 2 * (TABLE_OFF + TABLE_BYTES) || size % GPT_SECTOR ||
	    full_pread(fd, h, sizeof(h), (off_t)header, "", NULL) < 0 ||
	    memcmp(h, magic, 8) ||
	    full_pread(fd, entries, sizeof(entries), (off_t)table, "", NULL) < 0)
		return false;
	for (size_t i = 0; i < ENTRIES; i++)
		add_part(entries + i * ENTRY_BYTES, size, out);
	return true;
}

/* Call for each record of @size bytes that differs within the spot */
static void explain_entries(const struct disk_parts *parts, const struct spot *s,
			    uint64_t table, struct finding *f)
{
	for (size_t i = 0; i + ENTRY_BYTES <= s->len; i += ENTRY_BYTES) {
		uint64_t at = s->off + i, n;
		char what[128];

		if (at < table || at >= table + TABLE_BYTES ||
		    !memcmp(s->ref + i, s->image + i, ENTRY_BYTES))
			continue;
		n = (at - table) / ENTRY_BYTES;
		snprintf(what, sizeof(what), "GPT entry %llu (%s)",
			 (unsigned long long)n + 1,
			 n < parts->n ? parts->v[n].name : "unused");
		fields_explain(entry_fields, s->ref + i, s->image + i, what, f);
	}
}

void gpt_explain(const struct disk_parts *parts, const struct spot *s,
		 uint64_t backup_off, struct finding *f)
{
	if (s->off >= backup_off) {
		finding_range(f, s, RANK_BACKUP, "backup GPT at the end of the disk",
			      s->off - backup_off);
		return;
	}
	if (!s->off && s->len >= 2 * GPT_SECTOR) {
		fields_explain(mbr_fields, s->ref, s->image, "MBR", f);
		fields_explain(header_fields, s->ref + GPT_SECTOR,
			       s->image + GPT_SECTOR, "GPT header", f);
	}
	explain_entries(parts, s, TABLE_OFF, f);
	if (finding_wants(f, RANK_SLACK)) {
		char *range = spot_range(s, s->off);

		finding_set(f, RANK_SLACK, "unused space beside the partitions: %s of the disk",
			    range);
		free(range);
	}
}
