/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_import.c - contest's tables read back, and their arithmetic
 *
 * tests/golden/contest-*.txt are the tables of three mails, 95 rows (see
 * unit_report.c); mail-0.60.txt is a thread of our own around one of them.
 */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "results/base/cleanup.h"
#include "results/import.h"
#include "tests/make_journal.h"
#include "tests/dress.h"

#define GOLDEN "tests/golden/"
#define TITLES "Kernel     [runs]       Time    CPU%    Loads   LCPU%   Ratio\n"
#define ROW "2.5.59          3       79      94.9    0       0.0     1.00\n"
#define ROW_051 "2.5.52-mm1 [8] 39.7 180 0 0 1.10\n"

static const struct golden {
	const char *name;
	enum import_format format;
	size_t tables, rows;
} golden[] = {
	{ "contest-0.51", IMPORT_051, 10, 40 },
	{ "contest-0.60", IMPORT_060, 11, 33 },
	{ "contest-0.61", IMPORT_061, 11, 22 },
};

#define N_GOLDEN (sizeof(golden) / sizeof(golden[0]))

static char *read_golden(const char *name)
{
	cleanup_free char *path = xasprintf(GOLDEN "%s.txt", name);

	return slurp(path);
}

/* parse() - tables of a text of @len bytes */
static int parse_bytes(const char *text, size_t len, const char *name,
		       struct import *imp, struct error *err)
{
	CLEANUP(buf_free) struct buf b = { 0 };

	buf_add(&b, text, len);
	*err = (struct error){ 0 };
	return import_parse("m/x.txt", &b, name, imp, err);
}

static void parse(const char *text, struct import *imp)
{
	struct error err;

	if (parse_bytes(text, strlen(text), NULL, imp, &err))
		fail_msg("%s", err.text);
}

/* refused() - must fail, in one line that says @says */
static void refused_bytes(const char *text, size_t len, const char *says)
{
	struct import imp;
	struct error err;

	assert_int_equal(parse_bytes(text, len, NULL, &imp, &err), -1);
	assert_null(strchr(err.text, '\n'));
	if (!strstr(err.text, says) || !strstr(err.text, "'m/x.txt'"))
		fail_msg("no '%s' in '%s'", says, err.text);
	assert_int_equal(imp.tables.n, 0);
	assert_null(imp.name);
}

static void refused(const char *text, const char *says)
{
	refused_bytes(text, strlen(text), says);
}

/* prints() - must be read, and be printed back as @want */
static void prints(const char *text, const char *want, size_t quoted)
{
	struct import imp;
	struct buf b = { 0 };

	parse(text, &imp);
	import_print(&imp, &b);
	assert_string_equal(b.data, want);
	assert_int_equal(imp.quoted, quoted);
	import_free(&imp);
	buf_free(&b);
}

/* --- the 95 rows, byte for byte ------------------------------------------------ */

static void golden_as_they_are(void **state)
{
	size_t rows = 0;

	(void)state;
	for (size_t g = 0; g < N_GOLDEN; g++) {
		cleanup_free char *text = read_golden(golden[g].name);
		struct import imp;

		prints(text, text, 0);
		parse(text, &imp);
		assert_int_equal(imp.tables.n, golden[g].tables);
		assert_int_equal(import_rows_total(&imp), golden[g].rows);
		for (size_t i = 0; i < imp.tables.n; i++)
			assert_int_equal(imp.tables.v[i].format,
					 golden[g].format);
		assert_string_equal(imp.tables.v[0].load, "no_load");
		assert_string_equal(import_format_name(golden[g].format),
				    golden[g].name);
		rows += import_rows_total(&imp);
		import_free(&imp);
	}
	assert_int_equal(rows, 95);
}

static void golden_in_any_dress(void **state)
{
	static const char *const dresses[][2] = {
		{ "> ", "" }, { ">", "" }, { "> > ", "" }, { ">>> ", "" },
		{ " > >", "" }, { "", "\r" }, { "", " " }, { "> ", " \r" },
		{ "    ", "" }, { "\t", "\t" }, { "> > \t", "\r\r" },
	};

	(void)state;
	for (size_t g = 0; g < N_GOLDEN; g++) {
		cleanup_free char *text = read_golden(golden[g].name);

		for (size_t i = 0; i < sizeof(dresses) / sizeof(*dresses); i++) {
			cleanup_free char *dressed =
				dress(text, dresses[i][0], dresses[i][1]);
			cleanup_free char *mail =
				xasprintf("Subject: x\n\nHello,\nnotes:\n%sBye\n",
					  dressed);

			assert_int_not_equal(strcmp(dressed, text), 0);
			prints(dressed, text, 0);
			prints(mail, text, 0);
		}
	}
}

