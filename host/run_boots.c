/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/run_boots.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/progress.h"
#include "host/receipt.h"
#include "host/recover.h"
#include "results/base/cleanup.h"
#include "results/base/clock.h"
#include "results/base/file.h"

#define POLL_MS 200

/* struct running - a boot in a process of its own */
struct running {
	pid_t pid;
	const struct planned_boot *boot;
	struct boot_progress *progress;
	char *dir;
	char *journal;
	struct journal_tail tail;
};

struct runner {
	const struct experiment *e;
	const struct run_opts *o;
	char *dir;
	struct progress progress;
	struct running *slots;
	enum verdict worst;
	unsigned int unstored;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

static void watch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

/* What boot @r is made of; @check and @name must live as long as @cfg. */
static void boot_settings(const struct runner *s, const struct running *r,
			  const char *name, struct receipt_check *check,
			  struct boot_config *cfg)
{
	const struct experiment *e = s->e;
	const struct candidate *c = &e->candidates[r->boot->kernel];

	*check = (struct receipt_check){
		.profile = &e->profile,
		.release = c->kernel.release,
		.cmdline = c->cmdline,
		.system_bytes = c->system.size,
		.accel = e->accel,
	};
	experiment_boot(e, r->boot->kernel, cfg);
	cfg->name = name;
	cfg->uri = s->o->uri;
	cfg->dir = r->dir;
	cfg->results.path = r->journal;
	cfg->receipt = receipt_matches;
	cfg->receipt_data = check;
}

static char *domain_name(const struct runner *s, const struct running *r)
{
	return xasprintf("kontest-%.8s-%u", s->e->run_id, r->boot->index);
}

/* In the child: one boot, from start to verdict. */
static int boot_child(const struct runner *s, const struct running *r)
{
	cleanup_free char *name = domain_name(s, r);
	cleanup_free char *file = xasprintf("%s/error", r->dir);
	struct receipt_check check;
	struct boot_config cfg;
	struct error err = { 0 };
	enum verdict verdict;

	boot_settings(s, r, name, &check, &cfg);
	if (!boot_run(&cfg, &verdict, &err))
		return 0;
	file_write(file, err.text, strlen(err.text), NULL);
	return 1;
}

/* In the parent: the child died before it could judge. */
static int bury_boot(const struct runner *s, const struct running *r,
		     struct error *err)
{
	cleanup_free char *name = domain_name(s, r);
	struct receipt_check check;
	struct boot_config cfg;
	enum verdict verdict;

	boot_settings(s, r, name, &check, &cfg);
	return boot_bury(&cfg, &verdict, err);
}

static int make_journal(const struct runner *s, const struct running *r,
			struct error *err)
{
	cleanup_free char *plan = r->boot->guest_plan ? xstrdup(r->boot->guest_plan) :
				  guest_plan(s->e, r->boot);
	cleanup_free char *context = boot_context(s->e, r->boot);
	cleanup_close int fd = -1;
	int failed;

	if (!context)
		return error_set(err, 0, "a name or text of the plan is not valid UTF-8");
	if (journal_create(r->journal, s->e->run_id, plan, context, err) < 0)
		return -1;
	/* QEMU maps it: a full disk must show now, not as SIGBUS in the boot. */
	fd = open(r->journal, O_RDWR | O_CLOEXEC);
	failed = fd < 0 ? errno : posix_fallocate(fd, 0, JOURNAL_DISK_BYTES);
	if (!failed)
		return 0;
	error_set(err, failed, "reserve %d MiB for '%s'",
		  JOURNAL_DISK_BYTES >> 20, r->journal);
	return error_add(err, "; free some space, or choose another directory with XDG_DATA_HOME");
}

static int start_boot(struct runner *s, struct running *r,
		      const struct planned_boot *b, struct error *err)
{
	pid_t self = getpid();

	*r = (struct running){
		.boot = b,
		.progress = &s->progress.boots[b - s->e->boots.v],
		.dir = xasprintf("%s/%u", s->dir, b->index),
		.journal = xasprintf("%s/%u/journal", s->dir, b->index),
		.tail = { .fd = -1, .off = JOURNAL_LOG_OFF },
	};
	if (make_dirs(r->dir, err) < 0 || make_journal(s, r, err) < 0)
		return -1;
	r->tail.fd = open(r->journal, O_RDONLY | O_CLOEXEC);
	if (r->tail.fd < 0)
		return error_set(err, errno, "open '%s'", r->journal);
	fflush(NULL);
	r->pid = fork();
	if (r->pid < 0)
		return error_set(err, errno, "fork");
	if (!r->pid) {
		/* Whatever ends this kontest ends the boot, and that its QEMU. */
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != self)
			_exit(1);
		_exit(boot_child(s, r));
	}
	r->progress->active = true;
	return 0;
}

