/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.h - every boot ever measured: an SQLite index over journals
 *
 * DIR/results.db is the index, DIR/journals/ID the journals; ID is the SHA-256
 * of the journal. DIR/imports/ID are foreign results (import.h), each under the
 * SHA-256 of its document. The index holds nothing that these do not and can be
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
struct boot_records;
struct import;
struct store;

/* store_open() - open or make the store whose index is @path (FILE.db; the
 * journals are beside it in journals/). WAL, waits up to 30 s for a lock. */
int store_open(const char *path, struct store **s, struct error *err);
void store_close(struct store *s);

/* store_add() - take a finished boot's journal in: copied, digested, indexed.
 * Adding the same journal twice changes nothing. */
int store_add(struct store *s, const char *journal, char id[SHA256_HEX],
	      struct error *err);
/* store_rebuild() - empty the index and fill it from the journals and imports;
 * a damaged one is named on stderr and left out */
int store_rebuild(struct store *s, struct error *err);
/* store_find() - the run id that begins with @prefix, or the newest when it is
 * NULL; an ambiguous or unknown prefix is an error that says so */
int store_find(struct store *s, const char *prefix, char run_id[UUID_TEXT],
	       struct error *err);
/* store_has_run() - 1 when there is a boot of that run, 0 when not, -1 on failure */
int store_has_run(struct store *s, const char *run_id, struct error *err);
/* store_boots() - add the paths of a run's journals to @paths, in the order of
 * kernel, boot number, id; -1 when the run is unknown. Owned by the caller. */
int store_boots(struct store *s, const char *run_id, struct strings *paths,
		struct error *err);
/* store_calibrations() - add the ids of all runs of `kontest calibrate`, newest
 * first (calibration.h) */
int store_calibrations(struct store *s, struct strings *run_ids, struct error *err);
/* store_list() - a line a `kontest run`, newest first: id, start (UTC), plan,
 * boots, how they ended; then a line an import: beginning of its id, tables,
 * rows, name */
int store_list(struct store *s, FILE *out, struct error *err);
/* store_load() - read one of them, check it against its name; -1 when it is
 * damaged, which was said on stderr: one bad journal spoils no report */
int store_load(const char *path, struct boot_record *b);
/* store_load_boots() - add all boots of a run that can be read to @boots, if any; gets
 * how many journals it has to @journals */
int store_load_boots(struct store *s, const char *run_id, struct boot_records *boots,
		     size_t *journals, struct error *err);
/* store_load_run() - add all boots of a run that can be read to @boots; -1 when there is
 * none */
int store_load_run(struct store *s, const char *run_id, struct boot_records *boots,
		   struct error *err);

/**
 * store_add_import() - take foreign results in
 * @s: store
 * @imp: they; see import_read()
 * @id: gets the SHA-256 of import_document()
 * @known: set when they are in the store already, under the same name
 * @err: reason of a failure
 *
 * Another import of the same name and the same tables under another name are
 * refused.
 *
 * Return: 0, or -1.
 */
int store_add_import(struct store *s, const struct import *imp,
		     char id[SHA256_HEX], bool *known, struct error *err);
/* store_find_import() - the import that is called @name, or whose id begins
 * with it (8 digits or more); 1 when there is one, 0 when not, -1 on failure or
 * when there are several */
int store_find_import(struct store *s, const char *name, char id[SHA256_HEX],
		      struct error *err);
/* store_load_import() - read one, check it against its id; end with
 * import_free() */
int store_load_import(struct store *s, const char *id, struct import *imp,
		      struct error *err);

#endif
