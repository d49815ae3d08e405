/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rerun.h - an experiment made of what a finished run's journals say of it
 */
#ifndef KONTEST_RERUN_H
#define KONTEST_RERUN_H

#include "host/experiment.h"
#include "results/record.h"

/**
 * struct rerun - a run to be exported or replayed
 * @plan: the run's own; @e points to it
 * @e: as experiment_build() would have made it, but for the paths of the images,
 *     which are the caller's to set
 * @boots: what its journals say
 * @journals: their paths, in the order of @boots; owned
 *
 * Not to be moved once it was loaded.
 */
struct rerun {
	struct plan plan;
	struct experiment e;
	struct boot_records boots;
	struct strings journals;
};

/**
 * rerun_load() - read journals, make the experiment
 * @r: zeroed; rerun_free() ends it, also after a failure
 * @cache: layer cache
 * @journals: paths; copied
 * @err: reason of a failure: no boots of a kernel, journals of several runs,
 *       a load or job that this kontest does not have
 *
 * Return: 0, or -1.
 */
int rerun_load(struct rerun *r, const struct cache *cache,
	       const struct strings *journals, struct error *err);

/**
 * rerun_schedule() - as experiment_schedule(), with the guest plans that the
 * author's guests had: a newer kontest might write them otherwise
 */
int rerun_schedule(struct rerun *r, struct error *err);

/* rerun_boots_done() - plan the boots that there are journals of, in their order: what
 * rerun_schedule() does of a plan that left their number to kontest */
void rerun_boots_done(struct rerun *r);

/* rerun_first() - the first boot of the kernel at this place of the plan */
const struct boot_record *rerun_first(const struct rerun *r, size_t kernel);

void rerun_free(struct rerun *r);

#endif
