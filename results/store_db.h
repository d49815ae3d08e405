/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_db.h - the store's inside, shared by store.c and store_import.c
 */
#ifndef KONTEST_STORE_DB_H
#define KONTEST_STORE_DB_H

#include <sqlite3.h>

#include "results/base/cleanup.h"
#include "results/store.h"

/**
 * struct store - an open store
 * @db: the index
 * @path: of the index
 * @journals, @imports: directories beside it; @imports is made when needed
 */
struct store {
	sqlite3 *db;
	char *path;
	char *journals;
	char *imports;
};

static inline void stmt_finalizep(sqlite3_stmt **st)
{
	sqlite3_finalize(*st);
}

#define cleanup_stmt CLEANUP(stmt_finalizep)

/* store_db_error() - what went wrong with the index while doing @what, and what
 * to do about it; returns -1 */
int store_db_error(const struct store *s, const char *what, struct error *err);
int store_db_exec(struct store *s, const char *sql, const char *what,
		  struct error *err);

/* store_is_id() - is a file's name a SHA-256? */
bool store_is_id(const char *name);

/* store_rebuild_imports() - their part of store_rebuild(), in its transaction */
int store_rebuild_imports(struct store *s, struct error *err);
/* store_list_imports() - their part of store_list() */
int store_list_imports(struct store *s, FILE *out, struct error *err);

#endif
