/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_json.c - a comparison for programs; see results/report.schema.md
 */
#include <math.h>
#include <stdlib.h>

#include "results/base/cleanup.h"
#include "results/compare.h"
#include "results/json_put.h"

#define COMPARE_FORMAT "kontest-compare"
#define COMPARE_VERSION 1
#define REAL_DIGITS 9	/* as in the report */

static void put_count(json_t *o, const char *name, size_t n)
{
	json_put(o, name, json_integer((json_int_t)n));
}

static json_t *side_json(const struct compare_side *s)
{
	json_t *o = json_object(), *host = json_object();

	json_put_text(o, "label", s->table->kernels.v[s->kernel].label);
	json_put_text(host, "run_id", s->run_id);
	json_put(o, "host", host);
	return o;
}

static json_t *cell_json(const struct compare *c, size_t row, size_t side)
{
	const struct compare_cell *cell = compare_cell_at(c, row, side);
	json_t *o = json_object(), *boots = json_array();
	size_t at = 0;

	put_count(o, "side", side);
	put_count(o, "boots", cell->boots.n);
	put_count(o, "runs", cell->data.v.n);
	put_count(o, "censored", cell->censored);
	put_count(o, "failed", cell->failed);
	put_count(o, "missing", cell->missing);
	put_count(o, "repeated", cell->repeated);
	put_count(o, "noisy", cell->noisy);
	json_put_real(o, "mean", cell->mean);
	json_put_real(o, "low", cell->ci.low);
	json_put_real(o, "high", cell->ci.high);
	for (size_t b = 0; b < cell->boots.n; b++) {
		json_t *runs = json_array();

		for (size_t r = 0; r < cell->data.runs.v[b]; r++)
			json_put_last(runs, json_real(cell->data.v.v[at++]));
		json_put_last(boots, runs);
	}
	json_put(o, "values", boots);
	return o;
}

/* put_ratio() - what comparisons and means have in common */
static void put_ratio(json_t *o, const struct ratio *r)
{
	json_put_real(o, "ratio", r->ratio);
	json_put_real(o, "change_pct", ratio_pct(r->ratio));
	json_put_real(o, "low_pct", ratio_pct(r->ci.low));
	json_put_real(o, "high_pct", ratio_pct(r->ci.high));
}

static json_t *comparison_json(const struct compare *c, const struct comparison *x)
{
	const struct compare_cell *base = compare_cell_at(c, x->row, 0);
	const struct compare_cell *cell = compare_cell_at(c, x->row, x->side);
	struct interval ci = { NAN, NAN };
	json_t *o = json_object();

	if (x->r.boots[0] >= BOOTSTRAP_BOOTS && x->r.boots[1] >= BOOTSTRAP_BOOTS)
		ci = nested_bootstrap(&base->data, &cell->data, INFER_CONFIDENCE,
				      BOOTSTRAP_SEED);
	put_count(o, "side", x->side);
	json_put_text(o, "finding", finding_name(x->finding));
	json_put_text(o, "verdict", x->verdict);
	json_put_text(o, "sentence", x->sentence);
	put_ratio(o, &x->r);
	json_put_real(o, "bootstrap_low_pct", ratio_pct(ci.low));
	json_put_real(o, "bootstrap_high_pct", ratio_pct(ci.high));
	json_put_real(o, "welch_p", x->r.welch_p);
	json_put_real(o, "rank_p", x->r.rank_p);
	json_put_real(o, "p", x->r.p);
	json_put_real(o, "least_p", x->r.min_p);
	json_put_real(o, "holm_p", x->holm_p);
	json_put_real(o, "told_pct", x->told_pct);
	put_count(o, "boots_needed", x->boots_needed);
	json_put_real(o, "detectable_pct", x->mdc_pct);
	json_put_real(o, "calibrated_pct", x->known_mdc_pct);
	put_count(o, "more_boots", x->more_boots);
	return o;
}

static json_t *row_json(const struct compare *c, size_t row)
{
	const struct compare_row *r = &c->rows.v[row];
	json_t *o = json_object(), *cells = json_array(), *list = json_array();

	json_put_text(o, "metric", r->metric->name);
	json_put_text(o, "unit", r->metric->unit);
	json_put(o, "more_is_better", json_boolean(r->metric->more_is_better));
	json_put_text(o, r->bench ? "bench" : "load", r->load);
	if (r->phase) {
		json_put_text(o, "phase", r->phase);
		json_put(o, "threads", json_integer(r->threads));
	}
	for (size_t s = 0; s < c->n_sides; s++)
		json_put_last(cells, cell_json(c, row, s));
	for (size_t s = 1; s < c->n_sides; s++)
		json_put_last(list, comparison_json(c, compare_at(c, row, s)));
	json_put(o, "sides", cells);
	json_put(o, "comparisons", list);
	return o;
}

static json_t *mean_json(const struct compare_mean *m)
{
	json_t *o = json_object();

	json_put_text(o, "metric", m->metric->name);
	put_count(o, "side", m->side);
	put_count(o, "loads", m->rows);
	json_put_text(o, "left_out", m->left_out);
	put_count(o, "baseline_boots", m->r.boots[0]);
	put_count(o, "boots", m->r.boots[1]);
	put_ratio(o, &m->r);
	return o;
}

void compare_put_json(const struct compare *c, const struct strings *differences,
		      struct buf *b)
{
	cleanup_free char *method = compare_method(c);
	json_t *root = json_object(), *unlike = json_array(), *sides = json_array();
	json_t *rows = json_array(), *means = json_array();
	char *text;

	for (size_t i = 0; differences && i < differences->n; i++)
		json_put_last(unlike, json_string(differences->v[i]));
	for (size_t s = 0; s < c->n_sides; s++)
		json_put_last(sides, side_json(&c->sides[s]));
	for (size_t r = 0; r < c->rows.n; r++)
		json_put_last(rows, row_json(c, r));
	for (size_t i = 0; i < c->means.n; i++)
		json_put_last(means, mean_json(&c->means.v[i]));
	json_put_text(root, "format", COMPARE_FORMAT);
	json_put(root, "version", json_integer(COMPARE_VERSION));
	json_put(root, "differences", unlike);
	json_put(root, "exact", json_boolean(c->exact));
	json_put_real(root, "margin_pct", c->margin_pct);
	put_count(root, "family", c->family);
	json_put_text(root, "method", method);
	json_put(root, "sides", sides);
	json_put(root, "rows", rows);
	json_put(root, "means", means);
	text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(REAL_DIGITS));
	if (!text)
		abort();
	buf_adds(b, text);
	buf_adds(b, "\n");
	free(text);
	json_decref(root);
}
