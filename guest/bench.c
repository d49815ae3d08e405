/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench.c - a benchmark in its window
 *
 *	flush  starts ... stands ready [ ... ] has ended
 *	       benchmark                window
 */
#include "guest/bench.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/child.h"
#include "guest/figures.h"
#include "guest/json.h"
#include "guest/machine.h"

#define BENCH_DIR WORK_DIR "/bench"
#define READY_S 300		/* for a benchmark to stand ready */
#define READY_STEP_MS 10
#define LOOK_MS 1000		/* has one of its threads failed? */
#define MARGIN_S 300

/* struct stage - a benchmark while it is under way */
struct stage {
	struct guest *g;
	struct bench_args args;
	const struct bench_ops *ops;
	struct child child;
	struct child_opts opts;
	struct counters before;
};

int bench_check(const struct plan *p, const char *name, struct fail *f)
{
	const struct bench_ops *ops = bench_find(name);

	if (!ops)
		return fail_set(f, 0, "the plan's benchmark '%s' is unknown to "
				"this guest", name);
	for (int i = 0; ops->settings[i].name; i++)
		if (p->bench[bench_index(ops)].of[i].n == 0)
			return fail_set(f, 0, "the plan has no line "
					"'bench.%s.%s='", name,
					ops->settings[i].name);
	return 0;
}

int loopback_up(struct fail *f)
{
	struct ifreq r = { .ifr_name = "lo" };
	auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fail_set(f, errno, "make a socket (CONFIG_INET)");
	if (ioctl(fd, SIOCGIFFLAGS, &r) != 0)
		return fail_set(f, errno, "look at the interface lo");
	if (r.ifr_flags & IFF_UP)
		return 0;
	r.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &r) != 0)
		return fail_set(f, errno, "bring the interface lo up");
	return 0;
}

/* --- the window ----------------------------------------------------------- */

static void read_group(const struct stage *s, struct counters *c, bool opening)
{
	if (!s->g->cgroup2) {
		child_cpu(&s->child, opening, c, C_JOB_USER, C_JOB_SYSTEM);
		return;
	}
	cgroup_cpu(GROUP_JOB, c, C_JOB_USER, C_JOB_SYSTEM);
	cgroup_io(GROUP_JOB, c, C_JOB_READ_BYTES);
}

/* The time is read on the side of the benchmark: reading the rest lies outside */
static void snapshot(const struct stage *s, struct counters *c, bool opening)
{
	memset(c, 0, sizeof(*c));
	if (!opening)
		counters_set(c, C_WALL, now_ns());
	read_group(s, c, opening);
	counters_read_system(c, "", s->g->disks);
	if (opening)
		counters_set(c, C_WALL, now_ns());
}

static int failed_errno(const struct stage *s)
{
	return atomic_load(&s->g->shared->bench.failed);
}

static void judge_failure(const struct stage *s, struct run_result *r)
{
	int err = failed_errno(s);

	run_judge(r, err == ENOSPC ? "no-space" : "job-failed", "%s",
		  s->g->shared->bench.message);
}

/* Until it has ended, has failed, or @until_ns; Return: it has ended */
static bool wait_end(struct stage *s, uint64_t until_ns, unsigned int step_ms,
		     const atomic_int *ready)
{
	struct child *const list[] = { &s->child, NULL };

	while (now_ns() < until_ns && !failed_errno(s)) {
		uint64_t next = now_ns() + step_ms * NS_PER_MS;

		if (child_wait(list, next < until_ns ? next : until_ns))
			return true;
		if (ready && atomic_load(ready))
			return false;
	}
	return s->child.ended;
}

static int open_window(struct stage *s, struct fail *f)
{
	snapshot(s, &s->before, true);
	if (bench_wake(s->args.shared) != 0)
		return fail_set(f, errno, "wake the benchmark");
	return 0;
}

static void judge_end(struct stage *s, struct run_result *r,
		      uint64_t oom_kills)
{
	if (oom_kills && !s->ops->survives_oom)
		run_judge(r, "oom", "the kernel ran out of memory and killed a process");
	if (failed_errno(s))
		judge_failure(s, r);
	else if (!s->child.ended)
		run_judge(r, "timed-out", "%s has not ended in %u s", s->ops->name,
			  s->g->plan.run_timeout_s);
	else if (r->exit != 0)
		run_judge(r, "job-failed", "%s ended with status %d", s->ops->name,
			  r->exit);
}

static int measure(struct stage *s, struct run_result *r, struct fail *f)
{
	struct counters after;

	if (wait_end(s, now_ns() + READY_S * NS_PER_S, READY_STEP_MS,
		     &s->args.shared->ready) || failed_errno(s) ||
	    !atomic_load(&s->args.shared->ready)) {
		if (failed_errno(s))
			judge_failure(s, r);
		run_judge(r, "job-failed", "%s was not ready in %d s or ended before",
			  s->ops->name, READY_S);
		return child_kill(&s->child, &s->opts, f);
	}
	if (open_window(s, f) != 0)
		return -1;
	wait_end(s, s->before.value[C_WALL] +
		 s->g->plan.run_timeout_s * NS_PER_S, LOOK_MS, NULL);
	snapshot(s, &after, false);
	r->diff = counters_diff(&s->before, &after);
	if (s->child.ended)
		r->exit = child_exit_code(&s->child);
	judge_end(s, r, r->diff.value[C_OOM_KILL]);
	return child_kill(&s->child, &s->opts, f);
}

