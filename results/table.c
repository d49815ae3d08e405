/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.c - the boots of one `kontest run` as loads x kernels
 */
#include "results/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/stats.h"

#define NS_PER_S 1e9
#define CONFIDENCE 0.95

static int compare_boots(const void *pa, const void *pb)
{
	const struct boot_record *a = pa, *b = pb;

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return strcmp(a->id, b->id);
}

static int compare_kernels(const void *pa, const void *pb)
{
	const struct table_kernel *a = pa, *b = pb;

	return (a->order > b->order) - (a->order < b->order);
}

static size_t find_kernel(const struct table *t, int64_t order)
{
	size_t i = 0;

	while (i < t->kernels.n && t->kernels.v[i].order != order)
		i++;
	return i;
}

/* add_kernels() - those that were booted, and those of the plan that were not */
static void add_kernels(struct table *t, const struct boot_records *boots)
{
	for (size_t i = 0; i < boots->n; i++) {
		const struct boot_record *b = &boots->v[i];

		if (find_kernel(t, b->order) == t->kernels.n)
			table_kernels_add(&t->kernels, (struct table_kernel) {
				.order = b->order,
				.label = b->label,
				.first = b,
			});
	}
	for (size_t i = 0; i < (boots->n ? boots->v[0].kernels.n : 0); i++) {
		if (find_kernel(t, (int64_t)i) == t->kernels.n)
			table_kernels_add(&t->kernels, (struct table_kernel) {
				.order = (int64_t)i,
				.label = boots->v[0].kernels.v[i],
			});
	}
	if (t->kernels.n)
		qsort(t->kernels.v, t->kernels.n, sizeof(t->kernels.v[0]),
		      compare_kernels);
}

static size_t find_load(const struct table *t, const char *load)
{
	size_t i = 0;

	while (i < t->loads.n && strcmp(t->loads.v[i], load) != 0)
		i++;
	return i;
}

size_t table_find_bench(const struct table *t, const char *name)
{
	size_t i = 0;

	while (i < t->benches.n && strcmp(t->benches.v[i], name) != 0)
		i++;
	return i;
}

size_t table_rows(const struct table *t)
{
	return t->loads.n + t->benches.n;
}

const char *table_row_name(const struct table *t, size_t row)
{
	return row < t->loads.n ? t->loads.v[row] : t->benches.v[row - t->loads.n];
}

size_t table_find_row(const struct table *t, const char *name, bool bench)
{
	size_t at = bench ? table_find_bench(t, name) : find_load(t, name);

	if (at == (bench ? t->benches.n : t->loads.n))
		return table_rows(t);
	return bench ? t->loads.n + at : at;
}

static void add_load(struct table *t, char *load, bool bench)
{
	if (bench && table_find_bench(t, load) == t->benches.n)
		strings_add(&t->benches, load);
	if (!bench && find_load(t, load) == t->loads.n)
		strings_add(&t->loads, load);
}

/* run_row() - loads first, then benchmarks */
static size_t run_row(const struct table *t, const struct run_record *r)
{
	return r->bench ? t->loads.n + table_find_bench(t, r->load)
			: find_load(t, r->load);
}

static void add_note(struct cell *c, char *note)
{
	strings_add(&c->notes, note);
}

/* take_runs() - a boot's runs into the cells of its kernel */
static void take_runs(struct table *t, const struct boot_record *b,
		      size_t kernel)
{
	for (size_t i = 0; i < b->runs.n; i++) {
		const struct run_record *r = &b->runs.v[i];
		struct cell *c = &t->cells[run_row(t, r) * t->kernels.n +
					   kernel];
		char *why;

		if (run_good(b, r)) {
			samples_add(&c->good, (struct sample){ b, r });
			continue;
		}
		why = run_failure(b, r);
		add_note(c, xasprintf("%s boot %lld run %lld: %s", b->label,
				      (long long)b->number,
				      (long long)r->index, why));
		free(why);
	}
}

int64_t table_boots(const struct boot_records *boots)
{
	int64_t want = 0;

	for (size_t i = 0; i < boots->n; i++)
		if (boots->v[i].plan_boots > want)
			want = boots->v[i].plan_boots;
	return want;
}

