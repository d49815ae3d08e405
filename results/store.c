/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.c - every boot ever measured: an SQLite index over journals
 *
 * A journal is taken in before its row is: whatever happens in between, no row
 * is without a journal, and a journal without a row is found by
 * store_rebuild().
 */
#include "results/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/columns.h"
#include "results/journal_file.h"
#include "results/record.h"
#include "results/store_db.h"

#define STORE_SCHEMA 3
#define STORE_APPLICATION 0x4b4f4e54	/* "KONT", in the database's header */
#define STORE_WAIT_MS 30000

static const char schema[] =
	"CREATE TABLE boot ("
	" id TEXT PRIMARY KEY,"			/* SHA-256 of the journal */
	" run_id TEXT NOT NULL,"
	" plan TEXT NOT NULL,"
	" kernel TEXT NOT NULL,"
	" kernel_order INTEGER NOT NULL,"
	" number INTEGER NOT NULL,"
	" boot_index INTEGER NOT NULL,"
	" verdict TEXT NOT NULL,"
	" started_us INTEGER NOT NULL"		/* since 1970, host's clock */
	") WITHOUT ROWID;"
	"CREATE INDEX boot_run ON boot (run_id, kernel_order, number, id);"
	"CREATE INDEX boot_started ON boot (started_us);"
	"PRAGMA application_id = 0x4b4f4e54;"
	"PRAGMA user_version = 1;";

/* what schema 2 has more */
static const char schema_2[] =
	"CREATE TABLE import ("
	" id TEXT PRIMARY KEY,"			/* SHA-256 of the document */
	" name TEXT NOT NULL,"
	" printed TEXT NOT NULL,"		/* SHA-256 of the tables alone */
	" tables INTEGER NOT NULL,"
	" kernels INTEGER NOT NULL"		/* rows of all tables */
	") WITHOUT ROWID;"
	"PRAGMA user_version = 2;";

/* and schema 3; boots that are indexed already are of no calibration */
static const char schema_3[] =
	"ALTER TABLE boot ADD COLUMN calibration INTEGER NOT NULL DEFAULT 0;"
	"PRAGMA user_version = 3;";

int store_db_error(const struct store *s, const char *what, struct error *err)
{
	int code = s->db ? sqlite3_errcode(s->db) : SQLITE_NOMEM;
	const char *text = s->db ? sqlite3_errmsg(s->db) : "out of memory";

	switch (code) {
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return error_set(err, 0, "store '%s': %s: move it away (a new index is made from the journals beside it) or name another with --store",
				 s->path, text);
	case SQLITE_FULL:
		return error_set(err, 0, "store '%s': %s: the disk is full: make room or name another with --store",
				 s->path, what);
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return error_set(err, 0, "store '%s': %s: %s: check the permissions of it and its directory or name another with --store",
				 s->path, what, text);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return error_set(err, 0, "store '%s': %s: another kontest has held it for %d s: try again when that one is done",
				 s->path, what, STORE_WAIT_MS / 1000);
	default:
		return error_set(err, 0, "store '%s': %s: %s", s->path, what,
				 text);
	}
}

int store_db_exec(struct store *s, const char *sql, const char *what,
		  struct error *err)
{
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return store_db_error(s, what, err);
	return 0;
}

static int db_int(struct store *s, const char *sql, int64_t *out,
		  struct error *err)
{
	cleanup_stmt sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK ||
	    sqlite3_step(st) != SQLITE_ROW)
		return store_db_error(s, "read", err);
	*out = sqlite3_column_int64(st, 0);
	return 0;
}

static bool db_busy(struct store *s)
{
	return sqlite3_errcode(s->db) == SQLITE_BUSY;
}

/*
 * go_wal() - switch to write-ahead logging
 *
 * Two that switch a new file at the same moment can be told "busy" at once,
 * without any waiting by SQLite: hence the loop.
 */