/* A thread: tables, quoted in part, twice over, and whole. */
static void golden_mail(void **state)
{
	cleanup_free char *mail = read_golden("mail-0.60");
	cleanup_free char *text = read_golden("contest-0.60");
	struct import imp;

	(void)state;
	prints(mail, text, 1 + 1 + 1 + 11);
	parse(mail, &imp);
	assert_string_equal(imp.name,
			    "[BENCHMARK] contest 0.60 on three kernels");
	import_free(&imp);
}

/* Whatever word is missing from a table: it is said, no row gets lost. */
static void no_word_may_be_missing(void **state)
{
	size_t words = 0;

	(void)state;
	for (size_t g = 0; g < N_GOLDEN; g++) {
		cleanup_free char *text = read_golden(golden[g].name);

		for (char *w = text; *(w += strspn(w, " \n"));) {
			size_t len = strcspn(w, " \n");
			cleanup_free char *cut =
				xasprintf("%.*s%s", (int)(w - text), text,
					  w + len);

			refused(cut, "line ");
			words++;
			w += len;
		}
	}
	assert_int_equal(words, 10 * 8 + 11 * 8 * 2 + 95 * 7);
}

/* --- their arithmetic ------------------------------------------------------------ */

/* LCPU% of these is no mean of whole seconds over whole seconds. */
static const struct {
	enum import_format format;
	const char *load, *kernel;
} unlike[] = {
	{ IMPORT_060, "ctar_load", "2.5.59-mm7" },
	{ IMPORT_060, "read_load", "2.5.59-mm7" },
	{ IMPORT_060, "io_other", "2.5.59" },
	{ IMPORT_061, "io_other", "2.5.70-mm3" },
};

static bool is_unlike(const struct import_table *t, const struct import_row *r)
{
	for (size_t i = 0; i < sizeof(unlike) / sizeof(*unlike); i++) {
		if (unlike[i].format == t->format &&
		    !strcmp(unlike[i].load, t->load) &&
		    !strcmp(unlike[i].kernel, r->label))
			return true;
	}
	return false;
}

/* shows() - is @v, printed with @decimals, what the row says? */
static bool shows(const struct import_row *r, enum import_figure f, double v,
		  int decimals)
{
	cleanup_free char *text = xasprintf("%.*f", decimals, v);

	return strcmp(text, r->text[f]) == 0;
}

/* share_of() - is a percentage some whole number of seconds / @div / Time? */
static bool share_of(const struct import_row *r, enum import_figure f,
		     uint64_t div)
{
	double time = r->value[IMPORT_time_s];
	double near = r->value[f] / 100 * time * (double)div;

	for (double s = fmax(0, floor(near) - 1); s <= near + 2; s++) {
		if (shows(r, f, 100 * s / (double)div / time, 1))
			return true;
	}
	return false;
}

static double no_load_time(const struct import *imp, const char *kernel)
{
	const struct import_table *t = &imp->tables.v[0];

	assert_string_equal(t->load, "no_load");
	for (size_t i = 0; i < t->rows.n; i++) {
		if (!strcmp(t->rows.v[i].label, kernel))
			return t->rows.v[i].value[IMPORT_time_s];
	}
	fail_msg("no no_load of %s", kernel);
	return NAN;
}

/* 0.60 and 0.61: everything follows from whole seconds and the kernel's own
 * no_load */
static void arithmetic_060(void **state)
{
	size_t rows = 0, met = 0;

	(void)state;
	for (size_t g = 1; g < N_GOLDEN; g++) {
		cleanup_free char *text = read_golden(golden[g].name);
		struct import imp;

		parse(text, &imp);
		for (size_t i = 0; i < imp.tables.n; i++) {
			const struct import_table *t = &imp.tables.v[i];

			for (size_t k = 0; k < t->rows.n; k++, rows++) {
				const struct import_row *r = &t->rows.v[k];
				double time = r->value[IMPORT_time_s];

				assert_true(shows(r, IMPORT_ratio, time /
						  no_load_time(&imp, r->label),
						  2));
				assert_true(share_of(r, IMPORT_cpu_pct, 1));
				/* an exception that agrees is none */
				assert_int_equal(share_of(r, IMPORT_lcpu_pct,
							  r->runs),
						 !is_unlike(t, r));
				met += is_unlike(t, r);
			}
		}
		import_free(&imp);
	}
	assert_int_equal(rows, 55);
	assert_int_equal(met, 4);
}

