/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_report.c - the reports, held to the tables that contest itself printed
 *
 * tests/golden/contest-*.txt are the tables of three mails by Con Kolivas:
 * 2.5.70-mm3 at 100 and 1000 Hz (0.61), 2.5.59-mm7 (0.60), 2.5.52-mm1 tunables
 * (0.51; that one's white space was squeezed when it was archived).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "results/base/cleanup.h"
#include "results/columns.h"
#include "results/provenance.h"
#include "results/render.h"
#include "results/stats.h"
#include "tests/store_fixture.h"

#define GOLDEN "tests/golden/contest-"
#define S INT64_C(1000000000)

/* --- the renderer, fed with the mails' own numbers --------------------------- */

struct golden_load {
	char name[32];
	struct contest_row row[8];
	char label[8][32];
	size_t n;
};

/* next_load() - parse a load's part of a golden table; false at its end */
static bool next_load(char **save, struct golden_load *g)
{
	char *line = *save;

	*g = (struct golden_load) { .n = 0 };
	if (!*line)
		return false;
	assert_int_equal(sscanf(line, "%31[^:]:", g->name), 1);
	line = strchr(strchr(line, '\n') + 1, '\n') + 1;
	while (*line && strchr(line, '\n')[-1] != ':') {
		struct contest_row *r = &g->row[g->n];

		assert_true(sscanf(line, "%31s [%zu] %lf %lf %lf %lf %lf",
				   g->label[g->n], &r->runs, &r->time_s,
				   &r->cpu_pct, &r->loads, &r->lcpu_pct,
				   &r->ratio) == 7 ||
			    sscanf(line, "%31s %zu %lf %lf %lf %lf %lf",
				   g->label[g->n], &r->runs, &r->time_s,
				   &r->cpu_pct, &r->loads, &r->lcpu_pct,
				   &r->ratio) == 7);
		r->label = g->label[g->n++];
		line = strchr(line, '\n') + 1;
	}
	*save = line;
	return true;
}

static char *squeeze(const char *s)
{
	struct buf b = { 0 };

	for (; *s; s++) {
		if (*s != ' ' || s[1] != ' ')
			buf_add(&b, s, 1);
	}
	return b.data;
}

static void golden_rows(const char *version, enum contest_style style,
			size_t loads, bool squeezed)
{
	cleanup_free char *path = xasprintf(GOLDEN "%s.txt", version);
	cleanup_free char *want = slurp(path), *got = NULL;
	CLEANUP(buf_free) struct buf b = { 0 };
	struct golden_load g;
	char *save = want;
	size_t n = 0;

	for (; next_load(&save, &g); n++)
		contest_put_load(&b, style, g.name, g.row, g.n);
	assert_int_equal(n, loads);
	got = squeezed ? squeeze(b.data) : xstrdup(b.data);
	assert_string_equal(got, want);
}

static void rows_as_in_061(void **state)
{
	(void)state;
	golden_rows("0.61", CONTEST_061, 11, false);
}

static void rows_as_in_060(void **state)
{
	(void)state;
	golden_rows("0.60", CONTEST_060, 11, false);
}

static void rows_as_in_051(void **state)
{
	(void)state;
	golden_rows("0.51", CONTEST_051, 10, true);
}

static void rows_of_odd_labels(void **state)
{
	static const struct contest_row rows[] = {
		{ "6.12.117+deb12-cloud-amd64-preempt", 1, 79, 94.9, 0, 0, 1, NULL },
		{ "\xe6\xbc\xa2\xe5\xad\x97", 2, NAN, NAN, NAN, NAN, NAN,
		  NULL },
		{ "a\x1b[31m\xff", 12, 123456, 100, 1234567.5, 0, 1000, NULL },
	};
	CLEANUP(buf_free) struct buf b = { 0 };

	(void)state;
	contest_put_load(&b, CONTEST_061, "no_load", rows, 3);
	assert_string_equal(b.data,
		"no_load:\n"
		"Kernel                             [runs]       Time    CPU%    Loads   LCPU%   Ratio\n"
		"6.12.117+deb12-cloud-amd64-preempt      1       79      94.9    0.0     0.0     1.00\n"
		"\xe6\xbc\xa2\xe5\xad\x97                                    2       -       -       -       -       -\n"
		"a?[31m?                                12       123456  100.0   1234567.5       0.0     1000.00\n");
}

static void widths(void **state)
{
	(void)state;
	assert_int_equal(text_width("abc"), 3);
	assert_int_equal(text_width("\xc3\xa4"), 1);
	assert_int_equal(text_width("\xe6\xbc\xa2"), 2);
	assert_int_equal(text_width("e\xcc\x81"), 1);
	assert_int_equal(text_width("\xc3"), 1);
	assert_int_equal(text_width("a\nb"), 3);
}

/* --- from journals to tables -------------------------------------------------- */

static void begin(struct fixture *f, const char *label, int order, int number,
		  int boots, const char *loads, const char *plan)
{
	char *ctx = context_json(RUN_A, label, order, number, boots,
				 "2026-01-31T10:00:00Z", loads);

	must(journal_create(f->journal, RUN_A, plan, ctx, &f->err), &f->err);
	append(f->journal, JOURNAL_RECEIPT, "{\"cpus_online\":1}");
	free(ctx);
}

/* golden_runs() - runs whose exact figures, never whole, must come out as a row
 * of the mail; @cpu_s, @lcpu_s: whole seconds that the mail's figures imply */
static void golden_runs(struct fixture *f, const struct golden_load *g,
			size_t kernel, int *number)
{
	const struct contest_row *row = &g->row[kernel];
	int64_t n = (int64_t)row->runs;
	int64_t cpu_s = llround(row->cpu_pct * row->time_s / 100);
	int64_t lcpu_s = llround(row->lcpu_pct * row->time_s / 100 * (double)n);
	int64_t done = llround(row->loads * 600 * (double)n);

	for (int64_t i = 0; i < n; i++) {
		/* spread the seconds over the runs, and whole runs apart */
		int64_t spread = n > 1 ? (2 * i - n + 1) * S : 0;

		append_run(f->journal, &(struct made_run) {
			.number = ++*number,
			.load = g->name,
			.verdict = "ok",
			.wall_ns = (int64_t)row->time_s * S + 700000001 + spread,
			.job_ns = cpu_s * S + 900000000 + spread,
			.load_ns = (lcpu_s / n + (i < lcpu_s % n)) * S +
				   990000000 * (lcpu_s > 0),
			.done = done / n + (i < done % n),
			.per_load = 600,
		});
	}
}

/*
 * The mails' tables again, from exact figures with fractions of a second by way
 * of journals, store and statistics: the proof of the rules for cutting to whole
 * seconds. @unlike rows' LCPU% cannot come from whole seconds, by whatever
 * figures (4 of the 55); in these all other columns must agree.
 */
static void golden_table(struct fixture *f, const char *version,
			 const char *format, size_t kernels, size_t unlike)
{
	cleanup_free char *path = xasprintf(GOLDEN "%s.txt", version);
	cleanup_free char *want = slurp(path), *got = NULL;
	char *want_at, *got_at;
	size_t differ = 0;

	for (size_t k = 0; k < kernels; k++) {
		CLEANUP(buf_free) struct buf loads = { 0 }, plan = { 0 };
		struct golden_load g;
		char *save = want;
		int number = 0;

		while (next_load(&save, &g)) {
			buf_printf(&loads, "%s\"%s\"", loads.len ? "," : "[",
				   g.name);
			for (size_t i = 0; i < g.row[k].runs; i++)
				buf_printf(&plan, "run=%s\n", g.name);
		}
		buf_adds(&loads, "]");
		save = want;
		next_load(&save, &g);
		begin(f, g.label[k], (int)k, 1, 1, loads.data, plan.data);
		save = want;
		while (next_load(&save, &g))
			golden_runs(f, &g, k, &number);
		end_boot(f);
	}

	got = print_run(f, format);
	want_at = want;
	got_at = got;
	while (*want_at) {
		size_t len = strcspn(want_at, "\n") + 1;

		assert_int_equal(strcspn(got_at, "\n") + 1, len);
		if (strncmp(want_at, got_at, len) != 0) {
			differ++;
			/* all but LCPU% (columns 48 to 55) must agree */
			assert_int_equal(strncmp(want_at, got_at, 48), 0);
			assert_int_equal(strncmp(want_at + 56, got_at + 56,
						 len - 56), 0);
		}
		want_at += len;
		got_at += len;
	}
	assert_int_equal(*got_at, 0);
	assert_int_equal(differ, unlike);
}

static void table_as_in_061(void **state)
{
	golden_table(*state, "0.61", "contest-0.61", 2, 1);
}

static void table_as_in_060(void **state)
{
	golden_table(*state, "0.60", "contest-0.60", 3, 3);
}

/* two kernels, two boots each, the second boot of 6.12 died in its io_load */
static void two_by_two(struct fixture *f)
{
	static const char loads[] = "[\"no_load\",\"io_load\"]";
	static const char plan[] = "run=no_load\nrun=io_load\n";
	static const int64_t no_load[2][2] = { { 20, 22 }, { 30, 30 } };

	for (int k = 0; k < 2; k++) {
		for (int n = 0; n < 2; n++) {
			begin(f, k ? "6.12" : "6.1", k, n + 1, 2, loads, plan);
			append_run(f->journal, &(struct made_run) {
				1, "no_load", "ok", no_load[k][n] * S + S / 2,
				19 * S, 0, 0, 0 });
			if (k && n) {
				char id[SHA256_HEX];

				append(f->journal, JOURNAL_RUN_START,
				       "{\"run\":2,\"load\":\"io_load\",\"index\":1}");
				append(f->journal, JOURNAL_VERDICT,
				       "{\"verdict\":\"panic\",\"evidence\":\"Kernel panic\",\"console\":[\"a\"],\"host\":{}}");
				must(store_add(f->s, f->journal, id, &f->err),
				     &f->err);
				continue;
			}
			append_run(f->journal, &(struct made_run) {
				2, "io_load", "ok", 41 * S, 20 * S, 5 * S, 250,
				100 });
			end_boot(f);
		}
	}
}

static void failed_runs_are_shown_not_averaged(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *text = NULL, *old = NULL;

	two_by_two(f);
	text = print_run(f, "contest-0.61");
	assert_string_equal(text,
		"no_load:\n"
		"Kernel [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
		"6.1         2   21      90.5    0.0     0.0     1.00\n"
		"6.12        2   30      63.3    0.0     0.0     1.00\n"
		"io_load:\n"
		"Kernel [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
		"6.1         2   41      48.8    2.5     12.2    1.95\n"
		"6.12        1   41      48.8    2.5     12.2    1.37\n"
		"  6.12 boot 2 run 1: unfinished, boot panic: Kernel panic\n");
	old = print_run(f, "contest-0.51");
	assert_non_null(strstr(old,
		"noload:\n"
		"Kernel [runs]           Time    CPU%    Loads   LCPU%   Ratio\n"
		"6.1 [2]                 21.5    88      0       0       1.00\n"
		"6.12 [2]                30.5    62      0       0       1.42\n"));
	assert_non_null(strstr(old, "Ratio: Time / no_load Time of 6.1\n"));
}

static void wide_has_exact_figures(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *text = NULL, *thin = NULL;

	two_by_two(f);
	text = print_run(f, "wide");
	thin = squeeze(text);
	/* 20.5 and 22.5 s: sd sqrt(2), t(0.95, 1) = 12.7062, so +- 12.706 */
	assert_non_null(strstr(thin,
		"\n6.1 2 2 21.500 12.706 88.4 0.00 0.000 0.000 - 0.0 1.000 0.000 20.0 10.0 100.0:0.0\n"));
	/* one boot: no interval, no marginal rate; 41 s / mean no_load of 30.5 s */
	assert_non_null(strstr(thin,
		"\n6.12 1 1 41.000 - 48.8 2.50 0.061 - - 12.2 1.344 - 20.0 10.0 80.0:20.0\n"
		" 6.12 boot 2 run 1: unfinished, boot panic: Kernel panic\n"));
}

static void no_good_run_gives_dashes(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *text = NULL;
	char id[SHA256_HEX];

	begin(f, "6.1", 0, 1, 3, "[\"no_load\",\"io_load\"]",
	      "run=no_load\nrun=io_load\n");
	append_run(f->journal, &(struct made_run){ 1, "no_load", "timed-out",
						   1800 * S, 1, 0, 0, 0 });
	append_run(f->journal, &(struct made_run){ 2, "io_load", "ok", 41 * S,
						   20 * S, 5 * S, 250, 100 });
	finish(f->journal);
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
	text = print_run(f, "contest-0.61");
	assert_string_equal(text,
		"no_load:\n"
		"Kernel [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
		"6.1         0   -       -       -       -       -\n"
		"  6.1 boot 1 run 1: timed-out\n"
		"  6.1 boots 2 to 3: missing, no journal\n"
		"io_load:\n"
		"Kernel [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
		"6.1         1   41      48.8    2.5     12.2    -\n"
		"  6.1 boots 2 to 3: missing, no journal\n");
}

/* A kernel that was never booted has its row all the same. */
static void unbooted_kernel_has_a_row(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *text = NULL, *wide = NULL, *json = NULL;
	char *ctx = context_json(RUN_A, "6.1", 0, 1, 2, "2026-01-31T10:00:00Z",
				 "[\"no_load\"]");
	char *kernels = strstr(ctx, "\"order_seed\":1,");
	char *more = xasprintf("%.*s\"kernels\":[\"6.1\",\"6.12\"],%s",
			       (int)(kernels - ctx), ctx, kernels);

	must(journal_create(f->journal, RUN_A, "run=no_load\n", more, &f->err),
	     &f->err);
	append_run(f->journal, &(struct made_run){ 1, "no_load", "ok", 20 * S,
						   19 * S, 0, 0, 0 });
	end_boot(f);
	text = print_run(f, "contest-0.61");
	assert_string_equal(text,
		"no_load:\n"
		"Kernel [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
		"6.1         1   20      95.0    0.0     0.0     1.00\n"
		"6.12        0   -       -       -       -       -\n"
		"  6.1 boot 2: missing, no journal\n"
		"  6.12 boots 1 to 2: missing, no journal\n");
	wide = print_run(f, "wide");
	assert_non_null(strstr(wide, "\n6.12 "));
	json = print_run(f, "json");
	assert_non_null(strstr(json, "\"label\": \"6.12\""));
	free(ctx);
	free(more);
}

/* A boot on another machine than was asked for: shown, not counted. */
static void mismatch_is_not_counted(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *text = NULL;
	char id[SHA256_HEX];

	begin(f, "6.1", 0, 1, 1, "[\"no_load\"]", "run=no_load\n");
	append_run(f->journal, &(struct made_run){ 1, "no_load", "ok", 20 * S,
						   S, 0, 0, 0 });
	append(f->journal, JOURNAL_END, "{}");
	append(f->journal, JOURNAL_VERDICT,
	       "{\"verdict\":\"profile-mismatch\",\"evidence\":\"2 CPUs\"}");
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
	text = print_run(f, "contest-0.61");
	assert_non_null(strstr(text, "6.1         0   -  "));
	assert_non_null(strstr(text, "  6.1 boot 1 run 1: not counted, boot profile-mismatch: 2 CPUs\n"));
}

/* drop_host() - remove every member "host", at any depth */
static void drop_host(json_t *v)
{
	json_t *child;
	const char *key;
	size_t i;

	json_object_del(v, "host");
	json_object_foreach(v, key, child)
		drop_host(child);
	json_array_foreach(v, i, child)
		drop_host(child);
}

static void json_splits_off_the_host(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *a = NULL, *b = NULL, *id = NULL;
	json_auto_t *ja = NULL, *jb = NULL;
	const json_t *run;

	two_by_two(f);
	a = print_run(f, "json");
	b = print_run(f, "json");
	assert_string_equal(a, b);
	ja = json_loads(a, 0, NULL);
	assert_non_null(ja);
	assert_string_equal(json_string_value(json_object_get(ja, "format")),
			    "kontest-report");
	run = json_array_get(json_object_get(json_array_get(
		json_object_get(ja, "boots"), 0), "runs"), 1);
	assert_int_equal(json_integer_value(json_object_get(run, "wall_ns")),
			 41 * S);
	id = xstrdup(json_string_value(json_object_get(json_object_get(
		json_array_get(json_object_get(ja, "boots"), 0), "host"),
		"id")));
	assert_int_equal(strlen(id), 64);
	drop_host(ja);
	free(b);
	b = json_dumps(ja, 0);
	/* neither run id, nor a boot's id, nor a date is left */
	assert_null(strstr(b, RUN_A));
	assert_null(strstr(b, id));
	assert_null(strstr(b, "2026"));
	assert_non_null(strstr(b, "\"time_half_width_s\": 12.7062047"));
	assert_non_null(strstr(b, "boot panic: Kernel panic"));
}

/* Every path that report.schema.md promises, and the text for people */
static void json_has_the_provenance(void **state)
{
	struct fixture *f = *state;
	static const char *const paths[] = {
		"kontest", "accel", "order_seed", "plan", "profile", "job",
		"guest", "lock", "base", "work", "swap", "other", "qemu.version",
		"qemu.package", "qemu.machine", "qemu.cpu", "kernels.label",
		"kernels.release", "kernels.package", "kernels.version",
		"kernels.digest", "kernels.system", "kernels.initramfs",
		"kernels.cmdline", "host.libvirt", "host.kernel", "host.cpu",
		"host.machine", "host.nested",
	};
	static const char context[] = "{\"kontest\":\"9\",\"run_id\":\"" RUN_A "\","
		"\"plan\":{\"name\":\"p\",\"text\":\"t\",\"digest\":\"D-plan\",\"order_seed\":77,\"boots\":1,\"runs\":1},"
		"\"boot\":{\"index\":1,\"number\":1,\"seed\":7},"
		"\"kernel\":{\"label\":\"6.1\",\"spec\":\"s\",\"release\":\"D-rel\",\"package\":\"D-pkg\",\"version\":\"D-ver\",\"digest\":\"D-kernel\",\"order\":0},"
		"\"profile\":{\"name\":\"small\",\"digest\":\"D-profile\",\"text\":\"x\",\"cpus\":1,\"memory\":1},"
		"\"loads\":[\"no_load\"],\"job\":{\"name\":\"q\",\"digest\":\"D-job\",\"jobs\":4},"
		"\"image\":{\"system\":\"D-system\",\"base\":\"D-base\",\"lock\":\"D-lock\",\"initramfs\":\"D-initramfs\",\"guest\":\"D-guest\",\"work\":\"D-work\",\"other\":\"D-other\",\"swap\":\"D-swap\",\"cmdline\":\"D-cmd\"},"
		"\"accel\":\"exact\",\"qemu\":{\"version\":\"D-qemu\",\"package\":\"D-deb\",\"machine\":\"D-q35\",\"cpu\":\"D-model\"},"
		"\"host\":{\"start\":\"2026-01-31T10:00:00Z\",\"libvirt\":\"D-libvirt\",\"kernel\":\"D-hk\",\"cpu\":\"D-\\u001b[31m\",\"nested\":true,\"machine\":\"x86_64\"}}";
	cleanup_free char *json = NULL, *text = NULL;
	json_auto_t *root = NULL;
	const json_t *p;
	FILE *out;
	size_t len = 0;

	must(journal_create(f->journal, RUN_A, "run=no_load\n", context, &f->err),
	     &f->err);
	append_run(f->journal, &(struct made_run){ 1, "no_load", "ok", 7, 6, 0,
						   0, 0 });
	end_boot(f);
	json = print_run(f, "json");
	root = json_loads(json, 0, NULL);
	p = json_object_get(root, "provenance");
	assert_non_null(p);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		char group[32];
		const char *dot = strchr(paths[i], '.');
		const json_t *o = p, *v;

		if (dot) {
			snprintf(group, sizeof(group), "%.*s",
				 (int)(dot - paths[i]), paths[i]);
			o = json_object_get(p, group);
			if (json_is_array(o))
				o = json_array_get(o, 0);
		}
		v = json_object_get(o, dot ? dot + 1 : paths[i]);
		if (!v || json_is_null(v))
			fail_msg("provenance.%s is missing", paths[i]);
	}
	assert_int_equal(json_integer_value(json_object_get(p, "order_seed")), 77);
	assert_string_equal(json_string_value(json_object_get(p, "lock")), "D-lock");

	out = open_memstream(&text, &len);
	assert_non_null(out);
	must(provenance_print(f->s, RUN_A, out, &f->err), &f->err);
	fclose(out);
	assert_non_null(strstr(text, "\nseed of the order: 77\n"));
	assert_non_null(strstr(text, "\n  system image: D-system\n"));
	assert_non_null(strstr(text, "\nhost is a virtual machine: yes\n"));
	/* nothing in a journal may speak to a terminal */
	assert_null(strchr(text, '\033'));
}

