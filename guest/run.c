/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run.c - the measurement
 *
 *	prepare  flush  load starts ... works ... [ job ]  load stops
 *	job, load                                 window
 *
 * Everything is counted between the same two moments: right before the job is
 * let go, and right after it was seen to end.
 */
#include "guest/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/child.h"
#include "guest/figures.h"
#include "guest/job.h"
#include "guest/json.h"
#include "guest/machine.h"

#define LOAD_PREPARE_S 600	/* for a load's files, of RAM size, say */
#define PROOF_S 60		/* for a load to show that it works */
#define PROOF_STEP_MS 50
#define STOP_S 60		/* for a load to tidy up after itself */
#define MARGIN_S 300		/* over all that has a limit of its own */
#define SAMPLES_LEAVE_BYTES (8u << 20)	/* of the results disk, for all else */

/**
 * struct window - a run while it is under way
 * @load_child: of the load, pid 0 when there is none
 * @before: counters when the window opened; .value[C_WALL] is the time then
 * @oom_kills: /proc/vmstat's oom_kill before the load was started
 * @samples_end: there is no room for more samples
 */
struct window {
	struct guest *g;
	const struct run *run;
	struct load_args args;
	char dir[64];
	char tree[PLAN_NAME_MAX + 16];
	struct child load_child;
	struct child_opts load_opts;
	struct job job;
	struct counters before;
	uint64_t oom_kills;
	bool samples_end;
};

void run_judge(struct run_result *r, const char *verdict, const char *fmt, ...)
{
	va_list ap;

	if (strcmp(r->verdict, "ok") != 0)
		return;
	r->verdict = verdict;
	va_start(ap, fmt);
	vsnprintf(r->message, sizeof(r->message), fmt, ap);
	va_end(ap);
}

static bool is_ok(const struct run_result *r)
{
	return strcmp(r->verdict, "ok") == 0;
}

static int start_window(struct window *w, struct guest *g,
			const struct run *run, struct fail *f)
{
	*w = (struct window){ .g = g, .run = run,
			      .load_child = CHILD_NONE };
	snprintf(w->dir, sizeof(w->dir), "%s/load",
		 run->load->other_disk && g->disks[DISK_OTHER].present ?
		 OTHER_DIR : WORK_DIR);
	snprintf(w->tree, sizeof(w->tree), WORK_DIR "/%s", g->plan.job);
	w->args = (struct load_args){
		.shared = &g->shared->load, .dir = w->dir, .tree = w->tree,
		.cpus = g->plan.cpus, .mem = g->plan.mem,
		.size = guest_plan_size(&g->plan, run->load->name),
	};
	memset(&g->shared->load, 0, sizeof(g->shared->load));
	job_init(&w->job, g, run->job, w->tree);
	if (make_dir(w->dir, 0755, f) != 0)
		return -1;
	return empty_dir(w->dir, f);
}

static uint64_t oom_kills(void)
{
	char *text = read_all("/proc/vmstat", NULL);
	struct counters c = { 0 };

	if (text)
		counters_parse_vmstat(&c, text);
	free(text);
	return c.value[C_OOM_KILL];
}

/* --- the load ------------------------------------------------------------- */

static int load_main(void *arg)
{
	const struct window *w = arg;

	return w->run->load->run(&w->args) == 0 ? 0 : 1;
}

static int failed_errno(const struct window *w)
{
	return atomic_load(&w->g->shared->load.failed);
}

static void judge_failure(const struct window *w, struct run_result *r, int err)
{
	const struct load_shared *s = &w->g->shared->load;

	run_judge(r, err == ENOSPC ? "no-space" : "load-failed", "%s: %s",
		  w->run->load->name, s->message[0] ? s->message : strerror(err));
}

/* Has the load failed, or ended before it was told to? */
static void check_load(struct window *w, struct run_result *r)
{
	int err = failed_errno(w);
	struct child *const list[] = { &w->load_child, NULL };

	if (w->load_child.pid == 0)
		return;
	if (!w->load_child.ended)
		child_wait(list, 0);
	/* Said by the load before it ended, so look once more */
	err = err ? err : failed_errno(w);
	/* A load that lost one of its processes to it calls that a failure */
	if ((err || w->load_child.ended) && oom_kills() > w->oom_kills)
		run_judge(r, "oom", "the kernel ran out of memory and killed the load");
	else if (err)
		judge_failure(w, r, err);
	else if (w->load_child.ended)
		run_judge(r, "load-failed", "%s ended by itself, status %d",
			  w->run->load->name, child_exit_code(&w->load_child));
}