/* note_gaps() - boots that the plan asks for and that left no journal */
static void note_gaps(struct table *t, const struct boot_records *boots,
		      size_t kernel)
{
	const struct table_kernel *k = &t->kernels.v[kernel];
	int64_t next = 1, want = table_boots(boots);

	/* A repeat has a number of its own beside those of the plan. */
	for (size_t i = 0; i < boots->n; i++)
		want += boots->v[i].order == k->order && boots->v[i].repeats;
	for (size_t i = 0; i <= boots->n; i++) {
		int64_t number = want + 1;

		if (i < boots->n) {
			if (boots->v[i].order != k->order)
				continue;
			number = boots->v[i].number;
		}
		for (size_t l = 0; number > next && l < t->loads.n +
							t->benches.n; l++) {
			struct cell *c = &t->cells[l * t->kernels.n + kernel];

			if (number - next == 1)
				add_note(c, xasprintf("%s boot %lld: missing, no journal",
						      k->label,
						      (long long)next));
			else
				add_note(c, xasprintf("%s boots %lld to %lld: missing, no journal",
						      k->label,
						      (long long)next,
						      (long long)number - 1));
		}
		if (number >= next)
			next = number + 1;
	}
}

void table_make(struct table *t, struct boot_records *boots)
{
	*t = (struct table) { 0 };
	if (boots->n)
		qsort(boots->v, boots->n, sizeof(boots->v[0]), compare_boots);
	boot_records_link(boots);
	add_kernels(t, boots);
	for (size_t i = 0; i < boots->n; i++) {
		for (size_t l = 0; l < boots->v[i].loads.n; l++)
			add_load(t, boots->v[i].loads.v[l], false);
		for (size_t l = 0; l < boots->v[i].benches.n; l++)
			add_load(t, boots->v[i].benches.v[l], true);
	}
	/* Runs that no plan speaks of come last. */
	for (size_t i = 0; i < boots->n; i++) {
		for (size_t r = 0; r < boots->v[i].runs.n; r++)
			add_load(t, boots->v[i].runs.v[r].load,
				 boots->v[i].runs.v[r].bench);
	}

	t->cells = xcalloc(table_rows(t) * t->kernels.n + 1,
			   sizeof(t->cells[0]));
	for (size_t i = 0; i < boots->n; i++)
		take_runs(t, &boots->v[i],
			  find_kernel(t, boots->v[i].order));
	for (size_t kernel = 0; kernel < t->kernels.n; kernel++)
		note_gaps(t, boots, kernel);
}

void table_free(struct table *t)
{
	for (size_t i = 0; i < table_rows(t) * t->kernels.n; i++) {
		samples_free(&t->cells[i].good);
		strings_clear(&t->cells[i].notes);
	}
	free(t->cells);
	table_kernels_free(&t->kernels);
	strings_free(&t->loads);
	strings_free(&t->benches);
	*t = (struct table) { 0 };
}

const struct cell *table_cell(const struct table *t, size_t load,
			      size_t kernel)
{
	return &t->cells[load * t->kernels.n + kernel];
}

const struct cell *table_bench_cell(const struct table *t, size_t bench,
				    size_t kernel)
{
	return table_cell(t, t->loads.n + bench, kernel);
}

const struct run_record *table_load_run(const struct table *t, size_t load)
{
	for (size_t k = 0; k < t->kernels.n; k++) {
		const struct cell *c = table_cell(t, load, k);

		for (size_t i = 0; i < c->good.n; i++)
			if (c->good.v[i].run->unit)
				return c->good.v[i].run;
	}
	return NULL;
}

const struct cell *table_no_load(const struct table *t, size_t kernel)
{
	size_t load = find_load(t, "no_load");

	return load < t->loads.n ? table_cell(t, load, kernel) : NULL;
}

double sample_figure(const struct sample *s, enum run_figure f)
{
	int64_t v = s->run->fig[f];

	return v == FIGURE_NONE ? NAN : (double)v;
}

double sample_time_s(const struct sample *s)
{
	return sample_figure(s, FIG_WALL_NS) / NS_PER_S;
}

double sample_job_s(const struct sample *s)
{
	return (sample_figure(s, FIG_JOB_USER_NS) +
		sample_figure(s, FIG_JOB_SYSTEM_NS)) / NS_PER_S;
}

/* no_load and cacherun run nothing, so there is nothing to count */
static bool sample_idle(const struct sample *s)
{
	int64_t per_load = s->run->fig[FIG_COUNT_PER_LOAD];

	return per_load == FIGURE_NONE || per_load == 0;
}

