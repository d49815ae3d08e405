/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bisect_measure.c - kernels that are built, boots that are real
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/statvfs.h>

#include "host/bisect.h"
#include "host/bisect_figures.h"
#include "host/run_boots.h"
#include "images/kbuild.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

/* With less than that, it was not the commit that failed. */
#define ROOM_BYTES ((uint64_t)64 << 20)

/* --- whose fault? ------------------------------------------------------------------- */

static bool no_room(const char *dir)
{
	struct statvfs v;

	return !statvfs(dir, &v) && (uint64_t)v.f_bavail * v.f_frsize < ROOM_BYTES;
}

/*
 * blame() - a kernel could not be had: the commit's fault, and then the reason goes to
 * @skip, or this host's, and then it is a failure
 */
static int blame(const struct bisect_host *h, const char *what, const struct error *why,
		 char **skip, struct error *err)
{
	static const int ours[] = {
		ENOSPC, EDQUOT, EIO, ENOMEM, EMFILE, ENFILE, EROFS, EACCES, EPERM,
	};
	bool full = no_room(h->cache->dir) || no_room(h->data_dir);

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		full = full || why->errnum == ours[i];
	if (full || strstr(why->text, "was killed by signal"))
		return error_set(err, why->errnum, "%s: %s; when that is mended, go on with `kontest bisect --resume`",
				 what, why->text);
	*skip = xasprintf("%s: %s", what, why->text);
	return 0;
}

/* --- the plan ------------------------------------------------------------------------ */

/* plan_of() - how a boot is measured, without kernels */
static int plan_of(const struct bisect *b, struct plan *p, struct error *err)
{
	cleanup_free char *path = bisect_file(b, "plan.ini");

	plan_init(p);
	if (plan_read(p, path, err) < 0)
		return -1;
	/* What it was at first, without another probe for each commit */
	return b->machine[MACHINE_accel] ?
	       plan_set(p, "accel", b->machine[MACHINE_accel], err) : 0;
}

static int add_kernel(const struct bisect_host *h, const struct bisect *b, size_t step,
		      struct plan *p, struct error *err)
{
	const struct bisect_step *s = &b->steps.v[step];
	cleanup_free char *dir = cache_path(h->cache, "built", s->built, NULL);
	char label[GIT_LABEL];

	bisect_label(s->commit, label);
	if (plan_add_kernel(p, label, dir, err) < 0)
		return -1;
	if (b->cmdline)
		p->kernels.v[p->kernels.n - 1].cmdline = xstrdup(b->cmdline);
	return 0;
}

/* --- the same machine for all --------------------------------------------------------- */

static int same_machine(struct bisect *b, enum bisect_machine m, const char *now,
			struct error *err)
{
	static const char *const what[MACHINE_COUNT] = {
#define X(member, name) name,
		BISECT_MACHINE(X)
#undef X
	};

	if (!b->machine[m])
		b->machine[m] = xstrdup(now);
	if (!strcmp(b->machine[m], now))
		return 0;
	return error_set(err, 0, "the %s is '%s' now and was '%s' when bisect %.8s began, so that new boots cannot be compared with those before: go back to that one, or begin anew",
			 what[m], now, b->machine[m], b->id);
}

static int check_machine(struct bisect *b, const struct experiment *e, struct error *err)
{
	if (same_machine(b, MACHINE_profile, e->profile.digest, err) < 0 ||
	    same_machine(b, MACHINE_guest, e->guest_digest, err) < 0 ||
	    same_machine(b, MACHINE_base, e->base.digest, err) < 0 ||
	    same_machine(b, MACHINE_work, e->work.digest, err) < 0 ||
	    same_machine(b, MACHINE_accel, accel_name(e->accel), err) < 0 ||
	    same_machine(b, MACHINE_bus, e->accel == ACCEL_EXACT ? "NVDIMM" :
			 kernel_bus_name(e->bus), err) < 0 ||
	    same_machine(b, MACHINE_qemu, e->qemu.version, err) < 0)
		return -1;
	return bisect_save(b, err);
}

/* --- a commit's kernel ------------------------------------------------------------------ */

/* build() - its configuration and what is built of it; fails for whatever reason */
static int build(const struct bisect_host *h, const struct bisect *b, struct kbuild *k,
		 struct error *err)
{
	cleanup_free char *tree = bisect_file(b, "tree");
	cleanup_free char *config = bisect_file(b, "config");
	cleanup_free char *fragment = bisect_file(b, "fragment");
	const struct kbuild_opts o = {
		.source = tree,
		.config = strcmp(b->kbuild.config, "file") ? b->kbuild.config : config,
		.fragment = b->kbuild.fragment ? fragment : NULL,
		.sets = b->kbuild.sets,
		.jobs = b->kbuild.jobs,
	};

	return kbuild(h->cache, &o, k, err);
}

