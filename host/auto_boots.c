/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/auto_boots.h"

#include <stdio.h>

#include "host/progress.h"
#include "results/base/cleanup.h"
#include "results/base/clock.h"
#include "results/noise.h"

bool auto_budget_holds(const struct auto_state *s, double seconds)
{
	return s->budget_s <= 0 || s->elapsed_s + seconds <= s->budget_s;
}

enum auto_next auto_decide(struct auto_state *s)
{
	if (!s->rounds)
		return AUTO_ROUND;
	if (s->reached && !s->reached_at && s->rounds >= s->rounds_min)
		s->reached_at = s->rounds;
	if (s->reached_at && s->rounds >= s->reached_at + AUTO_ROUNDS_EXTRA)
		return AUTO_PRECISE;
	if (s->rounds >= AUTO_ROUNDS_MAX)
		return AUTO_ENOUGH;
	return auto_budget_holds(s, s->longest_round_s) ? AUTO_ROUND : AUTO_BUDGET;
}

bool auto_planned(const struct plan *p)
{
	return p->more.boots || p->more.repeat_noisy;
}

static size_t plan_rows(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->loads.n; i++)
		n += p->loads.v[i].runs > 0;
	for (size_t i = 0; i < p->bench.list.n; i++)
		n += p->bench.list.v[i].ops != NULL;
	return n;
}

static unsigned int rounds_min(const struct experiment *e)
{
	size_t n = precision_boots_min(e->n_candidates, plan_rows(e->plan));

	return n > AUTO_ROUNDS_MIN ? (unsigned int)n : AUTO_ROUNDS_MIN;
}

void auto_init(struct auto_boots *a, struct experiment *e, struct store *s)
{
	const struct plan_auto *more = &e->plan->more;

	*a = (struct auto_boots){
		.e = e,
		.store = s,
		.now_s = clock_now_s,
		.wanted = { .pct = more->precision_pct, .boots_min = rounds_min(e) },
		.state = { .rounds_min = rounds_min(e),
			   .budget_s = 60.0 * more->budget_min },
	};
	order_init(&a->order, e->n_candidates, e->plan->order_seed);
}

void auto_free(struct auto_boots *a)
{
	order_free(&a->order);
}

/* A boot that failed is a finding and not to be had again until it is none. */
static bool boot_noisy(const struct boot_record *b)
{
	for (size_t i = 0; b->verdict == VERDICT_OK && i < b->runs.n; i++)
		if (run_noisy(b, &b->runs.v[i], NULL))
			return true;
	return false;
}

/* The noisy boots of the round that has ended, once more; false: there are none */
static bool plan_repeats(struct auto_boots *a, const struct boot_records *boots)
{
	struct planned_boots *planned = &a->e->boots;
	size_t end = planned->n, n = 0;
	double boot_s = a->state.longest_round_s / (double)a->e->n_candidates;

	for (size_t at = a->batch_at; at < end; at++) {
		bool noisy = false;

		for (size_t i = 0; i < boots->n; i++)
			noisy |= boots->v[i].index == planned->v[at].index &&
				 boot_noisy(&boots->v[i]);
		if (!noisy)
			continue;
		if (auto_budget_holds(&a->state, boot_s * (double)(n + 1))) {
			order_repeat(&a->order, at, planned);
			n++;
		} else {
			a->unrepeated++;
		}
	}
	a->repeats += (unsigned int)n;
	return n > 0;
}

static bool reached(const struct auto_boots *a, struct boot_records *boots)
{
	CLEANUP(precisions_free) struct precisions p = { 0 };
	CLEANUP(table_free) struct table t;

	table_make(&t, boots);
	precision_make(&t, a->state.rounds, &a->wanted, &p);
	return precision_reached(&p);
}

static void plan_round(struct auto_boots *a)
{
	order_round(&a->order, &a->e->boots);
	a->e->rounds++;
}

static enum auto_next next_round(struct auto_boots *a, struct boot_records *boots)
{
	const struct plan *p = a->e->plan;

	if (!p->more.boots)
		return a->e->rounds < p->boots ? AUTO_ROUND : AUTO_ENOUGH;
	a->state.rounds = a->e->rounds;
	a->state.reached = a->begun && reached(a, boots);
	return auto_decide(&a->state);
}