static unsigned int proof_s(const struct load_ops *load,
			    const struct load_args *a)
{
	return load->proof_s ? load->proof_s(a) : PROOF_S;
}

/* Until it has made progress, and has run for the plan's lead time */
static void wait_for_proof(struct window *w, struct run_result *r)
{
	unsigned int limit_s = proof_s(w->run->load, &w->args);
	uint64_t lead_ns = w->g->plan.lead_ms * NS_PER_MS;
	uint64_t start = now_ns();

	for (;;) {
		uint64_t ran = now_ns() - start;
		bool works = atomic_load(&w->g->shared->load.done) > 0;

		check_load(w, r);
		if (!is_ok(r) || (works && ran >= lead_ns))
			return;
		if (!works && ran >= limit_s * NS_PER_S) {
			run_judge(r, "load-failed", "%s has done nothing in %u s",
				  w->run->load->name, limit_s);
			return;
		}
		sleep_ms(PROOF_STEP_MS);
	}
}

static int load_prepare_main(void *arg)
{
	const struct window *w = arg;

	return w->run->load->prepare(&w->args) == 0 ? 0 : 1;
}

/* In the load's own group, as a process that has ended before the load starts */
static int prepare_load(struct window *w, struct run_result *r, struct fail *f)
{
	struct child_opts o = {
		.cgroup = w->g->cgroup2, .group = GROUP_LOAD, .dir = w->dir,
		.main = load_prepare_main, .arg = w,
	};
	struct child c = CHILD_NONE;
	struct child *const list[] = { &c, NULL };
	bool ended;

	if (!w->run->load->prepare)
		return 0;
	if (child_start(&o, &c, f) != 0 || child_go(&c, f) != 0)
		return -1;
	child_wait(list, now_ns() + LOAD_PREPARE_S * NS_PER_S);
	ended = c.ended;
	if (child_kill(&c, &o, f) != 0)
		return -1;
	if (failed_errno(w))
		judge_failure(w, r, failed_errno(w));
	else if (!ended)
		run_judge(r, "load-failed", "%s is not prepared in %d s",
			  w->run->load->name, LOAD_PREPARE_S);
	else if (child_exit_code(&c) != 0)
		run_judge(r, "load-failed", "%s: its preparation ended with status %d",
			  w->run->load->name, child_exit_code(&c));
	return 0;
}

static int start_load(struct window *w, struct run_result *r, struct fail *f)
{
	w->oom_kills = oom_kills();
	if (!w->run->load->run)
		return 0;
	w->load_opts = (struct child_opts){
		.cgroup = w->g->cgroup2, .group = GROUP_LOAD, .dir = w->dir,
		.main = load_main, .arg = w,
	};
	if (child_start(&w->load_opts, &w->load_child, f) != 0 ||
	    child_go(&w->load_child, f) != 0)
		return -1;
	wait_for_proof(w, r);
	return 0;
}

static int stop_load(struct window *w, struct run_result *r, struct fail *f)
{
	struct child *const list[] = { &w->load_child, NULL };

	if (!w->run->load->run)
		return 0;
	atomic_store(&w->g->shared->load.stop, 1);
	if (w->load_child.pid != 0 && !w->load_child.ended)
		child_wait(list, now_ns() + STOP_S * NS_PER_S);
	if (child_kill(&w->load_child, &w->load_opts, f) != 0)
		return -1;
	/* What it wrote may turn out not to fit only when it is synced */
	if (failed_errno(w))
		judge_failure(w, r, failed_errno(w));
	return empty_dir(w->dir, f);
}

/* --- the window ----------------------------------------------------------- */

/* The CPU time of a load that goes on cannot be told, unless none runs */
static void read_processes(const struct window *w, struct counters *c,
			   bool opening)
{
	child_cpu(&w->job.child, opening, c, C_JOB_USER, C_JOB_SYSTEM);
	if (!w->run->load->run) {
		counters_set(c, C_LOAD_USER, 0);
		counters_set(c, C_LOAD_SYSTEM, 0);
	}
}

