/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/noise.h"

#include <string.h>

#include "results/base/cleanup.h"
#include "results/base/clock.h"
#include "results/columns.h"
#include "results/json_put.h"

void noise_init(struct noise *n, const char *proc, const char *sys,
		const char *domain, bool exact, const char *path, int fd)
{
	*n = (struct noise){ .proc = proc, .domain = domain, .exact = exact };
	noise_host(sys, &n->host);
	clock_file_init(&n->file, path, fd);
	n->absent_ns = clock_now_ns();
}

void noise_free(struct noise *n)
{
	for (size_t i = 0; i < n->runs.n; i++) {
		free(n->runs.v[i].name);
		noise_look_free(&n->runs.v[i].look);
	}
	noise_runs_free(&n->runs);
	noise_qemu_free(&n->qemu);
	noise_host_free(&n->host);
	clock_marks_free(&n->marks);
}

void noise_absent(struct noise *n, uint64_t now_ns)
{
	n->absent_ns = now_ns;
}

static void run_starts(struct noise *n, const json_t *rec)
{
	const char *bench = json_string_value(json_object_get(rec, "bench"));
	const char *load = bench ? bench :
			   json_string_value(json_object_get(rec, "load"));
	struct noise_run r = {
		.number = json_integer_value(json_object_get(rec, "run")),
		.name = text_clean(load ? load : "?", NULL),
		.first = n->marks.n - 1,
	};

	for (int f = 0; f < NOISE_COUNT; f++)
		r.n.fig[f] = FIGURE_NONE;
	noise_look(n->proc, &n->qemu, &r.look);
	r.n.fig[NOISE_START_LATE_NS] = r.look.t_ns - (int64_t)n->absent_ns;
	noise_runs_add(&n->runs, r);
}

static void run_ends(struct noise *n, const json_t *rec)
{
	int64_t number = json_integer_value(json_object_get(rec, "run"));
	struct noise_run *r = n->runs.n ? &n->runs.v[n->runs.n - 1] : NULL;
	struct noise_look now;
	int64_t late_ns;

	/* Runs do not overlap. */
	if (!r || r->last || r->number != number)
		return;
	noise_look(n->proc, &n->qemu, &now);
	late_ns = r->n.fig[NOISE_START_LATE_NS];
	noise_between(&r->look, &now, &r->n);
	r->n.fig[NOISE_START_LATE_NS] = late_ns;
	r->n.fig[NOISE_END_LATE_NS] = now.t_ns - (int64_t)n->absent_ns;
	r->last = n->marks.n - 1;
	noise_look_free(&now);
	noise_look_free(&r->look);
	r->look = (struct noise_look){ 0 };
}

void noise_record(struct noise *n, const struct journal_entry *e)
{
	uint64_t now_ns = clock_now_ns();
	json_t *rec = NULL;

	clock_marks_add(&n->marks, (struct clock_mark){
		.guest_ns = e->t_ns,
		.absent_ns = n->absent_ns,
		.written_ns = clock_file_written(&n->file, now_ns),
	});
	if (!n->qemu.pid && e->type <= JOURNAL_RUN_START)
		noise_find_qemu(n->proc, n->domain, &n->qemu);
	if (e->type != JOURNAL_RUN_START && e->type != JOURNAL_RUN_END)
		return;
	rec = json_loadb(e->payload ? e->payload : "", e->len, 0, NULL);
	if (e->type == JOURNAL_RUN_START)
		run_starts(n, rec);
	else
		run_ends(n, rec);
	json_decref(rec);
}

uint64_t noise_starved_ms(struct noise *n)
{
	if (!n->qemu.pid)
		noise_find_qemu(n->proc, n->domain, &n->qemu);
	return noise_waited_ns(n->proc, &n->qemu) / 1000000;
}

/* find_drift() - the first run whose clock drifted, NULL: none */
static const struct noise_run *find_drift(const struct noise *n,
					  struct clock_span *s, double *drift)
{
	for (size_t i = 0; !n->exact && i < n->runs.n; i++) {
		const struct noise_run *r = &n->runs.v[i];

		if (!r->last)
			continue;
		*s = clock_between(&n->marks, r->first, r->last);
		if (clock_drifts(s, drift))
			return r;
	}
	return NULL;
}

void noise_judge(const struct noise *n, enum verdict *v, struct buf *evidence)
{
	struct clock_span s;
	double drift;
	const struct noise_run *r = find_drift(n, &s, &drift);
	struct buf text = { 0 };

	if (!r || *v == VERDICT_PROFILE_MISMATCH)
		return;
	buf_printf(&text, "run %lld, %s, took %.3f s by the guest's clock and %.3f to %.3f s by the host's: %+.2f %% at least, where %.1f %% are allowed; without that: %s, %s",
		   (long long)r->number, r->name, (double)s.guest / 1e9,
		   (double)s.host_min / 1e9, (double)s.host_max / 1e9,
		   100 * drift, 100 * CLOCK_DRIFT_LIMIT, verdict_name(*v),
		   evidence->data ? evidence->data : "");
	*v = VERDICT_CLOCK_DRIFT;
	buf_free(evidence);
	*evidence = text;
}

static json_t *run_json(const struct noise *n, const struct noise_run *r)
{
	json_t *o = json_object();
	struct run_noise all = r->n;
	struct clock_span s;

	if (!n->exact) {
		s = clock_between(&n->marks, r->first, r->last);
		all.fig[NOISE_CLOCK_GUEST_NS] = (int64_t)s.guest;
		all.fig[NOISE_CLOCK_HOST_MIN_NS] = (int64_t)s.host_min;
		all.fig[NOISE_CLOCK_HOST_MAX_NS] = (int64_t)s.host_max;
	}
	json_put(o, "run", json_integer(r->number));
	for (int f = 0; f < NOISE_COUNT; f++)
		if (all.fig[f] != FIGURE_NONE)
			json_put(o, noise_member((enum noise_figure)f),
				 json_integer(all.fig[f]));
	return o;
}

void noise_json(const struct noise *n, json_t *host, size_t max_bytes)
{
	json_t *list = json_array();
	size_t bytes = 0, ended = 0;

	if (n->host.cpus)
		json_put(host, "cpus", json_integer(n->host.cpus));
	if (n->host.governor)
		json_put(host, "governor", json_string(n->host.governor));
	if (n->host.turbo >= 0)
		json_put(host, "turbo", json_boolean(n->host.turbo));
	for (size_t i = 0; i < n->runs.n; i++) {
		json_t *o;

		if (!n->runs.v[i].last)
			continue;
		ended++;
		o = run_json(n, &n->runs.v[i]);
		/* With NULL it writes nothing and returns the length. */
		bytes += json_dumpb(o, NULL, 0, JSON_COMPACT) + 1;
		if (bytes <= max_bytes)
			json_put_last(list, o);
		else
			json_decref(o);
	}
	if (json_array_size(list) < ended)
		json_put(host, "noise_left_out",
			 json_integer((json_int_t)(ended - json_array_size(list))));
	json_put(host, "noise", list);
}
