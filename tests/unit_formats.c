/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_formats.c - every format with odd results: labels of any length and
 * script, one run, none, censored ones, missing loads, no time at all, figures
 * as large as they get
 */
#include <locale.h>
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "results/base/cleanup.h"
#include "results/columns.h"
#include "tests/store_fixture.h"

#define S INT64_C(1000000000)
#define HAN "\xe6\xbc\xa2\xe5\xad\x97"			/* two wide characters */
#define ACCENT "e\xcc\x81"				/* one column, two characters */
#define LONG_LABEL "6.12.117+deb12-cloud-amd64-preempt-with-a-rather-long-name-of-somebody's-branch"

/* boot() - a kernel's only boot with these runs, up to one without a load */
static void boot(struct fixture *f, const char *label, const char *loads,
		 const struct made_run *runs)
{
	CLEANUP(buf_free) struct buf plan = { 0 };
	char *ctx = context_json(RUN_A, label, f->boots++, 1, 1,
				 "2026-01-31T10:00:00Z", loads);
	char id[SHA256_HEX];

	for (size_t i = 0; runs[i].load; i++)
		buf_printf(&plan, "run=%s\n", runs[i].load);
	must(journal_create(f->journal, RUN_A, plan.data ? plan.data : "\n",
			    ctx, &f->err), &f->err);
	for (size_t i = 0; runs[i].load; i++)
		append_run(f->journal, &runs[i]);
	finish(f->journal);
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
	free(ctx);
}

/* column_of() - where @word begins in a line, in columns of the terminal */
static size_t column_of(const char *line, const char *word)
{
	size_t len = strcspn(line, "\n");
	const char *at = strstr(line, word);
	cleanup_free char *before = NULL;

	if (!at || (size_t)(at - line) > len)
		fail_msg("no '%s' in '%.*s'", word, (int)len, line);
	before = xstrndup(line, (size_t)(at - line));
	return text_width(before);
}

/* line_with() - the line that begins with @start, at or after @text */
static const char *line_with(const char *text, const char *start)
{
	cleanup_free char *inner = xasprintf("\n%s", start);
	const char *at = strstr(text, inner);

	if (!at)
		fail_msg("no line '%s' in:\n%s", start, text);
	return at + 1;
}

static const struct made_run one_run[] = {
	{ 1, "no_load", "ok", 123 * S, 100 * S, 0, 0, 0 },
	{ 0 },
};

static const char *const labels[] = {
	"a", HAN, ACCENT, LONG_LABEL, "with blanks", "\xd0\xaf\xe2\x80\x8b",
};

#define N_LABELS (sizeof(labels) / sizeof(labels[0]))

static void columns_align(void **state)
{
	static const struct {
		const char *format, *titles, *time, *ratio;
	} tables[] = {
		{ "contest-0.61", "Kernel", "123 ", "1.00" },
		{ "contest-0.60", "Kernel", "123 ", "1.00" },
		{ "contest-0.51", "Kernel", "123.0", "1.00" },
		{ "wide", "Kernel", "123.000", "1.000" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < N_LABELS; i++)
		boot(f, labels[i], "[\"no_load\"]", one_run);
	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++) {
		cleanup_free char *text = print_run(f, tables[t].format);
		const char *head = line_with(text, tables[t].titles);
		bool wide = strcmp(tables[t].format, "wide") == 0;
		/* wide ends its numbers below the end of a title */
		size_t time = column_of(head, wide ? "Time s" : "Time") -
			      (wide ? 1 : 0);
		size_t ratio = column_of(head, "Ratio");

		for (size_t i = 0; i < N_LABELS; i++) {
			cleanup_free char *start =
				xasprintf("%s ", labels[i]);
			const char *row = line_with(text, start);

			assert_int_equal(column_of(row, tables[t].time), time);
			assert_int_equal(column_of(row, tables[t].ratio), ratio);
		}
	}
}

