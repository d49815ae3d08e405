/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/cmd.h"
#include "results/base/cleanup.h"
#include "results/calibration.h"
#include "results/columns.h"

/* Of a run's id, in the title of a side */
#define RUN_SHOWN 8

enum { OPT_RUN = 256, OPT_METRIC, OPT_MARGIN, OPT_ANYWAY, OPT_FORMAT, OPT_STORE,
       OPT_HELP };

static const struct option options[] = {
	{ "run", required_argument, NULL, OPT_RUN },
	{ "metric", required_argument, NULL, OPT_METRIC },
	{ "margin", required_argument, NULL, OPT_MARGIN },
	{ "anyway", no_argument, NULL, OPT_ANYWAY },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "store", required_argument, NULL, OPT_STORE },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

/* struct asked - what the options say */
struct asked {
	const char *run, *format, *store;
	bool anyway;
	struct compare_options o;
};

/* struct run - one that some side is of */
struct run {
	char id[UUID_TEXT];
	struct boot_records boots;
	struct table table;
};
/* Pointers: the sides point into them while more are added. */
DEFINE_VECTOR(runs, struct run *)
DEFINE_VECTOR(sides, struct compare_side)

/* struct wanted - the sides, and what they are made of */
struct wanted {
	struct runs runs;
	struct sides sides;
	struct strings titles;
};

static void wanted_free(struct wanted *w)
{
	for (size_t i = 0; i < w->runs.n; i++) {
		table_free(&w->runs.v[i]->table);
		boot_records_clear(&w->runs.v[i]->boots);
		free(w->runs.v[i]);
	}
	runs_free(&w->runs);
	sides_free(&w->sides);
	strings_clear(&w->titles);
}

/* need_run() - @id's boots, read once */
static int need_run(struct store *s, const char *id, struct wanted *w,
		    struct run **out, struct error *err)
{
	struct run *r;

	for (size_t i = 0; i < w->runs.n; i++)
		if (!strcmp(w->runs.v[i]->id, id)) {
			*out = w->runs.v[i];
			return 0;
		}
	r = xcalloc(1, sizeof(*r));
	snprintf(r->id, sizeof(r->id), "%s", id);
	*out = *runs_add(&w->runs, r);
	if (store_load_run(s, id, &r->boots, err) < 0)
		return -1;
	table_make(&r->table, &r->boots);
	return 0;
}

static int add_side(struct wanted *w, struct run *r, size_t kernel, struct error *err)
{
	for (size_t i = 0; i < w->sides.n; i++)
		if (w->sides.v[i].table == &r->table && w->sides.v[i].kernel == kernel)
			return error_set(err, 0, "kernel '%s' of run %.*s is named twice: there is nothing to compare it with",
					 r->table.kernels.v[kernel].label,
					 RUN_SHOWN, r->id);
	sides_add(&w->sides, (struct compare_side) {
		.run_id = r->id, .boots = &r->boots, .table = &r->table,
		.kernel = kernel,
	});
	return 0;
}

static size_t find_label(const struct run *r, const char *label)
{
	size_t i = 0;

	while (i < r->table.kernels.n && strcmp(r->table.kernels.v[i].label, label))
		i++;
	return i;
}

static void put_labels(const struct run *r, struct buf *b)
{
	for (size_t i = 0; i < r->table.kernels.n; i++)
		buf_printf(b, "%s'%s'", i ? ", " : "", r->table.kernels.v[i].label);
}

/* add_labelled() - "RUN:LABEL"; 1 when what stands before the colon is no run */
static int add_labelled(struct store *s, const char *arg, struct wanted *w,
			struct error *err)
{
	const char *colon = strchr(arg, ':');
	cleanup_free char *prefix = colon ? xstrndup(arg, (size_t)(colon - arg)) : NULL;
	CLEANUP(buf_free) struct buf labels = { 0 };
	char id[UUID_TEXT];
	struct run *r;
	size_t kernel;

