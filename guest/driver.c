/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * driver.c - a boot's runs, from receipt to END
 */
#include "guest/guest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "guest/bench.h"
#include "guest/child.h"
#include "guest/console.h"
#include "guest/json.h"
#include "guest/kmsg.h"
#include "guest/receipt.h"
#include "guest/run.h"
#include "guest/table.h"

#define RECEIPT_S 180

/* The same for every job and load, whatever started PID 1 */
static int set_environment(struct fail *f)
{
	static const char *const vars[][2] = {
		{ "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
			  "/sbin:/bin" },
		{ "HOME", "/root" }, { "TMPDIR", WORK_DIR "/tmp" },
		{ "LC_ALL", "C" }, { "TZ", "UTC0" },
	};

	if (clearenv() != 0)
		return fail_set(f, ENOMEM, "clear the environment");
	for (size_t i = 0; i < sizeof(vars) / sizeof(vars[0]); i++)
		if (setenv(vars[i][0], vars[i][1], 1) != 0)
			return fail_set(f, errno, "set %s", vars[i][0]);
	return 0;
}

/* Neither the OOM killer nor swapping may get at the one who measures */
static int protect(struct guest *g, struct fail *f)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		guest_note(g, "lock the driver in memory: %s", strerror(errno));
	return write_text("/proc/self/oom_score_adj", "-1000", f);
}

/* Before anything is measured, not hours later */
static int check_plan(const struct guest *g, const struct job_ops **job,
		      struct fail *f)
{
	char tree[PLAN_NAME_MAX + 16];

	*job = NULL;
	for (size_t i = 0; i < g->plan.nruns; i++)
		if (g->plan.benches[i] &&
		    bench_check(&g->plan, g->plan.runs[i], f) != 0)
			return -1;
	if (g->plan.ncontest == 0)
		return 0;
	*job = job_find(g->plan.job);
	if (!*job)
		return fail_set(f, 0, "the plan's job '%s' is unknown to this guest",
				g->plan.job);
	if (g->plan.job_target[0] && !(*job)->takes_target)
		return fail_set(f, 0, "job '%s' has no targets, and the plan says "
				"job.target=%s", g->plan.job, g->plan.job_target);
	if ((*job)->takes_command != (g->plan.job_command[0] != '\0'))
		return fail_set(f, 0, "job '%s' %s job.command", g->plan.job,
				(*job)->takes_command ? "needs" : "takes no");
	snprintf(tree, sizeof(tree), WORK_DIR "/%s", g->plan.job);
	if (access(tree, F_OK) != 0)
		return fail_set(f, errno, "the work disk has no tree for the job: "
				"'%s'", tree);
	for (size_t i = 0; i < g->plan.nruns; i++)
		if (!g->plan.benches[i] && !load_find(g->plan.runs[i]))
			return fail_set(f, 0, "the plan's load '%s' is unknown to "
					"this guest", g->plan.runs[i]);
	return 0;
}

static void say_result(const struct guest *g, const struct run *run,
		       const struct run_result *r)
{
	const uint64_t *v = r->diff.value;
	double wall = (double)v[C_WALL] / NS_PER_S;
	double job = (double)(v[C_JOB_USER] + v[C_JOB_SYSTEM]) / NS_PER_S;
	double loads = r->per_load ?
		       (double)v[C_DONE] / (double)r->per_load : 0;

	if (r->diff.have[C_WALL] && wall > 0)
		console_say("run %u of %zu: %s: %.3f s, CPU %.1f %%, loads %.2f, %s",
			    run->number, g->plan.nruns, run->load->name, wall,
			    100 * job / wall, loads, r->verdict);
	else
		console_say("run %u of %zu: %s: %s", run->number,
			    g->plan.nruns, run->load->name, r->verdict);
	if (r->message[0])
		console_say("  %s", r->message);
}

static void say_bench(const struct guest *g, unsigned int number,
		      const struct run_result *r)
{
	const char *name = g->plan.runs[number - 1];

	if (r->diff.have[C_WALL])
		console_say("run %u of %zu: %s: %.3f s, %s", number,
			    g->plan.nruns, name,
			    (double)r->diff.value[C_WALL] / NS_PER_S,
			    r->verdict);
	else
		console_say("run %u of %zu: %s: %s", number, g->plan.nruns,
			    name, r->verdict);
	if (r->message[0])
		console_say("  %s", r->message);
}