static void csv_has_a_line_a_run(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *text = NULL;
	size_t lines = 0, commas = 0, quoted = 0;
	char *first;

	begin(f, "a, \\\"b\\\"", 0, 1, 1, "[\"no_load\"]",
	      "run=no_load\nrun=no_load\n");
	append_run(f->journal, &(struct made_run){ 1, "no_load", "ok", 7, 6, 0,
						   0, 0 });
	end_boot(f);
	text = print_run(f, "csv");
	for (const char *p = text; *p; p++)
		lines += *p == '\n' && p[-1] == '\r';
	assert_int_equal(lines, 3);
	assert_non_null(strstr(text, ",\"a, \"\"b\"\"\",1,1,"));
	assert_non_null(strstr(text, ",no_load,1,1,ok,1,,,7,6,0,0,"));
	assert_non_null(strstr(text, ",no_load,2,2,not-started,0,,,,"));
	first = strchr(text, '\n') + 1;
	for (const char *p = text; p < first; p++)
		commas += *p == ',';
	for (const char *p = first; *p != '\n'; p++) {
		quoted ^= *p == '"';
		commas -= *p == ',' && !quoted;
	}
	assert_int_equal(commas, 0);
}

static void kernels_and_loads_in_plan_order(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *text = NULL;
	static const char loads[] = "[\"z_load\",\"a_load\"]";

	for (int order = 1; order >= 0; order--) {
		begin(f, order ? "aaa" : "zzz", order, 1, 1, loads,
		      "run=a_load\nrun=z_load\n");
		append_run(f->journal, &(struct made_run){ 1, "a_load", "ok", S,
							   S, 0, 0, 0 });
		append_run(f->journal, &(struct made_run){ 2, "z_load", "ok", S,
							   S, 0, 0, 0 });
		end_boot(f);
	}
	text = print_run(f, "contest-0.61");
	assert_true(strstr(text, "z_load:") < strstr(text, "a_load:"));
	assert_true(strstr(text, "\nzzz") < strstr(text, "\naaa"));
}