static int go_wal(struct store *s, struct error *err)
{
	for (int waited_ms = 0;; waited_ms += 20) {
		int rc = sqlite3_exec(s->db, "PRAGMA journal_mode = WAL",
				      NULL, NULL, NULL);

		if (rc == SQLITE_OK)
			return 0;
		if (!db_busy(s) || waited_ms >= STORE_WAIT_MS)
			return store_db_error(s, "open", err);
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
}

/* check_schema() - make the tables in a new file, refuse somebody else's */
static int check_schema(struct store *s, struct error *err)
{
	int64_t version, application, tables;

	if (db_int(s, "PRAGMA user_version", &version, err) ||
	    db_int(s, "PRAGMA application_id", &application, err) ||
	    db_int(s, "SELECT count(*) FROM sqlite_master", &tables, err))
		return -1;
	if (tables == 0 && version == 0) {
		if (store_db_exec(s, schema, "make the tables", err))
			return -1;
		return store_db_exec(s, schema_2, "make the tables", err) ||
		       store_db_exec(s, schema_3, "make the tables", err) ? -1 : 0;
	}
	if (application != STORE_APPLICATION)
		return error_set(err, 0, "store '%s': an SQLite database, but not a store of kontest: name another with --store",
				 s->path);
	if (version > STORE_SCHEMA)
		return error_set(err, 0, "store '%s': made by a newer kontest (schema %lld, this one knows %d): use that one or name another with --store",
				 s->path, (long long)version, STORE_SCHEMA);
	if (version < 2 && store_db_exec(s, schema_2, "bring up to date", err))
		return -1;
	if (version < 3 && store_db_exec(s, schema_3, "bring up to date", err))
		return -1;
	return 0;
}

static int open_index(struct store *s, struct error *err)
{
	int rc = sqlite3_open_v2(s->path, &s->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
				 NULL);

	if (rc != SQLITE_OK)
		return store_db_error(s, "open", err);
	sqlite3_busy_timeout(s->db, STORE_WAIT_MS);
	/* WAL first: it also finds out whether this is a database at all. */
	if (go_wal(s, err) ||
	    store_db_exec(s, "PRAGMA synchronous = FULL", "open", err) ||
	    store_db_exec(s, "BEGIN IMMEDIATE", "lock", err) ||
	    check_schema(s, err))
		return -1;
	return store_db_exec(s, "COMMIT", "make the tables", err);
}

int store_open(const char *path, struct store **out, struct error *err)
{
	struct store *s = xcalloc(1, sizeof(*s));
	const char *slash = strrchr(path, '/');
	cleanup_free char *dir = slash ? xstrndup(path, (size_t)(slash - path))
				       : xstrdup(".");

	*out = NULL;
	s->path = xstrdup(path);
	s->journals = xasprintf("%s/journals", dir);
	s->imports = xasprintf("%s/imports", dir);
	if (make_dirs(s->journals, err)) {
		error_prefix(err, "store '%s'", path);
	} else if (!open_index(s, err)) {
		*out = s;
		return 0;
	}
	store_close(s);
	return -1;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	sqlite3_close(s->db);
	free(s->path);
	free(s->journals);
	free(s->imports);
	free(s);
}

static int insert_boot(struct store *s, const struct boot_record *b,
		       struct error *err)
{
	cleanup_stmt sqlite3_stmt *st = NULL;
	static const char sql[] =
		"INSERT OR REPLACE INTO boot VALUES (?,?,?,?,?,?,?,?,?,?)";

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK ||
	    sqlite3_bind_text(st, 1, b->id, -1, SQLITE_STATIC) ||
	    sqlite3_bind_text(st, 2, b->run_id, -1, SQLITE_STATIC) ||
	    sqlite3_bind_text(st, 3, b->plan_name, -1, SQLITE_STATIC) ||
	    sqlite3_bind_text(st, 4, b->label, -1, SQLITE_STATIC) ||
	    sqlite3_bind_int64(st, 5, b->order) ||
	    sqlite3_bind_int64(st, 6, b->number) ||
	    sqlite3_bind_int64(st, 7, b->index) ||
	    sqlite3_bind_text(st, 8, verdict_name(b->verdict), -1,
			      SQLITE_STATIC) ||
	    sqlite3_bind_int64(st, 9, b->started_us) ||
	    sqlite3_bind_int(st, 10, b->calibration) ||
	    sqlite3_step(st) != SQLITE_DONE)
		return store_db_error(s, "add a boot", err);
	return 0;
}

/* take_in() - the journal under its id; on failure nothing is left of it */
static int take_in(struct store *s, const char *journal, struct boot_record *b,
		   char id[SHA256_HEX], struct error *err)
{
	struct timespec now;
	cleanup_free char *in = NULL, *final = NULL;

	clock_gettime(CLOCK_MONOTONIC, &now);
	in = xasprintf("%s/.incoming-%ld-%lld%09ld", s->journals,
		       (long)getpid(), (long long)now.tv_sec, now.tv_nsec);
	if (journal_store_copy(journal, in, id, err))
		return error_prefix(err, "store '%s'", s->path);
	final = xasprintf("%s/%s", s->journals, id);
	/* What is indexed is what was copied, so the copy is read, not the
	 * original. Renaming over a journal with the same id changes nothing. */
	if (boot_record_load(in, b, err)) {
		unlink(in);
		return error_prefix(err, "from '%s'", journal);
	}
	if (rename(in, final)) {
		error_set(err, errno, "rename '%s' to '%s'", in, final);
		unlink(in);
		boot_record_free(b);
		return -1;
	}
	if (dir_sync(s->journals, err)) {
		boot_record_free(b);
		return -1;
	}
	return 0;
}

