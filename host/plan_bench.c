/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/plan_bench.h"

#include <stdio.h>
#include <string.h>

#include "results/base/cleanup.h"

#define CONTEST "contest"
#define SEPARATORS ", \t\n"

/* What ext4 and the job's tree take of the work disk: this, and a 32nd. */
#define WORK_ROOM ((uint64_t)64 << 20)

void plan_bench_free(struct plan_bench *b)
{
	planned_benches_free(&b->list);
	*b = (struct plan_bench){ 0 };
}

static void known_names(struct buf *out)
{
	const struct bench_ops *ops;

	buf_adds(out, CONTEST);
	for (size_t i = 0; (ops = bench_nth(i)); i++)
		buf_printf(out, ", %s", ops->name);
}

static int add(struct plan_bench *b, char *word, struct error *err)
{
	CLEANUP(buf_free) struct buf known = { 0 };
	char *colon = strchr(word, ':');
	struct planned_bench one = { 0 };
	uint64_t runs = 0;

	if (colon) {
		*colon = '\0';
		if (!parse_u64(colon + 1, &runs) || !runs || runs > 1000)
			return error_set(err, 0, "benchmark '%s': ':%s' is no number of runs from 1 to 1000",
					 word, colon + 1);
	}
	one.ops = bench_find(word);
	one.runs = (unsigned int)runs;
	if (!one.ops && strcmp(word, CONTEST)) {
		known_names(&known);
		return error_set(err, 0, "there is no benchmark '%s'; there are %s",
				 word, known.data);
	}
	if (!one.ops && colon)
		return error_set(err, 0, "contest has the runs of its loads: write loads = NAME:%llu",
				 (unsigned long long)runs);
	for (size_t i = 0; i < b->list.n; i++)
		if (b->list.v[i].ops == one.ops)
			return error_set(err, 0, "benchmark '%s' is named twice: write %s:2 for two runs",
					 word, word);
	planned_benches_add(&b->list, one);
	return 0;
}

int plan_bench_set(struct plan_bench *b, const char *value, struct error *err)
{
	cleanup_free char *copy = xstrdup(value);
	char *save = NULL;

	planned_benches_free(&b->list);
	b->list = (struct planned_benches){ 0 };
	for (char *w = strtok_r(copy, SEPARATORS, &save); w;
	     w = strtok_r(NULL, SEPARATORS, &save))
		if (add(b, w, err) < 0)
			return -1;
	if (!b->list.n)
		return error_set(err, 0, "bench is empty: name at least one, such as contest or tiobench");
	return 0;
}

static int add_value(const struct bench_setting *def,
		     struct bench_values *values, const char *text,
		     struct error *err)
{
	uint64_t v;
	bool number = def->size ? parse_size(text, &v) : parse_u64(text, &v);

	if (number && bench_setting_ok(def, values, v)) {
		values->v[values->n++] = v;
		return 0;
	}
	return error_set(err, 0, "%s = %s: give %s from %llu to %llu", def->name,
			 text, def->list ? "up to 12 different numbers" :
			 def->size ? "a size such as 64MiB," : "a whole number",
			 (unsigned long long)def->min,
			 (unsigned long long)def->max);
}

static int add_list(const struct bench_setting *def,
		    struct bench_values *values, const char *text,
		    struct error *err)
{
	cleanup_free char *copy = xstrdup(text);
	char *save = NULL;

	for (char *w = strtok_r(copy, SEPARATORS, &save); w;
	     w = strtok_r(NULL, SEPARATORS, &save))
		if (add_value(def, values, w, err) < 0)
			return -1;
	return values->n ? 0 : error_set(err, 0, "%s is empty: give numbers, such as 1, 2, 4",
					 def->name);
}

int plan_bench_key(struct plan_bench *b, const char *name, const char *key,
		   const char *value, struct error *err)
{
	const struct bench_ops *ops = bench_find(name);
	const struct bench_setting *def = ops->settings;
	struct bench_values *values;
	int which = bench_setting(ops, key);

	if (which < 0) {
		CLEANUP(buf_free) struct buf known = { 0 };

		for (; def->name; def++)
			buf_printf(&known, "%s%s", known.len ? ", " : "",
				   def->name);
		return error_set(err, 0, "unknown key '%s' in [%s]: there are %s",
				 key, name, known.data);
	}
	values = &b->set[bench_index(ops)].of[which];
	*values = (struct bench_values){ .n = 0 };
	def += which;
	return def->list ? add_list(def, values, value, err)
			 : add_value(def, values, value, err);
}

