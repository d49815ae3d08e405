/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_fat.c - what lies where in the ESP
 */
#include <string.h>

#include "images/fat.h"
#include "images/verify_parts.h"
#include "results/base/cleanup.h"

enum { RANK_ENTRY, RANK_DATA, RANK_BOOT, RANK_TABLE, RANK_UNUSED };

static const struct field entry_fields[] = {
	{ 0, 11, "short name", 'b', RANK_ENTRY },
	{ 11, 1, "attributes", 'x', RANK_ENTRY },
	{ 12, 1, "case of the name", 'x', RANK_ENTRY },
	{ 13, 5, "time of creation", 'x', RANK_ENTRY },
	{ 18, 2, "date of access", 'x', RANK_ENTRY },
	{ 20, 2, "reserved field", 'x', RANK_ENTRY },
	{ 22, 4, "time of modification", 'x', RANK_ENTRY },
	{ 26, 2, "first cluster", 'u', RANK_ENTRY },
	{ 28, 4, "size", 'u', RANK_ENTRY },
	{ 0, 0, NULL, 0, 0 },
};

/* struct owner - of a cluster: an entry (from 1, 0: nobody), and which of its */
struct owner {
	uint32_t entry;
	uint32_t index;
};

/* struct named - an entry; @path owned */
struct named {
	char *path;
	uint64_t at;
	bool dir;
};
DEFINE_VECTOR(names, struct named)

struct fat_map {
	struct fat fat;
	struct names names;
	struct owner *owners;
};

static int learn(const struct fat_entry *e, void *data)
{
	struct fat_map *m = data;
	struct named n = { xstrdup(e->path), e->at, e->attr & FAT_DIR };
	uint32_t index = 0;

	names_add(&m->names, n);
	for (uint32_t c = e->first; c >= 2 && c < m->fat.clusters + 2 &&
	     index <= m->fat.clusters; c = fat_next(&m->fat, c))
		m->owners[c] = (struct owner){ (uint32_t)m->names.n, index++ };
	return 0;
}

struct fat_map *fat_map_new(int fd, const char *path, uint64_t off,
			    uint64_t size, struct error *err)
{
	struct fat_map *m = xcalloc(1, sizeof(*m));

	if (fat_open(&m->fat, fd, path, off, size, err) < 0) {
		free(m);
		return NULL;
	}
	m->owners = xcalloc(m->fat.clusters + 2, sizeof(*m->owners));
	if (fat_walk(&m->fat, learn, m, err) < 0) {
		fat_map_free(m);
		return NULL;
	}
	return m;
}

void fat_map_free(struct fat_map *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->names.n; i++)
		free(m->names.v[i].path);
	names_free(&m->names);
	free(m->owners);
	fat_close(&m->fat);
	free(m);
}

/* A directory's entry that differs; @at: of the entry, from the disk's start */
static void explain_entry(const struct fat_map *m, uint64_t at,
			  const uint8_t *ref, const uint8_t *image,
			  struct finding *f)
{
	for (size_t i = 0; i < m->names.n; i++)
		if (m->names.v[i].at == at) {
			fields_explain(entry_fields, ref, image,
				       m->names.v[i].path, f);
			return;
		}
	finding_set(f, RANK_ENTRY, "an entry of a directory that built anew is %s",
		    ref[0] ? "the label, a long name or '..'" : "not there");
}

static void explain_dir(const struct fat_map *m, const struct spot *s,
			struct finding *f)
{
	for (size_t i = 0; i + FAT_ENTRY <= s->len; i += FAT_ENTRY)
		if (memcmp(s->ref + i, s->image + i, FAT_ENTRY))
			explain_entry(m, m->fat.off + s->off + i, s->ref + i,
				      s->image + i, f);
}

static void explain_cluster(const struct fat_map *m, const struct spot *s,
			    struct finding *f)
{
	uint64_t in_data = m->fat.off + s->off - m->fat.data_off;
	uint32_t c = (uint32_t)(in_data / m->fat.cluster) + 2;
	const struct owner *o = c < m->fat.clusters + 2 ? &m->owners[c] : NULL;
	const struct named *n;

	if (!o || !o->entry) {
		finding_range(f, s, RANK_UNUSED, "an unused cluster", s->off);
		return;
	}
	n = &m->names.v[o->entry - 1];
	if (n->dir)
		explain_dir(m, s, f);
	else
		finding_range(f, s, RANK_DATA, n->path,
			      (uint64_t)o->index * m->fat.cluster +
				      in_data % m->fat.cluster);
}

/* Of one sector, which lies in one structure alone */
static void explain_sector(const struct fat_map *m, const struct spot *s,
			   struct finding *f)
{
	uint64_t at = m->fat.off + s->off;

	if (at < m->fat.fat_off)
		finding_range(f, s, RANK_BOOT, "boot sector", s->off);
	else if (at < m->fat.root_off)
		finding_range(f, s, RANK_TABLE, "file allocation table",
			      (at - m->fat.fat_off) % m->fat.fat_size);
	else if (at < m->fat.data_off)
		explain_dir(m, s, f);
	else
		explain_cluster(m, s, f);
}

void fat_explain(const struct fat_map *m, const struct spot *s,
		 struct finding *f)
{
	for (size_t i = 0; i < s->len; i += m->fat.sector) {
		size_t left = s->len - i;
		struct spot sector = { s->off + i, s->ref + i, s->image + i,
				       left < m->fat.sector ? left : m->fat.sector };

		if (memcmp(sector.ref, sector.image, sector.len))
			explain_sector(m, &sector, f);
	}
}