static void read_groups(const struct window *w, struct counters *c,
			bool opening)
{
	if (!w->g->cgroup2) {
		read_processes(w, c, opening);
		return;
	}
	cgroup_cpu(GROUP_JOB, c, C_JOB_USER, C_JOB_SYSTEM);
	cgroup_cpu(GROUP_LOAD, c, C_LOAD_USER, C_LOAD_SYSTEM);
	cgroup_io(GROUP_JOB, c, C_JOB_READ_BYTES);
	cgroup_io(GROUP_LOAD, c, C_LOAD_READ_BYTES);
}

/* @opening: time and progress are read last, so that reading the rest lies
 * outside the window; at its end they are read first */
static void snapshot(const struct window *w, struct counters *c, bool opening)
{
	memset(c, 0, sizeof(*c));
	for (int pass = 0; pass < 2; pass++) {
		if ((pass == 1) == opening) {
			counters_set(c, C_DONE,
				     atomic_load(&w->g->shared->load.done));
			counters_set(c, C_WALL, now_ns());
		} else {
			read_groups(w, c, opening);
			counters_read_system(c, "", w->g->disks);
		}
	}
}

/* What a sample costs is taken from the job: tests/e2e_sampling.sh */
static int write_sample(struct window *w, const struct run_result *r,
			struct fail *f)
{
	char payload[8192];
	struct counters now, d;
	struct jsonw j;

	if (jw_room(w->g->journal) < SAMPLES_LEAVE_BYTES) {
		if (w->samples_end)
			return 0;
		w->samples_end = true;
		return jw_log(w->g->journal, f, "run %u: no more samples: the "
			      "results disk is nearly full", w->run->number);
	}
	snapshot(w, &now, false);
	d = counters_diff(&w->before, &now);
	jsonw_begin(&j, payload, sizeof(payload));
	jsonw_open(&j, NULL, '{');
	jsonw_u64(&j, "run", w->run->number);
	figures_write(&j, w->run, &d, r->per_load, -1);
	jsonw_close(&j, '}');
	if (!jsonw_ok(&j))
		return fail_set(f, 0, "a SAMPLE record is too long");
	return jw_append(w->g->journal, JOURNAL_SAMPLE, payload, f);
}

/* Until the job ends, the load dies or the time is over */
static int wait_for_job(struct window *w, struct run_result *r, struct fail *f)
{
	struct child *const list[] = { &w->job.child, &w->load_child, NULL };
	uint64_t start = w->before.value[C_WALL];
	uint64_t end = start + w->g->plan.run_timeout_s * NS_PER_S;
	uint64_t step = w->g->plan.sample_ms * NS_PER_MS;
	uint64_t next = step ? start + step : end;

	for (;;) {
		if (child_wait(list, next < end ? next : end)) {
			if (!w->job.child.ended)
				check_load(w, r);
			return 0;
		}
		if (now_ns() >= end) {
			run_judge(r, "timed-out", "the job has not ended in %u s",
				  w->g->plan.run_timeout_s);
			return 0;
		}
		if (write_sample(w, r, f) != 0)
			return -1;
		/* One that came too late is left out, not made up for */
		do
			next += step;
		while (next <= now_ns());
	}
}

static int measure(struct window *w, struct run_result *r, struct fail *f)
{
	struct counters after;

	if (job_start(&w->job, f) != 0)
		return -1;
	snapshot(w, &w->before, true);
	if (child_go(&w->job.child, f) != 0 || wait_for_job(w, r, f) != 0)
		return -1;
	snapshot(w, &after, false);
	r->diff = counters_diff(&w->before, &after);
	if (w->job.child.ended)
		r->exit = child_exit_code(&w->job.child);
	if (job_kill(&w->job, f) != 0)
		return -1;
	if (after.value[C_OOM_KILL] > w->oom_kills)
		run_judge(r, "oom", "the kernel ran out of memory and killed a process");
	check_load(w, r);
	return 0;
}

/* --- the whole ------------------------------------------------------------ */

static int write_start(struct guest *g, const struct run *run, struct fail *f)
{
	char payload[512];
	struct jsonw j;

	jsonw_begin(&j, payload, sizeof(payload));
	jsonw_open(&j, NULL, '{');
	jsonw_u64(&j, "run", run->number);
	jsonw_string(&j, "load", run->load->name);
	jsonw_u64(&j, "index", run->index);
	jsonw_close(&j, '}');
	return jw_append(g->journal, JOURNAL_RUN_START, payload, f);
}