/* known_bus() - the one of the boots before; false: none yet, or exact mode's */
static bool known_bus(const struct bisect *b, enum kernel_bus *bus)
{
	const char *name = b->machine[MACHINE_bus];

	for (unsigned int i = 0; name && i < KERNEL_BUSES; i++) {
		*bus = (enum kernel_bus)i;
		if (!strcmp(name, kernel_bus_name(*bus)))
			return true;
	}
	return false;
}

static int check_bus(const struct bisect *b, const struct kernel *k, struct error *err)
{
	unsigned int buses;
	enum kernel_bus bus;

	if (!known_bus(b, &bus))
		return 0;
	if (kernel_disk_buses(k, &buses, err) < 0)
		return -1;
	return buses & (1u << bus) ? 0 :
	       error_set(err, 0, "it has no driver for disks on %s, which all others were measured on",
			 kernel_bus_name(bus));
}

/* can_boot() - what kontest needs is in it, too */
static int can_boot(const struct bisect_host *h, const struct bisect *b,
		    const struct kbuild *k, struct error *err)
{
	const struct kernel_opts o = { .label = "commit" };
	struct experiment e = { 0 };
	struct plan plan = { 0 };
	struct kernel kernel = { 0 };
	int ret = -1;

	if (plan_of(b, &plan, err) == 0 &&
	    experiment_profile(&e, &plan, h->cache, err) == 0 &&
	    kernel_resolve(h->cache, k->dir, &o, &kernel, err) == 0)
		ret = kernel_preflight(&kernel, e.accel == ACCEL_EXACT ? KERNEL_EXACT : 0,
				       NULL, err);
	if (!ret)
		ret = check_bus(b, &kernel, err);
	kernel_free(&kernel);
	experiment_free(&e);
	plan_free(&plan);
	return ret;
}

/* run_boots() leaves its own behind, and make must not die alone. */
static void default_signals(void)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

static int next_order(const struct bisect *b)
{
	int next = 0;

	for (size_t i = 0; i < b->steps.n; i++)
		if (b->steps.v[i].order >= next)
			next = b->steps.v[i].order + 1;
	return next;
}

static int real_prepare(void *data, struct bisect *b, size_t step, char **skip,
			struct error *err)
{
	const struct bisect_host *h = data;
	struct bisect_step *s = &b->steps.v[step];
	CLEANUP(kbuild_free) struct kbuild k = { 0 };
	struct error why = { 0 };

	default_signals();
	if (build(h, b, &k, &why) < 0)
		return blame(h, "does not build", &why, skip, err);
	if (same_machine(b, MACHINE_compiler, k.compiler, err) < 0)
		return -1;
	if (*s->built && strcmp(s->built, k.key))
		return error_set(err, 0, "commit %.12s is built otherwise than before (linker or files of its tree have changed); go back, or begin anew",
				 s->commit);
	if (can_boot(h, b, &k, &why) < 0)
		return blame(h, "cannot boot", &why, skip, err);
	memcpy(s->built, k.key, sizeof(s->built));
	if (s->order < 0)
		s->order = next_order(b);
	return 0;
}

/* --- boots ------------------------------------------------------------------------------- */

/*
 * place_candidates() - each at its order in the whole bisect, so that all boots are of one
 * run; those that are not booted now have a label and no more
 */
static void place_candidates(struct experiment *e, const struct bisect *b,
			     const size_t *steps, size_t n)
{
	size_t all = (size_t)next_order(b);
	struct candidate *placed = xcalloc(all, sizeof(*placed));

	for (size_t i = 0; i < b->steps.n; i++) {
		const struct bisect_step *s = &b->steps.v[i];
		char label[GIT_LABEL];

		bisect_label(s->commit, label);
		if (s->order >= 0)
			placed[s->order].kernel.label = xstrdup(label);
	}
	for (size_t i = 0; i < n; i++) {
		const struct bisect_step *s = &b->steps.v[steps[i]];
		struct candidate *c = &placed[s->order];

		free(c->kernel.label);
		*c = e->candidates[i];
		/* Where it lies in the cache says nothing to anybody. */
		free(c->kernel.spec);
		c->kernel.spec = xasprintf("git:%s", s->commit);
	}
	free(e->candidates);
	e->candidates = placed;
	e->n_candidates = all;
}

/* place_boots() - in the order that was drawn, those that are missing of each step */
static void place_boots(struct experiment *e, const struct bisect *b,
			const struct boot_records *had, const size_t *steps, size_t n,
			unsigned int boots)
{
	struct planned_boots drawn = { 0 };
	unsigned int index = figures_last_index(had);
	cleanup_free unsigned int *next = xcalloc(n + 1, sizeof(*next));

	order_boots(n, boots, e->plan->order_seed, &drawn);
	planned_boots_free(&e->boots);
	for (size_t i = 0; i < drawn.n; i++) {
		size_t k = drawn.v[i].kernel;
		int order = b->steps.v[steps[k]].order;

		do
			next[k]++;
		while (next[k] <= boots && figures_has_boot(had, order, next[k]));
		if (next[k] > boots)
			continue;
		index++;
		planned_boots_add(&e->boots, (struct planned_boot){
			.kernel = (size_t)order, .number = next[k], .index = index });
	}
	planned_boots_free(&drawn);
}

