/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_auto.h - keys of [plan] that leave the number of boots to kontest
 *
 *	boots = auto		; as many as the precision needs
 *	budget = 90		; minutes of real time for all boots together
 *	precision = 2		; % ; see auto_rule.h (default 2)
 *	repeat-noisy = yes	; do a boot with a noisy run again, once (default no)
 *
 * The default of repeat-noisy is no: a noisy run is flagged and counted either way,
 * and a plan's boots are as many as it asks for, unless it says itself that they
 * may be more.
 */
#ifndef KONTEST_PLAN_AUTO_H
#define KONTEST_PLAN_AUTO_H

#include <stdbool.h>

#include "results/base/text.h"

#define BUDGET_MAX_MIN 100000	/* some ten weeks */
#define PRECISION_DEFAULT_PCT 2.0

/**
 * struct plan_auto - all zero at the start: a fixed number of boots
 * @boots: the plan says boots = auto
 * @overridden: an option gave a number of boots instead: budget and precision of
 *	the plan's file are void then
 * @budget_min: minutes; 0: none given
 * @precision_pct: 0: none given; PRECISION_DEFAULT_PCT after plan_auto_finish()
 * @repeat_noisy: boots with a noisy run are done again
 */
struct plan_auto {
	bool boots, overridden;
	unsigned int budget_min;
	double precision_pct;
	bool repeat_noisy;
};

/* plan_auto_key() - is it one of these keys? `boots` is, with the value auto */
bool plan_auto_key(const char *key, const char *value);
/* plan_auto_set() - its value */
int plan_auto_set(struct plan_auto *a, const char *key, const char *value,
		  struct error *err);
/* plan_auto_number() - the plan's boots are a number after all */
void plan_auto_number(struct plan_auto *a);
/* plan_auto_finish() - refuse keys that mean nothing together; defaults */
int plan_auto_finish(struct plan_auto *a, struct error *err);
/* plan_auto_text() - their lines of the plan's canonical text, none for a fixed
 * number of boots without repeats */
void plan_auto_text(const struct plan_auto *a, struct buf *out);

#endif