double sample_load_s(const struct sample *s)
{
	double v = (sample_figure(s, FIG_LOAD_USER_NS) +
		    sample_figure(s, FIG_LOAD_SYSTEM_NS)) / NS_PER_S;

	return isnan(v) && sample_idle(s) ? 0 : v;
}

double sample_loads(const struct sample *s)
{
	return sample_idle(s) ? 0 : sample_figure(s, FIG_COUNT_DONE) /
				    sample_figure(s, FIG_COUNT_PER_LOAD);
}

double sample_loads_per_s(const struct sample *s)
{
	return sample_loads(s) / sample_time_s(s);
}

/* range_mean() - mean of some runs from @from, @n of them */
static double range_mean(const struct cell *c, size_t from, size_t n,
			 double (*of)(const struct sample *s))
{
	double *v = xcalloc(n + 1, sizeof(*v));
	double mean;

	for (size_t i = 0; i < n; i++)
		v[i] = of(&c->good.v[from + i]);
	mean = stats_mean(v, n);
	free(v);
	return mean;
}

double cell_mean(const struct cell *c, double (*of)(const struct sample *s))
{
	return range_mean(c, 0, c->good.n, of);
}

struct spread cell_spread(const struct cell *c,
			  double (*of)(const struct sample *s, const void *arg),
			  const void *arg)
{
	double *boot = xcalloc(c->good.n + 1, sizeof(double));
	struct spread spread = { 0 };
	const struct boot_record *last = NULL;
	double sum = 0;
	size_t in_boot = 0;

	for (size_t i = 0; i < c->good.n; i++) {
		double v = of(&c->good.v[i], arg);

		if (isnan(v))
			continue;
		if (c->good.v[i].boot != last)
			in_boot = 0;
		last = c->good.v[i].boot;
		spread.boots += in_boot == 0;
		/* The mean of the boot, of one run more */
		boot[spread.boots - 1] += (v - boot[spread.boots - 1]) /
					  (double)++in_boot;
		sum += v;
		spread.runs++;
	}
	spread.mean = spread.runs ? sum / (double)spread.runs : NAN;
	spread.half_width = stats_half_width(boot, spread.boots, CONFIDENCE);
	free(boot);
	return spread;
}

static double cell_sum(const struct cell *c, enum run_figure f)
{
	double sum = 0;

	for (size_t i = 0; i < c->good.n; i++)
		sum += sample_figure(&c->good.v[i], f);
	return sum;
}

size_t cell_boots(const struct cell *c)
{
	size_t boots = 0;

	for (size_t i = 0; i < c->good.n; i++)
		boots += i == 0 || c->good.v[i].boot != c->good.v[i - 1].boot;
	return boots;
}

double cell_figure(const struct cell *c, enum run_figure f)
{
	return c->good.n ? cell_sum(c, f) / (double)c->good.n : NAN;
}

/* boot_end() - index behind the last run of the boot that @from belongs to */
static size_t boot_end(const struct cell *c, size_t from)
{
	size_t i = from;

	while (i < c->good.n && c->good.v[i].boot == c->good.v[from].boot)
		i++;
	return i;
}

/* boot_mean() - mean of one boot's runs in a cell; NAN when it has none */
static double boot_mean(const struct cell *c, const struct boot_record *b,
			double (*of)(const struct sample *s))
{
	for (size_t i = 0; c && i < c->good.n; i = boot_end(c, i)) {
		if (c->good.v[i].boot == b)
			return range_mean(c, i, boot_end(c, i) - i, of);
	}
	return NAN;
}

/* half_widths() - over boots: the boot is the unit of replication */
static void half_widths(const struct cell *c, const struct cell *no_load,
			struct cell_figures *f)
{
	double *time = xcalloc(c->good.n + 1, sizeof(double));
	double *rate = xcalloc(c->good.n + 1, sizeof(double));
	double *ratio = xcalloc(c->good.n + 1, sizeof(double));
	size_t ratios = 0;

	for (size_t i = 0; i < c->good.n; i = boot_end(c, i)) {
		const struct boot_record *b = c->good.v[i].boot;
		double base = boot_mean(no_load, b, sample_time_s);

		time[f->boots] = boot_mean(c, b, sample_time_s);
		rate[f->boots] = boot_mean(c, b, sample_loads) /
				 time[f->boots];
		if (isfinite(base))
			ratio[ratios++] = time[f->boots] / base;
		f->boots++;
	}
	f->time_hw_s = stats_half_width(time, f->boots, CONFIDENCE);
	f->loads_per_s_hw = stats_half_width(rate, f->boots, CONFIDENCE);
	f->ratio_hw = stats_half_width(ratio, ratios, CONFIDENCE);
	free(time);
	free(rate);
	free(ratio);
}

