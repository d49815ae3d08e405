/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.h - every boot ever measured: an SQLite index over journals
 *
 * DIR/results.db is the index, DIR/journals/ID the journals; ID is the SHA-256
 * of the journal. The index holds nothing that the journals do not and can be
 * made again from them (store_rebuild()).
 */
#ifndef KONTEST_STORE_H
#define KONTEST_STORE_H

#include <stdbool.h>
#include <stdio.h>

#include "results/base/digest.h"
#include "results/base/text.h"
#include "results/verdict.h"

struct boot_record;
struct store;

/* store_open() - open or make the store whose index is @path (FILE.db; the
 * journals are beside it in journals/). WAL, waits up to 30 s for a lock. */
int store_open(const char *path, struct store **s, struct error *err);
void store_close(struct store *s);

/* store_add() - take a finished boot's journal in: copied, digested, indexed.
 * Adding the same journal twice changes nothing. */
int store_add(struct store *s, const char *journal, char id[SHA256_HEX],
	      struct error *err);
/* store_rebuild() - empty the index and fill it from the journals; a damaged
 * one is named on stderr and left out */
int store_rebuild(struct store *s, struct error *err);
/* store_find() - the run id that begins with @prefix, or the newest when it is
 * NULL; an ambiguous or unknown prefix is an error that says so */
int store_find(struct store *s, const char *prefix, char run_id[UUID_TEXT],
	       struct error *err);
/* store_boots() - add the paths of a run's journals to @paths, in the order of
 * kernel, boot number, id; -1 when the run is unknown. Owned by the caller. */
int store_boots(struct store *s, const char *run_id, struct strings *paths,
		struct error *err);
/* store_list() - a line a `kontest run`, newest first: id, start (UTC), plan,
 * boots, how they ended */
int store_list(struct store *s, FILE *out, struct error *err);
/* store_load() - read one of them, check it against its name; -1 when it is
 * damaged, which was said on stderr: one bad journal spoils no report */
int store_load(const char *path, struct boot_record *b);

#endif