/* Whatever the user's locale is: columns are those of UTF-8. */
static void no_locale_matters(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *c = NULL, *utf8 = NULL;

	boot(f, HAN, "[\"no_load\"]", one_run);
	boot(f, ACCENT, "[\"no_load\"]", one_run);
	setlocale(LC_ALL, "C");
	c = print_run(f, "contest-0.61");
	assert_non_null(setlocale(LC_ALL, "C.UTF-8"));
	utf8 = print_run(f, "contest-0.61");
	setlocale(LC_ALL, "C");
	assert_string_equal(c, utf8);
	assert_string_equal(c,
		"no_load:\n"
		"Kernel [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
		HAN "        1   123     81.3    0.0     0.0     1.00\n"
		ACCENT "           1   123     81.3    0.0     0.0     1.00\n");
}

/* Control characters of a label (a journal of somebody else's) reach no
 * terminal, and JSON and CSV keep them. */
static void no_terminal_is_steered(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *json = NULL, *csv = NULL;
	static const char *const tables[] = { "contest-0.61", "contest-0.60",
					      "contest-0.51", "wide" };
	json_auto_t *root = NULL;

	boot(f, "a\\u001b[31m\\nb, \\\"c\\\"", "[\"no_load\"]", one_run);
	for (size_t i = 0; i < 4; i++) {
		cleanup_free char *text = print_run(f, tables[i]);

		assert_null(strchr(text, '\x1b'));
		assert_non_null(strstr(text, "\na?[31m?b, \"c\" "));
	}
	json = print_run(f, "json");
	root = json_loads(json, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(json_array_get(
		json_object_get(root, "kernels"), 0), "label")),
		"a\x1b[31m\nb, \"c\"");
	csv = print_run(f, "csv");
	assert_non_null(strstr(csv, ",\"a\x1b[31m\nb, \"\"c\"\"\",1,"));
}

/* A label that is no UTF-8 is in no journal: its context is no JSON. */
static void no_broken_label(void **state)
{
	struct fixture *f = *state;
	char *ctx = context_json(RUN_A, "\xff", 0, 1, 1, "2026-01-31T10:00:00Z",
				 "[\"no_load\"]");
	char id[SHA256_HEX];

	if (!journal_create(f->journal, RUN_A, "run=no_load\n", ctx, &f->err))
		assert_int_equal(store_add(f->s, f->journal, id, &f->err), -1);
	assert_null(strchr(f->err.text, '\n'));
	assert_true(f->err.text[0]);
	free(ctx);
}

/* As a number prints it: not the middle of "provenance" */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += len)
		if ((p == text || !isalpha((unsigned char)p[-1])) &&
		    !isalpha((unsigned char)p[len]))
			return true;
	return false;
}

static void no_run_at_all(void **state)
{
	static const struct made_run none[] = { { 0 } };
	static const char *const tables[] = { "contest-0.61", "contest-0.60",
					      "contest-0.51", "wide", "json",
					      "csv" };
	struct fixture *f = *state;

	boot(f, "6.1", "[\"no_load\",\"io_load\"]", none);
	for (size_t i = 0; i < 6; i++) {
		cleanup_free char *text = print_run(f, tables[i]);

		assert_false(has_word(text, "nan"));
		assert_false(has_word(text, "inf"));
		if (i < 2)
			assert_string_equal(text,
				"no_load:\n"
				"Kernel [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
				"6.1         0   -       -       -       -       -\n"
				"io_load:\n"
				"Kernel [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
				"6.1         0   -       -       -       -       -\n");
		if (i == 2)
			assert_non_null(strstr(text, "6.1 [0]                 -       -       -       -       -\n"));
		if (i == 5)
			assert_null(strchr(strchr(text, '\n') + 1, '\n'));
	}
}

