/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figures.c - what was counted as members of a record
 */
#include "guest/figures.h"

static void write_count(struct jsonw *j, const struct run *run,
			const struct counters *d, uint64_t per_load)
{
	if (!d->have[C_DONE])
		return;
	jsonw_open(j, "count", '{');
	jsonw_u64(j, "done", d->value[C_DONE]);
	jsonw_u64(j, "per_load", per_load);
	jsonw_string(j, "unit", run->load->unit);
	jsonw_close(j, '}');
}

static void write_pair(struct jsonw *j, const char *key,
		       const struct counters *d, enum counter user,
		       enum counter system, int exit_code)
{
	if (!d->have[user] && exit_code < 0)
		return;
	jsonw_open(j, key, '{');
	if (d->have[user])
		jsonw_u64(j, "user_ns", d->value[user]);
	if (d->have[system])
		jsonw_u64(j, "system_ns", d->value[system]);
	if (exit_code >= 0)
		jsonw_u64(j, "exit", (uint64_t)exit_code);
	jsonw_close(j, '}');
}

void figures_write(struct jsonw *j, const struct run *run,
		   const struct counters *d, uint64_t per_load, int exit_code)
{
	if (d->have[C_WALL])
		jsonw_u64(j, "wall_ns", d->value[C_WALL]);
	write_pair(j, "job", d, C_JOB_USER, C_JOB_SYSTEM, exit_code);
	write_pair(j, "load_cpu", d, C_LOAD_USER, C_LOAD_SYSTEM, -1);
	write_count(j, run, d, per_load);
	counters_json(j, d);
}
