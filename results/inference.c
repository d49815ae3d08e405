/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inference.c - Welch, Mann-Whitney, Holm, bootstrap; distributions are GSL's
 */
#include "results/inference.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "results/base/cleanup.h"
#include "results/stats.h"

/* Up to so many, C(n, k) is a whole number that a double holds with room to spare */
#define CHOOSE_MAX 60

/* Two boots are as quick as each other when they are so but for the last bits of this
 * arithmetic, which depend on how many runs they had: 1e-12 of an hour is 4 ns */
#define LOG_UNIT 1e-12

/* --- nested observations --------------------------------------------------------- */

void nested_add(struct nested *n, double v, bool new_boot)
{
	if (new_boot || n->runs.n == 0)
		sizes_add(&n->runs, 0);
	n->runs.v[n->runs.n - 1]++;
	doubles_add(&n->v, v);
}

void nested_free(struct nested *n)
{
	doubles_free(&n->v);
	sizes_free(&n->runs);
}

double *nested_boot_logs(const struct nested *n)
{
	double *logs = xcalloc(n->runs.n + 1, sizeof(*logs));
	size_t at = 0;

	for (size_t b = 0; b < n->runs.n; b++) {
		for (size_t r = 0; r < n->runs.v[b]; r++, at++)
			logs[b] += n->v.v[at] > 0 && isfinite(n->v.v[at]) ?
				   log(n->v.v[at]) : NAN;
		logs[b] = nearbyint(logs[b] / (double)n->runs.v[b] / LOG_UNIT) * LOG_UNIT;
	}
	return logs;
}

static bool all_finite(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(v[i]))
			return false;
	return true;
}

/* --- Welch ------------------------------------------------------------------------- */

/* t_test() - with @var of the difference and @dof; @w->diff is known */
static void t_test(struct welch *w, double var, double dof, double confidence)
{
	double half;

	if (!isfinite(w->diff) || !isfinite(var) || !(confidence > 0 && confidence < 1))
		return;
	if (var == 0) {
		w->ci = (struct interval) { w->diff, w->diff };
		w->p = w->diff == 0;
		return;
	}
	half = gsl_cdf_tdist_Pinv(0.5 + confidence / 2, dof) * sqrt(var);
	w->ci = (struct interval) { w->diff - half, w->diff + half };
	w->t = w->diff / sqrt(var);
	w->dof = dof;
	w->p = 2 * gsl_cdf_tdist_Q(fabs(w->t), dof);
}

static struct welch no_test(const double *a, size_t na, const double *b, size_t nb)
{
	struct welch w = { NAN, { NAN, NAN }, NAN, NAN, NAN };

	if (na && nb)
		w.diff = gsl_stats_mean(b, 1, nb) - gsl_stats_mean(a, 1, na);
	return w;
}

struct welch welch_test(const double *a, size_t na, const double *b, size_t nb,
			double confidence)
{
	struct welch w = no_test(a, na, b, nb);
	double va, vb;

	if (na < 2 || nb < 2)
		return w;
	va = gsl_stats_variance(a, 1, na) / (double)na;
	vb = gsl_stats_variance(b, 1, nb) / (double)nb;
	t_test(&w, va + vb, stats_welch_dof(va, vb, na, nb), confidence);
	return w;
}

struct welch student_test(const double *a, size_t na, const double *b, size_t nb,
			  double confidence)
{
	struct welch w = no_test(a, na, b, nb);
	double dof = (double)(na + nb) - 2, pooled;

	if (na < 2 || nb < 2)
		return w;
	pooled = ((double)(na - 1) * gsl_stats_variance(a, 1, na) +
		  (double)(nb - 1) * gsl_stats_variance(b, 1, nb)) / dof;
	t_test(&w, pooled * (1 / (double)na + 1 / (double)nb), dof, confidence);
	return w;
}

/* --- Mann and Whitney ---------------------------------------------------------------- */

/* doubled_ranks() - midranks times two, which are whole numbers, of @n values; the sum
 * of t^3 - t over ties of t goes to @ties */
static void doubled_ranks(const double *v, size_t n, size_t *rank2, double *ties)
{
	cleanup_free size_t *order = xcalloc(n, sizeof(*order));

	gsl_sort_index(order, v, 1, n);
	*ties = 0;
	for (size_t i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && v[order[end]] <= v[order[i]]; end++)
			;
		t = (double)(end - i);
		*ties += t * t * t - t;
		/* Ranks i + 1 to end: their mean, doubled */
		for (size_t k = i; k < end; k++)
			rank2[order[k]] = i + 1 + end;
	}
}