static int follow(struct runner *s, struct running *r, struct error *err)
{
	struct journal_entry entry;
	int ret;

	while ((ret = journal_next(&r->tail, &entry, err)) > 0) {
		progress_record(&s->progress, r->progress, &entry);
		free(entry.payload);
	}
	return ret;
}

static int keep_console(const struct runner *s, const struct running *r,
			struct error *err)
{
	cleanup_free char *from = xasprintf("%s/console.log", r->dir);
	cleanup_free char *dir = xasprintf("%s/logs/%s", s->o->data_dir,
					   s->e->run_id);
	cleanup_free char *to = xasprintf("%s/%u.console", dir, r->boot->index);

	if (!path_exists(from))
		return 0;
	if (make_dirs(dir, err) < 0)
		return -1;
	if (rename(from, to) < 0)
		return error_set(err, errno, "rename '%s' to '%s'", from, to);
	return 0;
}

static void running_end(struct running *r)
{
	cleanup_closep(&r->tail.fd);
	free(r->dir);
	free(r->journal);
	*r = (struct running){ .tail = { .fd = -1 } };
}

/* The boot's process has ended: judge, store, tidy up. */
static int finish_boot(struct runner *s, struct running *r, struct error *err)
{
	cleanup_free char *error_file = xasprintf("%s/error", r->dir);
	cleanup_free char *evidence = NULL;
	char id[SHA256_HEX];
	enum verdict v;

	if (path_exists(error_file)) {
		CLEANUP(buf_free) struct buf text = { 0 };

		if (file_read(error_file, ERROR_TEXT_MAX, &text, err) < 0)
			return -1;
		return error_set(err, 0, "%s", text.data);
	}
	if (follow(s, r, err) < 0)
		return -1;
	if (!journal_verdict(r->journal, &v, &evidence, err) &&
	    (bury_boot(s, r, err) < 0 ||
	     !journal_verdict(r->journal, &v, &evidence, err)))
		return -1;
	r->progress->active = false;
	if (v != VERDICT_OK)
		progress_say(&s->progress, "  %s, boot %u: %s: %s",
			     r->progress->label, r->boot->number,
			     verdict_name(v), evidence);
	if (r->progress->worst > s->worst)
		s->worst = r->progress->worst;
	if (v > s->worst)
		s->worst = v;
	if (store_add(s->o->store, r->journal, id, err) < 0) {
		s->unstored++;
		return -1;
	}
	if (keep_console(s, r, err) < 0 || remove_tree(r->dir, err) < 0)
		return -1;
	return 0;
}

static int reap(struct runner *s, struct error *err)
{
	for (unsigned int i = 0; i < s->o->parallel; i++) {
		struct running *r = &s->slots[i];
		int wstatus, ret;
		pid_t pid;

		if (!r->pid)
			continue;
		if (follow(s, r, err) < 0)
			return -1;
		pid = waitpid(r->pid, &wstatus, WNOHANG);
		if (pid < 0 && errno != EINTR)
			return error_set(err, errno, "wait for a boot");
		if (pid <= 0)
			continue;
		ret = finish_boot(s, r, err);
		running_end(r);
		if (ret < 0)
			return -1;
	}
	return 0;
}

static struct running *free_slot(struct runner *s)
{
	for (unsigned int i = 0; i < s->o->parallel; i++)
		if (!s->slots[i].pid)
			return &s->slots[i];
	return NULL;
}

static unsigned int active(const struct runner *s)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < s->o->parallel; i++)
		n += s->slots[i].pid != 0;
	return n;
}

/* After a failure: ask every boot to end, keep what it had written. */
static void stop_all(struct runner *s)
{
	for (unsigned int i = 0; i < s->o->parallel; i++)
		if (s->slots[i].pid)
			kill(s->slots[i].pid, SIGTERM);
	for (unsigned int i = 0; i < s->o->parallel; i++) {
		struct running *r = &s->slots[i];
		int wstatus = 0;

		if (!r->pid)
			continue;
		for (int tries = 0; waitpid(r->pid, &wstatus, WNOHANG) == 0; tries++) {
			if (tries == 20000 / POLL_MS)
				kill(r->pid, SIGKILL);
			sleep_ms(POLL_MS);
		}
		finish_boot(s, r, NULL);
		running_end(r);
	}
}