/* Censored, missing and good runs; no no_load to divide by. */
static void censored_and_missing(void **state)
{
	static const struct made_run a[] = {
		{ 1, "io_load", "timed-out", 1800 * S, 1, 0, 0, 0 },
		{ 2, "io_load", "ok", 50 * S, 20 * S, 5 * S, 25, 10 },
		{ 0 },
	}, b[] = {
		{ 1, "io_load", "timed-out", 1800 * S, 1, 0, 0, 0 },
		{ 0 },
	};
	struct fixture *f = *state;
	cleanup_free char *new = NULL, *old = NULL, *json = NULL, *csv = NULL;
	cleanup_free char *wide = NULL;

	boot(f, "a", "[\"io_load\",\"mem_load\"]", a);
	boot(f, "b", "[\"io_load\",\"mem_load\"]", b);
	new = print_run(f, "contest-0.61");
	assert_string_equal(new,
		"io_load:\n"
		"Kernel [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
		"a           1   50      40.0    2.5     10.0    -\n"
		"b           0   -       -       -       -       -\n"
		"  a boot 1 run 1: timed-out\n"
		"  b boot 1 run 1: timed-out\n"
		"mem_load:\n"
		"Kernel [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
		"a           0   -       -       -       -       -\n"
		"b           0   -       -       -       -       -\n");
	old = print_run(f, "contest-0.51");
	assert_non_null(strstr(old, "a [1]                   50.0    40      2       10      -\n"));
	assert_null(strstr(old, "Ratio:"));
	json = print_run(f, "json");
	assert_non_null(strstr(json, "\"ratio\": null"));
	csv = print_run(f, "csv");
	assert_non_null(strstr(csv, ",io_load,1,1,timed-out,0,"));
	wide = print_run(f, "wide");
	assert_non_null(strstr(wide, "  b boot 1 run 1: timed-out\n"));
	assert_null(strstr(wide, "1800"));
}

/* No time, which no run takes, and all the time there is: no digit is cut off,
 * nothing is infinite. */
static void extreme_figures(void **state)
{
	static const struct made_run zero[] = {
		{ 1, "no_load", "ok", 0, 0, 0, 0, 0 },
		{ 2, "io_load", "ok", 0, 0, 0, 0, 10 },
		{ 0 },
	}, huge[] = {
		{ 1, "no_load", "ok", 1, INT64_MAX, 0, 0, 0 },
		{ 2, "io_load", "ok", INT64_MAX, INT64_MAX, INT64_MAX,
		  INT64_MAX, 1 },
		{ 0 },
	}, sound[] = {
		{ 1, "no_load", "ok", S, S, 0, 0, 0 },
		{ 2, "io_load", "ok", INT64_MAX, INT64_MAX, INT64_MAX,
		  INT64_MAX, 1 },
		{ 0 },
	};
	static const char *const formats[] = { "contest-0.61", "contest-0.60",
					       "contest-0.51", "wide", "json",
					       "csv" };
	struct fixture *f = *state;
	cleanup_free char *text = NULL;

	boot(f, "zero", "[\"no_load\",\"io_load\"]", zero);
	boot(f, "huge", "[\"no_load\",\"io_load\"]", huge);
	boot(f, "sound", "[\"no_load\",\"io_load\"]", sound);
	for (size_t i = 0; i < 6; i++) {
		cleanup_free char *all = print_run(f, formats[i]);

		assert_false(has_word(all, "nan"));
		assert_false(has_word(all, "inf"));
		if (i == 4) {
			json_auto_t *root = json_loads(all, 0, NULL);

			assert_non_null(root);
		}
	}
	text = print_run(f, "contest-0.61");
	assert_string_equal(text,
		"no_load:\n"
		"Kernel [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
		"zero        0   -       -       -       -       -\n"
		"huge        1   0       -       0.0     -       -\n"
		"sound       1   1       100.0   0.0     0.0     1.00\n"
		"  zero boot 1 run 1: unfinished: RUN_END: wall_ns is missing or zero\n"
		"io_load:\n"
		"Kernel [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
		"zero        0   -       -       -       -       -\n"
		"huge        1   9223372036      100.0   9223372036854775808.0   100.0   -\n"
		"sound       1   9223372036      100.0   9223372036854775808.0   100.0   9223372036.00\n"
		"  zero boot 1 run 1: unfinished: RUN_END: wall_ns is missing or zero\n");
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(columns_align), T(no_locale_matters),
		T(no_terminal_is_steered), T(no_broken_label),
		T(no_run_at_all), T(censored_and_missing), T(extreme_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