static size_t distance(size_t a, size_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * count_ways() - in how many ways @k of the @n ranks have the sum s, at [s], s up to
 * n * (n + 1); owned by the caller. Ways for j ranks stand in a row each; one rank
 * after the other is added to all.
 */
static double *count_ways(const size_t *rank2, size_t n, size_t k)
{
	size_t row = n * (n + 1) + 1, reached = 0;
	cleanup_free double *ways = xcalloc((k + 1) * row, sizeof(*ways));
	double *last = xcalloc(row, sizeof(*last));

	ways[0] = 1;
	for (size_t i = 0; i < n; i++) {
		reached += rank2[i];
		for (size_t j = k < i + 1 ? k : i + 1; j > 0; j--) {
			double *to = &ways[j * row];
			const double *from = &ways[(j - 1) * row];

			for (size_t s = rank2[i]; s <= reached; s++)
				to[s] += from[s - rank2[i]];
		}
	}
	memcpy(last, &ways[k * row], row * sizeof(*last));
	return last;
}

/* far_share() - of the ways, those whose sum is so @far from its mean, or farther */
static double far_share(const double *ways, size_t n, size_t k, size_t far)
{
	double all = 0, some = 0;

	for (size_t s = 0; s <= n * (n + 1); s++) {
		all += ways[s];
		some += distance(s, k * (n + 1)) >= far ? ways[s] : 0;
	}
	return some / all;
}

/* count_p() - the share of all choices of @k of the @n ranks whose sum is at least as
 * far from its mean as @sum */
static double count_p(const size_t *rank2, size_t n, size_t k, size_t sum)
{
	cleanup_free double *ways = count_ways(rank2, n, k);

	return far_share(ways, n, k, distance(sum, k * (n + 1)));
}

static double normal_p(double u, double na, double nb, double ties)
{
	double n = na + nb;
	double sd = sqrt(na * nb / 12 * (n + 1 - ties / (n * (n - 1))));
	double off = fabs(u - na * nb / 2) - 0.5;

	return off <= 0 || !(sd > 0) ? 1 : 2 * gsl_cdf_ugaussian_Q(off / sd);
}

struct rank_test rank_test(const double *a, size_t na, const double *b, size_t nb)
{
	struct rank_test r = { NAN, NAN, na + nb <= RANK_EXACT_MAX };
	size_t n = na + nb, sum2_a = 0, sum2_b = 0;
	cleanup_free double *both = xcalloc(n + 1, sizeof(*both));
	cleanup_free size_t *rank2 = xcalloc(n + 1, sizeof(*rank2));
	double ties;

	if (!na || !nb || !all_finite(a, na) || !all_finite(b, nb))
		/* cppcheck-suppress memleak; it ends with its scope */
		return r;
	memcpy(both, a, na * sizeof(*a));
	memcpy(both + na, b, nb * sizeof(*b));
	doubled_ranks(both, n, rank2, &ties);
	for (size_t i = 0; i < n; i++)
		*(i < na ? &sum2_a : &sum2_b) += rank2[i];
	r.u = (double)(sum2_b - nb * (nb + 1)) / 2;
	if (!r.exact)
		r.p = normal_p(r.u, (double)na, (double)nb, ties);
	else if (na < nb)
		r.p = count_p(rank2, n, na, sum2_a);
	else
		r.p = count_p(rank2, n, nb, sum2_b);
	return r;
}

double rank_min_p(size_t na, size_t nb)
{
	unsigned int n = (unsigned int)(na + nb), k = (unsigned int)na;

	if (!na || !nb)
		return 1;
	return n <= CHOOSE_MAX ? 2 / gsl_sf_choose(n, k) :
				 2 * exp(-gsl_sf_lnchoose(n, k));
}

size_t rank_min_boots(double level)
{
	size_t n = 1;

	if (!(level > 0 && level < 1))
		return 0;
	while (rank_min_p(n, n) > level)
		n++;
	return n;
}

size_t rank_pairs_against(size_t na, size_t nb, double level)
{
	size_t n = na + nb, mean = na * (n + 1), at_most = na * nb, pairs = 0;
	cleanup_free size_t *rank2 = xcalloc(n, sizeof(*rank2));
	cleanup_free double *ways = NULL;

	for (size_t i = 0; i < n; i++)
		rank2[i] = 2 * (i + 1);
	ways = count_ways(rank2, n, na);
	/* The doubled sum is 2 away from its extreme for each such pair. */
	while (2 * (pairs + 1) < at_most &&
	       far_share(ways, n, na, mean - na * (na + 1) - 2 * (pairs + 1)) <= level)
		pairs++;
	return pairs;
}

/* --- Holm ------------------------------------------------------------------------------ */

void holm_adjust(const double *p, size_t n, double *adjusted)
{
	cleanup_free double *v = xcalloc(n + 1, sizeof(*v));
	cleanup_free size_t *of = xcalloc(n + 1, sizeof(*of));
	cleanup_free size_t *order = xcalloc(n + 1, sizeof(*order));
	size_t m = 0;
	double least = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(p[i])) {
			adjusted[i] = NAN;
			continue;
		}
		v[m] = p[i];
		of[m++] = i;
	}
	if (m)
		gsl_sort_index(order, v, 1, m);
	for (size_t i = 0; i < m; i++) {
		least = fmax(least, fmin(1, (double)(m - i) * v[order[i]]));
		adjusted[of[order[i]]] = least;
	}
}