/* 0.51: one reference time, not printed, explains every Ratio */
static void arithmetic_051(void **state)
{
	cleanup_free char *text = read_golden("contest-0.51");
	double from = 0, to = INFINITY, ref;
	struct import imp;
	size_t rows = 0;

	(void)state;
	parse(text, &imp);
	for (size_t pass = 0; pass < 2; pass++) {
		ref = (from + to) / 2;
		for (size_t i = 0; i < imp.tables.n; i++) {
			const struct import_rows *v = &imp.tables.v[i].rows;

			for (size_t k = 0; k < v->n; k++, rows++) {
				const struct import_row *r = &v->v[k];
				double time = r->value[IMPORT_time_s];
				double ratio = r->value[IMPORT_ratio];

				from = fmax(from, time / (ratio + 0.005));
				to = fmin(to, time / (ratio - 0.005));
				if (pass)
					assert_true(shows(r, IMPORT_ratio,
							  time / ref, 2));
			}
		}
	}
	assert_int_equal(rows, 2 * 40);
	assert_true(36.17 < from && from < to && to < 36.25);
	import_free(&imp);
}

/* --- tables and what looks like them ------------------------------------------------ */

static void figures_stay_as_printed(void **state)
{
	static const char text[] =
		"io_load:\n"
		"Kernel\t[runs]\tTime\tCPU%\tLoads\tLCPU%\tRatio\n"
		"2.4 with a blank\t 03\t0079\t94.9    0   0.0  1.00\n"
		"\xe6\xbc\xa2  1 999999999999999 100.0 - - -\n";
	const struct import_row *r;
	struct import imp;

	(void)state;
	prints(text, text, 0);
	parse(text, &imp);
	r = &imp.tables.v[0].rows.v[0];
	assert_string_equal(r->label, "2.4 with a blank");
	assert_int_equal(r->runs, 3);
	assert_string_equal(r->text[IMPORT_time_s], "0079");
	assert_true(r->value[IMPORT_time_s] == 79);
	r++;
	assert_true(r->value[IMPORT_time_s] == 999999999999999.0);
	assert_true(isnan(r->value[IMPORT_loads]));
	assert_int_equal(imp.tables.v[0].format, IMPORT_060);
	import_free(&imp);
}

/* Several formats in a file; a second series is no quotation. */
static void several_tables(void **state)
{
	struct import imp;

	(void)state;
	parse("noload:\n" TITLES ROW_051 "\nno_load:\n\n" TITLES ROW
	      "io_load:\n" TITLES "a 1 9 1.0 2.5 1.0 1.00\n"
	      "> no_load:\n> " TITLES "> b 1 9 1.0 0 1.0 1.00\n"
	      "> no_load:\n> " TITLES "> " ROW "> b 1 9 1.0 0 1.0 1.00\n"
	      "no_load:\n" TITLES ROW, &imp);
	assert_int_equal(imp.tables.n, 6);
	assert_int_equal(imp.quoted, 0);
	assert_int_equal(imp.tables.v[0].format, IMPORT_051);
	assert_string_equal(imp.tables.v[0].load, "no_load");
	assert_string_equal(imp.tables.v[0].heading, "noload:");
	assert_int_equal(imp.tables.v[1].format, IMPORT_060);
	assert_int_equal(imp.tables.v[2].format, IMPORT_061);
	import_free(&imp);
}

