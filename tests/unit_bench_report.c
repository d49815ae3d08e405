/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_bench_report.c - reports of tiobench, chat and qsbench
 *
 * The renderers are fed with the numbers of the mails (unit_import_bench.c says
 * which) and have to print what the mails show. The tiobench mail's white space
 * was squeezed when it was archived; a line of tiobench 0.3.3 on 2.5.59 holds
 * the columns.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "results/base/cleanup.h"
#include "results/bench_table.h"
#include "results/import.h"
#include "results/record.h"
#include "results/report.h"
#include "tests/make_journal.h"

/* --- the lines of the mails ------------------------------------------------- */

static void parse_file(const char *path, struct import *imp)
{
	struct error err = { 0 };

	must(import_read(path, NULL, imp, &err), &err);
}

/* squeezed() - blanks made one; owned by the caller */
static char *squeezed(const char *s)
{
	struct buf b = { 0 };

	for (; *s; s++)
		if (*s != ' ' || (b.len && b.data[b.len - 1] != ' '))
			buf_add(&b, s, 1);
	return b.data;
}

/* CPU Eff is Rate / (CPU% / 100), as far as the printed digits tell */
static void check_eff(double rate, double cpu, double eff)
{
	double worked_out = rate / (cpu / 100);

	assert_true(fabs(worked_out - eff) <=
		    0.5 + worked_out * (0.005 / rate + 0.005 / cpu));
}

/* All 32 rows */
static void tiobench_prints_the_mail(void **state)
{
	CLEANUP(import_free) struct import imp = { 0 };

	(void)state;
	parse_file("tests/golden/tiobench.txt", &imp);
	assert_int_equal(imp.benches.n, 8);
	for (size_t i = 0; i < imp.benches.n; i++) {
		const struct import_bench *t = &imp.benches.v[i];
		CLEANUP(buf_free) struct buf got = { 0 }, want = { 0 };
		cleanup_free char *flat = NULL;

		tio_put_head(&got, t->title);
		for (size_t k = 0; k < t->rows.n; k++) {
			char **v = t->rows.v[k].text.v;
			double rate = atof(v[3]), cpu = atof(v[4]);

			check_eff(rate, cpu, atof(v[9]));
			tio_put_row(&got, &(struct tio_row){
				.label = t->rows.v[k].label,
				.size_mib = atoll(v[0]), .block = atoll(v[1]),
				.threads = atoll(v[2]), .rate = rate,
				.cpu_pct = cpu, .average_ms = atof(v[5]),
				.max_ms = atof(v[6]), .over_2s_pct = atof(v[7]),
				.over_10s_pct = atof(v[8]),
				.cpu_eff = atof(v[9]) });
		}
		for (size_t k = 0; k < t->lines.n; k++)
			buf_printf(&want, "%s\n", t->lines.v[k]);
		flat = squeezed(got.data);
		for (char *p = flat; (p = strstr(p, "\n "));)
			memmove(p + 1, p + 2, strlen(p + 2) + 1);
		assert_string_equal(flat, want.data);
	}
}

static void tiobench_columns(void **state)
{
	CLEANUP(buf_free) struct buf b = { 0 };

	(void)state;
	tio_put_head(&b, "Sequential Reads");
	tio_put_row(&b, &(struct tio_row){ "2.5.59", 252, 4096, 10, 7.84, 4.253,
					   12.545, 1919.32, 0, 0, 184 });
	tio_put_row(&b, &(struct tio_row){ "2.5.32-3", 4096, 4096, 256, 20.79,
					   283.4, 22.998, 111635.79, 0.16956,
					   0.02403, 7 });
	tio_put_row(&b, &(struct tio_row){ "none", 1, 512, 1, NAN, NAN, NAN,
					   NAN, NAN, NAN, NAN });
	assert_string_equal(b.data,
"Sequential Reads\n"
"                              File  Blk   Num                   Avg      Maximum      Lat%     Lat%    CPU\n"
"Identifier                    Size  Size  Thr   Rate  (CPU%)  Latency    Latency      >2s      >10s    Eff\n"
"---------------------------- ------ ----- ---  ------ ------ --------- -----------  -------- -------- -----\n"
"2.5.59                        252   4096   10    7.84 4.253%    12.545     1919.32   0.00000  0.00000   184\n"
"2.5.32-3                      4096  4096  256   20.79 283.4%    22.998   111635.79   0.16956  0.02403     7\n"
"none                           1     512    1       -     -%         -           -         -        -     -\n");
}

static double kb(const char *s, bool *other)
{
	double v = 0;

	*other = *s == '*';
	for (; *s; s++)
		if (*s >= '0' && *s <= '9')
			v = 10 * v + (*s - '0');
	return v;
}