int store_add(struct store *s, const char *journal, char id[SHA256_HEX],
	      struct error *err)
{
	CLEANUP(boot_record_free) struct boot_record b = { 0 };

	if (take_in(s, journal, &b, id, err))
		return -1;
	if (insert_boot(s, &b, err))
		return error_prefix(err, "journal '%s/%s' is safe, but not indexed",
				    s->journals, id);
	return 0;
}

bool store_is_id(const char *name)
{
	return sha256_is(name);
}

/* load_stored() - a journal of the store, which must be what its name says */
static int load_stored(const char *path, struct boot_record *b,
		       struct error *err)
{
	const char *name = strrchr(path, '/') + 1;

	if (boot_record_load(path, b, err))
		return -1;
	if (strcmp(name, b->id) != 0) {
		boot_record_free(b);
		return error_set(err, 0, "journal '%s': its content does not match its name: the file was changed or is damaged",
				 path);
	}
	return 0;
}

int store_load(const char *path, struct boot_record *b)
{
	struct error err = { 0 };

	if (!load_stored(path, b, &err))
		return 0;
	fprintf(stderr, "kontest: warning: %s; left out\n", err.text);
	return -1;
}

int store_load_boots(struct store *s, const char *run_id, struct boot_records *boots,
		     size_t *journals, struct error *err)
{
	CLEANUP(strings_clear) struct strings paths = { 0 };

	if (store_boots(s, run_id, &paths, err))
		return -1;
	for (size_t i = 0; i < paths.n; i++) {
		struct boot_record b;

		if (!store_load(paths.v[i], &b))
			boot_records_add(boots, b);
	}
	*journals = paths.n;
	return 0;
}

int store_load_run(struct store *s, const char *run_id, struct boot_records *boots,
		   struct error *err)
{
	size_t before = boots->n, journals;

	if (store_load_boots(s, run_id, boots, &journals, err))
		return -1;
	if (boots->n == before)
		return error_set(err, 0, "run '%s': none of its %zu journals can be read",
				 run_id, journals);
	return 0;
}

static int rebuild_rows(struct store *s, DIR *dir, struct error *err)
{
	const struct dirent *de;

	if (store_db_exec(s, "DELETE FROM boot", "empty", err))
		return -1;
	while ((de = readdir(dir))) {
		CLEANUP(boot_record_free) struct boot_record b = { 0 };
		cleanup_free char *path = NULL;

		if (!store_is_id(de->d_name))
			continue;
		path = xasprintf("%s/%s", s->journals, de->d_name);
		if (!store_load(path, &b) && insert_boot(s, &b, err))
			return -1;
	}
	if (store_rebuild_imports(s, err))
		return -1;
	return store_db_exec(s, "COMMIT", "rebuild", err);
}

int store_rebuild(struct store *s, struct error *err)
{
	cleanup_closedir DIR *dir = opendir(s->journals);

	if (!dir)
		return error_set(err, errno, "open directory '%s'",
				 s->journals);
	if (store_db_exec(s, "BEGIN IMMEDIATE", "lock", err))
		return -1;
	if (rebuild_rows(s, dir, err)) {
		/* The old rows come back; a failure of that adds nothing. */
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		return -1;
	}
	return 0;
}

/* run_ids() - the run ids that begin with @prefix, newest first */
static int run_ids(struct store *s, const char *prefix, int limit,
		   struct strings *ids, struct error *err)
{
	cleanup_stmt sqlite3_stmt *st = NULL;
	static const char sql[] =
		"SELECT run_id FROM boot"
		" WHERE lower(substr(run_id, 1, length(?1))) = lower(?1)"
		" GROUP BY run_id ORDER BY max(started_us) DESC, run_id LIMIT ?2";
	int rc;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK ||
	    sqlite3_bind_text(st, 1, prefix, -1, SQLITE_STATIC) ||
	    sqlite3_bind_int(st, 2, limit))
		return store_db_error(s, "read", err);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		strings_add(ids, xstrdup((const char *)
					 sqlite3_column_text(st, 0)));
	return rc == SQLITE_DONE ? 0 : store_db_error(s, "read", err);
}

