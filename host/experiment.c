/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/experiment.h"

#include <errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "host/built.h"
#include "host/bus.h"
#include "loads/load.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

/* What the work disk must hold beside a load's file: tree, objects, journal. */
#define WORK_ROOM ((uint64_t)64 << 20)

static int check_size(const struct profile *p, const struct plan_load *l,
		      const struct load_ops *ops, struct error *err)
{
	const struct profile_disk *d = ops->other_disk ? &p->other : &p->work;
	const char *name = ops->other_disk ? "other" : "work";
	uint64_t size = l->size ? l->size : p->memory;

	if (!d->present)
		return error_set(err, 0, "load '%s' works on a second disk, and profile '%s' has none: add a section [disk other], or leave the load out",
				 l->name, p->name);
	/* The others need a disk, but what they write is as large as the tree */
	if (!ops->size_unit || strcmp(ops->size_unit, "bytes"))
		return 0;
	if (size + WORK_ROOM > d->size)
		return error_set(err, 0, "load '%s' writes a file of %llu MiB, but the %s disk of profile '%s' has only %llu MiB: make [disk %s] size larger, or give [size] %s in the plan",
				 l->name, (unsigned long long)(size >> 20), name,
				 p->name, (unsigned long long)(d->size >> 20),
				 name, l->name);
	return 0;
}

static int check_sizes(const struct experiment *e, struct error *err)
{
	const struct plan *p = e->plan;

	for (size_t i = 0; i < p->loads.n; i++) {
		const struct plan_load *l = &p->loads.v[i];
		const struct load_ops *ops = load_find(l->name);

		if (l->runs && ops && (ops->work_disk || ops->other_disk) &&
		    check_size(&e->profile, l, ops, err) < 0)
			return -1;
	}
	return 0;
}

int experiment_profile(struct experiment *e, struct plan *plan,
		       const struct cache *cache, struct error *err)
{
	e->plan = plan;
	e->cache = cache;
	if (profile_load(plan->profile, &e->profile, err) < 0)
		return -1;
	e->accel = plan->accel_set ? plan->accel : e->profile.accel;
	if (e->accel == ACCEL_EXACT && e->profile.cpus > 1)
		return error_set(err, 0, "profile '%s' has %u CPUs, and exact mode runs one only (QEMU hangs while it brings up a second one in virtual time): choose another profile, or --accel tcg",
				 e->profile.name, e->profile.cpus);
	if (!plan->seed_set) {
		/* In exact mode the order cannot matter; elsewhere it is drawn. */
		plan->order_seed = 1;
		if (e->accel != ACCEL_EXACT) {
			uint32_t seed;

			if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
				return error_set(err, errno, "draw a seed");
			plan->order_seed = seed;
		}
	}
	if (!plan->jobs)
		plan->jobs = 4 * e->profile.cpus;
	if (plan_bench_defaults(&plan->bench, &e->profile, err) < 0)
		return -1;
	return check_sizes(e, err);
}

static int build_base(struct experiment *e, bool locked, struct error *err)
{
	cleanup_free char *recipe = xasprintf("%s/images/base.recipe", share_dir());

	return base_build(e->cache, recipe, locked, &e->base, err);
}

static int build_candidate(struct experiment *e, struct candidate *c,
			   struct plan_kernel *k, const char *guest,
			   struct error *err)
{
	struct kernel_opts opts = {
		.label = k->label,
		.modules = k->modules,
		.config = k->config,
	};
	CLEANUP(strings_clear) struct strings notes = { 0 };
	cleanup_free char *image = built_find(k->image, err);
	cleanup_free char *sweep_note = NULL;
	bool exact = e->accel == ACCEL_EXACT;
	unsigned int needs = (exact ? KERNEL_EXACT : 0) |
		(plan_bench_network(&e->plan->bench) ? KERNEL_INET : 0);