static int write_end(struct guest *g, const struct run *run,
		     const struct run_result *r, struct fail *f)
{
	char payload[16384];
	struct jsonw j;

	jsonw_begin(&j, payload, sizeof(payload));
	jsonw_open(&j, NULL, '{');
	jsonw_u64(&j, "run", run->number);
	jsonw_string(&j, "load", run->load->name);
	jsonw_u64(&j, "index", run->index);
	jsonw_string(&j, "verdict", r->verdict);
	if (r->message[0])
		jsonw_string(&j, "message", r->message);
	if (run->load->size_unit) {
		jsonw_u64(&j, "load_size", r->size);
		jsonw_string(&j, "size_unit", run->load->size_unit);
	}
	figures_write(&j, run, &r->diff, r->per_load, r->exit);
	jsonw_close(&j, '}');
	if (!jsonw_ok(&j))
		return fail_set(f, 0, "a RUN_END record is too long");
	return jw_append(g->journal, JOURNAL_RUN_END, payload, f);
}

static void judge_job(struct window *w, struct run_result *r)
{
	char last[256];

	if (r->exit <= 0)
		return;
	job_last_line(last, sizeof(last));
	run_judge(r, job_said_no_space() ? "no-space" : "job-failed",
		  "the job's exit status is %d: %s", r->exit,
		  last[0] ? last : w->run->job->name);
}

static int flush(struct window *w, struct fail *f)
{
	if (!w->run->load->keeps_cache)
		return machine_flush(&w->g->disks[DISK_SWAP], f);
	sync();
	return 0;
}

static int do_run(struct window *w, struct run_result *r, struct fail *f)
{
	struct fail why;

	if (job_prepare(&w->job, &why) != 0) {
		run_judge(r, "job-failed", "prepare: %s", why.text);
		return 0;
	}
	if (prepare_load(w, r, f) != 0)
		return -1;
	r->per_load = w->run->load->per_load(&w->args);
	if (is_ok(r) && (flush(w, f) != 0 || start_load(w, r, f) != 0))
		return -1;
	if (is_ok(r) && measure(w, r, f) != 0)
		return -1;
	judge_job(w, r);
	return stop_load(w, r, f);
}

static void set_deadline(struct guest *g, const struct run *run)
{
	const struct load_args a = {
		.cpus = g->plan.cpus, .mem = g->plan.mem,
		.size = guest_plan_size(&g->plan, run->load->name),
	};
	char phase[128];

	snprintf(phase, sizeof(phase), "run %u, %s", run->number,
		 run->load->name);
	guest_deadline(g, JOB_PREPARE_S + LOAD_PREPARE_S +
		       proof_s(run->load, &a) + g->plan.lead_ms / 1000 +
		       g->plan.run_timeout_s + STOP_S + MARGIN_S, phase);
}

int run_one(struct guest *g, const struct run *run, struct run_result *result,
	    struct fail *f)
{
	static struct window w;

	*result = (struct run_result){ .verdict = "ok", .exit = -1 };
	set_deadline(g, run);
	if (start_window(&w, g, run, f) != 0 || write_start(g, run, f) != 0)
		return -1;
	result->per_load = run->load->per_load(&w.args);
	result->size = run->load->size ? run->load->size(&w.args) : 0;
	if (run->load->work_disk && g->no_work_disk)
		run_judge(result, "load-failed", "not run: no work disk");
	else if (run->load->other_disk && !g->disks[DISK_OTHER].present)
		run_judge(result, "load-failed", "not run: no other disk");
	else if (do_run(&w, result, f) != 0)
		return -1;
	if (result->exit > 0 && job_log(g->journal, f) != 0)
		return -1;
	return write_end(g, run, result, f);
}

int run_warm_up(struct guest *g, const struct run *run, struct fail *f)
{
	static struct window w;
	struct child *const list[] = { &w.job.child, NULL };

	set_deadline(g, run);
	if (start_window(&w, g, run, f) != 0 || job_prepare(&w.job, f) != 0 ||
	    job_start(&w.job, f) != 0 || child_go(&w.job.child, f) != 0)
		return -1;
	/* A job that fails or hangs now does so in the run, too, where it is
	 * judged */
	child_wait(list, now_ns() + g->plan.run_timeout_s * NS_PER_S);
	return job_kill(&w.job, f);
}
