/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/rerun.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "host/auto_boots.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/journal_file.h"
#include "results/table.h"

#define KERNEL_SECTION "\n[kernel "

static json_int_t context_number(const struct boot_record *b, const char *group,
				 const char *name)
{
	return json_integer_value(context_value(b, group, name));
}

const struct boot_record *rerun_first(const struct rerun *r, size_t kernel)
{
	for (size_t i = 0; i < r->boots.n; i++)
		if (r->boots.v[i].order == (int64_t)kernel)
			return &r->boots.v[i];
	return NULL;
}

static int load_boots(struct rerun *r, const struct strings *journals,
		      struct error *err)
{
	for (size_t i = 0; i < journals->n; i++) {
		struct boot_record b;

		if (boot_record_load(journals->v[i], &b, err) < 0)
			return -1;
		boot_records_add(&r->boots, b);
		strings_add(&r->journals, xstrdup(journals->v[i]));
		if (strcmp(b.run_id, r->boots.v[0].run_id))
			return error_set(err, 0, "its journals are of several runs, %s and %s",
					 r->boots.v[0].run_id, b.run_id);
	}
	return r->boots.n ? 0 : error_set(err, 0, "it has no journals");
}

/* A text that is read as a file is. */
static int text_file(const char *text, size_t len, char path[64], struct error *err)
{
	cleanup_close int fd = memfd_create("kontest", MFD_CLOEXEC);

	if (fd < 0)
		return error_set(err, errno, "make a file in memory");
	if (full_pwrite(fd, text, len, 0, "a file in memory", err) < 0)
		return -1;
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return steal_fd(&fd);
}

/* The kernels are known from the boots: their sections, which may lack a label,
 * are left out. The text and the digest stay the author's. */
static int load_plan(struct rerun *r, struct error *err)
{
	const struct boot_record *b = &r->boots.v[0], *first;
	const char *text = context_text(b, "plan", "text");
	const char *kernels = strstr(text, KERNEL_SECTION);
	size_t len = kernels ? (size_t)(kernels - text) : strlen(text);
	char path[64];
	cleanup_close int fd = text_file(text, len, path, err);

	if (fd < 0 || plan_read(&r->plan, path, err) < 0)
		return -1;
	for (size_t k = 0; (first = rerun_first(r, k)); k++)
		if (plan_add_kernel(&r->plan, first->label,
				    context_text(first, "kernel", "spec"), err) < 0)
			return -1;
	if (plan_finish(&r->plan, err) < 0)
		return -1;
	free(r->plan.text);
	r->plan.text = xstrdup(text);
	sha256_of(text, strlen(text), r->plan.digest);
	if (strcmp(r->plan.digest, context_text(b, "plan", "digest")))
		return error_set(err, 0, "its plan is not what its digest says");
	r->plan.order_seed = (uint64_t)context_number(b, "plan", "order_seed");
	r->plan.seed_set = true;
	r->plan.jobs = (unsigned int)context_number(b, "job", "jobs");
	return 0;
}

static int load_profile(struct rerun *r, struct error *err)
{
	const struct boot_record *b = &r->boots.v[0];
	const char *text = context_text(b, "profile", "text");
	struct profile *p = &r->e.profile;
	char path[64];
	cleanup_close int fd = text_file(text, strlen(text), path, err);

	if (fd < 0 || profile_load(path, p, err) < 0)
		return -1;
	if (strcmp(p->digest, context_text(b, "profile", "digest")))
		return error_set(err, 0, "its profile is not what its digest says");
	snprintf(p->name, sizeof(p->name), "%s", context_text(b, "profile", "name"));
	return 0;
}

static int take_digest(const struct boot_record *b, const char *group,
		       const char *name, char out[SHA256_HEX], struct error *err)
{
	const char *s = context_text(b, group, name);

	if (!sha256_is(s))
		return error_set(err, 0, "its context has no SHA-256 '%s.%s'", group, name);
	memcpy(out, s, SHA256_HEX);
	return 0;
}

static char *text_or_null(const struct boot_record *b, const char *group,
			  const char *name)
{
	const char *s = context_text(b, group, name);

	return *s ? xstrdup(s) : NULL;
}

static int load_candidate(const struct boot_record *b, struct candidate *c,
			  struct error *err)
{
	c->kernel.label = xstrdup(b->label);
	c->kernel.spec = xstrdup(context_text(b, "kernel", "spec"));
	c->kernel.release = xstrdup(context_text(b, "kernel", "release"));
	c->kernel.package_version = text_or_null(b, "kernel", "version");
	c->cmdline = xstrdup(context_text(b, "image", "cmdline"));
	c->tunables = json_incref(context_value(b, "kernel", "tunables"));
	if (take_digest(b, "kernel", "digest", c->kernel.digest, err) < 0 ||
	    take_digest(b, "image", "initramfs", c->initramfs.digest, err) < 0 ||
	    take_digest(b, "image", "system", c->system.digest, err) < 0)
		return -1;
	return 0;
}

/* The boot that knows most kernels: a bisect's first boots know no more than its ends. */
static const struct boot_record *knows_most(const struct rerun *r)
{
	const struct boot_record *most = &r->boots.v[0];

	for (size_t i = 1; i < r->boots.n; i++)
		if (r->boots.v[i].kernels.n > most->kernels.n)
			most = &r->boots.v[i];
	return most;
}

