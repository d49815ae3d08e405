/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bisect_figures.h - what the store has of a bisect's commits
 *
 * A boot that was killed, with kontest or without it, is none: it is done again, under
 * the same number, so that an interrupted bisect ends with the figures of one that was
 * not. Nor is one that gave no sign of life in time, until that happened twice: a busy
 * host may be to blame for it once.
 */
#ifndef KONTEST_BISECT_FIGURES_H
#define KONTEST_BISECT_FIGURES_H

#include "host/bisect.h"
#include "results/record.h"
#include "results/store.h"

/* A boot in doubt is done that often in all. */
#define FIGURES_TRIES 2

/* figures_load() - all boots of a run, which may have none yet */
int figures_load(struct store *s, const char *run_id, struct boot_records *out,
		 struct error *err);
/* figures_last_index() - of the run's boots in the order of execution; 0: none */
unsigned int figures_last_index(const struct boot_records *boots);
/* figures_has_boot() - need boot @number of kernel @order not be done (again)? */
bool figures_has_boot(const struct boot_records *boots, int order, unsigned int number);

/**
 * figures_take() - a kernel's figures
 * @boots: all boots of the run
 * @order: the kernel
 * @load, @metric: of what
 * @out: gets them, boot by boot; nested_free() ends it
 * @skip: gets the reason when a boot or run has no figure; owned by the caller
 * @err: reason of a failure: a figure of 0, of which there are no ratios
 *
 * Return: 0, or -1.
 */
int figures_take(const struct boot_records *boots, int order, const char *load,
		 const struct bisect_metric *metric, struct nested *out, char **skip,
		 struct error *err);

#endif