	if (!image || kernel_resolve(e->cache, image, &opts, &c->kernel, err) < 0)
		return -1;
	/* Where it lies is the user's own affair. */
	free(c->kernel.spec);
	c->kernel.spec = xstrdup(k->image);
	if (kernel_preflight(&c->kernel, needs, &notes, err) < 0)
		return -1;
	sweep_note = tunables_note(&e->plan->tunables, &c->kernel);
	if (sweep_note)
		strings_add(&notes, steal_ptr(sweep_note));
	for (size_t i = 0; i < notes.n; i++)
		fprintf(stderr, "kontest: note: kernel %s: %s\n",
			c->kernel.label, notes.v[i]);
	if (initramfs_build(e->cache, &c->kernel, guest, carried_plan(),
			    &c->initramfs, err) < 0)
		return -1;
	/* In virtual time the console is as slow as 115200 baud are: three
	 * seconds of a boot, for messages of no interest. */
	c->cmdline = xasprintf("console=ttyS0,115200 panic=-1%s%s%s",
			       exact ? " nokaslr loglevel=5" : "",
			       k->cmdline ? " " : "",
			       k->cmdline ? k->cmdline : "");
	return system_build(e->cache, &e->base, &c->kernel, &c->initramfs,
			    &c->system, err);
}

/* The points of a kernel, behind its baseline @c */
static void add_points(const struct experiment *e, struct candidate *c)
{
	const struct tunables *t = &e->plan->tunables;

	for (size_t p = 0; p < plan_points(t); p++) {
		cleanup_free char *more = point_cmdline(t, p);
		struct candidate *point = &c[p + 1];

		*point = *c;
		point->point = p + 1;
		point->tunables = point_json(t, p);
		point->kernel.label = point_label(t, p, c->kernel.label);
		point->cmdline = xasprintf("%s%s%s", c->cmdline, *more ? " " : "",
					   more);
	}
}

static int build_candidates(struct experiment *e, const char *guest,
			    struct error *err)
{
	const struct plan_kernels *kernels = &e->plan->kernels;
	size_t each = 1 + plan_points(&e->plan->tunables);

	e->candidates = xcalloc(kernels->n * each, sizeof(*e->candidates));
	for (size_t i = 0; i < kernels->n; i++) {
		struct candidate *c = &e->candidates[i * each];

		e->n_candidates++;
		if (build_candidate(e, c, &kernels->v[i], guest, err) < 0)
			return -1;
		add_points(e, c);
		e->n_candidates += each - 1;
		for (size_t j = 0; j < i * each; j++)
			for (size_t p = 0; p < each; p++)
				if (!strcmp(e->candidates[j].kernel.label, c[p].kernel.label))
					return error_set(err, 0, "kernels '%s' and '%s' are both labelled '%s': give them labels, with --kernel LABEL=IMAGE or [kernel LABEL]",
							 kernels->v[j / each].image,
							 kernels->v[i].image,
							 c[p].kernel.label);
	}
	return 0;
}

/* One for all kernels: see bus.h. */
static int choose_bus(struct experiment *e, struct error *err)
{
	cleanup_free const struct kernel **k = NULL;
	cleanup_free char *note = NULL;

	if (e->accel == ACCEL_EXACT)
		return 0;
	k = xcalloc(e->n_candidates, sizeof(*k));
	for (size_t i = 0; i < e->n_candidates; i++)
		k[i] = &e->candidates[i].kernel;
	if (bus_choose(k, e->n_candidates, &e->profile, &e->bus, &note, err) < 0)
		return -1;
	if (note)
		fprintf(stderr, "kontest: note: %s\n", note);
	return 0;
}

static int build_disks(struct experiment *e, bool locked, struct error *err)
{
	const struct profile *p = &e->profile;

	if (job_build(e->cache, e->plan->job, e->plan->job_tree, locked,
		      p->work.size, &e->job, &e->work, err) < 0)
		return -1;
	if (e->job.note)
		fprintf(stderr, "kontest: %s\n", e->job.note);
	if (p->other.present &&
	    other_build(e->cache, p->other.size, &e->other, err) < 0)
		return -1;
	if (p->swap.present &&
	    swap_build(e->cache, p->swap.size, &e->swap, err) < 0)
		return -1;
	return 0;
}

int experiment_build(struct experiment *e, bool locked, bool only_images,
		     struct error *err)
{
	cleanup_free char *guest = guest_program(err);

	if (!guest || sha256_file(guest, e->guest_digest, err) < 0)
		return -1;
	if (build_base(e, locked, err) < 0 ||
	    build_candidates(e, guest, err) < 0)
		return -1;
	if (only_images)
		return 0;
	if (choose_bus(e, err) < 0)
		return -1;
	return build_disks(e, locked, err);
}

static void random_uuid(char text[UUID_TEXT])
{
	uint8_t u[16];

	if (getrandom(u, sizeof(u), 0) != sizeof(u))
		memset(u, 0, sizeof(u));
	u[6] = (uint8_t)((u[6] & 0x0f) | 0x40);
	u[8] = (uint8_t)((u[8] & 0x3f) | 0x80);
	uuid_text(u, text);
}