/* boot_means() - each boot's own mean Time; owned by the caller */
static double *boot_means(const struct cell *c, size_t *n)
{
	double *v = xcalloc((c ? c->good.n : 0) + 1, sizeof(double));

	*n = 0;
	for (size_t i = 0; c && i < c->good.n; i = boot_end(c, i))
		v[(*n)++] = range_mean(c, i, boot_end(c, i) - i, sample_time_s);
	return v;
}

/* marginal() - nothing is said where the difference may be none */
static void marginal(const struct cell *c, const struct cell *no_load,
		     struct cell_figures *f)
{
	size_t n, n0;
	cleanup_free double *time = boot_means(c, &n);
	cleanup_free double *base = boot_means(no_load, &n0);
	double time0_s = no_load ? cell_mean(no_load, sample_time_s) : NAN;
	double cost_s = f->time_s - time0_s;

	f->marginal_noise_s = stats_welch_half_width(time, n, base, n0,
						     CONFIDENCE);
	f->marginal_per_s = f->loads > 0 && cost_s > f->marginal_noise_s ?
			    f->loads / cost_s : NAN;
}

/* cpu_shares() - of all that /proc/stat counts; a kernel may not have it all */
static void cpu_shares(const struct cell *c, struct cell_figures *f)
{
	double sum[FIG_CPU_STEAL_NS + 1], all = 0;

	for (int fig = FIG_CPU_USER_NS; fig <= FIG_CPU_STEAL_NS; fig++) {
		sum[fig] = cell_sum(c, (enum run_figure)fig);
		all += isnan(sum[fig]) ? 0 : sum[fig];
	}
	all = all > 0 ? all / 100 : NAN;
	f->user_pct = (sum[FIG_CPU_USER_NS] + sum[FIG_CPU_NICE_NS]) / all;
	f->system_pct = (sum[FIG_CPU_SYSTEM_NS] + sum[FIG_CPU_IRQ_NS] +
			 sum[FIG_CPU_SOFTIRQ_NS]) / all;
	f->steal_pct = sum[FIG_CPU_STEAL_NS] / all;
	f->idle_pct = sum[FIG_CPU_IDLE_NS] / all;
	f->iowait_pct = sum[FIG_CPU_IOWAIT_NS] / all;
}

/* psi_share() - of the windows; PSI counts microseconds */
static double psi_share(const struct cell *c, enum run_figure f)
{
	return 100 * 1e3 * cell_sum(c, f) / cell_sum(c, FIG_WALL_NS);
}

static void psi_shares(const struct cell *c, struct cell_figures *f)
{
	f->psi_cpu_pct = psi_share(c, FIG_PSI_CPU_SOME_US);
	f->psi_memory_pct = psi_share(c, FIG_PSI_MEMORY_SOME_US);
	f->psi_memory_full_pct = psi_share(c, FIG_PSI_MEMORY_FULL_US);
	f->psi_io_pct = psi_share(c, FIG_PSI_IO_SOME_US);
	f->psi_io_full_pct = psi_share(c, FIG_PSI_IO_FULL_US);
}

void cell_compute(const struct table *t, size_t load, size_t kernel,
		  struct cell_figures *f)
{
	const struct cell *c = table_cell(t, load, kernel);
	const struct cell *no_load = table_no_load(t, kernel);
	double job = cell_mean(c, sample_job_s);
	double burden = cell_mean(c, sample_load_s);

	*f = (struct cell_figures) { .runs = c->good.n };
	half_widths(c, no_load, f);
	f->time_s = cell_mean(c, sample_time_s);
	f->cpu_pct = 100 * job / f->time_s;
	f->loads = cell_mean(c, sample_loads);
	f->loads_per_s = f->loads / f->time_s;
	f->lcpu_pct = 100 * burden / f->time_s;
	f->ratio = no_load ? f->time_s / cell_mean(no_load, sample_time_s)
			   : NAN;
	marginal(c, no_load, f);
	cpu_shares(c, f);
	psi_shares(c, f);
	f->swap_in_pages = cell_figure(c, FIG_VM_PSWPIN);
	f->swap_out_pages = cell_figure(c, FIG_VM_PSWPOUT);
	f->job_pct = job + burden > 0 ? 100 * job / (job + burden) : NAN;
}