int auto_more(void *data, struct error *err)
{
	struct auto_boots *a = data;
	CLEANUP(boot_records_clear) struct boot_records boots = { 0 };
	double now = a->now_s();
	bool was_round = a->batch_is_round;

	if (!a->begun)
		a->t_start_s = now;
	if (a->begun && store_load_run(a->store, a->e->run_id, &boots, err) < 0)
		return -1;
	if (was_round && now - a->t_batch_s > a->state.longest_round_s)
		a->state.longest_round_s = now - a->t_batch_s;
	a->state.elapsed_s = now - a->t_start_s;
	a->t_batch_s = now;
	a->batch_is_round = false;
	if (was_round && a->e->plan->more.repeat_noisy && plan_repeats(a, &boots))
		return 1;
	a->why = next_round(a, &boots);
	if (a->why != AUTO_ROUND)
		return 0;
	a->begun = a->batch_is_round = true;
	a->batch_at = a->e->boots.n;
	plan_round(a);
	return 1;
}

void auto_say_rule(const struct auto_boots *a, FILE *out)
{
	const struct experiment *e = a->e;
	const struct plan_auto *more = &e->plan->more;

	if (more->boots) {
		fprintf(out, "stop rule: rounds of one boot of each kernel, at least %u, until the 95 %% interval of every load's Time",
			a->state.rounds_min);
		if (e->n_candidates > 1)
			fprintf(out, ", each kernel against %s,",
				e->candidates[0].kernel.label);
		fprintf(out, " is +-%g %% or narrower, then %u more; no round that the budget of %u min might not hold\n",
			more->precision_pct, AUTO_ROUNDS_EXTRA, more->budget_min);
	}
	if (!more->repeat_noisy)
		return;
	fputs("repeats: a boot with a noisy run is done again once, at the end of its round, and the repeat stands for it, noisy or not",
	      out);
	if (more->budget_min && !more->boots)
		fprintf(out, "; none that the budget of %u min might not hold",
			more->budget_min);
	fputs(e->accel == ACCEL_EXACT ? "; in exact mode no run is noisy\n" : "\n", out);
}

static void say_stop(const struct auto_boots *a, FILE *out)
{
	const struct plan_auto *more = &a->e->plan->more;

	fprintf(out, "kontest: %u rounds in %.1f min: ", a->e->rounds,
		(a->now_s() - a->t_start_s) / 60);
	switch (a->why) {
	case AUTO_PRECISE:
		fprintf(out, "every interval that can be had was +-%g %% or narrower after %u\n",
			more->precision_pct, a->state.reached_at);
		break;
	case AUTO_BUDGET:
		fprintf(out, "the budget of %u min might not hold another, the longest took %.1f min\n",
			more->budget_min, a->state.longest_round_s / 60);
		break;
	case AUTO_ENOUGH:
		fprintf(out, "more than that no plan can ask for\n");
		break;
	default:
		fprintf(out, "stopped before the rule was met\n");
	}
}

static void say_repeats(const struct auto_boots *a, const struct boot_records *boots,
			FILE *out)
{
	unsigned int noisy = 0;

	for (size_t i = 0; i < boots->n; i++)
		noisy += boots->v[i].repeats && boot_noisy(&boots->v[i]);
	if (a->repeats)
		fprintf(out, "kontest: %u noisy boots were repeated; %u of the repeats were noisy too and count, flagged\n",
			a->repeats, noisy);
	if (a->unrepeated)
		fprintf(out, "kontest: %u noisy boots were not repeated, for want of budget; they count, flagged\n",
			a->unrepeated);
}

static void say_precisions(const struct auto_boots *a, struct boot_records *boots,
			   FILE *out)
{
	CLEANUP(precisions_free) struct precisions p = { 0 };
	CLEANUP(table_free) struct table t;

	table_make(&t, boots);
	precision_make(&t, a->e->rounds, &a->wanted, &p);
	for (size_t i = 0; i < p.n; i++) {
		cleanup_free char *text = precision_text(&p.v[i], &a->wanted);

		if (p.v[i].more)
			fprintf(out, "kontest: %s\n", text);
	}
}

int auto_say_end(const struct auto_boots *a, FILE *out, struct error *err)
{
	CLEANUP(boot_records_clear) struct boot_records boots = { 0 };

	if (store_load_run(a->store, a->e->run_id, &boots, err) < 0)
		return -1;
	if (a->e->plan->more.boots)
		say_stop(a, out);
	say_repeats(a, &boots, out);
	if (a->e->plan->more.boots)
		say_precisions(a, &boots, out);
	return 0;
}

json_t *auto_json(const struct experiment *e)
{
	const struct plan_auto *more = &e->plan->more;

	if (!more->boots)
		return NULL;
	return json_pack("{s:i, s:f, s:i, s:i}", "budget_min", (int)more->budget_min,
			 "precision_pct", more->precision_pct, "rounds_min",
			 (int)rounds_min(e), "rounds_extra",
			 (int)AUTO_ROUNDS_EXTRA);
}
