/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/plan_auto.h"

#include <string.h>

#include "results/base/cleanup.h"

bool plan_auto_key(const char *key, const char *value)
{
	return (!strcmp(key, "boots") && !strcmp(value, "auto")) ||
	       !strcmp(key, "budget") || !strcmp(key, "precision") ||
	       !strcmp(key, "repeat-noisy");
}

/* "2", "0.5": to three places, whatever the locale, above 0 and at most 100 */
static bool parse_percent(const char *s, double *out)
{
	size_t whole = strspn(s, "0123456789"), part = 0;
	cleanup_free char *digits = xstrndup(s, whole);
	uint64_t n, m = 0, scale = 1;

	if (whole > 3 || !parse_u64(digits, &n))
		return false;
	s += whole;
	if (*s == '.') {
		part = strspn(++s, "0123456789");
		if (part < 1 || part > 3 || !parse_u64(s, &m))
			return false;
		for (size_t i = 0; i < part; i++)
			scale *= 10;
	}
	if (s[part])
		return false;
	*out = (double)n + (double)m / (double)scale;
	return *out > 0 && *out <= 100;
}

int plan_auto_set(struct plan_auto *a, const char *key, const char *value,
		  struct error *err)
{
	uint64_t n;

	if (!strcmp(key, "boots")) {
		a->boots = true;
		a->overridden = false;
		return 0;
	}
	if (!strcmp(key, "budget")) {
		if (!parse_u64(value, &n) || n < 1 || n > BUDGET_MAX_MIN)
			return error_set(err, 0, "budget = %s: give the minutes of real time that all boots may take, a whole number from 1 to %d",
					 value, BUDGET_MAX_MIN);
		a->budget_min = (unsigned int)n;
		return 0;
	}
	if (!strcmp(key, "precision")) {
		if (!parse_percent(value, &a->precision_pct))
			return error_set(err, 0, "precision = %s: give percent, such as 2 or 0.5, up to 100",
					 value);
		return 0;
	}
	if (strcmp(value, "yes") && strcmp(value, "no"))
		return error_set(err, 0, "repeat-noisy = %s: give yes or no", value);
	a->repeat_noisy = !strcmp(value, "yes");
	return 0;
}

void plan_auto_number(struct plan_auto *a)
{
	a->overridden = a->boots;
	a->boots = false;
}

int plan_auto_finish(struct plan_auto *a, struct error *err)
{
	if (a->boots && !a->budget_min)
		return error_set(err, 0, "boots = auto needs a budget: say with budget = 90, or --budget 90, how many minutes of real time all boots together may take");
	if (a->overridden) {
		a->precision_pct = 0;
		if (!a->repeat_noisy)
			a->budget_min = 0;
	}
	if (!a->boots && a->precision_pct > 0)
		return error_set(err, 0, "precision = %g is for boots = auto: give that, or leave precision out",
				 a->precision_pct);
	if (!a->boots && !a->repeat_noisy && a->budget_min)
		return error_set(err, 0, "budget = %u is for boots = auto or repeat-noisy = yes: give one of them, or leave budget out",
				 a->budget_min);
	if (a->boots && a->precision_pct <= 0)
		a->precision_pct = PRECISION_DEFAULT_PCT;
	return 0;
}

void plan_auto_text(const struct plan_auto *a, struct buf *out)
{
	if (a->budget_min)
		buf_printf(out, "budget = %u\n", a->budget_min);
	if (a->boots)
		buf_printf(out, "precision = %g\n", a->precision_pct);
	if (a->repeat_noisy)
		buf_adds(out, "repeat-noisy = yes\n");
}