int store_find(struct store *s, const char *prefix,
		      char run_id[UUID_TEXT], struct error *err)
{
	CLEANUP(strings_clear) struct strings ids = { 0 };

	if (run_ids(s, prefix ? prefix : "", 4, &ids, err))
		return -1;
	if (ids.n == 0 && (!prefix || !*prefix))
		return error_set(err, 0, "store '%s' holds no results yet: 'kontest run' makes some",
				 s->path);
	if (ids.n == 0) {
		CLEANUP(strings_clear) struct strings all = { 0 };

		if (run_ids(s, "", 1, &all, err))
			return -1;
		return error_set(err, 0, "no run in store '%s' begins with '%s'%s%s",
				 s->path, prefix, all.n ? "; the newest is " :
				 "; it holds no run", all.n ? all.v[0] : "");
	}
	if (ids.n > 1 && prefix)
		return error_set(err, 0, "'%s' is the beginning of several runs: %s, %s%s: give more of it",
				 prefix, ids.v[0], ids.v[1],
				 ids.n > 2 ? ", ..." : "");
	if (strlen(ids.v[0]) >= UUID_TEXT)
		return error_set(err, 0, "store '%s': run id '%s' is too long: the index is damaged",
				 s->path, ids.v[0]);
	strcpy(run_id, ids.v[0]);
	return 0;
}

int store_has_run(struct store *s, const char *run_id, struct error *err)
{
	cleanup_stmt sqlite3_stmt *st = NULL;
	static const char sql[] = "SELECT 1 FROM boot WHERE run_id = ? LIMIT 1";
	int rc;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK ||
	    sqlite3_bind_text(st, 1, run_id, -1, SQLITE_STATIC))
		return store_db_error(s, "read", err);
	rc = sqlite3_step(st);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return store_db_error(s, "read", err);
	return rc == SQLITE_ROW;
}

int store_boots(struct store *s, const char *run_id, struct strings *paths,
		struct error *err)
{
	cleanup_stmt sqlite3_stmt *st = NULL;
	static const char sql[] = "SELECT id FROM boot WHERE run_id = ?"
				  " ORDER BY kernel_order, number, id";
	size_t before = paths->n;
	int rc;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK ||
	    sqlite3_bind_text(st, 1, run_id, -1, SQLITE_STATIC))
		return store_db_error(s, "read", err);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		strings_add(paths, xasprintf("%s/%s", s->journals,
					     sqlite3_column_text(st, 0)));
	if (rc != SQLITE_DONE)
		return store_db_error(s, "read", err);
	if (paths->n == before)
		return error_set(err, 0, "no run '%s' in store '%s'", run_id,
				 s->path);
	return 0;
}

int store_calibrations(struct store *s, struct strings *run_ids, struct error *err)
{
	cleanup_stmt sqlite3_stmt *st = NULL;
	static const char sql[] =
		"SELECT run_id FROM boot WHERE calibration"
		" GROUP BY run_id ORDER BY max(started_us) DESC, run_id";
	int rc;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK)
		return store_db_error(s, "read", err);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		strings_add(run_ids, xstrdup((const char *)
					     sqlite3_column_text(st, 0)));
	return rc == SQLITE_DONE ? 0 : store_db_error(s, "read", err);
}

static void list_row(sqlite3_stmt *st, FILE *out)
{
	time_t start = (time_t)(sqlite3_column_int64(st, 1) / 1000000);
	int boots = sqlite3_column_int(st, 3), good = sqlite3_column_int(st, 4);
	char *plan = text_clean((const char *)sqlite3_column_text(st, 2), NULL);
	char when[32] = "-";
	struct tm tm;

	if (start && gmtime_r(&start, &tm))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	fprintf(out, "%s  %-20s  %3d boots, ", sqlite3_column_text(st, 0), when,
		boots);
	if (good == boots)
		fputs("all ok", out);
	else
		fprintf(out, "%d not ok", boots - good);
	fprintf(out, "  %s%s\n", plan,
		sqlite3_column_int(st, 5) ? " (calibration)" : "");
	free(plan);
}

int store_list(struct store *s, FILE *out, struct error *err)
{
	cleanup_stmt sqlite3_stmt *st = NULL;
	static const char sql[] =
		"SELECT run_id, min(started_us), min(plan), count(*),"
		" sum(verdict = 'ok'), max(calibration) FROM boot"
		" GROUP BY run_id ORDER BY max(started_us) DESC, run_id";
	int rc;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK)
		return store_db_error(s, "read", err);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		list_row(st, out);
	if (rc != SQLITE_DONE)
		return store_db_error(s, "read", err);
	if (store_list_imports(s, out, err))
		return -1;
	if (fflush(out) || ferror(out))
		return error_set(err, errno, "print the list of runs");
	return 0;
}