static void volanomark_prints_the_mail(void **state)
{
	CLEANUP(import_free) struct import imp = { 0 };

	(void)state;
	parse_file("tests/golden/volanomark.txt", &imp);
	for (size_t i = 0; i < imp.benches.n; i++) {
		const struct import_bench *t = &imp.benches.v[i];
		CLEANUP(buf_free) struct buf head = { 0 };
		size_t at = 0, line = 0;

		volano_put_head(&head, t->title);
		for (char *p = head.data; *p; p = strchr(p, '\n') + 1, line++) {
			size_t len = strcspn(p, "\n");

			assert_int_equal(len, strlen(t->lines.v[line]));
			assert_memory_equal(p, t->lines.v[line], len);
		}
		for (; line < t->lines.n; line++) {
			CLEANUP(buf_free) struct buf got = { 0 };
			struct volano_row row = { .score = NAN };
			char **v;

			/* Empty lines, "old data below", the footnote */
			if (*t->lines.v[line] != '2')
				continue;
			v = t->rows.v[at].text.v;
			row.label = t->rows.v[at].label;
			if (t->rows.v[at].text.n == 1) {
				row.remark = v[0];
			} else {
				row.score = atof(v[0]);
				row.cpu_pct = atof(v[1]);
				row.system_to_user = atof(v[2]);
				row.remark = v[3];
			}
			if (t->rows.v[at].text.n == 6) {
				row.remark = NULL;
				row.in.kb = kb(v[3], &row.in.other);
				row.out.kb = kb(v[4], &row.out.other);
				row.both.kb = kb(v[5], &row.both.other);
			}
			volano_put_row(&got, &row);
			got.data[got.len - 1] = '\0';
			assert_string_equal(got.data, t->lines.v[line]);
			at++;
		}
		assert_int_equal(at, t->rows.n);
	}
}

/* --- whole reports ------------------------------------------------------------ */

static const char *const plan = "format=1\nbench=tiobench\nbench=chat\nbench=qsbench\n";

static void start(const char *path, const char *label, int order, int number)
{
	cleanup_free char *base = context_json(RUN_A, label, order, number, 2,
					       "2026-01-01T00:00:00Z", "[]");
	cleanup_free char *ctx = xasprintf(
		"{\"benches\":[\"tiobench\",\"chat\",\"qsbench\"],%s", base + 1);
	struct error err = { 0 };

	must(journal_create(path, RUN_A, plan, ctx, &err), &err);
	append(path, JOURNAL_RECEIPT, "{\"format\":1}");
}

#define WINDOW "\"wall_ns\":9000000000,\"job\":{\"user_ns\":1,\"system_ns\":1,\"exit\":0}," \
	"\"cpu\":{\"user_ns\":400,\"nice_ns\":0,\"system_ns\":500,\"idle_ns\":40,\"iowait_ns\":10,\"irq_ns\":20,\"softirq_ns\":30,\"steal_ns\":0}," \
	"\"vm\":{\"pswpin\":1000,\"pswpout\":2500}"

/* @lat_ms: average latency of both phases */
static void tio_run(const char *path, int lat_ms)
{
	cleanup_free char *end = xasprintf(
		"{\"run\":1,\"bench\":\"tiobench\",\"index\":1,\"verdict\":\"ok\","
		"\"settings\":{\"threads\":[1],\"block\":4096,\"size\":209715200,\"random-ops\":4000},"
		"\"rows\":[{\"phase\":\"random-write\",\"threads\":1,\"file_bytes\":209715200,\"bytes\":4096000,\"ops\":1000,\"wall_ns\":2000000000,\"user_ns\":10000000,\"system_ns\":90000000,\"lat_sum_ns\":%d000000000,\"lat_max_ns\":70000000,\"over_2s\":0,\"over_10s\":0,\"lat_p50_ns\":1,\"lat_p95_ns\":2,\"lat_p99_ns\":3,\"lat_p999_ns\":4000000,\"fsyncs\":1,\"fsync_sum_ns\":5000000,\"fsync_max_ns\":5000000},"
		"{\"phase\":\"random-read\",\"threads\":1,\"file_bytes\":209715200,\"bytes\":4096000,\"ops\":1000,\"wall_ns\":4000000000,\"user_ns\":0,\"system_ns\":0,\"lat_sum_ns\":%d000000000,\"lat_max_ns\":9000000,\"over_2s\":1,\"over_10s\":0,\"lat_p50_ns\":1,\"lat_p95_ns\":2,\"lat_p99_ns\":3,\"lat_p999_ns\":4}],"
		WINDOW "}", lat_ms, lat_ms);

	append(path, JOURNAL_RUN_START, "{\"run\":1,\"bench\":\"tiobench\",\"index\":1}");
	append(path, JOURNAL_RUN_END, end);
}

