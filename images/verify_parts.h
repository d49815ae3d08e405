/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_parts.h - between the parts of verify_compare(): each names what lies
 * at a place of its partition
 */
#ifndef KONTEST_VERIFY_PARTS_H
#define KONTEST_VERIFY_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "results/base/error.h"
#include "results/base/text.h"

#define VERIFY_BLOCK 4096u

/**
 * struct finding - the most telling difference of an area
 * @rank: of @text; small ranks tell more: a file's mode tells more than the
 *        checksum over it
 * @text: in words; owned; NULL: none yet
 * @bytes: that differ
 */
struct finding {
	unsigned int rank;
	char *text;
	uint64_t bytes;
};

/* finding_wants() - would a difference of this rank be kept? */
bool finding_wants(const struct finding *f, unsigned int rank);
/* finding_set() - keep it, if so */
void finding_set(struct finding *f, unsigned int rank, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * struct spot - a block that differs
 * @off: of the block, bytes from the start of the area
 * @ref, @image: its bytes in both
 * @len: at most VERIFY_BLOCK
 */
struct spot {
	uint64_t off;
	const uint8_t *ref, *image;
	size_t len;
};

/* spot_range() - "byte 7 ..." or "bytes 7 to 9 differ": the first run of bytes that
 * differ, counted from @base for the block's first; owned by the caller */
char *spot_range(const struct spot *s, uint64_t base);
/* finding_range() - keep, if wanted, "@what: " and the spot's range */
void finding_range(struct finding *f, const struct spot *s, unsigned int rank,
		   const char *what, uint64_t base);

/**
 * struct field - a field of a record on disk
 * @off: bytes from its start; a table ends with a field of length 0
 * @len: bytes
 * @name: for people
 * @format: 'o' octal, 'x' hexadecimal, 'u' decimal, 'b' only that it differs
 * @rank: see struct finding
 */
struct field {
	uint16_t off, len;
	const char *name;
	char format;
	unsigned int rank;
};

/* fields_explain() - the fields of the record at @ref and @image that differ,
 * told to @f as "@what: NAME is ..., built anew it is ..." */
void fields_explain(const struct field *fields, const uint8_t *ref,
		    const uint8_t *image, const char *what, struct finding *f);

/* struct disk_part - a partition as a GPT entry says, bytes */
struct disk_part {
	uint64_t start, size;
	uint8_t type[16];
	char name[37];
};
DEFINE_VECTOR(disk_parts, struct disk_part)

/* gpt_parts() - the partitions in the primary table (@backup: in the last
 * sectors); those that leave the disk are left out; false: no table */
bool gpt_parts(int fd, uint64_t size, bool backup, struct disk_parts *out);
bool gpt_is_esp(const struct disk_part *p);
bool gpt_is_root(const struct disk_part *p);
/* gpt_explain() - @s: of the table's first or (@backup_off: where they begin)
 * last sectors */
void gpt_explain(const struct disk_parts *parts, const struct spot *s,
		 uint64_t backup_off, struct finding *f);

/* The same for ESP and root: what lies where, learnt from the trusted image */
struct fat_map;
struct fat_map *fat_map_new(int fd, const char *path, uint64_t off,
			    uint64_t size, struct error *err);
void fat_map_free(struct fat_map *m);
void fat_explain(const struct fat_map *m, const struct spot *s,
		 struct finding *f);

struct ext4_map;
struct ext4_map *ext4_map_new(const char *path, uint64_t off, uint64_t size,
			      struct error *err);
void ext4_map_free(struct ext4_map *m);
void ext4_explain(const struct ext4_map *m, const struct spot *s,
		  struct finding *f);

#endif
