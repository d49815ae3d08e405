/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_bench.h - the benchmarks of a plan: key `bench` and their sections
 */
#ifndef KONTEST_PLAN_BENCH_H
#define KONTEST_PLAN_BENCH_H

#include "images/profile.h"
#include "loads/bench.h"
#include "results/base/text.h"

/* struct planned_bench - @ops NULL: contest; @runs in each boot, of contest what
 * its loads say */
struct planned_bench {
	const struct bench_ops *ops;
	unsigned int runs;
};
DEFINE_VECTOR(planned_benches, struct planned_bench)

/**
 * struct plan_bench - all zero at the start: contest alone
 * @list: in the order of the runs
 * @set: what the sections say, in the registry's order; whole after
 *	plan_bench_defaults()
 */
struct plan_bench {
	struct planned_benches list;
	struct bench_settings set[BENCH_COUNT];
};

void plan_bench_free(struct plan_bench *b);
/* plan_bench_set() - value of the key `bench`, on top of nothing */
int plan_bench_set(struct plan_bench *b, const char *value, struct error *err);
/* plan_bench_key() - a key of the section of benchmark @name */
int plan_bench_key(struct plan_bench *b, const char *name, const char *key,
		   const char *value, struct error *err);
/* plan_bench_finish() - @runs: of those that say no number; @loads: the plan
 * names loads, which are contest's */
int plan_bench_finish(struct plan_bench *b, unsigned int runs, bool loads,
		      struct error *err);
/* plan_bench_text() - the rest of the line `loads` of the plan's canonical text,
 * nothing for contest alone; plan_bench_sections(): the sections */
void plan_bench_text(const struct plan_bench *b, struct buf *out);
void plan_bench_sections(const struct plan_bench *b, struct buf *out);
/* plan_bench_defaults() - what follows from the profile; refuses what its
 * machine cannot do */
int plan_bench_defaults(struct plan_bench *b, const struct profile *p,
			struct error *err);
/* plan_bench_lines() - the settings for the guest plan */
void plan_bench_lines(const struct plan_bench *b, struct buf *out);
/* plan_bench_contest() - is contest run? plan_bench_network(): does one need
 * TCP? plan_bench_runs(): in each boot, without contest's */
bool plan_bench_contest(const struct plan_bench *b);
bool plan_bench_network(const struct plan_bench *b);
unsigned int plan_bench_runs(const struct plan_bench *b);

#endif