static void chat_run(const char *path, int sent)
{
	cleanup_free char *end = xasprintf(
		"{\"run\":2,\"bench\":\"chat\",\"index\":1,\"verdict\":\"ok\","
		"\"settings\":{\"rooms\":10,\"users\":20,\"messages\":50,\"heap\":0},"
		"\"rows\":[{\"connections\":200,\"threads\":800,\"sent\":%d,\"received\":%d,\"elapsed_ns\":4000000000}],"
		WINDOW "}", sent, sent * 19);

	append(path, JOURNAL_RUN_START, "{\"run\":2,\"bench\":\"chat\",\"index\":1}");
	append(path, JOURNAL_RUN_END, end);
}

static void sort_run(const char *path, int killed, int user_s)
{
	cleanup_free char *end = xasprintf(
		"{\"run\":3,\"bench\":\"qsbench\",\"index\":1,\"verdict\":\"ok\","
		"\"settings\":{\"processes\":1,\"elements\":1000,\"seed\":1},"
		"\"rows\":[{\"processes\":1,\"elements\":1000,\"bytes\":4000,\"elapsed_ns\":5000000000,\"user_ns\":%d000000000,\"system_ns\":1000000000,\"major_faults\":77,\"minor_faults\":3,\"sorted\":%d,\"killed\":%d,\"refused\":0}],"
		WINDOW "}", user_s, !killed, killed);

	append(path, JOURNAL_RUN_START, "{\"run\":3,\"bench\":\"qsbench\",\"index\":1}");
	append(path, JOURNAL_RUN_END, end);
}

struct shop {
	char *dir, *db;
	struct store *s;
};

/* Two boots of kernel "a"; of kernel "b" one that hung in chat, and one that never
 * was */
static void open_shop(struct shop *shop)
{
	static const struct {
		const char *label;
		int order, number;
	} boots[] = { { "a", 0, 1 }, { "a", 0, 2 }, { "b", 1, 1 } };
	struct error err = { 0 };

	shop->dir = scratch_dir();
	shop->db = xasprintf("%s/results.db", shop->dir);
	must(store_open(shop->db, &shop->s, &err), &err);
	for (int i = 0; i < 3; i++) {
		cleanup_free char *path = xasprintf("%s/j%d", shop->dir, i);
		char id[SHA256_HEX];

		start(path, boots[i].label, boots[i].order, boots[i].number);
		tio_run(path, 1 + i);
		if (i < 2) {
			chat_run(path, 10000 + 2000 * i);
			sort_run(path, i, 3);
			finish(path);
		} else {
			append(path, JOURNAL_RUN_START,
			       "{\"run\":2,\"bench\":\"chat\",\"index\":1}");
			append(path, JOURNAL_VERDICT,
			       "{\"verdict\":\"hung\",\"evidence\":\"no sign of life in 120 s\",\"console\":[],\"host\":{\"seconds\":1.5}}");
		}
		must(store_add(shop->s, path, id, &err), &err);
	}
}

static void close_shop(struct shop *shop)
{
	cleanup_free char *command = xasprintf("rm -rf '%s'", shop->dir);

	store_close(shop->s);
	assert_int_equal(system(command), 0);
	free(shop->dir);
	free(shop->db);
}

/* print() - a report; owned by the caller */
static char *print(struct shop *shop, const char *format)
{
	struct error err = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	must(report_print(shop->s, RUN_A, format, f, &err), &err);
	fclose(f);
	return text;
}

static void has(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("no '%s' in:\n%s", what, text);
}

static void means_of_runs_in_tiobench_tables(void **state)
{
	struct shop shop;
	cleanup_free char *text = NULL, *wide = NULL;
	const char *reads, *writes;

	(void)state;
	open_shop(&shop);
	text = print(&shop, "tiobench");
	reads = strstr(text, "Random Reads");
	writes = strstr(text, "Random Writes");
	assert_true(reads && writes && reads < writes);
	/* Latencies of 1 and 2 ms: 1.5, not 3 */
	has(writes, "a                             200   4096    1    1.95 5.000%     1.500       70.00   0.00000  0.00000    39\n");
	has(reads, "a                             200   4096    1    0.98 0.000%     1.500        9.00   0.10000  0.00000     -\n");
	has(reads, "b                             200   4096    1    0.98 0.000%     3.000");
	has(text, "b boot 2: missing, no journal");
	wide = print(&shop, "wide");
	/* 1 and 2 ms over two boots: 1.5 +- 12.706 * 0.5 */
	has(wide, "1.500  6.353");
	has(wide, "p99.9");
	has(wide, "fsync ms");
	close_shop(&shop);
}