static unsigned int index_of(const struct guest *g, size_t run)
{
	unsigned int index = 1;

	for (size_t i = 0; i < run; i++)
		index += strcmp(g->plan.runs[i], g->plan.runs[run]) == 0;
	return index;
}

static int do_contest(struct guest *g, struct run *run, bool *warm,
		      struct table_row *row, struct fail *f)
{
	if (run->load->keeps_cache && !*warm) {
		if (run_warm_up(g, run, f) != 0 ||
		    jw_log(g->journal, f, "run %u, %s: nothing had run "
			   "before, so the job was run once unrecorded",
			   run->number, run->load->name) != 0)
			return -1;
	}
	row->load = run->load;
	if (run_one(g, run, &row->result, f) != 0)
		return -1;
	*warm = *warm || row->result.diff.have[C_WALL];
	say_result(g, run, &row->result);
	return 0;
}

static int do_bench(struct guest *g, unsigned int number, unsigned int index,
		    struct fail *f)
{
	struct run_result result;

	if (bench_one(g, bench_find(g->plan.runs[number - 1]), number, index,
		      &result, f) != 0)
		return -1;
	say_bench(g, number, &result);
	return 0;
}

/* @rows, @nrows: contest's, for the table on the console */
static int do_runs(struct guest *g, const struct job_ops *job,
		   struct table_row rows[], size_t *nrows,
		   const char **verdict, struct fail *f)
{
	char oops[512];
	bool warm = false;
	int ret;

	for (size_t i = 0; i < g->plan.nruns; i++) {
		struct run run = { .number = (unsigned int)i + 1,
				   .index = index_of(g, i), .job = job,
				   .load = load_find(g->plan.runs[i]) };

		console_say("run %u of %zu: %s", run.number, g->plan.nruns,
			    g->plan.runs[i]);
		ret = g->plan.benches[i] ?
			do_bench(g, run.number, run.index, f) :
			do_contest(g, &run, &warm, &rows[(*nrows)++], f);
		/* What was in the caches of the job's files may be gone */
		warm = warm && !g->plan.benches[i];
		if (ret != 0)
			return -1;
		if (kmsg_scan(oops, sizeof(oops))) {
			*verdict = "oops";
			return fail_set(f, 0, "after run %u, the kernel says: %s",
					run.number, oops);
		}
	}
	return 0;
}

static int write_end(struct guest *g, struct fail *f)
{
	char payload[64];
	struct jsonw w;

	jsonw_begin(&w, payload, sizeof(payload));
	jsonw_open(&w, NULL, '{');
	jsonw_u64(&w, "runs", g->plan.nruns);
	jsonw_close(&w, '}');
	return jw_append(g->journal, JOURNAL_END, payload, f);
}

static int begin(struct guest *g, const struct job_ops **job, struct fail *f)
{
	if (child_init(f) != 0 || set_environment(f) != 0 ||
	    protect(g, f) != 0)
		return -1;
	guest_deadline(g, RECEIPT_S, "receipt");
	if (receipt_write(g->journal, g->disks, g->cgroup2, &g->knobs, f) != 0)
		return -1;
	if (g->notes[0] && jw_log(g->journal, f, "%s", g->notes) != 0)
		return -1;
	if (g->notes[0] && g->standalone)
		console_print("%s\n", g->notes);
	return check_plan(g, job, f);
}

int driver_main(struct guest *g, const char **verdict, struct fail *f)
{
	struct table_row *rows;
	const struct job_ops *job;
	struct utsname u;
	size_t nrows = 0;

	if (begin(g, &job, f) != 0)
		return -1;
	if (knobs_failed(&g->knobs, f)) {
		*verdict = "profile-mismatch";
		return -1;
	}
	rows = calloc(g->plan.nruns + 1, sizeof(*rows));
	if (!rows || uname(&u) != 0) {
		free(rows);
		return fail_set(f, errno, "begin the runs");
	}
	if (do_runs(g, job, rows, &nrows, verdict, f) != 0) {
		free(rows);
		return -1;
	}
	if (g->standalone) {
		console_print("\n");
		console_table(u.release, rows, nrows, console_print);
		console_print("\n");
	}
	free(rows);
	guest_deadline(g, RECEIPT_S, "end");
	return write_end(g, f);
}
