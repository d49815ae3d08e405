/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_noise.c - what the host did meanwhile, and which runs are noisy
 */
#include "results/render.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "results/base/cleanup.h"
#include "results/columns.h"
#include "results/grid.h"
#include "results/json_put.h"
#include "results/noise.h"

void put_noisy(const struct report *r, struct buf *b)
{
	for (size_t i = 0; i < r->boots.n; i++) {
		const struct boot_record *boot = &r->boots.v[i];

		for (size_t k = 0; k < boot->runs.n; k++) {
			const struct run_record *run = &boot->runs.v[k];
			cleanup_free char *why = NULL;

			if (!run_noisy(boot, run, &why))
				continue;
			buf_printf(b, "noisy: run %" PRId64 " of ", run->index);
			put_left(b, run->load, 0);
			buf_adds(b, " on ");
			put_left(b, boot->label, 0);
			buf_printf(b, ", boot %" PRId64 ": %s\n", boot->number,
				   why);
		}
	}
}

static void put_rule(const struct boot_record *b, const struct run_record *r,
		     json_t *host)
{
	cleanup_free char *why = NULL;

	json_put(host, "noisy", json_boolean(run_noisy(b, r, &why)));
	if (why)
		json_put(host, "noisy_why", json_string(why));
}

json_t *run_noise_json(const struct boot_record *b, const struct run_record *r)
{
	struct run_noise n;
	json_t *host;

	if (!boot_measured(b) || !run_noise(b, r, &n))
		return NULL;
	host = json_object();
	put_rule(b, r, host);
	return host;
}

/* --- the wide report's block ---------------------------------------------------- */

static const char *const titles[] = {
	"Load", "Kernel", "vCPU%", "Wait%", "Main%", "Invol.", "Others%",
	"Stolen%", "PSI CPU%", "Mem%", "I/O%", "Load", "Noisy", NULL
};

/* What a column is made of; all but LOAD and INVOLUNTARY in % */
enum column {
	RAN, WAITED, MAIN_WAITED, INVOLUNTARY, OTHERS, STOLEN, PSI_CPU,
	PSI_MEMORY, PSI_IO, LOAD, COLUMNS
};

static double of(const struct run_noise *n, enum noise_figure f)
{
	return n->fig[f] == FIGURE_NONE ? NAN : (double)n->fig[f];
}

static void run_columns(const struct sample *s, double v[COLUMNS])
{
	struct noise_shares share;
	struct run_noise n;
	double window;

	run_noise(s->boot, s->run, &n);
	noise_shares(s->run, &n, &share);
	window = of(&n, NOISE_WINDOW_NS);
	v[RAN] = 100 * of(&n, NOISE_VCPU_RUN_NS) / of(&n, NOISE_VCPUS) / window;
	v[WAITED] = 100 * share.vcpu_wait;
	v[MAIN_WAITED] = 100 * share.main_wait;
	v[INVOLUNTARY] = of(&n, NOISE_VCPU_INVOLUNTARY);
	v[OTHERS] = 100 * share.others;
	v[STOLEN] = 100 * share.host_steal;
	v[PSI_CPU] = 1e5 * of(&n, NOISE_PSI_CPU_SOME_US) / window;
	v[PSI_MEMORY] = 1e5 * of(&n, NOISE_PSI_MEMORY_SOME_US) / window;
	v[PSI_IO] = 1e5 * of(&n, NOISE_PSI_IO_SOME_US) / window;
	v[LOAD] = of(&n, NOISE_LOAD_1MIN_MILLI) / 1000;
}

/* add_row() - means over the good runs; "-" where one of them lacks it */
static void add_row(const struct cell *c, struct grid *g)
{
	double sum[COLUMNS] = { 0 };
	size_t noisy = 0;

	for (size_t i = 0; i < c->good.n; i++) {
		const struct sample *s = &c->good.v[i];
		double v[COLUMNS];

		run_columns(s, v);
		for (int k = 0; k < COLUMNS; k++)
			sum[k] += v[k];
		noisy += run_noisy(s->boot, s->run, NULL);
	}
	for (int k = 0; k < COLUMNS; k++)
		grid_add_number(g, sum[k] / (double)c->good.n,
				k == INVOLUNTARY ? 0 : k == LOAD ? 2 : 1);
	grid_add(g, xasprintf("%zu/%zu", noisy, c->good.n));
}

static bool any_receipt(const struct report *r)
{
	struct run_noise n;

	for (size_t i = 0; i < r->boots.n; i++) {
		const struct boot_record *b = &r->boots.v[i];

		for (size_t k = 0; boot_measured(b) && k < b->runs.n; k++)
			if (run_noise(b, &b->runs.v[k], &n))
				return true;
	}
	return false;
}

void put_noise_wide(const struct report *r, struct buf *b)
{
	CLEANUP(grid_free) struct grid g = { .titles = titles, .text = 2 };
	const struct table *t = &r->table;

	if (!any_receipt(r))
		return;
	for (size_t row = 0; row < table_rows(t); row++) {
		for (size_t k = 0; k < t->kernels.n; k++) {
			grid_add_text(&g, table_row_name(t, row));
			grid_add_text(&g, t->kernels.v[k].label);
			add_row(table_cell(t, row, k), &g);
		}
	}
	buf_adds(b, "\nThe host meanwhile (means, % of the time from the run's start to its end; vCPU: it ran; Wait, Main: the vCPU that waited\n"
		    "longest, QEMU's main loop, had no CPU; Others, Stolen: of the host's CPU time; Load: average; Noisy: so many of the runs):\n");
	grid_put(&g, b);
}