static void a_hung_boot_is_a_row(void **state)
{
	struct shop shop;
	cleanup_free char *text = NULL;

	(void)state;
	open_shop(&shop);
	text = print(&shop, "volanomark");
	assert_string_equal(text,
"kernel       msg/s  %CPU %sys/%user  Total swpin   Total swpout  Total swapio\n"
"-----------  -----  ---- ----------  ------------  ------------  ------------\n"
"a            55000  95.0 1.38        4,000 KB      10,000 KB     14,000 KB\n"
"b            ***** hung - no sign of life in 120 s *****\n"
"  b boot 2: missing, no journal\n");
	close_shop(&shop);
}

static void a_run_that_lost_a_process_is_no_time(void **state)
{
	struct shop shop;
	cleanup_free char *text = NULL;

	(void)state;
	open_shop(&shop);
	text = print(&shop, "qsbench");
	has(text, "OOM-killed");
	/* Two runs, one whole: its times alone, and half a kill in the mean */
	has(text, "5.000");
	has(text, "80.0");
	has(text, "0.50\n");
	has(text, "b boot 1 run 1: not started, boot hung: no sign of life");
	close_shop(&shop);
}

static void json_and_csv_have_all_figures(void **state)
{
	struct shop shop;
	cleanup_free char *text = NULL, *csv = NULL, *all = NULL;
	json_t *root, *tio, *row, *run;

	(void)state;
	open_shop(&shop);
	text = print(&shop, "json");
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	assert_int_equal(json_array_size(json_object_get(root, "table")), 0);
	tio = json_array_get(json_object_get(root, "benches"), 0);
	assert_string_equal(json_string_value(json_object_get(tio, "bench")),
			    "tiobench");
	row = json_array_get(json_object_get(json_array_get(
		json_object_get(tio, "kernels"), 0), "rows"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "phase")),
			    "random-write");
	assert_true(fabs(json_real_value(json_object_get(row, "lat_avg_ms")) -
			 1.5) < 1e-6);
	run = json_array_get(json_object_get(json_array_get(
		json_object_get(root, "boots"), 0), "runs"), 0);
	assert_string_equal(json_string_value(json_object_get(run, "bench")),
			    "tiobench");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(
		json_object_get(run, "rows"), 0), "fsync_sum_ns")), 5000000);
	json_decref(root);
	csv = print(&shop, "csv");
	has(csv, ",row.phase,row.threads,");
	has(csv, ",random-write,1,209715200,4096000,1000,2000000000,");
	has(csv, ",tiobench,1,1,ok,1,");
	all = print(&shop, "contest-0.61");
	has(all, "tiobench (threads 1; block 4096; size 209715200; random-ops 4000):\nSequential Reads\n");
	has(all, "chat (rooms 10; users 20; messages 50; heap 0):\nkernel  ");
	close_shop(&shop);
}

/* Rows that are none spoil the run, and nothing of it is averaged */
static void bad_rows_are_no_result(void **state)
{
	static const char *const bad[] = {
		"\"settings\":{},\"rows\":[]", "\"settings\":{}",
		"\"rows\":[{\"sent\":1}]", "\"settings\":{},\"rows\":[{\"sent\":-1}]",
		"\"settings\":{},\"rows\":[{\"sent\":1.5}]",
		"\"settings\":{\"x\":[\"y\"]},\"rows\":[{\"sent\":1}]",
		"\"settings\":{},\"rows\":[7]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cleanup_free char *dir = scratch_dir(),
			*path = xasprintf("%s/j", dir),
			*end = xasprintf("{\"run\":2,\"bench\":\"chat\",\"index\":1,\"verdict\":\"ok\",%s," WINDOW "}",
					 bad[i]);
		struct boot_record b;
		struct error err = { 0 };

		start(path, "a", 0, 1);
		append(path, JOURNAL_RUN_END, end);
		finish(path);
		must(boot_record_load(path, &b, &err), &err);
		assert_int_equal(b.runs.n, 3);
		assert_true(b.runs.v[1].bench);
		assert_false(run_good(&b, &b.runs.v[1]));
		assert_non_null(strstr(b.runs.v[1].message, "RUN_END: "));
		boot_record_free(&b);
		unlink(path);
		rmdir(dir);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiobench_prints_the_mail),
		cmocka_unit_test(tiobench_columns),
		cmocka_unit_test(volanomark_prints_the_mail),
		cmocka_unit_test(means_of_runs_in_tiobench_tables),
		cmocka_unit_test(a_hung_boot_is_a_row),
		cmocka_unit_test(a_run_that_lost_a_process_is_no_time),
		cmocka_unit_test(json_and_csv_have_all_figures),
		cmocka_unit_test(bad_rows_are_no_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