static unsigned int runs_of_boot(const struct plan *p)
{
	unsigned int runs = plan_bench_runs(&p->bench);

	for (size_t i = 0; i < p->loads.n; i++)
		runs += p->loads.v[i].runs;
	return runs;
}

/* Room for the boots that were planned since; none runs, so none can be moved. */
static void progress_planned(struct runner *s)
{
	const struct experiment *e = s->e;
	struct progress *p = &s->progress;

	p->boots = xrealloc(p->boots, (e->boots.n + 1) * sizeof(*p->boots));
	for (; p->n < e->boots.n; p->n++) {
		const struct planned_boot *b = &e->boots.v[p->n];

		p->boots[p->n] = (struct boot_progress){
			.label = e->candidates[b->kernel].kernel.label,
			.number = b->number,
		};
		p->runs_total += runs_of_boot(e->plan);
	}
}

/* plan_more() - all boots are done: 1 when there are more now, 0 when not, or -1 */
static int plan_more(struct runner *s, struct error *err)
{
	int ret = s->o->more ? s->o->more(s->o->more_data, err) : 0;

	if (ret > 0)
		progress_planned(s);
	return ret;
}

static int boot_all(struct runner *s, struct error *err)
{
	const struct planned_boots *boots = &s->e->boots;
	size_t next = 0;

	for (;;) {
		struct running *r;

		if (next == boots->n && !active(s)) {
			int ret = plan_more(s, err);

			if (ret <= 0)
				return ret;
		}
		while (next < boots->n && (r = free_slot(s))) {
			if (start_boot(s, r, &boots->v[next++], err) < 0) {
				running_end(r);
				return -1;
			}
		}
		progress_draw(&s->progress);
		sleep_ms(POLL_MS);
		if (reap(s, err) < 0)
			return -1;
		if (interrupted)
			return error_set(err, 0, "interrupted by signal %d; finished boots are kept, `kontest report` shows them",
					 (int)interrupted);
	}
}

static void runner_progress(struct runner *s)
{
	s->progress = (struct progress){
		.t_start = clock_now_s(),
		.budget_s = 60.0 * s->o->budget_min,
		.tty = isatty(STDERR_FILENO),
	};
	progress_planned(s);
}

/*
 * running/RUN_ID, locked for as long as this process or one of its boots lives.
 * The lock file says who we are and where the results are to go.
 */
static int runner_dir(struct runner *s, struct error *err)
{
	cleanup_free char *lock = NULL, *text = NULL;
	cleanup_close int fd = -1;

	s->dir = xasprintf("%s/running/%s", s->o->data_dir, s->e->run_id);
	lock = xasprintf("%s/lock", s->dir);
	text = xasprintf("%d\n%s\n", (int)getpid(), s->o->store_path);
	if (make_dirs(s->dir, err) < 0)
		return -1;
	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return error_set(err, errno, "lock '%s'", lock);
	if (full_pwrite(fd, text, strlen(text), 0, lock, err) < 0)
		return -1;
	return steal_fd(&fd);
}

unsigned int boots_side_by_side(enum accel accel, unsigned int asked)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (accel != ACCEL_EXACT)
		return 1;
	return asked ? asked : cpus > 1 ? (unsigned int)cpus : 1;
}

int run_boots(const struct experiment *e, const struct run_opts *o,
	      enum verdict *worst, struct error *err)
{
	struct runner s = { .e = e, .o = o, .worst = VERDICT_OK };
	cleanup_close int lock = runner_dir(&s, err);
	int ret;

	if (lock < 0) {
		free(s.dir);
		return -1;
	}
	s.slots = xcalloc(o->parallel, sizeof(*s.slots));
	for (unsigned int i = 0; i < o->parallel; i++)
		s.slots[i].tail.fd = -1;
	runner_progress(&s);
	watch_signals();
	ret = boot_all(&s, err);
	if (ret < 0)
		stop_all(&s);
	progress_end(&s.progress);
	*worst = s.worst;
	if (s.unstored)
		fprintf(stderr, "kontest: what %u boots wrote could not be stored; it is in '%s', and the next `kontest run` stores it\n",
			s.unstored, s.dir);
	else if (remove_tree(s.dir, ret < 0 ? NULL : err) < 0)
		ret = -1;
	free(s.progress.boots);
	free(s.slots);
	free(s.dir);
	return ret;
}