static int load_candidates(struct rerun *r, struct error *err)
{
	const struct boot_record *b = knows_most(r);
	size_t n = b->kernels.n;

	for (size_t i = 0; i < r->boots.n; i++)
		if (r->boots.v[i].order < 0 || (size_t)r->boots.v[i].order >= n)
			return error_set(err, 0, "a boot is of kernel %lld, and its plan has %zu",
					 (long long)r->boots.v[i].order + 1, n);
	r->e.candidates = xcalloc(n + 1, sizeof(*r->e.candidates));
	for (size_t k = 0; k < n; k++) {
		const struct boot_record *first = rerun_first(r, k);

		if (!first)
			return error_set(err, 0, "kernel '%s' never booted, so that nothing is known of its image; run the plan again, or leave that kernel out",
					 b->kernels.v[k]);
		r->e.n_candidates = k + 1;
		if (load_candidate(first, &r->e.candidates[k], err) < 0)
			return error_prefix(err, "kernel '%s'", first->label);
	}
	return n ? 0 : error_set(err, 0, "its plan has no kernels");
}

static int load_disks(struct rerun *r, struct error *err)
{
	const struct boot_record *b = &r->boots.v[0];
	struct experiment *e = &r->e;

	if (take_digest(b, "image", "base", e->base.digest, err) < 0 ||
	    take_digest(b, "image", "lock", e->base.lock_digest, err) < 0 ||
	    take_digest(b, "image", "guest", e->guest_digest, err) < 0 ||
	    take_digest(b, "job", "digest", e->job.digest, err) < 0 ||
	    take_digest(b, "image", "work", e->work.digest, err) < 0)
		return -1;
	snprintf(e->job.config, sizeof(e->job.config), "%s", context_text(b, "job", "config"));
	e->job.package = text_or_null(b, "job", "package");
	if (e->profile.other.present &&
	    take_digest(b, "image", "other", e->other.digest, err) < 0)
		return -1;
	if (e->profile.swap.present &&
	    take_digest(b, "image", "swap", e->swap.digest, err) < 0)
		return -1;
	return 0;
}

/* Contexts without it are of runs when there was virtio alone. */
static int load_bus(struct rerun *r, struct error *err)
{
	const char *name = context_text(&r->boots.v[0], NULL, "disk_bus");

	r->e.bus = KERNEL_BUS_VIRTIO;
	if (!*name || r->e.accel == ACCEL_EXACT)
		return 0;
	for (unsigned int i = 0; i < KERNEL_BUSES; i++) {
		r->e.bus = (enum kernel_bus)i;
		if (!strcmp(name, kernel_bus_name(r->e.bus)))
			return 0;
	}
	return error_set(err, 0, "its disks were on '%s', which this kontest does not know; use a newer one",
			 name);
}

int rerun_load(struct rerun *r, const struct cache *cache,
	       const struct strings *journals, struct error *err)
{
	struct experiment *e = &r->e;

	plan_init(&r->plan);
	e->plan = &r->plan;
	e->cache = cache;
	if (load_boots(r, journals, err) < 0 || load_candidates(r, err) < 0 ||
	    load_plan(r, err) < 0 || load_profile(r, err) < 0 ||
	    load_disks(r, err) < 0)
		return -1;
	if (!accel_parse(context_text(&r->boots.v[0], NULL, "accel"), &e->accel) ||
	    e->accel == ACCEL_AUTO)
		return error_set(err, 0, "its context does not say under which accelerator it ran");
	e->calibration = r->boots.v[0].calibration;
	return load_bus(r, err);
}

static const struct boot_record *by_index(const struct rerun *r, int64_t above)
{
	const struct boot_record *next = NULL;

	for (size_t i = 0; i < r->boots.n; i++) {
		const struct boot_record *b = &r->boots.v[i];

		if (b->index > above && (!next || b->index < next->index))
			next = b;
	}
	return next;
}

void rerun_boots_done(struct rerun *r)
{
	struct planned_boots *boots = &r->e.boots;
	CLEANUP(sizes_free) struct sizes was = { 0 };
	const struct boot_record *b = NULL;

	while ((b = by_index(r, b ? b->index : 0))) {
		struct planned_boot again = {
			.kernel = (size_t)b->order,
			.number = (unsigned int)b->number,
			.index = (unsigned int)boots->n + 1,
		};

		for (size_t i = 0; b->repeats && i < was.n; i++)
			if (was.v[i] == (size_t)b->repeats)
				again.repeats = boots->v[i].index;
		sizes_add(&was, (size_t)b->index);
		planned_boots_add(boots, again);
	}
	r->e.rounds = (unsigned int)table_boots(&r->boots);
}

int rerun_schedule(struct rerun *r, struct error *err)
{
	struct planned_boots *boots = &r->e.boots;

	if (experiment_schedule(&r->e, err) < 0)
		return -1;
	if (auto_planned(&r->plan))
		rerun_boots_done(r);
	for (size_t i = 0; i < r->boots.n; i++) {
		CLEANUP(journal_free) struct journal j = { 0 };

		if (journal_read(r->journals.v[i], &j, err) < 0)
			return -1;
		for (size_t k = 0; k < boots->n; k++) {
			struct planned_boot *b = &boots->v[k];

			if ((int64_t)b->kernel == r->boots.v[i].order &&
			    b->number == r->boots.v[i].number && !b->guest_plan)
				b->guest_plan = steal_ptr(j.plan);
		}
	}
	return 0;
}

void rerun_free(struct rerun *r)
{
	experiment_free(&r->e);
	plan_free(&r->plan);
	boot_records_clear(&r->boots);
	strings_clear(&r->journals);
}
