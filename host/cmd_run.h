/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_run.h - the commands that boot a plan: run, calibrate
 */
#ifndef KONTEST_CMD_RUN_H
#define KONTEST_CMD_RUN_H

#include "host/cmd.h"
#include "host/plan.h"

/**
 * struct run_kind - what a command makes of a plan
 * @cmd: the command
 * @boots: of a plan that says nothing of them
 * @format: default of --format; @check_format: refuses what @show does not know
 * @adapt: changes the plan that file and options made; NULL: it stays
 * @calibration: the kernels are one under several labels
 * @show: prints what came of it; 0, 1: exit with 1 unless a verdict says otherwise,
 *	or -1
 */
struct run_kind {
	const struct cmd *cmd;
	unsigned int boots;
	const char *format;
	int (*check_format)(const char *format, struct error *err);
	int (*adapt)(struct plan *p, struct error *err);
	bool calibration;
	int (*show)(struct store *s, const char *run_id, const char *format,
		    FILE *out, struct error *err);
};

/* run_plan() - the whole command; returns the exit status */
int run_plan(const struct run_kind *k, int argc, char **argv);

/* RUN_PLAN_HELP - the options that both take */
#define RUN_PLAN_HELP \
"  --modules DIR        modules of the --kernel before (a bzImage)\n" \
"  --config FILE        configuration of the --kernel before (a bzImage)\n" \
"  --cmdline TEXT       more kernel command line for the --kernel before\n" \
"  --profile NAME|FILE  machine to imitate (default osdl-up)\n" \
"  --bench LIST         contest, tiobench, chat, qsbench, NAME[:RUNS] (default: contest)\n" \
"  --loads LIST         loads, NAME[:RUNS], separated by commas\n" \
"  --job NAME           quick, linux[:TARGET] or command (default quick)\n" \
"  --budget N           auto: minutes of real time for all boots together\n" \
"  --precision N        auto: half-width of the 95 % intervals in % (default 2)\n" \
"  --repeat-noisy yes   do a boot with a noisy run again, once (default no)\n" \
"  --runs N             runs of each load in a boot (default 1)\n" \
"  --accel HOW          auto, kvm, tcg or exact (default: the profile's)\n" \
"  --order-seed N       order of the boots (default: drawn, and printed)\n" \
"  --jobs N             make -j (default 4 x CPUs)\n" \
"  --lead-ms N          a load runs that long before the job starts\n" \
"  --run-timeout N      guest seconds until a run is given up as timed out\n" \
"  --sample-ms N        record the counters that often during a run, too\n" \
"  --parallel N         boots side by side, exact mode only (default: CPUs)\n" \
"  --locked             refuse other package versions than the locked ones\n" \
"  --connect URI        libvirt connection (default: the embedded driver)\n" \
"  --store FILE         results store (default: the user's own)\n" \
"  --name NAME          name of the experiment\n"

#endif
