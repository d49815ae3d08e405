/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_import_report.c - foreign results in the store and beside one's own
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>
#include <sqlite3.h>

#include "results/base/cleanup.h"
#include "results/import.h"
#include "tests/store_fixture.h"

#define GOLDEN "tests/golden/"
#define S INT64_C(1000000000)

static int add_to(struct store *s, const char *path, const char *name, char *id,
		  bool *known, struct error *err)
{
	CLEANUP(import_free) struct import imp = { 0 };

	must(import_read(path, name, &imp, err), err);
	return store_add_import(s, &imp, id, known, err);
}

static void add(struct fixture *f, const char *golden, const char *name,
		char id[SHA256_HEX])
{
	cleanup_free char *path = xasprintf(GOLDEN "%s.txt", golden);
	bool known;

	must(add_to(f->s, path, name, id, &known, &f->err), &f->err);
	assert_false(known);
}

static char *print(struct fixture *f, const char *run_id, const char *format,
		   const char *id1, const char *id2)
{
	CLEANUP(strings_free) struct strings ids = { 0 };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (id1)
		strings_add(&ids, (char *)id1);
	if (id2)
		strings_add(&ids, (char *)id2);
	must(report_print_beside(f->s, run_id, &ids, format, out, &f->err),
	     &f->err);
	fclose(out);
	return text;
}

static int count_files(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	if (!d)
		return 0;
	for (const struct dirent *de; (de = readdir(d));)
		n += de->d_name[0] != '.' || strlen(de->d_name) > 2;
	closedir(d);
	return n;
}

/* --- the store ------------------------------------------------------------------ */

static void comes_back_to_the_byte(void **state)
{
	static const char *const names[] = { "contest-0.51", "contest-0.60",
					     "contest-0.61" };
	struct fixture *f = *state;
	char id[SHA256_HEX], found[SHA256_HEX];

	for (size_t i = 0; i < 3; i++) {
		cleanup_free char *path = xasprintf(GOLDEN "%s.txt", names[i]);
		cleanup_free char *want = slurp(path), *got = NULL;

		add(f, names[i], names[i], id);
		assert_int_equal(store_find_import(f->s, names[i], found,
						   &f->err), 1);
		assert_string_equal(found, id);
		got = print(f, NULL, NULL, id, NULL);
		assert_string_equal(got, want);
	}
}

static void the_same_is_no_duplicate(void **state)
{
	struct fixture *f = *state;
	char id[SHA256_HEX], again[SHA256_HEX];
	bool known;

	add(f, "contest-0.60", "a", id);
	/* the same tables, from a mail that quotes them too */
	must(add_to(f->s, GOLDEN "mail-0.60.txt", "a", again, &known, &f->err),
	     &f->err);
	assert_true(known);
	assert_string_equal(id, again);
	assert_int_equal(count_files(f->imports), 1);

	assert_int_equal(add_to(f->s, GOLDEN "mail-0.60.txt", "b", again, &known,
				&f->err), -1);
	assert_non_null(strstr(f->err.text, "has these tables already, named 'a'"));
	assert_int_equal(add_to(f->s, GOLDEN "contest-0.61.txt", "a", again,
				&known, &f->err), -1);
	assert_non_null(strstr(f->err.text, "another import named 'a'"));
	assert_int_equal(count_files(f->imports), 1);
	add(f, "contest-0.61", "b", again);
	assert_int_equal(count_files(f->imports), 2);
}

static void finds(void **state)
{
	struct fixture *f = *state;
	char a[SHA256_HEX], found[SHA256_HEX], prefix[10];

	add(f, "contest-0.60", "x's name", a);
	assert_int_equal(store_find_import(f->s, "x's name", found, &f->err), 1);
	assert_int_equal(store_find_import(f->s, "x's nam", found, &f->err), 0);
	assert_int_equal(store_find_import(f->s, "", found, &f->err), 0);
	assert_int_equal(store_find_import(f->s, "%%%%%%%%%", found, &f->err), 0);
	snprintf(prefix, sizeof(prefix), "%.8s", a);
	assert_int_equal(store_find_import(f->s, prefix, found, &f->err), 1);
	assert_string_equal(found, a);
	prefix[7] = '\0';
	assert_int_equal(store_find_import(f->s, prefix, found, &f->err), 0);
}

/* put_document() - a file in imports/ that did not come by store_add_import() */
static void put_document(struct fixture *f, const char *text, char *id)
{
	cleanup_free char *path = NULL;

	sha256_of(text, strlen(text), id);
	path = xasprintf("%s/%s", f->imports, id);
	must(file_write(path, text, strlen(text), &f->err), &f->err);
}

static void rebuild(struct fixture *f)
{
	FILE *saved = stderr;

	/* it warns of the damaged, as it should */
	stderr = fopen("/dev/null", "w");
	must(store_rebuild(f->s, &f->err), &f->err);
	fclose(stderr);
	stderr = saved;
}

