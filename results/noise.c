/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * noise.c - what the host did to a run meanwhile
 */
#include "results/noise.h"

#include <math.h>
#include <string.h>

#include "results/base/cleanup.h"

static const char *const members[NOISE_COUNT] = {
#define X(name, member) [NOISE_##name] = member,
	NOISE_FIGURES(X)
#undef X
};

const char *noise_member(enum noise_figure f)
{
	return members[f];
}

bool boot_measured(const struct boot_record *b)
{
	return strcmp(context_text(b, NULL, "accel"), "exact") != 0;
}

bool run_noise(const struct boot_record *b, const struct run_record *r,
	       struct run_noise *n)
{
	const json_t *list = json_object_get(b->host, "noise"), *o;
	size_t i;

	for (int f = 0; f < NOISE_COUNT; f++)
		n->fig[f] = FIGURE_NONE;
	json_array_foreach(list, i, o) {
		const json_t *number = json_object_get(o, "run");

		if (!json_is_integer(number) ||
		    json_integer_value(number) != r->number)
			continue;
		for (int f = 0; f < NOISE_COUNT; f++) {
			const json_t *v = json_object_get(o, members[f]);

			if (json_is_integer(v) && json_integer_value(v) >= 0)
				n->fig[f] = json_integer_value(v);
		}
		return true;
	}
	return false;
}

/* known() - a figure, NAN where there is none */
static double known(int64_t v)
{
	return v == FIGURE_NONE ? NAN : (double)v;
}

static double of(const struct run_noise *n, enum noise_figure f)
{
	return known(n->fig[f]);
}

/* waited() - share of the window; NAN when it is not known */
static double waited(const struct run_noise *n, enum noise_figure wait,
		     enum noise_figure slices)
{
	double woken_ns = of(n, slices) * NOISE_WAKE_NS, wait_ns = of(n, wait);

	/* A host that does not count slices gets nothing taken off. */
	if (!isnan(woken_ns))
		wait_ns -= woken_ns;
	return wait_ns < 0 ? 0 : wait_ns / of(n, NOISE_WINDOW_NS);
}

void noise_shares(const struct run_record *r, const struct run_noise *n,
		  struct noise_shares *s)
{
	double busy = of(n, NOISE_HOST_BUSY_NS), steal = of(n, NOISE_HOST_STEAL_NS);
	double guest_ns = 0;

	for (int f = FIG_CPU_USER_NS; f <= FIG_CPU_STEAL_NS; f++)
		guest_ns += known(r->fig[f]);
	*s = (struct noise_shares){
		.vcpu_wait = waited(n, NOISE_WORST_WAIT_NS, NOISE_WORST_SLICES),
		.main_wait = waited(n, NOISE_MAIN_WAIT_NS, NOISE_MAIN_SLICES),
		.guest_steal = known(r->fig[FIG_CPU_STEAL_NS]) / guest_ns,
		.host_steal = steal / (busy + steal),
		.others = of(n, NOISE_OTHERS_BUSY_NS) /
			  (busy + of(n, NOISE_HOST_IDLE_NS) + steal),
	};
}

static void __attribute__((format(printf, 4, 5)))
judge(struct buf *why, double share, double limit, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list ap;

	/* Also false for NAN: what is not known is no noise. */
	if (!(share > limit) || isinf(share))
		return;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	buf_printf(why, "%s%s", why->len ? ", " : "", text);
}

bool run_noisy(const struct boot_record *b, const struct run_record *r,
	       char **why)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	struct noise_shares s;
	struct run_noise n;

	if (why)
		*why = NULL;
	if (!r->ended || !boot_measured(b))
		return false;
	run_noise(b, r, &n);
	noise_shares(r, &n, &s);
	judge(&text, s.vcpu_wait, NOISE_WAIT_LIMIT,
	      "%s vCPU waited %.1f %% of the window for a CPU of the host",
	      n.fig[NOISE_VCPUS] > 1 ? "a" : "the", 100 * s.vcpu_wait);
	judge(&text, s.main_wait, NOISE_WAIT_LIMIT,
	      "QEMU's main loop waited %.1f %% of the window for a CPU of the host",
	      100 * s.main_wait);
	judge(&text, s.guest_steal, NOISE_STEAL_LIMIT,
	      "the host took %.1f %% of the guest's CPU time",
	      100 * s.guest_steal);
	judge(&text, s.host_steal, NOISE_STEAL_LIMIT,
	      "%.1f %% of the CPU time that the host wanted was stolen from it",
	      100 * s.host_steal);
	judge(&text, s.others, NOISE_OTHERS_LIMIT,
	      "other processes used %.0f %% of the host's CPU time",
	      100 * s.others);
	if (text.len == 0)
		return false;
	if (why)
		*why = steal_ptr(text.data);
	return true;
}