static void prose_is_no_error(void **state)
{
	static const char table[] = "io_load:\n" TITLES ROW;
	static const char *const prose[] = {
		"It took 3 times as long", "No idea what is going on", "see io_load:",
		"Try 4 runs", "Time and CPU% of a Kernel with [runs]", "Con",
		"On Sat, 1 Feb 2003 10:01, somebody wrote:", "...", "[snip]",
		"  6.12 boot 2 run 1: unfinished, boot panic: Kernel panic",
		"\xe4 Latin-1 \x1b[31m prose", "- - - - - - - -", "io_load:",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(prose) / sizeof(*prose); i++) {
		cleanup_free char *text =
			xasprintf("%s\n%s%s%s\n", prose[i], table,
				  strchr(prose[i], '%') ? "\n" : "", prose[i]);

		prints(text, table, 0);
	}
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "no table of contest" },
		{ "Hello\n", "no table of contest" },
		{ "io_load:\n", "no table of contest" },
		{ "x\n" TITLES ROW, "line 2: titles of a table without" },
		{ "> io_load:\n" TITLES ROW, "line 2: titles of a table without" },
		{ "io_load:\n" TITLES, "line 2: titles without a row" },
		{ "io_load:\n" TITLES "\n" ROW, "line 2: titles without a row" },
		{ "a_load:\n" TITLES ROW "\n" ROW, "line 5: a row that belongs to no table" },
		{ "a_load:\n" TITLES ROW "> " ROW, "line 4: a row that belongs to no table" },
		{ "a_load:\n" TITLES ROW "b_load:\n" ROW, "line 5: a row that belongs to no table" },
		{ "io_load:\n" ROW_051, "line 2: a row that belongs to no table" },
		{ "io_load:\nCK> " TITLES ROW, "line 2: these are nearly the titles" },
		{ "io_load:\nKernel [runs] Time CPU% Ratio\n", "line 2: these are nearly" },
		{ "io_load:\nKernel Time CPU Ratio\n", "line 2: these are nearly" },
		{ "a_load:\n" TITLES "label\n3 79 94.9 0 0.0 1.00\n", "line 2: titles without a row" },
		{ "a_load:\n" TITLES ROW "label\n3 79 94.9 0 0.0 1.00\n", "line 5: a row without a label" },
		{ "a_load:\n" TITLES "a 3 79 94.9 0 0.0\n1.00\n", "line 3: not quite a row" },
		{ "a_load:\n" TITLES ROW "a 3 79 94.9 0 0.0 nan\n", "line 4: not quite a row" },
		{ "a_load:\n" TITLES ROW "a 3 79 94,9 0 0.0 1.00\n", "line 4: not quite a row" },
		{ "a_load:\n" TITLES ROW "a 3 79 94.9 0 0.0 1.00 (wow)\n", "line 4: not quite a row" },
		{ "a_load:\n" TITLES ROW "a [3]\n", "line 4: not quite a row" },
		{ "a_load:\n" TITLES ROW "a 3 7.9 94.9 0 0.0 1.00\n", "prints Time as '7.9'" },
		{ "a_load:\n" TITLES ROW "a 3 79 94.9 0 0.0 1.0\n", "prints Ratio as '1.0'" },
		{ "a_load:\n" TITLES "a [3] 79 94 0 0 1.00\n", "in brackets prints Time as '79'" },
		{ "a_load:\n" TITLES ROW ROW_051, "line 4: the runs of this row" },
		{ "a_load:\n" TITLES ROW "a 3 79 94.9 0.5 0.0 1.00\n", "line 2: some Loads" },
		{ "a_load:\n" TITLES "\x1b[31ma 3 79 94.9 0 0.0 1.00\n", "printable UTF-8" },
		{ "a_load:\n" TITLES "\xff 3 79 94.9 0 0.0 1.00\n", "line 3: a line of a table with bytes" },
		{ "Content-Transfer-Encoding: base64\n\naW9f\n", "the mail is encoded" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		refused(bad[i].text, bad[i].says);
}

/* --- hostile input ----------------------------------------------------------------- */

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void hostile(void **state)
{
	CLEANUP(buf_free) struct buf b = { 0 }, big = { 0 };
	double start = cpu_seconds();

	(void)state;
	refused_bytes("io_load:\n" TITLES ROW "\0", sizeof("io_load:\n" TITLES ROW "\0") - 1, "line 4: a NUL");
	refused_bytes("\0ELF\1", 5, "line 1: a NUL");
	for (int i = 0; i < 1 << 20; i++)
		buf_adds(&b, "x");
	refused(b.data, "line 1: longer than 16 KiB");
	buf_free(&b);

	/* a line that just fits, of words */
	for (int i = 0; i < 8000; i++)
		buf_adds(&b, "1 ");
	buf_adds(&b, "\nio_load:\n" TITLES ROW);
	prints(b.data, "io_load:\n" TITLES ROW, 0);
	buf_free(&b);

	buf_adds(&big, "io_load:\n" TITLES);
	for (int i = 0; i < 1000000; i++)
		buf_adds(&big, ROW);
	refused(big.data, "line 100003: more than 100000 rows");
	buf_free(&big);

	/* quotations are looked for among many */
	for (int i = 0; i < 5000; i++)
		buf_printf(&big, "> io_load:\n> %s> x%d 3 79 94.9 0 0.0 1.00\n",
			   TITLES, i);
	refused(big.data, "more than 4096 tables");
	print_message("%.2f s of CPU time\n", cpu_seconds() - start);
	assert_true(cpu_seconds() - start < 20);
}