void order_init(struct boot_order *o, size_t kernels, uint64_t seed)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, (unsigned long)seed);
	*o = (struct boot_order){
		.rng = rng,
		.n = kernels,
		.numbers = xcalloc(kernels, sizeof(*o->numbers)),
	};
}

void order_round(struct boot_order *o, struct planned_boots *out)
{
	size_t *block = xcalloc(o->n, sizeof(*block));

	for (size_t k = 0; k < o->n; k++)
		block[k] = k;
	gsl_ran_shuffle(o->rng, block, o->n, sizeof(*block));
	for (size_t k = 0; k < o->n; k++)
		planned_boots_add(out, (struct planned_boot){
			.kernel = block[k],
			.number = ++o->numbers[block[k]],
			.index = (unsigned int)out->n + 1 });
	free(block);
}

void order_repeat(struct boot_order *o, size_t at, struct planned_boots *out)
{
	const struct planned_boot noisy = out->v[at];

	planned_boots_add(out, (struct planned_boot){
		.kernel = noisy.kernel,
		.number = ++o->numbers[noisy.kernel],
		.index = (unsigned int)out->n + 1,
		.repeats = noisy.index });
}

void order_free(struct boot_order *o)
{
	if (o->rng)
		gsl_rng_free(o->rng);
	free(o->numbers);
	*o = (struct boot_order){ 0 };
}

void order_boots(size_t kernels, unsigned int boots, uint64_t seed,
		 struct planned_boots *out)
{
	struct boot_order o;

	order_init(&o, kernels, seed);
	for (unsigned int b = 0; b < boots; b++)
		order_round(&o, out);
	order_free(&o);
}

int experiment_schedule(struct experiment *e, struct error *err)
{
	const struct candidate *probe = &e->candidates[0];

	if (qemu_probe(&e->qemu, err) < 0 ||
	    accel_choose(e->accel, &e->profile, probe->system.vmlinuz,
			 probe->system.initrd, e->cache->dir, &e->accel,
			 &e->accel_note, err) < 0)
		return -1;
	if (!e->plan->more.boots && !e->plan->more.repeat_noisy) {
		e->rounds = e->plan->boots;
		order_boots(e->n_candidates, e->rounds, e->plan->order_seed,
			    &e->boots);
	}
	random_uuid(e->run_id);
	return 0;
}

void experiment_boot(const struct experiment *e, size_t kernel,
		     struct boot_config *cfg)
{
	const struct candidate *c = &e->candidates[kernel];
	const struct profile *p = &e->profile;
	/* QEMU has no read-only disks but on virtio. */
	bool throwaway = e->accel != ACCEL_EXACT && e->bus != KERNEL_BUS_VIRTIO;

	*cfg = (struct boot_config){
		.profile = p,
		.accel = e->accel,
		.vmlinuz = c->system.vmlinuz,
		.initrd = c->system.initrd,
		.cmdline = c->cmdline,
		.system = { .path = c->system.path, .readonly = !throwaway,
			    .scratch = throwaway, .rates = &p->work },
		.work = { .path = e->work.path, .scratch = true, .rates = &p->work },
		.other = { .path = e->other.path, .scratch = true, .rates = &p->other },
		.swap = { .path = e->swap.path, .scratch = true, .rates = &p->swap },
		.bus = e->bus,
	};
}

void experiment_free(struct experiment *e)
{
	for (size_t i = 0; i < e->boots.n; i++)
		free(e->boots.v[i].guest_plan);
	for (size_t i = 0; i < e->n_candidates; i++) {
		json_decref(e->candidates[i].tunables);
		if (e->candidates[i].point) {
			free(e->candidates[i].kernel.label);
			free(e->candidates[i].cmdline);
			continue;
		}
		kernel_free(&e->candidates[i].kernel);
		initramfs_free(&e->candidates[i].initramfs);
		system_image_free(&e->candidates[i].system);
		free(e->candidates[i].cmdline);
	}
	free(e->candidates);
	base_free(&e->base);
	job_tree_free(&e->job);
	disk_image_free(&e->work);
	disk_image_free(&e->other);
	disk_image_free(&e->swap);
	qemu_info_free(&e->qemu);
	profile_free(&e->profile);
	planned_boots_free(&e->boots);
	free(e->accel_note);
	*e = (struct experiment){ 0 };
}
