/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * auto_boots.h - which boots come next, of a plan that does not say how many
 *
 * Boots are done in rounds (struct boot_order). After each the rule, which is
 * printed beforehand and kept in every boot's context, is asked again:
 *
 *  - not before every kernel has had AUTO_ROUNDS_MIN boots, or more where a verdict
 *    cannot do with less (precision_boots_min());
 *  - as soon as the 95 % interval of every comparison with the first kernel, of every
 *    load's Time, has a half-width of at most the plan's precision,
 *    AUTO_ROUNDS_EXTRA more rounds are done and then none;
 *  - no round is begun that the budget might not hold, by the longest so far. The
 *    first is begun in any case.
 *
 * This is Chow and Robbins's sequential interval of fixed width (On the asymptotic
 * theory of fixed-width sequential confidence intervals for the mean, Annals of
 * Mathematical Statistics 36 (1965), 457-462): what stops it is a width, never a
 * difference. It tends to stop when the spread happens to look small, so that the
 * interval misses the truth a little too often; that a fixed number of further
 * observations mends this is Simons's result (On the cost of not knowing the variance
 * when making a fixed-width confidence interval for the mean, Annals of Mathematical
 * Statistics 39 (1968), 1946-1952). How much is left tests/unit_auto_boots.c measures.
 *
 * Repeats (repeat-noisy = yes): a boot with a noisy run (results/noise.h) is done once
 * more, at the end of its round, if the budget holds it. The repeat stands for it,
 * noisy or not: what decides is the host's noise alone, never a figure, and to choose
 * between the two would be to choose a figure. Both stay in the store; the replaced
 * one is named among the missing. A repeat that did not end well stands for nothing:
 * then the noisy one counts, flagged.
 */
#ifndef KONTEST_AUTO_BOOTS_H
#define KONTEST_AUTO_BOOTS_H

#include "host/experiment.h"
#include "results/precision.h"
#include "results/store.h"

#define AUTO_ROUNDS_MIN 4u
#define AUTO_ROUNDS_EXTRA 1u
#define AUTO_ROUNDS_MAX 1000u	/* as many as a plan can ask for in so many words */

/* struct auto_state - what the rule looks at; times in seconds */
struct auto_state {
	unsigned int rounds;
	unsigned int rounds_min;
	bool reached;			/* precision, now */
	unsigned int reached_at;	/* round; 0: not before */
	double budget_s, elapsed_s, longest_round_s;
};

enum auto_next { AUTO_ROUND, AUTO_PRECISE, AUTO_BUDGET, AUTO_ENOUGH };

/* auto_decide() - another round, or why not; sets @reached_at */
enum auto_next auto_decide(struct auto_state *s);

/* auto_budget_holds() - something that takes so many seconds? No budget holds all */
bool auto_budget_holds(const struct auto_state *s, double seconds);

/**
 * struct auto_boots - the planner of an experiment
 * @e: after experiment_schedule(); gets the boots
 * @store: where finished boots are
 * @now_s: the clock, in seconds
 * @wanted: precision that is asked for; @wanted.boots_min also without boots = auto
 * @state: of the rule; @why: AUTO_ROUND until it has stopped
 * @repeats, @unrepeated: noisy boots that were done again, that the budget held not
 *
 * Not to be moved while run_boots() runs.
 */
struct auto_boots {
	struct experiment *e;
	struct store *store;
	double (*now_s)(void);
	struct precision_wanted wanted;
	struct auto_state state;
	enum auto_next why;
	struct boot_order order;
	double t_start_s, t_batch_s;
	size_t batch_at;
	bool batch_is_round, begun;
	unsigned int repeats, unrepeated;
};

/* auto_init() - for any plan; auto_free() ends it */
void auto_init(struct auto_boots *a, struct experiment *e, struct store *s);
void auto_free(struct auto_boots *a);

/* auto_planned() - does this plan need it? A fixed number without repeats does not */
bool auto_planned(const struct plan *p);

/**
 * auto_more() - all boots planned so far are done and stored: plan more
 * @data: struct auto_boots; for struct run_opts
 *
 * Return: 1 when there are more, 0 when that was all, -1 on failure.
 */
int auto_more(void *data, struct error *err);

/* auto_say_rule() - the rule, before the first boot */
void auto_say_rule(const struct auto_boots *a, FILE *out);
/* auto_say_end() - why it stopped, what was replaced, and what is not as precise as
 * was asked for; @run_id's boots are in the store */
int auto_say_end(const struct auto_boots *a, FILE *out, struct error *err);

/* auto_json() - the rule for a boot's context; NULL without boots = auto */
json_t *auto_json(const struct experiment *e);

#endif
