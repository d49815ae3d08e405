/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_import_bench.c - tables of tiobench and VolanoMark mails, read back
 *
 * tests/golden/tiobench.txt are Diego Calleja's tables of 2.4.20-pre4 and -pre6
 * (white space squeezed when the mail was archived), volanomark.txt those of
 * Bill Hartner's mail on 2.5.38, each without the prose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/base/cleanup.h"
#include "results/import.h"
#include "tests/make_journal.h"
#include "tests/dress.h"

static void parse(const char *text, struct import *imp)
{
	CLEANUP(buf_free) struct buf b = { 0 };
	struct error err = { 0 };

	buf_adds(&b, text);
	if (import_parse("m/x.txt", &b, NULL, imp, &err))
		fail_msg("%s", err.text);
}

static void prints(const char *text, const char *want, size_t quoted)
{
	CLEANUP(import_free) struct import imp = { 0 };
	CLEANUP(buf_free) struct buf b = { 0 };

	parse(text, &imp);
	import_print(&imp, &b);
	assert_string_equal(b.data, want);
	assert_int_equal(imp.quoted, quoted);
}

static void refused(const char *text, const char *says)
{
	CLEANUP(buf_free) struct buf b = { 0 };
	struct import imp;
	struct error err = { 0 };

	buf_adds(&b, text);
	assert_int_equal(import_parse("m/x.txt", &b, NULL, &imp, &err), -1);
	if (!strstr(err.text, says))
		fail_msg("no '%s' in '%s'", says, err.text);
	assert_int_equal(imp.benches.n, 0);
}

static void goldens_come_back_to_the_byte(void **state)
{
	static const struct {
		const char *path;
		size_t tables, rows;
	} golden[] = {
		{ "tests/golden/tiobench.txt", 8, 32 },
		{ "tests/golden/volanomark.txt", 2, 15 },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		cleanup_free char *text = slurp(golden[i].path);
		cleanup_free char *once = dress(text, ">", ""),
			*twice = dress(text, "> > ", "  \r");
		CLEANUP(buf_free) struct buf document = { 0 };
		CLEANUP(import_free) struct import imp = { 0 };

		prints(text, text, 0);
		prints(once, text, 0);
		prints(twice, text, 0);
		parse(text, &imp);
		assert_int_equal(imp.benches.n, golden[i].tables);
		assert_int_equal(import_rows_total(&imp), golden[i].rows);
		import_document(&imp, &document);
		prints(document.data, text, 0);
	}
}

static void figures_are_taken_apart(void **state)
{
	cleanup_free char *tio = slurp("tests/golden/tiobench.txt");
	cleanup_free char *volano = slurp("tests/golden/volanomark.txt");
	CLEANUP(import_free) struct import a = { 0 }, b = { 0 };
	const struct import_bench_row *row;

	(void)state;
	parse(tio, &a);
	assert_string_equal(a.benches.v[4].title, "Sequential Reads");
	row = &a.benches.v[4].rows.v[3];
	assert_string_equal(row->label, "2.4.20-pre6");
	assert_int_equal(row->text.n, 10);
	assert_string_equal(row->text.v[4], "21.69%");
	assert_string_equal(row->text.v[7], "0.00391");

	parse(volano, &b);
	assert_string_equal(b.benches.v[0].title,
			    "The results for the 3 GB mem test were :");
	row = b.benches.v[0].rows.v;
	assert_string_equal(row[0].text.v[5], "4,873,664 KB");
	assert_int_equal(row[1].text.n, 4);
	assert_string_equal(row[1].text.v[3],
			    "did not collect io - /proc/stat changed");
	assert_int_equal(row[2].text.n, 1);
	assert_string_equal(row[2].label, "2.4.19");
	assert_string_equal(row[2].text.v[0],
			    "***** system hard hangs - requires reset. *****");
	assert_string_equal(row[7].text.v[3], "*2,720,600 KB");
	assert_string_equal(b.benches.v[1].rows.v[0].text.v[3], "0");
}

#define TIO_HEADS "File Blk Num Avg Maximum Lat% Lat% CPU\n" \
	"Identifier Size Size Thr Rate (CPU%) Latency Latency >2s >10s Eff\n" \
	"---- --- --- -- ---- ---- --- --- --- --- --\n"
#define TIO_ROW "a 200 4096 1 11.78 28.50% 0.328 146.54 0.00000 0.00000 41\n"
#define VOLANO "kernel msg/s %CPU %sys/%user Total swpin Total swpout Total swapio\n" \
	"---- --- --- --- --- --- ---\n"
#define VOLANO_ROW "2.5.38 53084 99.9 1.41 0 0 12 KB\n"

static void prose_and_order(void **state)
{
	static const char contest[] = "io_load:\nKernel [runs] Time CPU% Loads LCPU% Ratio\n"
		"a 3 79 94.9 0 0.0 1.00\n";
	static const char tio[] = "Random Reads\n" TIO_HEADS TIO_ROW;
	static const char volano[] = VOLANO VOLANO_ROW;
	cleanup_free char *all = xasprintf("%s\n%s\n%s", tio, contest, volano);
	cleanup_free char *want = xasprintf("%s%s\n%s", tio, contest, volano);
	cleanup_free char *again = xasprintf("%s\n> Random Reads\n> Hello\n%s", tio,
					     "> Random Reads\n"
					     "> File Blk Num Avg Maximum Lat% Lat% CPU\n"
					     "> Identifier Size Size Thr Rate (CPU%) Latency Latency >2s >10s Eff\n"
					     "> ---- --- --- -- ---- ---- --- --- --- --- --\n"
					     "> " TIO_ROW);

	(void)state;
	prints(all, want, 0);
	prints(again, tio, 1);
	/* An answer in the middle; older rows set apart belong to the table */
	prints("> " "kernel msg/s %CPU %sys/%user Total swpin Total swpout Total swapio\n"
	       "> ---- --- --- --- --- --- ---\n> " VOLANO_ROW ">\nGood.\n\n"
	       "> === old data below ===\n> b ***** hung. *****\n> b is bad\n",
	       VOLANO VOLANO_ROW "=== old data below ===\nb ***** hung. *****\n", 0);
}

static void refusals(void **state)
{
	(void)state;
	refused("Random Reads\n\nHello\n", "no table of contest");
	refused("Hello\n" TIO_ROW, "line 2: nearly a row of tiobench");
	refused("Hello\n" TIO_HEADS TIO_ROW, "line 3: titles of tiobench without");
	refused("Random Reads\n" TIO_HEADS "\n" TIO_ROW, "has titles and no rows");
	refused("Random Reads\n" TIO_HEADS TIO_ROW
		"a 200 4096 1 11.78 28.50 0.328 146.54 0.00000 0.00000 41\n",
		"line 6: nearly a row");
	refused("Random Reads\n" TIO_HEADS "a\xff 200 4096 1 11.78 28.50% 0.328 146.54 0.00000 0.00000 41\n",
		"not printable");
	refused(VOLANO, "has titles and no rows");
	refused(VOLANO "a 53084 99.9 1.41 0 0\n", "not quite a row of a VolanoMark");
	refused(VOLANO VOLANO_ROW "That is all.\n" VOLANO_ROW, "belongs to no table");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goldens_come_back_to_the_byte),
		cmocka_unit_test(figures_are_taken_apart),
		cmocka_unit_test(prose_and_order),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
