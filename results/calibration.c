/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/calibration.h"

#include <math.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/grid.h"
#include "results/json_put.h"
#include "results/noise.h"

static const size_t boot_counts[] = { 4, 5, 6, 8, 10, 15, 20, 30 };
#define COUNTS (sizeof(boot_counts) / sizeof(boot_counts[0]))

/* --- reading one ---------------------------------------------------------------- */

/* read_boots() - its boots, not compared yet */
static int read_boots(struct store *s, const char *run_id, struct calibration *c,
		      struct error *err)
{
	snprintf(c->run_id, sizeof(c->run_id), "%s", run_id);
	if (store_load_run(s, run_id, &c->boots, err) < 0)
		return -1;
	if (!c->boots.n || !c->boots.v[0].calibration)
		return error_set(err, 0, "run '%s' is no calibration: `kontest calibrate` makes one",
				 run_id);
	table_make(&c->table, &c->boots);
	if (c->table.kernels.n != 2)
		return error_set(err, 0, "calibration '%s' has %zu labels, and two are needed",
				 run_id, c->table.kernels.n);
	return 0;
}

static struct compare_side side_of(const struct calibration *c, size_t kernel)
{
	return (struct compare_side){
		.run_id = c->run_id, .boots = &c->boots, .table = &c->table,
		.kernel = kernel,
	};
}

/* compare_both() - its figures alone: what more boots would tell, mdc_pct() says */
static int compare_both(struct calibration *c, struct error *err)
{
	const struct compare_options main = { .no_outlook = true };
	const struct compare_options every = { .metric = "all", .no_outlook = true };
	const struct compare_side sides[] = { side_of(c, 0), side_of(c, 1) };

	if (compare_make(&c->verdicts, sides, 2, &main, err) < 0 ||
	    compare_make(&c->all, sides, 2, &every, err) < 0)
		return error_prefix(err, "calibration '%s'", c->run_id);
	return 0;
}

int calibration_load(struct store *s, const char *run_id, struct calibration *c,
		     struct error *err)
{
	return read_boots(s, run_id, c, err) < 0 ? -1 : compare_both(c, err);
}

void calibration_free(struct calibration *c)
{
	compare_free(&c->verdicts);
	compare_free(&c->all);
	table_free(&c->table);
	boot_records_clear(&c->boots);
	*c = (struct calibration){ 0 };
}

/* --- finding one ---------------------------------------------------------------- */

/* What a host does to exact mode is nothing. */
static bool same_host(const struct boot_record *a, const struct boot_record *b)
{
	static const char *const names[] = { "cpu", "machine" };

	if (!boot_measured(a))
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(context_text(a, "host", names[i]),
			   context_text(b, "host", names[i])) != 0)
			return false;
	return true;
}

static bool holds_for(const struct calibration *c, const struct compare_side *like)
{
	const struct compare_side sides[2] = { *like, side_of(c, 0) };
	CLEANUP(strings_clear) struct strings differences = { 0 };

	if (!compare_first_boot(&sides[1]))
		return false;
	compare_same(sides, 2, &differences);
	return !differences.n && same_host(compare_first_boot(like), compare_first_boot(&sides[1]));
}

int calibration_find(struct store *s, const struct compare_side *like,
		     struct calibration *c, struct error *err)
{
	CLEANUP(strings_clear) struct strings ids = { 0 };

	if (!compare_first_boot(like))
		return 0;
	if (store_calibrations(s, &ids, err) < 0)
		return -1;
	for (size_t i = 0; i < ids.n; i++) {
		if (!read_boots(s, ids.v[i], c, NULL) && holds_for(c, like) &&
		    !compare_both(c, NULL)) {
			c->like = compare_first_boot(like);
			return 1;
		}
		calibration_free(c);
	}
	return 0;
}

/* --- what it says --------------------------------------------------------------- */

