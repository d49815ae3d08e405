/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_import.c - foreign results in the store: documents, and an index of them
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "results/base/file.h"
#include "results/columns.h"
#include "results/import.h"
#include "results/store_db.h"

#define DOCUMENT_MAX_BYTES ((size_t)64 << 20)
#define PREFIX_MIN 8
#define ID_SHOWN 12

static int read_document(const char *path, const char *id, struct import *imp,
			 struct error *err)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	char found[SHA256_HEX];

	*imp = (struct import){ 0 };
	if (file_read(path, DOCUMENT_MAX_BYTES, &text, err))
		return -1;
	sha256_of(text.data, text.len, found);
	if (strcmp(found, id) != 0)
		return error_set(err, 0, "import '%s': its content does not match its name: the file was changed or is damaged; import its source again",
				 path);
	if (!str_starts(text.data, IMPORT_MAGIC "\n"))
		return error_set(err, 0, "import '%s' is not '" IMPORT_MAGIC "': made by a newer kontest or by hand; let 'kontest import' read it",
				 path);
	return import_parse(path, &text, NULL, imp, err);
}

static void printed_digest(const struct import *imp, char hex[SHA256_HEX])
{
	CLEANUP(buf_free) struct buf text = { 0 };

	import_print(imp, &text);
	sha256_of(text.data, text.len, hex);
}

static int insert_import(struct store *s, const char *id,
			 const struct import *imp, struct error *err)
{
	cleanup_stmt sqlite3_stmt *st = NULL;
	char printed[SHA256_HEX];

	printed_digest(imp, printed);
	if (sqlite3_prepare_v2(s->db, "INSERT OR REPLACE INTO import VALUES (?,?,?,?,?)",
			       -1, &st, NULL) != SQLITE_OK ||
	    sqlite3_bind_text(st, 1, id, -1, SQLITE_STATIC) ||
	    sqlite3_bind_text(st, 2, imp->name, -1, SQLITE_STATIC) ||
	    sqlite3_bind_text(st, 3, printed, -1, SQLITE_STATIC) ||
	    sqlite3_bind_int64(st, 4, (int64_t)import_tables_total(imp)) ||
	    sqlite3_bind_int64(st, 5, (int64_t)import_rows_total(imp)) ||
	    sqlite3_step(st) != SQLITE_DONE)
		return store_db_error(s, "add an import", err);
	return 0;
}

/* check_others() - is there one with this name, or with these tables? */
static int check_others(struct store *s, const char *id,
			const struct import *imp, bool *known,
			struct error *err)
{
	cleanup_stmt sqlite3_stmt *st = NULL;
	char printed[SHA256_HEX];
	int rc;

	printed_digest(imp, printed);
	if (sqlite3_prepare_v2(s->db, "SELECT id, name FROM import"
			       " WHERE id = ?1 OR printed = ?2 OR name = ?3"
			       " ORDER BY id != ?1, name != ?3", -1, &st,
			       NULL) != SQLITE_OK ||
	    sqlite3_bind_text(st, 1, id, -1, SQLITE_STATIC) ||
	    sqlite3_bind_text(st, 2, printed, -1, SQLITE_STATIC) ||
	    sqlite3_bind_text(st, 3, imp->name, -1, SQLITE_STATIC))
		return store_db_error(s, "read", err);
	rc = sqlite3_step(st);
	*known = false;
	if (rc == SQLITE_DONE)
		return 0;
	if (rc != SQLITE_ROW)
		return store_db_error(s, "read", err);
	*known = strcmp((const char *)sqlite3_column_text(st, 0), id) == 0;
	if (*known)
		return 0;
	if (strcmp((const char *)sqlite3_column_text(st, 1), imp->name) == 0)
		return error_set(err, 0, "store '%s' has another import named '%s': choose another name with --name",
				 s->path, imp->name);
	return error_set(err, 0, "store '%s' has these tables already, named '%s'; to give them another name remove '%s/%s', say 'kontest store rebuild' and import them again",
			 s->path, sqlite3_column_text(st, 1), s->imports,
			 sqlite3_column_text(st, 0));
}

/* add_locked() - no other process can add while the index is locked */
static int add_locked(struct store *s, const struct import *imp,
		      const struct buf *document, const char *id, bool *known,
		      struct error *err)
{
	cleanup_free char *path = xasprintf("%s/%s", s->imports, id);