static void rebuilds(void **state)
{
	struct fixture *f = *state;
	char a[SHA256_HEX], b[SHA256_HEX], hand[SHA256_HEX], found[SHA256_HEX];
	cleanup_free char *want = NULL, *got = NULL, *path = NULL;

	add(f, "contest-0.60", "a", a);
	add(f, "contest-0.51", "b", b);
	want = print(f, NULL, NULL, a, NULL);
	store_close(f->s);
	assert_int_equal(unlink(f->db), 0);
	must(store_open(f->db, &f->s, &f->err), &f->err);
	assert_int_equal(store_find_import(f->s, "a", found, &f->err), 0);
	rebuild(f);
	assert_int_equal(store_find_import(f->s, "a", found, &f->err), 1);
	got = print(f, NULL, NULL, found, NULL);
	assert_string_equal(got, want);

	/* damaged, of a newer version, of the same name */
	path = xasprintf("%s/%s", f->imports, b);
	must(file_write(path, "kontest-import 1\nname: b\n", 25, &f->err),
	     &f->err);
	put_document(f, "kontest-import 2\nname: c\n", hand);
	put_document(f, "kontest-import 1\nname: a\n\nio_load:\nKernel [runs] Time CPU% Loads LCPU% Ratio\nx 1 1 1.0 1 1.0 1.00\n",
		     hand);
	rebuild(f);
	assert_int_equal(store_find_import(f->s, "b", found, &f->err), 0);
	assert_int_equal(store_find_import(f->s, "c", found, &f->err), 0);
	assert_int_equal(store_find_import(f->s, "a", found, &f->err), -1);
	assert_non_null(strstr(f->err.text, "several imports"));
	assert_int_equal(store_find_import(f->s, hand, found, &f->err), 1);

	/* imported once more, the damaged one is whole again */
	add(f, "contest-0.51", "b", b);
	free(print(f, NULL, NULL, b, NULL));
}