/* --- the bootstrap ----------------------------------------------------------------------- */

/* struct logs - a side's logarithms, and where each boot begins */
struct logs {
	const struct nested *n;
	double *v;
	size_t *first;
};

static void logs_free(struct logs *l)
{
	free(l->v);
	free(l->first);
}

static struct logs take_logs(const struct nested *n)
{
	struct logs l = { n, xcalloc(n->v.n + 1, sizeof(double)),
			  xcalloc(n->runs.n + 1, sizeof(size_t)) };

	for (size_t i = 0; i < n->v.n; i++)
		l.v[i] = n->v.v[i] > 0 ? log(n->v.v[i]) : NAN;
	for (size_t b = 0; b < n->runs.n; b++)
		l.first[b + 1] = l.first[b] + n->runs.v[b];
	return l;
}

/* draw() - the mean of a resample: boots, and in each of them runs */
static double draw(const struct logs *l, gsl_rng *rng)
{
	size_t boots = l->n->runs.n;
	double sum = 0;

	for (size_t i = 0; i < boots; i++) {
		size_t b = gsl_rng_uniform_int(rng, boots);
		size_t runs = l->n->runs.v[b];
		double boot = 0;

		for (size_t r = 0; r < runs; r++)
			boot += l->v[l->first[b] + gsl_rng_uniform_int(rng, runs)];
		sum += boot / (double)runs;
	}
	return sum / (double)boots;
}

struct interval nested_bootstrap(const struct nested *a, const struct nested *b,
				 double confidence, unsigned long seed)
{
	CLEANUP(logs_free) struct logs la = take_logs(a), lb = take_logs(b);
	struct interval ci = { NAN, NAN };
	double ratio[BOOTSTRAP_RESAMPLES];
	gsl_rng *rng;

	if (a->runs.n < 2 || b->runs.n < 2 || !all_finite(la.v, a->v.n) ||
	    !all_finite(lb.v, b->v.n) || !(confidence > 0 && confidence < 1))
		return ci;
	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, seed);
	for (size_t i = 0; i < BOOTSTRAP_RESAMPLES; i++)
		ratio[i] = exp(draw(&lb, rng) - draw(&la, rng));
	gsl_rng_free(rng);
	gsl_sort(ratio, 1, BOOTSTRAP_RESAMPLES);
	ci.low = gsl_stats_quantile_from_sorted_data(ratio, 1, BOOTSTRAP_RESAMPLES,
						     (1 - confidence) / 2);
	ci.high = gsl_stats_quantile_from_sorted_data(ratio, 1, BOOTSTRAP_RESAMPLES,
						      (1 + confidence) / 2);
	return ci;
}

/* --- a ratio -------------------------------------------------------------------------------- */

struct interval nested_ci(const struct nested *n, double confidence)
{
	cleanup_free double *logs = nested_boot_logs(n);
	double half = stats_half_width(logs, n->runs.n, confidence);
	double mean = stats_mean(logs, n->runs.n);

	return (struct interval) { exp(mean - half), exp(mean + half) };
}

struct ratio ratio_infer(const struct nested *a, const struct nested *b)
{
	cleanup_free double *la = nested_boot_logs(a), *lb = nested_boot_logs(b);
	size_t na = a->runs.n, nb = b->runs.n;
	struct welch w = welch_test(la, na, lb, nb, INFER_CONFIDENCE);
	struct welch st = student_test(la, na, lb, nb, INFER_CONFIDENCE);
	struct interval ci = st.ci.high > w.ci.high ? st.ci : w.ci;
	struct ratio r = {
		.boots = { na, nb },
		.runs = { a->v.n, b->v.n },
		.mean = { exp(stats_mean(la, na)), exp(stats_mean(lb, nb)) },
		.sd_log = { stats_sd(la, na), stats_sd(lb, nb) },
		.ratio = exp(w.diff),
		.ci = { exp(ci.low), exp(ci.high) },
		.welch_p = fmax(w.p, st.p),
		.rank_p = NAN, .p = NAN,
		.min_p = rank_min_p(na, nb),
	};

	if (isfinite(w.p)) {
		r.rank_p = rank_test(la, na, lb, nb).p;
		r.p = fmax(r.welch_p, r.rank_p);
	}
	return r;
}

double ratio_pct(double ratio)
{
	return 100 * (ratio - 1);
}