int plan_bench_finish(struct plan_bench *b, unsigned int runs, bool loads,
		      struct error *err)
{
	if (!b->list.n)
		planned_benches_add(&b->list, (struct planned_bench){ 0 });
	for (size_t i = 0; i < b->list.n; i++)
		if (b->list.v[i].ops && !b->list.v[i].runs)
			b->list.v[i].runs = runs;
	if (loads && !plan_bench_contest(b))
		return error_set(err, 0, "loads are contest's, and bench does not name it: add contest to bench, or leave loads out");
	return 0;
}

static bool contest_alone(const struct plan_bench *b)
{
	return b->list.n == 1 && !b->list.v[0].ops;
}

void plan_bench_text(const struct plan_bench *b, struct buf *out)
{
	if (contest_alone(b))
		return;
	buf_adds(out, "\nbench =");
	for (size_t i = 0; i < b->list.n; i++) {
		const struct planned_bench *one = &b->list.v[i];

		if (one->ops)
			buf_printf(out, " %s:%u", one->ops->name, one->runs);
		else
			buf_adds(out, " " CONTEST);
	}
}

static void put_values(const struct bench_values *v, struct buf *out)
{
	for (size_t i = 0; i < v->n; i++)
		buf_printf(out, "%s%llu", i ? "," : "",
			   (unsigned long long)v->v[i]);
	buf_adds(out, "\n");
}

void plan_bench_sections(const struct plan_bench *b, struct buf *out)
{
	for (size_t i = 0; i < b->list.n; i++) {
		const struct bench_ops *ops = b->list.v[i].ops;
		bool head = false;

		for (int k = 0; ops && ops->settings[k].name; k++) {
			const struct bench_values *v =
				&b->set[bench_index(ops)].of[k];

			if (!v->n)
				continue;
			if (!head)
				buf_printf(out, "[%s]\n", ops->name);
			head = true;
			buf_printf(out, "%s = ", ops->settings[k].name);
			put_values(v, out);
		}
	}
}

int plan_bench_defaults(struct plan_bench *b, const struct profile *p,
			struct error *err)
{
	uint64_t room = WORK_ROOM + p->work.size / 32;
	const struct bench_machine m = {
		.cpus = p->cpus, .mem = p->memory,
		.work_bytes = p->work.size > room ? p->work.size - room : 0,
		.swap_bytes = p->swap.present ? p->swap.size : 0,
		.chat_messages = p->chat_messages,
		.chat_heap_bytes = p->chat_heap,
	};
	char why[512];

	for (size_t i = 0; i < b->list.n; i++) {
		const struct bench_ops *ops = b->list.v[i].ops;
		struct bench_settings *s;

		if (!ops)
			continue;
		s = &b->set[bench_index(ops)];
		ops->defaults(&m, s);
		if (ops->check && ops->check(&m, s, why, sizeof(why)) != 0)
			return error_set(err, 0, "[%s] on profile '%s': %s",
					 ops->name, p->name, why);
	}
	return 0;
}

void plan_bench_lines(const struct plan_bench *b, struct buf *out)
{
	for (size_t i = 0; i < b->list.n; i++) {
		const struct bench_ops *ops = b->list.v[i].ops;

		for (int k = 0; ops && ops->settings[k].name; k++) {
			buf_printf(out, "bench.%s.%s=", ops->name,
				   ops->settings[k].name);
			put_values(&b->set[bench_index(ops)].of[k], out);
		}
	}
}

bool plan_bench_contest(const struct plan_bench *b)
{
	for (size_t i = 0; i < b->list.n; i++)
		if (!b->list.v[i].ops)
			return true;
	return false;
}

bool plan_bench_network(const struct plan_bench *b)
{
	for (size_t i = 0; i < b->list.n; i++)
		if (b->list.v[i].ops && b->list.v[i].ops->network)
			return true;
	return false;
}

unsigned int plan_bench_runs(const struct plan_bench *b)
{
	unsigned int runs = 0;

	for (size_t i = 0; i < b->list.n; i++)
		runs += b->list.v[i].ops ? b->list.v[i].runs : 0;
	return runs;
}
