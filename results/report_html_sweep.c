/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_html_sweep.c - a knob's values and the Times that they lead to
 *
 * A point of a sweep is a kernel whose context has "tunables". It belongs to the
 * kernel without them that has the same spec, and the longest label that the point's
 * own begins with: a plan may have one image twice, under other command lines.
 */
#include "results/report_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"

#define LOG_FROM 20		/* greatest / smallest value, from which on an axis is
				 * logarithmic */
#define NO_KERNEL SIZE_MAX

static const json_t *kernel_member(const struct table *t, size_t kernel,
				   const char *member)
{
	const struct boot_record *b = t->kernels.v[kernel].first;

	return b ? context_value(b, "kernel", member) : NULL;
}

static size_t knobs(const struct table *t, size_t kernel)
{
	return json_array_size(kernel_member(t, kernel, "tunables"));
}

static const char *knob_text(const struct table *t, size_t kernel, size_t knob,
			     const char *member)
{
	const char *s = json_string_value(json_object_get(json_array_get(
		kernel_member(t, kernel, "tunables"), knob), member));

	return s ? s : "?";
}

static bool same_spec(const struct table *t, size_t a, size_t b)
{
	const char *sa = json_string_value(kernel_member(t, a, "spec"));
	const char *sb = json_string_value(kernel_member(t, b, "spec"));

	return sa && sb && !strcmp(sa, sb);
}

/* baseline_of() - a point's kernel without the knob, or NO_KERNEL */
static size_t baseline_of(const struct table *t, size_t point)
{
	const char *label = t->kernels.v[point].label;
	size_t best = NO_KERNEL;

	for (size_t k = 0; k < t->kernels.n; k++) {
		const char *base = t->kernels.v[k].label;

		if (knobs(t, k) || !same_spec(t, k, point) ||
		    !str_starts(label, base))
			continue;
		if (best == NO_KERNEL ||
		    strlen(base) > strlen(t->kernels.v[best].label))
			best = k;
	}
	return best;
}

/* same_sweep() - two points of one kernel, of the same knobs */
static bool same_sweep(const struct table *t, size_t a, size_t b)
{
	if (knobs(t, a) != knobs(t, b) || !same_spec(t, a, b) ||
	    baseline_of(t, a) != baseline_of(t, b))
		return false;
	for (size_t i = 0; i < knobs(t, a); i++)
		if (strcmp(knob_text(t, a, i, "knob"), knob_text(t, b, i, "knob")))
			return false;
	return true;
}

static bool is_number(const char *s, double *v)
{
	char *end;

	*v = strtod(s, &end);
	return end != s && *end == '\0' && isfinite(*v);
}

/* --- one plot ------------------------------------------------------------------------- */

/* name_index() - of a value that is no number: its place in the order of the plan */
static double name_index(struct strings *names, const char *value)
{
	size_t i = 0;

	while (i < names->n && strcmp(names->v[i], value) != 0)
		i++;
	if (i == names->n)
		strings_add(names, xstrdup(value));
	return (double)i;
}

/* curve_of() - the curve of a point: of two knobs, one for each value of the first */
static struct plot_curve *curve_of(struct plot_curves *curves,
				   const struct table *t, size_t point)
{
	const char *label = knobs(t, point) > 1 ?
			    knob_text(t, point, 0, "value") : "mean of the runs";

	for (size_t i = 0; i < curves->n; i++)
		if (!strcmp(curves->v[i].label, label))
			return &curves->v[i];
	return plot_curves_add(curves, (struct plot_curve){ .label = label });
}

static int compare_points(const void *pa, const void *pb)
{
	const struct plot_point *a = pa, *b = pb;

	return (a->x > b->x) - (a->x < b->x);
}

static void add_point(struct html_page *p, size_t load, size_t point,
		      bool numbers, struct plot_sweep *s)
{
	const struct table *t = &p->r->table;
	const char *value = knob_text(t, point, knobs(t, point) - 1, "value");
	struct cell_figures f;
	double x;

	cell_compute(t, load, point, &f);
	if (!is_number(value, &x) || !numbers)
		x = name_index(&s->x_names, value);
	if (!isfinite(f.time_s))
		return;
	plot_points_add(&curve_of(&s->curves, t, point)->points,
			(struct plot_point){ x, f.time_s, f.time_hw_s });
	buf_printf(&p->figures.v[p->figures.n - 1].desc, "%s: %.6g s%s",
		   t->kernels.v[point].label, f.time_s,
		   isfinite(f.time_hw_s) ? "" : ", one boot");
	if (isfinite(f.time_hw_s))
		buf_printf(&p->figures.v[p->figures.n - 1].desc,
			   " plus or minus %.3g", f.time_hw_s);
	buf_adds(&p->figures.v[p->figures.n - 1].desc, "; ");
}

/* value_range() - are all values of a sweep numbers, and how far apart? */
static bool value_range(const struct table *t, size_t first, bool *far)
{
	double low = INFINITY, high = -INFINITY;

	for (size_t k = first; k < t->kernels.n; k++) {
		double v;

		if (!knobs(t, k) || !same_sweep(t, first, k))
			continue;
		if (!is_number(knob_text(t, k, knobs(t, k) - 1, "value"), &v))
			return false;
		low = fmin(low, v);
		high = fmax(high, v);
	}
	*far = low > 0 && high / low >= LOG_FROM;
	return true;
}

static void sweep_clear(struct plot_sweep *s)
{
	plot_curves_clear(&s->curves);
	strings_clear(&s->x_names);
}

static void put_sweep(struct html_page *p, size_t load, size_t first)
{
	const struct table *t = &p->r->table;
	size_t base = baseline_of(t, first);
	const char *knob = knob_text(t, first, knobs(t, first) - 1, "knob");
	cleanup_free char *title = xasprintf("Time under %s over %s",
					     t->loads.v[load], knob);
	CLEANUP(sweep_clear) struct plot_sweep s = {
		.x_axis = knob, .y_axis = "Time, s",
		.base = NAN, .base_half_width = NAN,
	};
	bool numbers = value_range(t, first, &s.x_log);
	size_t mark = p->b->len;
	struct figure *f = html_figure_begin(p, title);
	struct cell_figures figures;

	if (base != NO_KERNEL) {
		cell_compute(t, load, base, &figures);
		s.base = figures.time_s;
		s.base_half_width = figures.time_hw_s;
	}
	for (size_t k = first; k < t->kernels.n; k++)
		if (knobs(t, k) && same_sweep(t, first, k))
			add_point(p, load, k, numbers, &s);
	if (s.curves.n == 0) {
		/* No point has a run that counts: the plot is taken back. */
		p->b->data[p->b->len = mark] = '\0';
		figure_drop(&p->figures);
		return;
	}
	for (size_t i = 0; i < s.curves.n; i++)
		qsort(s.curves.v[i].points.v, s.curves.v[i].points.n,
		      sizeof(struct plot_point), compare_points);
	plot_sweep(f, &s);
	html_figure_end(p, "Sweep: the mean Time at each value of the knob, with its 95 % interval over boots.");
}

void html_put_sweeps(struct html_page *p, size_t load)
{
	const struct table *t = &p->r->table;

	for (size_t k = 0; k < t->kernels.n; k++) {
		bool seen = false;

		for (size_t i = 0; i < k && !seen; i++)
			seen = knobs(t, i) && knobs(t, k) && same_sweep(t, i, k);
		if (knobs(t, k) && !seen)
			put_sweep(p, load, k);
	}
}