/* --- the whole ------------------------------------------------------------ */

static int bench_main(void *arg)
{
	const struct stage *s = arg;

	return s->ops->run(&s->args) == 0 ? 0 : 1;
}

static int do_bench(struct stage *s, struct run_result *r, struct fail *f)
{
	if (s->ops->network && loopback_up(f) != 0)
		return -1;
	if (machine_flush(&s->g->disks[DISK_SWAP], f) != 0)
		return -1;
	s->opts = (struct child_opts){
		.cgroup = s->g->cgroup2, .group = GROUP_JOB, .dir = BENCH_DIR,
		.main = bench_main, .arg = s,
	};
	if (child_start(&s->opts, &s->child, f) != 0 ||
	    child_go(&s->child, f) != 0)
		return -1;
	return measure(s, r, f);
}

static void write_head(struct jsonw *j, const struct bench_ops *ops,
		       unsigned int number, unsigned int index)
{
	jsonw_open(j, NULL, '{');
	jsonw_u64(j, "run", number);
	jsonw_string(j, "bench", ops->name);
	jsonw_u64(j, "index", index);
}

static int write_start(struct guest *g, const struct bench_ops *ops,
		       unsigned int number, unsigned int index, struct fail *f)
{
	char payload[256];
	struct jsonw j;

	jsonw_begin(&j, payload, sizeof(payload));
	write_head(&j, ops, number, index);
	jsonw_close(&j, '}');
	return jw_append(g->journal, JOURNAL_RUN_START, payload, f);
}

void bench_result_json(struct jsonw *j, const struct bench_ops *ops,
		       const struct bench_settings *set,
		       const struct bench_shared *s)
{
	size_t n = atomic_load(&s->n);

	jsonw_open(j, "settings", '{');
	for (int i = 0; ops->settings[i].name; i++) {
		const struct bench_values *v = &set->of[i];

		if (ops->settings[i].list)
			jsonw_open(j, ops->settings[i].name, '[');
		for (size_t k = 0; k < v->n; k++)
			jsonw_u64(j, ops->settings[i].list ? NULL :
				  ops->settings[i].name, v->v[k]);
		if (ops->settings[i].list)
			jsonw_close(j, ']');
	}
	jsonw_close(j, '}');
	jsonw_open(j, "rows", '[');
	for (size_t i = 0; i < n; i++) {
		jsonw_open(j, NULL, '{');
		if (ops->kinds)
			jsonw_string(j, "phase", ops->kinds[s->rows[i].kind]);
		for (int k = 0; ops->figures[k]; k++)
			if (s->rows[i].v[k] != BENCH_FIGURE_NONE)
				jsonw_u64(j, ops->figures[k], s->rows[i].v[k]);
		jsonw_close(j, '}');
	}
	jsonw_close(j, ']');
}

static int write_end(const struct stage *s, unsigned int number,
		     unsigned int index, const struct run_result *r,
		     struct fail *f)
{
	static char payload[JOURNAL_PAYLOAD_MAX];
	struct jsonw j;

	jsonw_begin(&j, payload, sizeof(payload));
	write_head(&j, s->ops, number, index);
	jsonw_string(&j, "verdict", r->verdict);
	if (r->message[0])
		jsonw_string(&j, "message", r->message);
	bench_result_json(&j, s->ops, s->args.set, s->args.shared);
	figures_write(&j, NULL, &r->diff, 0, r->exit);
	jsonw_close(&j, '}');
	if (!jsonw_ok(&j))
		return fail_set(f, 0, "a RUN_END record is too long");
	return jw_append(s->g->journal, JOURNAL_RUN_END, payload, f);
}

static int start_stage(struct stage *s, struct guest *g,
		       const struct bench_ops *ops, struct fail *f)
{
	*s = (struct stage){ .g = g, .ops = ops, .child = CHILD_NONE };
	s->args = (struct bench_args){
		.shared = &g->shared->bench, .dir = BENCH_DIR,
		.set = &g->plan.bench[bench_index(ops)],
		.drop_caches = "/proc/sys/vm/drop_caches",
		.threads_max = "/proc/sys/kernel/threads-max",
	};
	memset(&g->shared->bench, 0, sizeof(g->shared->bench));
	guest_deadline(g, READY_S + g->plan.run_timeout_s + MARGIN_S,
		       ops->name);
	if (make_dir(BENCH_DIR, 0755, f) != 0)
		return -1;
	return empty_dir(BENCH_DIR, f);
}

int bench_one(struct guest *g, const struct bench_ops *ops, unsigned int number,
	      unsigned int index, struct run_result *result, struct fail *f)
{
	static struct stage s;

	*result = (struct run_result){ .verdict = "ok", .exit = -1 };
	if (start_stage(&s, g, ops, f) != 0 ||
	    write_start(g, ops, number, index, f) != 0)
		return -1;
	if (ops->work_disk && g->no_work_disk)
		run_judge(result, "job-failed", "not run: no work disk");
	else if (do_bench(&s, result, f) != 0)
		return -1;
	if (empty_dir(BENCH_DIR, f) != 0)
		return -1;
	return write_end(&s, number, index, result, f);
}