/* Spread of both labels together, of logarithms; NAN: not known */
static double pooled_sd(const struct compare *c, size_t row, size_t *dof)
{
	const struct ratio *r = &compare_at(c, row, 1)->r;
	double a = (double)r->boots[0] - 1, b = (double)r->boots[1] - 1;

	*dof = 0;
	if (r->boots[0] < 2 || r->boots[1] < 2)
		return NAN;
	*dof = r->boots[0] + r->boots[1] - 2;
	return sqrt((a * r->sd_log[0] * r->sd_log[0] +
		     b * r->sd_log[1] * r->sd_log[1]) / (a + b));
}

double calibration_sd_pct(const struct calibration *c, size_t at, size_t *dof)
{
	return ratio_pct(exp(pooled_sd(&c->verdicts, at, dof)));
}

static double mdc_pct(const struct compare *c, size_t row, size_t boots)
{
	size_t dof;
	double sd = pooled_sd(c, row, &dof), pct;

	pct = detectable_pct(sd, sd, boots, boots, INFER_LEVEL);
	return isfinite(pct) ? pct : NAN;
}

static size_t runs_of(const struct boot_record *b, const char *load)
{
	size_t n = 0;

	for (size_t i = 0; i < b->runs.n; i++)
		n += !strcmp(b->runs.v[i].load, load);
	return n;
}

double calibration_mdc_pct(const struct compare_row *row, size_t boots, void *arg)
{
	const struct calibration *c = arg;

	/* More runs in a boot make its mean steadier. */
	if (c->like && runs_of(c->like, row->load) !=
		       runs_of(&c->boots.v[0], row->load))
		return NAN;
	for (size_t i = 0; i < c->all.rows.n; i++)
		if (compare_row_same(&c->all.rows.v[i], row))
			return mdc_pct(&c->all, i, boots);
	return NAN;
}

size_t calibration_wrong(const struct calibration *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->verdicts.comparisons.n; i++) {
		enum finding f = c->verdicts.comparisons.v[i].finding;

		n += f == FINDING_BETTER || f == FINDING_WORSE;
	}
	return n;
}

/* Could any verdict have been wrong? */
static bool calibration_checked(const struct calibration *c)
{
	for (size_t i = 0; i < c->verdicts.comparisons.n; i++) {
		enum finding f = c->verdicts.comparisons.v[i].finding;

		if (f != FINDING_NO_DATA && f != FINDING_FEW_BOOTS)
			return true;
	}
	return false;
}

/* --- for people ----------------------------------------------------------------- */

static const char *context_of(const struct calibration *c, const char *group,
			      const char *name)
{
	const char *s = context_text(&c->boots.v[0], group, name);

	return *s ? s : "-";
}

static void put_subject(const struct calibration *c, struct buf *b)
{
	buf_printf(b, "calibration %.8s: kernel %s twice, as %s and %s; profile %s, accel %s, job %s, QEMU %s",
		   c->run_id, context_of(c, "kernel", "release"),
		   c->table.kernels.v[0].label, c->table.kernels.v[1].label,
		   context_of(c, "profile", "name"), context_of(c, NULL, "accel"),
		   context_of(c, "job", "name"), context_of(c, "qemu", "version"));
	if (boot_measured(&c->boots.v[0]))
		buf_printf(b, ", host %s\n", context_of(c, "host", "cpu"));
	else
		buf_adds(b, ", over seeds\n");
}

static void put_spreads(const struct calibration *c, struct buf *b)
{
	static const char *const titles[] = {
		"Load", "Figure", "Mean", "Boots", "Spread%", "4", "5", "6", "8",
		"10", "15", "20", "30", NULL,
	};
	struct grid g = { .titles = titles, .text = 2 };

	for (size_t i = 0; i < c->verdicts.rows.n; i++) {
		const struct compare_row *row = &c->verdicts.rows.v[i];
		const struct comparison *x = compare_at(&c->verdicts, i, 1);
		size_t dof;

		grid_add_text(&g, row->title);
		grid_add(&g, xasprintf("%s %s", row->metric->title, row->metric->unit));
		grid_add_number(&g, sqrt(x->r.mean[0] * x->r.mean[1]),
				row->metric->decimals);
		grid_add(&g, xasprintf("%zu+%zu", x->r.boots[0], x->r.boots[1]));
		grid_add_number(&g, calibration_sd_pct(c, i, &dof), 2);
		for (size_t k = 0; k < COUNTS; k++)
			grid_add_number(&g, mdc_pct(&c->verdicts, i, boot_counts[k]), 2);
	}
	grid_put(&g, b);
	grid_free(&g);
	buf_adds(b, "Spread: standard deviation of the boots' means. 4 to 30: the change in % that as many boots of each of two\n"
		 "kernels tell four times in five, when nothing else is compared (level 5 %); a report of several loads needs more.\n");
	if (!boot_measured(&c->boots.v[0]))
		buf_adds(b, "In exact mode that is the spread over seeds. Other bytes in an image move figures as well, those of loads on a\n"
			 "disk most, and boots of one image cannot show how much.\n");
}