	/* The document first, as with journals. A known one is written too: it
	 * may have been damaged. */
	if (check_others(s, id, imp, known, err) ||
	    make_dirs(s->imports, err) ||
	    file_write(path, document->data, document->len, err) ||
	    insert_import(s, id, imp, err))
		return -1;
	return store_db_exec(s, "COMMIT", "add an import", err);
}

int store_add_import(struct store *s, const struct import *imp,
		     char id[SHA256_HEX], bool *known, struct error *err)
{
	CLEANUP(buf_free) struct buf document = { 0 };

	import_document(imp, &document);
	sha256_of(document.data, document.len, id);
	if (store_db_exec(s, "BEGIN IMMEDIATE", "lock", err))
		return -1;
	if (add_locked(s, imp, &document, id, known, err)) {
		/* A failure of that adds nothing to the reason. */
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		return -1;
	}
	return 0;
}

int store_rebuild_imports(struct store *s, struct error *err)
{
	cleanup_closedir DIR *dir = NULL;
	const struct dirent *de;

	if (store_db_exec(s, "DELETE FROM import", "empty", err))
		return -1;
	dir = opendir(s->imports);
	if (!dir)
		return errno == ENOENT ? 0 :
			error_set(err, errno, "open directory '%s'",
				  s->imports);
	while ((de = readdir(dir))) {
		CLEANUP(import_free) struct import imp = { 0 };
		cleanup_free char *path = NULL;
		struct error bad = { 0 };

		if (!store_is_id(de->d_name))
			continue;
		path = xasprintf("%s/%s", s->imports, de->d_name);
		if (read_document(path, de->d_name, &imp, &bad))
			fprintf(stderr, "kontest: warning: %s; left out\n",
				bad.text);
		else if (insert_import(s, de->d_name, &imp, err))
			return -1;
	}
	return 0;
}

/* import_ids() - add the ids that @sql finds for @name to @ids */
static int import_ids(struct store *s, const char *sql, const char *name,
		      struct strings *ids, struct error *err)
{
	cleanup_stmt sqlite3_stmt *st = NULL;
	int rc;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK ||
	    sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC))
		return store_db_error(s, "read", err);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		strings_add(ids, xstrdup((const char *)
					 sqlite3_column_text(st, 0)));
	return rc == SQLITE_DONE ? 0 : store_db_error(s, "read", err);
}

int store_find_import(struct store *s, const char *name, char id[SHA256_HEX],
		      struct error *err)
{
	CLEANUP(strings_clear) struct strings ids = { 0 };

	if (import_ids(s, "SELECT id FROM import WHERE name = ?1 ORDER BY id",
		       name, &ids, err))
		return -1;
	if (ids.n == 0 && strlen(name) >= PREFIX_MIN &&
	    import_ids(s, "SELECT id FROM import"
		       " WHERE substr(id, 1, length(?1)) = lower(?1) ORDER BY id",
		       name, &ids, err))
		return -1;
	if (ids.n > 1)
		return error_set(err, 0, "'%s' means several imports, %.*s and %.*s among them: give the beginning of an id",
				 name, ID_SHOWN, ids.v[0], ID_SHOWN, ids.v[1]);
	if (ids.n == 0)
		return 0;
	if (!store_is_id(ids.v[0]))
		return error_set(err, 0, "store '%s': '%s' is no id of an import: the index is damaged: say 'kontest store rebuild'",
				 s->path, ids.v[0]);
	strcpy(id, ids.v[0]);
	return 1;
}

int store_load_import(struct store *s, const char *id, struct import *imp,
		      struct error *err)
{
	cleanup_free char *path = xasprintf("%s/%s", s->imports, id);

	return read_document(path, id, imp, err);
}

int store_list_imports(struct store *s, FILE *out, struct error *err)
{
	cleanup_stmt sqlite3_stmt *st = NULL;
	int rc;

	if (sqlite3_prepare_v2(s->db, "SELECT id, name, tables, kernels FROM import"
			       " ORDER BY name, id", -1, &st, NULL) != SQLITE_OK)
		return store_db_error(s, "read", err);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		cleanup_free char *name = text_clean((const char *)
						     sqlite3_column_text(st, 1),
						     NULL);

		fprintf(out, "import %.*s  %lld tables, %lld rows  %s\n",
			ID_SHOWN, sqlite3_column_text(st, 0),
			(long long)sqlite3_column_int64(st, 2),
			(long long)sqlite3_column_int64(st, 3), name);
	}
	return rc == SQLITE_DONE ? 0 : store_db_error(s, "read", err);
}
