/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_boots.h - do the boots of an experiment and keep what they wrote
 */
#ifndef KONTEST_RUN_BOOTS_H
#define KONTEST_RUN_BOOTS_H

#include "host/experiment.h"
#include "results/store.h"

/**
 * struct run_opts - how to do them
 * @uri: libvirt URI, or NULL for the embedded driver
 * @parallel: boots side by side at most; more than one in exact mode only
 * @data_dir: where running/ and logs/ are
 * @more: asked for further boots whenever all that are planned are done, with
 *	@more_data; adds them to the experiment. 1: it did, 0: that was all, -1: failure.
 *	NULL: the planned ones are all
 * @budget_min: minutes that all boots may take, for the display; 0: not limited
 * @store: takes the journals
 * @store_path: of its index; kept beside the journals while the boots run, so
 *              that they get there even when this kontest is killed
 */
struct run_opts {
	const char *uri;
	unsigned int parallel;
	int (*more)(void *data, struct error *err);
	void *more_data;
	unsigned int budget_min;
	const char *data_dir;
	struct store *store;
	const char *store_path;
};

/* boots_side_by_side() - how many, when @asked were asked for, 0: as many as there are
 * CPUs. One but in exact mode: only virtual time does not care who else is running */
unsigned int boots_side_by_side(enum accel accel, unsigned int asked);

/**
 * run_boots() - boot everything that is planned, one process a boot
 * @e: after experiment_schedule()
 * @o: how
 * @worst: gets the worst verdict of all boots and runs
 * @err: why it had to stop; boots finished before are in the store
 *
 * Every finished boot is in the store at once. An interrupted run (SIGINT,
 * SIGTERM) ends its VMs, keeps what they had written and fails.
 *
 * Return: 0 when every boot was tried, else -1.
 */
int run_boots(const struct experiment *e, const struct run_opts *o,
	      enum verdict *worst, struct error *err);

#endif
