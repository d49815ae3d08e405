/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.c - which renderer a format means
 */
#include "results/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/columns.h"
#include "results/render.h"

/* What contest never printed follows in tables of its own */
static void render_contest_061(const struct report *r, struct buf *b)
{
	render_contest(r, CONTEST_061, b);
	put_benches(r, b);
	put_imports_bench(r, IMPORT_TIOBENCH, b);
	put_imports_bench(r, IMPORT_VOLANOMARK, b);
}

static void render_contest_060(const struct report *r, struct buf *b)
{
	render_contest(r, CONTEST_060, b);
}

static void render_contest_051(const struct report *r, struct buf *b)
{
	render_contest(r, CONTEST_051, b);
}

/* render_bench() - nothing, when the run has no such benchmark */
static void render_bench(const struct report *r, const char *bench,
			 struct buf *b)
{
	size_t i = table_find_bench(&r->table, bench);

	if (i < r->table.benches.n)
		put_bench(r, i, b);
}

static void render_tiobench(const struct report *r, struct buf *b)
{
	render_bench(r, "tiobench", b);
	put_imports_bench(r, IMPORT_TIOBENCH, b);
}

static void render_volanomark(const struct report *r, struct buf *b)
{
	render_bench(r, "chat", b);
	put_imports_bench(r, IMPORT_VOLANOMARK, b);
}

static void render_qsbench(const struct report *r, struct buf *b)
{
	render_bench(r, "qsbench", b);
}

static const char *const names[] = {
	"contest-0.61", "contest-0.60", "contest-0.51", "wide", "json", "csv",
	"tiobench", "volanomark", "qsbench", "html", NULL,
};

static void (*const renderers[])(const struct report *r, struct buf *b) = {
	render_contest_061, render_contest_060, render_contest_051,
	render_wide, render_json, render_csv, render_tiobench,
	render_volanomark, render_qsbench,
	NULL,		/* html: it alone can fail */
};

/* render_any() - wide has one's own results and then the foreign ones; what is
 * for people names the noisy runs last */
static int render_any(const struct report *r, size_t which, struct buf *b,
		      struct error *err)
{
	if (!renderers[which])
		return render_html(r, b, err);
	if (renderers[which] == render_wide) {
		if (r->boots.n)
			render_wide(r, b);
		put_imports_wide(r, b);
	} else {
		renderers[which](r, b);
	}
	if (b->len && renderers[which] != render_json &&
	    renderers[which] != render_csv)
		put_noisy(r, b);
	return 0;
}

_Static_assert(sizeof(names) / sizeof(names[0]) ==
	       sizeof(renderers) / sizeof(renderers[0]) + 1,
	       "one renderer a name");

const char *const *report_formats(void)
{
	return names;
}

static int find_format(const char *format, size_t *which, struct error *err)
{
	CLEANUP(buf_free) struct buf known = { 0 };

	for (size_t i = 0; names[i]; i++) {
		if (strcmp(names[i], format) == 0) {
			*which = i;
			return 0;
		}
		buf_printf(&known, "%s%s", i ? ", " : "", names[i]);
	}
	return error_set(err, 0, "unknown report format '%s': there are %s",
			 format, known.data);
}

static void report_free(struct report *r)
{
	table_free(&r->table);
	boot_records_clear(&r->boots);
	imports_clear(&r->imports);
}

void put_notes(const struct report *r, size_t load, struct buf *b)
{
	for (size_t k = 0; k < r->table.kernels.n; k++) {
		const struct cell *c = table_cell(&r->table, load, k);

		for (size_t i = 0; i < c->notes.n; i++) {
			buf_adds(b, "  ");
			put_left(b, c->notes.v[i], 0);
			buf_adds(b, "\n");
		}
	}
}

static int load_imports(struct store *s, const struct strings *ids,
			struct report *r, struct error *err)
{
	for (size_t i = 0; i < ids->n; i++) {
		struct import imp;

		if (store_load_import(s, ids->v[i], &imp, err))
			return -1;
		imports_add(&r->imports, imp);
	}
	return 0;
}

int report_print_beside(struct store *s, const char *run_id,
			const struct strings *imports, const char *format,
			FILE *out, struct error *err)
{
	CLEANUP(report_free) struct report r = { .run_id = run_id };
	CLEANUP(buf_free) struct buf text = { 0 };
	bool as_printed = !format && !run_id;
	size_t which = 0;

	if (!as_printed && find_format(format ? format : names[0], &which, err))
		return -1;
	if ((run_id && store_load_run(s, run_id, &r.boots, err)) ||
	    load_imports(s, imports, &r, err))
		return -1;
	table_make(&r.table, &r.boots);
	if (as_printed)
		put_imports(&r, &text);
	else if (render_any(&r, which, &text, err))
		return -1;
	if (text.len == 0)
		return error_set(err, 0, "nothing to show as %s: the plan had no such benchmark",
				 format ? format : names[0]);
	if (fwrite(text.data, 1, text.len, out) != text.len || fflush(out))
		return error_set(err, errno, "print the report");
	return 0;
}

int report_print(struct store *s, const char *run_id, const char *format,
		 FILE *out, struct error *err)
{
	return report_print_beside(s, run_id, &(struct strings){ 0 }, format,
				   out, err);
}