	if (!colon || store_find(s, prefix, id, err) < 0)
		return 1;
	if (need_run(s, id, w, &r, err) < 0)
		return -1;
	kernel = find_label(r, colon + 1);
	if (kernel < r->table.kernels.n)
		return add_side(w, r, kernel, err);
	put_labels(r, &labels);
	return error_set(err, 0, "run %.*s has no kernel '%s': it has %s", RUN_SHOWN,
			 id, colon + 1, labels.data);
}

/* add_run() - "RUN", of one kernel */
static int add_run(struct store *s, const char *arg, struct wanted *w,
		   struct error *err)
{
	CLEANUP(buf_free) struct buf labels = { 0 };
	char id[UUID_TEXT];
	struct run *r;

	if (store_find(s, arg, id, err) < 0)
		return 1;
	if (need_run(s, id, w, &r, err) < 0)
		return -1;
	if (r->table.kernels.n == 1)
		return add_side(w, r, 0, err);
	put_labels(r, &labels);
	return error_set(err, 0, "run %.*s has several kernels, %s: say which, %.*s:LABEL",
			 RUN_SHOWN, id, labels.data, RUN_SHOWN, id);
}

static int add_arg(struct store *s, const char *arg, struct run *here,
		   struct wanted *w, struct error *err)
{
	CLEANUP(buf_free) struct buf labels = { 0 };
	struct error ignored = { 0 };
	char import[SHA256_HEX];
	size_t kernel = find_label(here, arg);
	int ret;

	if (kernel < here->table.kernels.n)
		return add_side(w, here, kernel, err);
	ret = store_find_import(s, arg, import, &ignored);
	if (ret == 1)
		return error_set(err, 0, "'%s' are foreign results: they are means without boots, and are never compared",
				 arg);
	ret = add_labelled(s, arg, w, err);
	if (ret == 1)
		ret = add_run(s, arg, w, err);
	if (ret < 1)
		return ret;
	put_labels(here, &labels);
	return error_set(err, 0, "'%s' is neither a kernel of run %.*s, which has %s, nor RUN:LABEL or a run: 'kontest report --list' lists the runs",
			 arg, RUN_SHOWN, here->id, labels.data);
}

static int find_wanted(struct store *s, const char *run, char **args,
		       struct wanted *w, struct error *err)
{
	char id[UUID_TEXT];
	struct run *here;

	if (store_find(s, run, id, err) < 0 || need_run(s, id, w, &here, err) < 0)
		return -1;
	for (char **a = args; *a; a++)
		if (add_arg(s, *a, here, w, err) < 0)
			return -1;
	for (size_t k = 0; !*args && k < here->table.kernels.n; k++)
		if (add_side(w, here, k, err) < 0)
			return -1;
	if (w->sides.n >= 2)
		return 0;
	if (!*args)
		return error_set(err, 0, "run %.*s has one kernel: name another to compare it with, RUN:LABEL",
				 RUN_SHOWN, id);
	return error_set(err, 0, "one kernel alone cannot be compared: name two or more, the baseline first");
}

/* name_sides() - by labels; by run and label where there are several runs */
static void name_sides(struct wanted *w)
{
	bool several = false;

	for (size_t i = 0; i < w->sides.n; i++)
		several = several || w->sides.v[i].table != w->sides.v[0].table;
	for (size_t i = 0; several && i < w->sides.n; i++) {
		struct compare_side *side = &w->sides.v[i];
		char *title = xasprintf("%.*s:%s", RUN_SHOWN, side->run_id,
				side->table->kernels.v[side->kernel].label);

		strings_add(&w->titles, title);
		side->title = title;
	}
}

/* refuse() - of the first differences so many are told */
#define DIFFERENCES_TOLD 3

static int refuse(const struct strings *d, struct error *err)
{
	CLEANUP(buf_free) struct buf text = { 0 };

	for (size_t i = 0; i < d->n && i < DIFFERENCES_TOLD; i++)
		buf_printf(&text, "%s%s", i ? "; " : "", d->v[i]);
	if (d->n > DIFFERENCES_TOLD)
		buf_printf(&text, "; and %zu more", d->n - DIFFERENCES_TOLD);
	return error_set(err, 0, "these boots were not made under the same conditions: %s; --anyway compares them all the same and says so",
			 text.data);
}