void calibration_put_text(const struct calibration *c, struct buf *b)
{
	size_t wrong = calibration_wrong(c);

	put_subject(c, b);
	put_spreads(c, b);
	buf_adds(b, "\nThe kernel against itself:\n");
	for (size_t i = 0; i < c->verdicts.comparisons.n; i++) {
		const struct comparison *x = &c->verdicts.comparisons.v[i];

		buf_printf(b, "%s: %s\n", c->verdicts.rows.v[x->row].title, x->verdict);
	}
	if (!wrong) {
		buf_adds(b, calibration_checked(c) ?
			 "Check passed: no verdict says better or worse.\n" :
			 "Nothing was checked: no load has boots enough for a verdict.\n");
		return;
	}
	buf_printf(b, "CHECK FAILED: %zu of these verdicts say that a kernel is better or worse than itself. One calibration in\n"
		   "twenty may do so by chance. If another does too, do not believe verdicts of this host: look for what changes\n"
		   "while boots run (other work, turbo, heat), or for boots that are not alike.\n",
		   wrong);
}

/* --- for programs --------------------------------------------------------------- */

static json_t *row_json(const struct calibration *c, size_t i)
{
	const struct compare_row *row = &c->verdicts.rows.v[i];
	const struct comparison *x = compare_at(&c->verdicts, i, 1);
	json_t *o = json_object(), *mdc = json_array();
	size_t dof;

	json_put(o, row->bench ? "bench" : "load", json_string(row->load));
	json_put(o, "title", json_string(row->title));
	json_put(o, "metric", json_string(row->metric->name));
	json_put_real(o, "mean", sqrt(x->r.mean[0] * x->r.mean[1]));
	json_put_real(o, "spread_pct", calibration_sd_pct(c, i, &dof));
	json_put(o, "degrees_of_freedom", json_integer((json_int_t)dof));
	for (size_t k = 0; k < COUNTS; k++) {
		json_t *one = json_object();

		json_put(one, "boots", json_integer((json_int_t)boot_counts[k]));
		json_put_real(one, "detectable_pct",
			      mdc_pct(&c->verdicts, i, boot_counts[k]));
		json_put_last(mdc, one);
	}
	json_put(o, "detectable", mdc);
	json_put(o, "finding", json_string(finding_name(x->finding)));
	json_put(o, "verdict", json_string(x->verdict));
	return o;
}

void calibration_put_json(const struct calibration *c, struct buf *b)
{
	static const char *const members[] = { "kontest", "plan", "profile", "job",
					       "accel", "qemu", "image" };
	const json_t *context = c->boots.v[0].context;
	json_t *o = json_object(), *rows = json_array(), *host = json_object();
	char *text;

	json_put(o, "format", json_string("kontest-calibration"));
	json_put(o, "version", json_integer(1));
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		json_put_copy(o, members[i], json_object_get(context, members[i]));
	for (size_t i = 0; i < c->verdicts.rows.n; i++)
		json_put_last(rows, row_json(c, i));
	json_put(o, "rows", rows);
	json_put(o, "wrong", json_integer((json_int_t)calibration_wrong(c)));
	json_put(host, "run_id", json_string(c->run_id));
	json_put(host, "cpu", json_string(context_of(c, "host", "cpu")));
	json_put(o, "host", host);
	text = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	if (!text)
		abort();
	buf_adds(b, text);
	buf_adds(b, "\n");
	free(text);
	json_decref(o);
}
