/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dbench_script.c - what a client of dbench_load does, operation by operation
 *
 * A script is drawn like cards from a deck: how many there are of each kind is
 * fixed by the table, their order is pseudo-random and depends on the number
 * of the client alone. A card that cannot be played yet (no file to read, no
 * slot to create one in) stays in the deck. There is always one that can:
 *  - as many files are created as deleted, so that with all slots taken there
 *    are cards left that delete;
 *  - the last file is deleted only when nothing but that is left to do.
 */
#include "loads/dbench_load.h"

#include <string.h>

/*
 * The mix. In the proportions of what a Windows client asks of a file server
 * (of 124 reads, 79 opens, 72 queries of a path and 40 writes, 5.5 flushes):
 * reads are the most, yet of files just written, so they come from memory, and
 * what goes to the disk is writes.
 */
static const struct {
	const char *name;
	uint32_t count;
} mix[DBENCH_KINDS] = {
	[DBENCH_CREATE] = { "create", 60 },
	[DBENCH_OPEN] = { "open", 169 },
	[DBENCH_WRITE] = { "write", 116 },
	[DBENCH_READ] = { "read", 360 },
	[DBENCH_STAT] = { "stat", 209 },
	[DBENCH_RENAME] = { "rename", 10 },
	[DBENCH_DELETE] = { "delete", 60 },
	[DBENCH_FLUSH] = { "flush", 16 },
};

/* How large a new file gets: most are small, most bytes are in the large ones */
static const struct {
	uint32_t bytes;
	uint32_t percent;
} sizes[] = {
	{ 4u << 10, 45 },
	{ 16u << 10, 25 },
	{ 64u << 10, 20 },
	{ DBENCH_FILE_MAX, 10 },
};

const char *dbench_name(enum dbench_kind kind)
{
	return mix[kind].name;
}

uint32_t dbench_count(enum dbench_kind kind)
{
	return mix[kind].count;
}

uint32_t dbench_total(void)
{
	uint32_t total = 0;

	for (int k = 0; k < DBENCH_KINDS; k++)
		total += mix[k].count;
	return total;
}

void dbench_begin(struct dbench_script *s, unsigned int client)
{
	memset(s, 0, sizeof(*s));
	s->random = client;
	for (int k = 0; k < DBENCH_KINDS; k++)
		s->left[k] = mix[k].count;
}

/* Below @n. A Weyl sequence, scrambled: neighbouring seeds have nothing in common */
static uint32_t draw(struct dbench_script *s, uint32_t n)
{
	uint64_t x = s->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((x ^ (x >> 31)) >> 32) % n;
}

static uint32_t all_left(const struct dbench_script *s)
{
	uint32_t total = 0;

	for (int k = 0; k < DBENCH_KINDS; k++)
		total += s->left[k];
	return total;
}

static uint32_t playable(const struct dbench_script *s, int kind)
{
	bool possible = s->live > 0;

	if (kind == DBENCH_CREATE)
		possible = s->live < DBENCH_FILES_MAX;
	else if (kind == DBENCH_DELETE)
		possible = s->live > 1 || all_left(s) == s->left[DBENCH_DELETE];
	return possible ? s->left[kind] : 0;
}

/* Each card that can be played with the same probability */
static enum dbench_kind draw_kind(struct dbench_script *s)
{
	uint32_t total = 0, at;
	int kind = 0;

	for (int k = 0; k < DBENCH_KINDS; k++)
		total += playable(s, k);
	at = draw(s, total);
	while (at >= playable(s, kind))
		at -= playable(s, kind++);
	return (enum dbench_kind)kind;
}

static unsigned int free_slot(const struct dbench_script *s)
{
	unsigned int i = 0;

	while (s->file[i].name != 0)
		i++;
	return i;
}

static unsigned int draw_file(struct dbench_script *s)
{
	uint32_t nth = draw(s, s->live);
	unsigned int i = 0;

	for (;; i++)
		if (s->file[i].name != 0 && nth-- == 0)
			return i;
}

static uint32_t draw_size(struct dbench_script *s)
{
	uint32_t at = draw(s, 100);
	size_t i = 0;

	while (at >= sizes[i].percent)
		at -= sizes[i++].percent;
	return sizes[i].bytes;
}

static uint32_t at_most(uint32_t n, uint32_t max)
{
	return n < max ? n : max;
}

static void plan_write(struct dbench_script *s, struct dbench_op *op)
{
	struct dbench_file *f = &s->file[op->slot];

	op->offset = f->next;
	op->bytes = at_most(f->size - f->next, DBENCH_IO_MAX);
	f->next += op->bytes;
	if (f->length < f->next)
		f->length = f->next;
	if (f->next == f->size)
		f->next = 0;
	s->written = op->slot;
}

static void plan_read(struct dbench_script *s, struct dbench_op *op)
{
	const struct dbench_file *f = &s->file[op->slot];

	if (f->length == 0)
		return;
	op->offset = draw(s, f->length) / 4096 * 4096;
	op->bytes = at_most(f->length - op->offset, DBENCH_IO_MAX);
}

/* What the operation does to the files, as far as the script has to know */
static void plan(struct dbench_script *s, struct dbench_op *op)
{
	struct dbench_file *f = &s->file[op->slot];

	if (op->kind == DBENCH_CREATE) {
		*f = (struct dbench_file){ .name = ++s->last_name,
					   .size = draw_size(s) };
		s->live++;
	}
	op->name = f->name;
	switch (op->kind) {
	case DBENCH_WRITE:
		plan_write(s, op);
		break;
	case DBENCH_READ:
		plan_read(s, op);
		break;
	case DBENCH_RENAME:
		op->new_name = f->name = ++s->last_name;
		break;
	case DBENCH_DELETE:
		f->name = 0;
		s->live--;
		break;
	default:
		break;
	}
}

bool dbench_next(struct dbench_script *s, struct dbench_op *op)
{
	if (all_left(s) == 0)
		return false;
	*op = (struct dbench_op){ .kind = draw_kind(s) };
	s->left[op->kind]--;
	if (op->kind == DBENCH_CREATE)
		op->slot = free_slot(s);
	else if (op->kind == DBENCH_FLUSH && s->file[s->written].name != 0)
		op->slot = s->written;
	else
		op->slot = draw_file(s);
	plan(s, op);
	return true;
}