static int print(const struct compare *c, const struct strings *differences,
		 const char *format, struct error *err)
{
	CLEANUP(buf_free) struct buf text = { 0 };

	if (!strcmp(format, "json"))
		compare_put_json(c, differences, &text);
	else
		compare_put_text(c, differences, &text);
	if (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout))
		return error_set(err, errno, "print the report");
	return 0;
}

static int compare(struct store *s, char **args, const struct asked *a,
		   struct error *err)
{
	CLEANUP(wanted_free) struct wanted w = { 0 };
	CLEANUP(strings_clear) struct strings differences = { 0 };
	CLEANUP(compare_free) struct compare c = { 0 };
	CLEANUP(calibration_free) struct calibration known = { 0 };
	struct compare_options o = a->o;
	int ret;

	if (find_wanted(s, a->run, args, &w, err) < 0)
		return -1;
	name_sides(&w);
	compare_same(w.sides.v, w.sides.n, &differences);
	if (differences.n && !a->anyway)
		return refuse(&differences, err);
	ret = calibration_find(s, &w.sides.v[0], &known, err);
	if (ret < 0)
		return -1;
	if (ret) {
		o.known_mdc_pct = calibration_mdc_pct;
		o.known_arg = &known;
	}
	if (compare_make(&c, w.sides.v, w.sides.n, &o, err) < 0)
		return -1;
	return print(&c, &differences, a->format, err);
}

/* parse_margin() - a number of %, above 0 and below 100 */
static bool parse_margin(const char *s, double *pct)
{
	char *end;

	errno = 0;
	*pct = strtod(s, &end);
	return !errno && end != s && !*end && isfinite(*pct) && *pct > 0 && *pct < 100;
}

static int run(int argc, char **argv)
{
	struct asked a = { .format = "text" };
	struct store *s = NULL;
	struct error err = { 0 };
	int opt, status = 0;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case OPT_RUN:
			a.run = optarg;
			break;
		case OPT_METRIC:
			a.o.metric = optarg;
			break;
		case OPT_MARGIN:
			if (!parse_margin(optarg, &a.o.margin_pct))
				return cmd_usage(&cmd_compare, "--margin %s: a number of %% expected, above 0 and below 100",
						 optarg);
			break;
		case OPT_ANYWAY:
			a.anyway = true;
			break;
		case OPT_FORMAT:
			a.format = optarg;
			if (strcmp(optarg, "text") && strcmp(optarg, "json"))
				return cmd_usage(&cmd_compare, "there is no format '%s'; there are text, json",
						 optarg);
			break;
		case OPT_STORE:
			a.store = optarg;
			break;
		case OPT_HELP:
			return cmd_help(&cmd_compare);
		default:
			return cmd_usage(&cmd_compare, NULL);
		}
	}
	if (open_store(a.store, &s, &err) < 0 ||
	    compare(s, argv + optind, &a, &err) < 0)
		status = cmd_fail(&err);
	if (s)
		store_close(s);
	return status;
}

const struct cmd cmd_compare = {
	.name = "compare",
	.args = "[[RUN:]KERNEL [RUN:]KERNEL...] [--metric NAME] [--margin PCT] [--anyway]",
	.summary = "differences between kernels, with intervals and verdicts",
	.help =
"  KERNEL           label of a kernel of the newest run, or of --run\n"
"  RUN:KERNEL       of another run; RUN alone when it has one kernel. The first is\n"
"                   the baseline (default: all kernels of the run)\n"
"  --run RUN        the run of kernels that name none (default: the newest)\n"
"  --metric NAME    time, loads_per_s; rate, latency (tiobench); messages_per_s\n"
"                   (chat); elapsed (qsbench); all (default: the main one of each)\n"
"  --margin PCT     \"the same\" means: the whole interval within so many % (default: 1)\n"
"  --anyway         compare what was not made under the same conditions, and say so\n"
"  --format FORMAT  text (default) or json\n"
"  --store FILE     results store (default: the user's own)\n",
	.run = run,
};