static void damaged_is_said(void **state)
{
	struct fixture *f = *state;
	char id[SHA256_HEX];
	cleanup_free char *path = NULL;
	struct strings ids = { 0 };

	add(f, "contest-0.60", "a", id);
	path = xasprintf("%s/%s", f->imports, id);
	must(file_write(path, "kontest-import 1\n", 17, &f->err), &f->err);
	strings_add(&ids, id);
	assert_int_equal(report_print_beside(f->s, NULL, &ids, NULL, stdout,
					     &f->err), -1);
	assert_non_null(strstr(f->err.text, "does not match its name"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(report_print_beside(f->s, NULL, &ids, NULL, stdout,
					     &f->err), -1);
	assert_non_null(strstr(f->err.text, "No such file"));
	strings_free(&ids);
}

/* An index as kontest made it before there were imports. */
static void older_index(void **state)
{
	struct fixture *f = *state;
	char id[SHA256_HEX];
	sqlite3 *db;

	store_close(f->s);
	assert_int_equal(sqlite3_open(f->db, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "DROP TABLE import; ALTER TABLE boot DROP COLUMN calibration; PRAGMA user_version = 1",
				      NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	must(store_open(f->db, &f->s, &f->err), &f->err);
	add(f, "contest-0.60", "a", id);
}

static void listed(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *text = NULL, *want = NULL;
	char id[SHA256_HEX];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	add(f, "contest-0.60", "a mail", id);
	must(store_list(f->s, out, &f->err), &f->err);
	fclose(out);
	want = xasprintf("import %.12s  11 tables, 33 rows  a mail\n", id);
	assert_string_equal(text, want);
}

/* Several processes import the same, and others under the same name: one of each
 * gets in. */
static void several_at_once(void **state)
{
	struct fixture *f = *state;
	pid_t pid[6];
	int added = 0, same = 0, refused = 0;

	for (int i = 0; i < 6; i++) {
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		if (pid[i] == 0) {
			struct store *s;
			struct error err = { 0 };
			char id[SHA256_HEX];
			bool known = false;
			int ret;

			alarm(100);
			must(store_open(f->db, &s, &err), &err);
			ret = add_to(s, i % 2 ? GOLDEN "contest-0.60.txt"
					      : GOLDEN "contest-0.61.txt",
				     "x", id, &known, &err);
			_exit(ret ? strstr(err.text, "another import named") ?
			      2 : 9 : known);
		}
	}
	for (int i = 0; i < 6; i++) {
		int status;

		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_true(WIFEXITED(status));
		added += WEXITSTATUS(status) == 0;
		same += WEXITSTATUS(status) == 1;
		refused += WEXITSTATUS(status) == 2;
	}
	assert_int_equal(added, 1);
	assert_int_equal(same, 2);
	assert_int_equal(refused, 3);
	assert_int_equal(count_files(f->imports), 1);
}

/* --- beside a run ------------------------------------------------------------------ */

static void make_run(struct fixture *f)
{
	cleanup_free char *journal = xasprintf("%s/j", f->dir);
	char *ctx = context_json(RUN_A, "2.5.59", 0, 1, 1,
				 "2026-01-31T10:00:00Z",
				 "[\"no_load\",\"my_load\",\"io_load\"]");
	char id[SHA256_HEX];

	must(journal_create(journal, RUN_A,
			    "run=no_load\nrun=my_load\nrun=io_load\n", ctx,
			    &f->err), &f->err);
	append_run(journal, &(struct made_run){ 1, "no_load", "ok",
						20 * S + 5, 19 * S, 0, 0, 0 });
	append_run(journal, &(struct made_run){ 2, "my_load", "ok", 30 * S,
						19 * S, S, 5, 10 });
	append_run(journal, &(struct made_run){ 3, "io_load", "ok", 40 * S,
						20 * S, 5 * S, 25, 10 });
	finish(journal);
	must(store_add(f->s, journal, id, &f->err), &f->err);
	free(ctx);
}

/* add_text() - an import of a text */
static void add_text(struct fixture *f, const char *text, const char *name,
		     char id[SHA256_HEX])
{
	cleanup_free char *path = xasprintf("%s/text", f->dir);
	bool known;

	must(file_write(path, text, strlen(text), &f->err), &f->err);
	must(add_to(f->s, path, name, id, &known, &f->err), &f->err);
}

#define OLD "noload:\nKernel [runs] Time CPU% Loads LCPU% Ratio\n2.4.19 [3] 70.5 98 0 0 1.00\n" \
	"io_load:\nKernel [runs] Time CPU% Loads LCPU% Ratio\n2.4.19 [12] 170.5 - 10 20 2.42\n"
#define NEW "xtar_load:\nKernel [runs] Time CPU% Loads LCPU% Ratio\n2.5.59 3 90 80.1 2.5 4.0 1.15\n" \
	"io_load:\nKernel [runs] Time CPU% Loads LCPU% Ratio\n\xe6\xbc\xa2, \"x\" 3 153 50.3 8.0 13.7 1.94\n"

static void contest_rows_beside(void **state)
{
	struct fixture *f = *state;
	char a[SHA256_HEX], b[SHA256_HEX];
	cleanup_free char *one = NULL, *two = NULL, *old = NULL, *none = NULL;

	make_run(f);
	add_text(f, OLD, "old mail", a);
	add_text(f, NEW, "new mail", b);
	one = print(f, RUN_A, NULL, a, NULL);
	assert_string_equal(one,
		"no_load:\n"
		"Kernel     [runs]       Time    CPU%    Loads   LCPU%   Ratio\n"
		"2.5.59          1       20      95.0    0.0     0.0     1.00\n"
		"2.4.19*         3       70.5    98      0       0       1.00\n"
		"my_load:\n"
		"Kernel [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
		"2.5.59      1   30      63.3    0.5     3.3     1.50\n"
		"io_load:\n"
		"Kernel     [runs]       Time    CPU%    Loads   LCPU%   Ratio\n"
		"2.5.59          1       40      50.0    2.5     12.5    2.00\n"
		"2.4.19*        12       170.5   -       10      20      2.42\n"
		"*: 'old mail', not measured here, figures as printed by contest-0.51\n");
	two = print(f, RUN_A, "contest-0.60", a, b);
	assert_non_null(strstr(two,
		"io_load:\n"
		"Kernel     [runs]       Time    CPU%    Loads   LCPU%   Ratio\n"
		"2.5.59          1       40      50.0    2       12.5    2.00\n"
		"2.4.19*1       12       170.5   -       10      20      2.42\n"
		"\xe6\xbc\xa2, \"x\"*2       3       153     50.3    8.0     13.7    1.94\n"
		"xtar_load:\n"
		"Kernel     [runs]       Time    CPU%    Loads   LCPU%   Ratio\n"
		"2.5.59*2        3       90      80.1    2.5     4.0     1.15\n"
		"*1: 'old mail', not measured here, figures as printed by contest-0.51\n"
		"*2: 'new mail', not measured here, figures as printed by contest-0.61\n"));
	old = print(f, RUN_A, "contest-0.51", a, NULL);
	assert_non_null(strstr(old,
		"noload:\n"
		"Kernel [runs]           Time    CPU%    Loads   LCPU%   Ratio\n"
		"2.5.59 [1]              20.0    95      0       0       1.00\n"
		"2.4.19* [3]             70.5    98      0       0       1.00\n"));
	/* the run's own figures know nothing of it */
	none = print(f, RUN_A, NULL, NULL, NULL);
	assert_null(strstr(none, "*"));
}

static void wide_beside(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *own = NULL, *both = NULL, *alone = NULL;
	char b[SHA256_HEX];

	make_run(f);
	add_text(f, NEW, "new mail", b);
	own = print(f, RUN_A, "wide", NULL, NULL);
	both = print(f, RUN_A, "wide", b, NULL);
	alone = print(f, NULL, "wide", b, NULL);
	assert_string_equal(alone,
		"import 'new mail': not measured here, figures as printed there, no intervals\n"
		"Load       Kernel   Source  Format        Runs  Time  CPU%  Loads  LCPU%  Ratio\n"
		"xtar_load  2.5.59   import  contest-0.61     3    90  80.1    2.5    4.0   1.15\n"
		"io_load    \xe6\xbc\xa2, \"x\"  import  contest-0.61     3   153  50.3    8.0   13.7   1.94\n");
	assert_true(str_starts(both, own));
	assert_string_equal(both + strlen(own) + 1, alone);
}

static void json_beside(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *own = NULL, *both = NULL, *alone = NULL;
	json_auto_t *jown = NULL, *jboth = NULL, *jalone = NULL;
	const json_t *imp, *row;
	char a[SHA256_HEX], b[SHA256_HEX];

	make_run(f);
	add_text(f, OLD, "old mail", a);
	add_text(f, NEW, "new mail", b);
	own = print(f, RUN_A, "json", NULL, NULL);
	both = print(f, RUN_A, "json", a, b);
	alone = print(f, NULL, "json", a, b);
	jown = json_loads(own, 0, NULL);
	jboth = json_loads(both, 0, NULL);
	jalone = json_loads(alone, 0, NULL);
	assert_true(jown && jboth && jalone);
	assert_null(json_object_get(jown, "imports"));
	assert_true(json_equal(json_object_get(jboth, "imports"),
			       json_object_get(jalone, "imports")));
	imp = json_array_get(json_object_get(jboth, "imports"), 0);
	assert_string_equal(json_string_value(json_object_get(imp, "source")),
			    "import");
	row = json_array_get(json_object_get(json_array_get(
		json_object_get(imp, "table"), 1), "kernels"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "source")),
			    "import");
	assert_true(json_real_value(json_object_get(row, "time_s")) == 170.5);
	assert_true(json_is_null(json_object_get(row, "cpu_pct")));
	assert_null(json_object_get(row, "time_half_width_s"));
	assert_string_equal(json_string_value(json_object_get(json_object_get(
		row, "printed"), "cpu_pct")), "-");
	/* all else is what it is without them */
	json_object_del(jboth, "imports");
	assert_true(json_equal(jown, jboth));
	assert_int_equal(json_array_size(json_object_get(jalone, "boots")), 0);
	assert_true(json_is_null(json_object_get(jalone, "plan")));
}

/* fields() - how many a line of CSV has; quoted commas do not count */
static size_t fields(const char *line)
{
	bool quoted = false;
	size_t n = 1;

	for (; *line && (quoted || *line != '\r'); line++) {
		quoted ^= *line == '"';
		n += *line == ',' && !quoted;
	}
	return n;
}

static void csv_beside(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *own = NULL, *both = NULL, *alone = NULL;
	char a[SHA256_HEX], b[SHA256_HEX];
	size_t lines = 0, want;

	make_run(f);
	add_text(f, OLD, "old mail", a);
	add_text(f, NEW, "new, mail", b);
	own = print(f, RUN_A, "csv", NULL, NULL);
	both = print(f, RUN_A, "csv", a, b);
	alone = print(f, NULL, "csv", b, NULL);
	assert_null(strstr(own, "source"));
	want = fields(own) + 8;
	for (const char *l = both; *l; l = strchr(l, '\n') + 1, lines++)
		assert_int_equal(fields(l), want);
	assert_int_equal(lines, 1 + 3 + 4);
	assert_non_null(strstr(both, ",source,import,runs,time_s,cpu_pct,loads,lcpu_pct,ratio\r\n"));
	assert_non_null(strstr(both, ",run,,,,,,,\r\n"));
	assert_non_null(strstr(both, ",import,old mail,12,170.5,,10,20,2.42\r\n"));
	assert_non_null(strstr(alone, "\r\n,\"\xe6\xbc\xa2, \"\"x\"\"\",,,,,io_load,,"));
	assert_non_null(strstr(alone, ",import,\"new, mail\",3,153,50.3,8.0,13.7,1.94\r\n"));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(comes_back_to_the_byte), T(the_same_is_no_duplicate),
		T(finds), T(rebuilds), T(damaged_is_said), T(older_index),
		T(listed), T(several_at_once), T(contest_rows_beside),
		T(wide_beside), T(json_beside), T(csv_beside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