static void refusals(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(report_print(f->s, RUN_A, "odt", stdout, &f->err), -1);
	assert_non_null(strstr(f->err.text, "contest-0.61, "));
	assert_int_equal(report_print(f->s, RUN_A, "csv", stdout, &f->err), -1);
	assert_non_null(strstr(f->err.text, RUN_A));
	assert_string_equal(report_formats()[0], "contest-0.61");
}

static void full_disk_is_no_success(void **state)
{
	struct fixture *f = *state;
	FILE *full = fopen("/dev/full", "w");

	two_by_two(f);
	assert_non_null(full);
	assert_int_equal(report_print(f->s, RUN_A, "wide", full, &f->err), -1);
	assert_non_null(strstr(f->err.text, "No space left"));
	fclose(full);
}

/* The bar: reading a boot's results takes less than 100 ms. */
static void reading_is_quick(void **state)
{
	struct fixture *f = *state;
	struct timespec t0, t1;
	double ms;

	begin(f, "6.1", 0, 1, 1, "[\"no_load\"]", "run=no_load\n");
	for (int i = 0; i < 200; i++)
		append(f->journal, JOURNAL_HEARTBEAT, "{}");
	append_run(f->journal, &(struct made_run){ 1, "no_load", "ok", S, S, 0,
						   0, 0 });
	end_boot(f);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
	free(print_run(f, "json"));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
	ms = (double)(t1.tv_sec - t0.tv_sec) * 1e3 +
	     (double)(t1.tv_nsec - t0.tv_nsec) / 1e6;
	print_message("%.2f ms of CPU time\n", ms);
	assert_true(ms < 100);
}

