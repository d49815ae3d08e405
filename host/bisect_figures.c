/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/bisect_figures.h"

#include <math.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/table.h"

static const struct bisect_metric metrics[] = {
	{ "time", "s", "Time", sample_time_s },
	{ "job-cpu", "s", "CPU time of the job", sample_job_s },
	{ "load-cpu", "s", "CPU time of the load", sample_load_s },
	{ "loads", "Loads/s", "Loads done", sample_loads_per_s },
	{ NULL, NULL, NULL, NULL },
};

const struct bisect_metric *bisect_metrics(void)
{
	return metrics;
}

const struct bisect_metric *bisect_metric(const char *name)
{
	const struct bisect_metric *m = metrics;

	while (m->name && strcmp(m->name, name))
		m++;
	return m->name ? m : NULL;
}

int figures_load(struct store *s, const char *run_id, struct boot_records *out,
		 struct error *err)
{
	int has = store_has_run(s, run_id, err);
	size_t journals;

	/* A damaged one is named on stderr, and is measured again. */
	return has <= 0 ? has : store_load_boots(s, run_id, out, &journals, err);
}

unsigned int figures_last_index(const struct boot_records *boots)
{
	int64_t last = 0;

	for (size_t i = 0; i < boots->n; i++)
		if (boots->v[i].index > last)
			last = boots->v[i].index;
	return (unsigned int)last;
}

/* Ended by a deadline of the host's clock, with no sign of life: a host that is too
 * busy does that as well as a kernel that hangs. */
static bool in_doubt(const struct boot_record *b)
{
	return b->verdict == VERDICT_BOOT_FAILED || b->verdict == VERDICT_HUNG;
}

static const struct boot_record *find_boot(const struct boot_records *boots, int order,
					   unsigned int number)
{
	const struct boot_record *doubtful = NULL;
	unsigned int tries = 0;

	for (size_t i = 0; i < boots->n; i++) {
		const struct boot_record *b = &boots->v[i];

		if (b->order != order || b->number != number ||
		    b->verdict == VERDICT_KILLED)
			continue;
		if (!in_doubt(b))
			return b;
		doubtful = b;
		tries++;
	}
	return tries < FIGURES_TRIES ? NULL : doubtful;
}

bool figures_has_boot(const struct boot_records *boots, int order, unsigned int number)
{
	return find_boot(boots, order, number) != NULL;
}

/* take_boot() - a boot's runs of the load */
static int take_boot(const struct boot_record *b, const char *load,
		     const struct bisect_metric *metric, struct nested *out, char **skip,
		     struct error *err)
{
	bool first = true;

	for (size_t i = 0; i < b->runs.n; i++) {
		const struct sample s = { b, &b->runs.v[i] };
		double v;

		if (s.run->bench || strcmp(s.run->load, load))
			continue;
		if (!run_good(b, s.run)) {
			cleanup_free char *why = run_failure(b, s.run);

			*skip = xasprintf("boot %lld: %s", (long long)b->number, why);
			return 0;
		}
		v = metric->of(&s);
		if (!(v > 0))
			return error_set(err, 0, "%s of %s is %g in boot %lld of %s, and what is compared are ratios: take another --metric",
					 metric->name, load, v, (long long)b->number,
					 b->label);
		nested_add(out, v, first);
		first = false;
	}
	if (first)
		*skip = xasprintf("boot %lld: %s", (long long)b->number,
				  b->verdict == VERDICT_OK ? "no run of the load" :
				  verdict_name(b->verdict));
	return 0;
}

int figures_take(const struct boot_records *boots, int order, const char *load,
		 const struct bisect_metric *metric, struct nested *out, char **skip,
		 struct error *err)
{
	int64_t last = 0;

	for (size_t i = 0; i < boots->n; i++)
		if (boots->v[i].order == order && boots->v[i].number > last)
			last = boots->v[i].number;
	for (int64_t n = 1; n <= last && !*skip; n++) {
		const struct boot_record *b = find_boot(boots, order, (unsigned int)n);

		if (b && take_boot(b, load, metric, out, skip, err) < 0)
			return -1;
	}
	return 0;
}
