/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * experiment.h - a plan with everything that it needs made ready
 */
#ifndef KONTEST_EXPERIMENT_H
#define KONTEST_EXPERIMENT_H

#include "host/boot.h"
#include "host/plan.h"
#include "images/base.h"
#include "images/job.h"
#include "images/kernel.h"
#include "images/system.h"

/**
 * struct candidate - a kernel of the plan and what was built of it
 * @point: of a sweep, from 1; 0: the baseline, or no sweep
 * @tunables: of such a point, as point_json() tells them, also of one that is
 *	run again (rerun.h), where @point is 0; owned, or NULL
 *
 * The points of a kernel share all but label and command line with its baseline,
 * which owns it.
 */
struct candidate {
	size_t point;
	json_t *tunables;
	struct kernel kernel;
	struct initramfs initramfs;
	struct system_image system;
	char *cmdline;
};

/**
 * struct planned_boot - one boot to do
 * @kernel: index into struct experiment.candidates
 * @number: 1.. within the kernel; also the seed stirred into the guest (boot_seed())
 * @index: 1.. over the whole run, in the order of execution
 * @repeats: index of the noisy boot that it does again; 0: none
 * @guest_plan: what the guest is told when that is given already, owned; NULL:
 *              guest_plan() makes it
 */
struct planned_boot {
	size_t kernel;
	unsigned int number;
	unsigned int index;
	unsigned int repeats;
	char *guest_plan;
};
DEFINE_VECTOR(planned_boots, struct planned_boot)

/**
 * struct experiment - all owned, but @plan and @cache
 * @boots: those that are planned so far; boots = auto adds to them (auto_boots.h)
 * @rounds: boots of each kernel among them, repeats not counted
 * @calibration: the kernels are one and the same under several labels
 */
struct experiment {
	struct plan *plan;
	const struct cache *cache;
	struct profile profile;
	struct base base;
	struct candidate *candidates;
	size_t n_candidates;
	struct disk_image work, other, swap;
	struct job_tree job;
	char guest_digest[SHA256_HEX];
	struct qemu_info qemu;
	enum accel accel;
	char *accel_note;
	enum kernel_bus bus;
	struct planned_boots boots;
	unsigned int rounds;
	bool calibration;
	char run_id[UUID_TEXT];
};

/**
 * experiment_profile() - the part that needs no building: profile and sizes
 * @e: zeroed
 * @plan: finished plan
 * @cache: layer cache
 */
int experiment_profile(struct experiment *e, struct plan *plan,
		       const struct cache *cache, struct error *err);

/**
 * experiment_build() - build or find all images; preflight every kernel
 * @e: after experiment_profile()
 * @locked: refuse when a locked package version cannot be had
 * @only_images: leave out the disks that only a boot needs
 */
int experiment_build(struct experiment *e, bool locked, bool only_images,
		     struct error *err);

/* experiment_schedule() - choose the accelerator and order the boots; of a plan
 * that may have more of them than it says none, see auto_boots.h */
int experiment_schedule(struct experiment *e, struct error *err);

void experiment_free(struct experiment *e);

/* experiment_boot() - all of a kernel's boot that is the same in each: machine,
 * kernel, disks; name, directory and results disk are the caller's to add */
void experiment_boot(const struct experiment *e, size_t kernel,
		     struct boot_config *cfg);

/* boot_seed() - what is stirred into the guest, so that exact boots of one kernel
 * differ: the boot's number, the same for every kernel. The kernels of a calibration
 * are one, and the same boots twice would tell nothing: there no two boots have one */
unsigned int boot_seed(const struct experiment *e, const struct planned_boot *b);
/* guest_plan() - the guest plan (journal.h) of a boot; owned by the caller */
char *guest_plan(const struct experiment *e, const struct planned_boot *b);
/* carried_plan() - the guest plan that images carry for stand-alone boots */
const char *carried_plan(void);
/* boot_context() - the context (JSON) of a boot; owned by the caller */
char *boot_context(const struct experiment *e, const struct planned_boot *b);

/**
 * struct boot_order - draws the order of boots, round by round
 * @rng: from the seed
 * @n: kernels
 * @numbers: of each, its boots so far
 *
 * Randomised complete blocks: each round boots every kernel once, in a random
 * order of its own, so that a drift of the host hits all kernels alike.
 */
struct boot_order {
	void *rng;
	size_t n;
	unsigned int *numbers;
};

/* order_init() - @kernels: how many; @seed: for the order */
void order_init(struct boot_order *o, size_t kernels, uint64_t seed);
/* order_round() - every kernel once, added to @out in the order of execution */
void order_round(struct boot_order *o, struct planned_boots *out);
/* order_repeat() - the boot at @at of @out once more, under a number of its own */
void order_repeat(struct boot_order *o, size_t at, struct planned_boots *out);
void order_free(struct boot_order *o);

/* order_boots() - @boots rounds at once */
void order_boots(size_t kernels, unsigned int boots, uint64_t seed,
		 struct planned_boots *out);

#endif