static void any_bytes(void **state)
{
	cleanup_free char *text = read_golden("mail-0.60");
	size_t len = strlen(text), taken = 0;
	uint64_t x = 88172645463325252;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		cleanup_free char *copy = xstrdup(text);
		struct import imp;
		struct error err;

		for (int i = 0; i < 3; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			copy[x % len] = (char)(x >> 40);
		}
		if (parse_bytes(copy, len, NULL, &imp, &err)) {
			assert_int_not_equal(err.text[0], 0);
			assert_null(strchr(err.text, '\n'));
			continue;
		}
		/* changed prose, or a figure that is one still */
		taken++;
		assert_true(import_rows_total(&imp) >= 33);
		import_free(&imp);
	}
	assert_true(taken > 0 && taken < 2000);
}

/* --- files and names ------------------------------------------------------------------- */

static void documents(void **state)
{
	(void)state;
	for (size_t g = 0; g < N_GOLDEN; g++) {
		cleanup_free char *text = read_golden(golden[g].name);
		CLEANUP(buf_free) struct buf a = { 0 }, b = { 0 };
		struct import imp;
		struct error err;

		must(parse_bytes(text, strlen(text), " Subject: \"x\"", &imp,
				 &err), &err);
		import_document(&imp, &a);
		import_free(&imp);
		parse(a.data, &imp);
		assert_string_equal(imp.name, "Subject: \"x\"");
		import_document(&imp, &b);
		assert_non_null(strstr(b.data, text));
		import_free(&imp);
	}
}

static void names(void **state)
{
	static const char table[] = "io_load:\n" TITLES ROW;
	static const struct {
		const char *head, *name;
	} good[] = {
		{ "", "x.txt" },
		{ "Subject:\n\n", "x.txt" },
		{ "To: a\r\nsubject:  a \tb\r\n\tc \r\n\r\n", "a b c" },
		{ "To: a\n\nSubject: in the text\n", "x.txt" },
		{ "Subject: bell \a\n\n", "bell ?" },
	};
	char lengthy[300] = "";
	struct import imp;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		cleanup_free char *text = xasprintf("%s%s", good[i].head, table);

		parse(text, &imp);
		assert_string_equal(imp.name, good[i].name);
		import_free(&imp);
	}
	must(parse_bytes(table, strlen(table), "mine", &imp, &err), &err);
	assert_string_equal(imp.name, "mine");
	import_free(&imp);
	assert_int_equal(parse_bytes(table, strlen(table), "", &imp, &err), -1);
	assert_int_equal(parse_bytes(table, strlen(table), "a\nb", &imp, &err),
			 -1);
	assert_non_null(strstr(err.text, "--name"));
	memset(lengthy, 'a', 299);
	assert_int_equal(parse_bytes(table, strlen(table), lengthy, &imp, &err),
			 -1);
	assert_non_null(strstr(err.text, "at most 200 bytes"));
}

static void files(void **state)
{
	struct import imp;
	struct error err = { 0 };

	(void)state;
	must(import_read(GOLDEN "mail-0.60.txt", NULL, &imp, &err), &err);
	assert_int_equal(import_rows_total(&imp), 33);
	import_free(&imp);
	assert_int_equal(import_read("tests/none", NULL, &imp, &err), -1);
	assert_non_null(strstr(err.text, "open 'tests/none'"));
	assert_int_equal(import_read("tests", NULL, &imp, &err), -1);
	assert_int_equal(import_read("/dev/zero", NULL, &imp, &err), -1);
	assert_non_null(strstr(err.text, "larger than"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_as_they_are),
		cmocka_unit_test(golden_in_any_dress),
		cmocka_unit_test(golden_mail),
		cmocka_unit_test(no_word_may_be_missing),
		cmocka_unit_test(arithmetic_060),
		cmocka_unit_test(arithmetic_051),
		cmocka_unit_test(figures_stay_as_printed),
		cmocka_unit_test(several_tables),
		cmocka_unit_test(prose_is_no_error),
		cmocka_unit_test(refusals),
		cmocka_unit_test(hostile),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(documents),
		cmocka_unit_test(names),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