static int boot(const struct bisect_host *h, struct bisect *b, struct experiment *e,
		struct error *err)
{
	const struct run_opts o = {
		.uri = h->uri,
		.parallel = boots_side_by_side(e->accel, h->parallel),
		.data_dir = h->data_dir,
		.store = h->store,
		.store_path = b->store,
	};
	enum verdict worst = VERDICT_OK;
	int ret;

	if (!e->boots.n)
		return 0;
	memcpy(e->run_id, b->id, sizeof(e->run_id));
	ret = run_boots(e, &o, &worst, err);
	default_signals();
	return ret;
}

static int measure(const struct bisect_host *h, struct bisect *b, struct plan *p,
		   struct experiment *e, const size_t *steps, size_t n,
		   unsigned int boots, struct error *err)
{
	CLEANUP(boot_records_clear) struct boot_records had = { 0 };
	enum kernel_bus bus;

	if (plan_of(b, p, err) < 0)
		return -1;
	p->boots = boots;
	for (size_t i = 0; i < n; i++)
		if (add_kernel(h, b, steps[i], p, err) < 0)
			return -1;
	if (plan_finish(p, err) < 0 || experiment_profile(e, p, h->cache, err) < 0 ||
	    experiment_build(e, h->locked, false, err) < 0 ||
	    experiment_schedule(e, err) < 0)
		return -1;
	/* One kernel alone might get a faster one than all of them have. */
	if (known_bus(b, &bus))
		e->bus = bus;
	if (e->accel_note)
		fprintf(stderr, "kontest: %s\n", e->accel_note);
	if (check_machine(b, e, err) < 0 || figures_load(h->store, b->id, &had, err) < 0)
		return -1;
	place_candidates(e, b, steps, n);
	place_boots(e, b, &had, steps, n, boots);
	return boot(h, b, e, err);
}

/* missing_boot() - of these steps; 1: @step and @number say which, 0: none, -1 */
static int missing_boot(const struct bisect_host *h, const struct bisect *b,
			const size_t *steps, size_t n, unsigned int boots, size_t *step,
			unsigned int *number, struct error *err)
{
	CLEANUP(boot_records_clear) struct boot_records now = { 0 };

	if (figures_load(h->store, b->id, &now, err) < 0)
		return -1;
	for (*step = 0; *step < n; ++*step)
		for (*number = 1; *number <= boots; ++*number)
			if (!figures_has_boot(&now, b->steps.v[steps[*step]].order, *number))
				return 1;
	return 0;
}

static int real_measure(void *data, struct bisect *b, const size_t *steps, size_t n,
			unsigned int boots, struct error *err)
{
	const struct bisect_host *h = data;
	unsigned int number = 0;
	int missing = 1;
	size_t step = 0;

	for (int tries = 0; missing > 0 && tries < FIGURES_TRIES; tries++) {
		struct experiment e = { 0 };
		struct plan plan = { 0 };
		int ret = measure(h, b, &plan, &e, steps, n, boots, err);

		experiment_free(&e);
		plan_free(&plan);
		if (ret < 0)
			return -1;
		missing = missing_boot(h, b, steps, n, boots, &step, &number, err);
	}
	if (missing <= 0)
		return missing;
	/* Whose QEMU somebody killed: that says nothing about the kernel. */
	return error_set(err, 0, "boot %u of commit %.12s was killed; `kontest bisect --resume %.8s` does it again",
			 number, b->steps.v[steps[step]].commit, b->id);
}

static int real_figures(void *data, const struct bisect *b, size_t step,
			struct nested *out, char **skip, struct error *err)
{
	const struct bisect_host *h = data;
	CLEANUP(boot_records_clear) struct boot_records boots = { 0 };

	if (b->steps.v[step].order < 0)
		return 0;
	if (figures_load(h->store, b->id, &boots, err) < 0)
		return -1;
	return figures_take(&boots, b->steps.v[step].order, b->load,
			    bisect_metric(b->metric), out, skip, err);
}

static void real_say(void *data, const char *line)
{
	(void)data;
	fprintf(stderr, "bisect: %s\n", line);
}

struct bisect_ops bisect_real_ops(struct bisect_host *h)
{
	return (struct bisect_ops){
		.prepare = real_prepare, .measure = real_measure,
		.figures = real_figures, .say = real_say, .data = h,
	};
}