/* --- statistics ----------------------------------------------------------------- */

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.9g is not %.9g", got, want);
}

static void statistics(void **state)
{
	static const double v[] = { 2, 4, 4, 4, 5, 5, 7, 9 };

	(void)state;
	/* tables of Student's t, two-sided 95 % and 99 % */
	near(stats_t_quantile(0.95, 1), 12.7062, 5e-5);
	near(stats_t_quantile(0.95, 2), 4.30265, 5e-6);
	near(stats_t_quantile(0.95, 10), 2.22814, 5e-6);
	near(stats_t_quantile(0.99, 5), 4.03214, 5e-6);
	near(stats_t_quantile(0.95, 1000000), 1.95996, 5e-5);
	near(stats_mean(v, 8), 5, 1e-12);
	near(stats_sd(v, 8), sqrt(32.0 / 7), 1e-12);
	near(stats_half_width(v, 8, 0.95), 2.364624 * sqrt(32.0 / 7) / sqrt(8),
	     1e-5);
	near(stats_half_width((double[]){ 3, 3, 3 }, 3, 0.95), 0, 0);
	assert_true(isnan(stats_mean(v, 0)));
	assert_true(isnan(stats_sd(v, 1)));
	assert_true(isnan(stats_half_width(v, 1, 0.95)));
	assert_true(isnan(stats_t_quantile(0.95, 0)));
	assert_true(isnan(stats_t_quantile(1, 5)));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_as_in_061),
		cmocka_unit_test(rows_as_in_060),
		cmocka_unit_test(rows_as_in_051),
		cmocka_unit_test(rows_of_odd_labels),
		cmocka_unit_test(widths),
		cmocka_unit_test(statistics),
		T(table_as_in_061), T(table_as_in_060),
		T(failed_runs_are_shown_not_averaged),
		T(wide_has_exact_figures), T(no_good_run_gives_dashes),
		T(unbooted_kernel_has_a_row), T(mismatch_is_not_counted), T(json_splits_off_the_host),
		T(json_has_the_provenance),
		T(csv_has_a_line_a_run), T(kernels_and_loads_in_plan_order),
		T(refusals), T(full_disk_is_no_success), T(reading_is_quick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
