/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_csv.c - a line a run (RFC 4180), good or not, for other programs
 */
#include "results/render.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"

/* put_field() - quoted where RFC 4180, section 2, asks for it */
static void put_field(struct buf *b, const char *s)
{
	if (!s[strcspn(s, ",\"\r\n")]) {
		buf_adds(b, s);
		return;
	}
	buf_adds(b, "\"");
	for (; *s; s++)
		buf_add(b, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
	buf_adds(b, "\"");
}

static bool has_name(const struct strings *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->v[i], name) == 0)
			return true;
	return false;
}

/* The members that rows of benchmarks have, so that each is a column; a run has
 * a line for every row of its own */
static void bench_members(const struct report *r, struct strings *names)
{
	for (size_t i = 0; i < r->boots.n; i++) {
		for (size_t k = 0; k < r->boots.v[i].runs.n; k++) {
			const json_t *rows = r->boots.v[i].runs.v[k].rows;
			json_t *row;
			const json_t *v;
			const char *name;
			size_t at;

			json_array_foreach(rows, at, row) {
				json_object_foreach(row, name, v) {
					if (!has_name(names, name))
						strings_add(names, xstrdup(name));
				}
			}
		}
	}
}

static void put_bench_row(struct buf *b, const json_t *row,
			  const struct strings *names)
{
	for (size_t i = 0; i < names->n; i++) {
		const json_t *v = json_object_get(row, names->v[i]);

		buf_adds(b, ",");
		if (json_is_integer(v))
			buf_printf(b, "%" JSON_INTEGER_FORMAT,
				   json_integer_value(v));
		else if (json_is_string(v))
			put_field(b, json_string_value(v));
	}
}

/* "sched/base_slice_ns=3000000;boot:preempt=full" of a sweep's point */
static void put_tunables(struct buf *b, const struct boot_record *boot)
{
	const json_t *list = context_value(boot, "kernel", "tunables");
	CLEANUP(buf_free) struct buf text = { 0 };
	const json_t *t;
	size_t i;

	buf_adds(&text, "");
	json_array_foreach(list, i, t) {
		const char *knob = json_string_value(json_object_get(t, "knob"));
		const char *value = json_string_value(json_object_get(t, "value"));

		buf_printf(&text, "%s%s=%s", i ? ";" : "", knob ? knob : "?",
			   value ? value : "?");
	}
	buf_adds(b, ",");
	put_field(b, text.data);
}

static void put_run(struct buf *b, const struct boot_record *boot,
		    const struct run_record *r, bool beside, const json_t *row,
		    const struct strings *members)
{
	put_field(b, boot->run_id);
	buf_adds(b, ",");
	put_field(b, boot->label);
	buf_printf(b, ",%" PRId64 ",%" PRId64 ",%s,%s,", boot->number,
		   boot->index, boot->id, verdict_name(boot->verdict));
	put_field(b, r->load);
	buf_printf(b, ",%" PRId64 ",%" PRId64 ",%s,%d,", r->index, r->number,
		   r->started ? verdict_name(r->verdict) : "not-started",
		   run_good(boot, r));
	put_field(b, r->message ? r->message : "");
	put_tunables(b, boot);
	for (int f = 0; f < FIG_COUNT; f++) {
		buf_adds(b, ",");
		if (r->fig[f] != FIGURE_NONE)
			buf_printf(b, "%" PRId64, r->fig[f]);
	}
	if (beside) {
		buf_adds(b, ",run,,");
		for (int f = 0; f < IMPORT_COUNT; f++)
			buf_adds(b, ",");
	}
	put_bench_row(b, row, members);
	buf_adds(b, "\r\n");
}

static void put_boot(struct buf *b, const struct boot_record *boot, bool beside,
		     const struct strings *members)
{
	for (size_t k = 0; k < boot->runs.n; k++) {
		const struct run_record *r = &boot->runs.v[k];
		const json_t *row;
		size_t at;

		if (json_array_size(r->rows) == 0)
			put_run(b, boot, r, beside, NULL, members);
		json_array_foreach(r->rows, at, row) {
			put_run(b, boot, r, beside, row, members);
		}
	}
}

/* put_foreign() - a row of an import: of one's own columns it has the kernel
 * and the load */
static void put_foreign(struct buf *b, const struct import *imp,
			const struct import_table *t,
			const struct import_row *row,
			const struct strings *members)
{
	buf_adds(b, ",");
	put_field(b, row->label);
	buf_adds(b, ",,,,,");
	put_field(b, t->load);
	buf_adds(b, ",,,,,,");
	for (int f = 0; f < FIG_COUNT; f++)
		buf_adds(b, ",");
	buf_adds(b, ",import,");
	put_field(b, imp->name);
	buf_printf(b, ",%" PRIu64, row->runs);
	for (int f = 0; f < IMPORT_COUNT; f++)
		buf_printf(b, ",%s", strcmp(row->text[f], "-") == 0 ?
			   "" : row->text[f]);
	put_bench_row(b, NULL, members);
	buf_adds(b, "\r\n");
}

static void put_imports_csv(const struct report *r, struct buf *b,
			    const struct strings *members)
{
	for (size_t i = 0; i < r->imports.n; i++) {
		const struct import *imp = &r->imports.v[i];

		for (size_t j = 0; j < imp->tables.n; j++) {
			const struct import_table *t = &imp->tables.v[j];

			for (size_t k = 0; k < t->rows.n; k++)
				put_foreign(b, imp, t, &t->rows.v[k], members);
		}
	}
}

void render_csv(const struct report *r, struct buf *b)
{
	CLEANUP(strings_clear) struct strings members = { 0 };

	bench_members(r, &members);
	buf_adds(b, "run_id,kernel,boot,boot_index,boot_id,boot_verdict,load,run,run_number,verdict,good,message,tunables");
	for (int f = 0; f < FIG_COUNT; f++) {
		const char *group = figure_group((enum run_figure)f);

		buf_printf(b, ",%s%s%s", group, *group ? "." : "",
			   figure_member((enum run_figure)f));
	}
	if (r->imports.n) {
		buf_adds(b, ",source,import,runs");
		for (int f = 0; f < IMPORT_COUNT; f++)
			buf_printf(b, ",%s",
				   import_figure_name((enum import_figure)f));
	}
	for (size_t i = 0; i < members.n; i++)
		buf_printf(b, ",row.%s", members.v[i]);
	buf_adds(b, "\r\n");
	for (size_t i = 0; i < r->boots.n; i++)
		put_boot(b, &r->boots.v[i], r->imports.n > 0, &members);
	put_imports_csv(r, b, &members);
}
