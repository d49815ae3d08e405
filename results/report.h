/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - what was measured, as tables and data
 */
#ifndef KONTEST_REPORT_H
#define KONTEST_REPORT_H

#include "results/store.h"

/**
 * report_print() - print one `kontest run`'s results
 * @s: store
 * @run_id: whole run id
 * @format: "contest-0.61", "contest-0.60" (whole Loads), "contest-0.51",
 *	"wide", "json", "csv"; "tiobench", "volanomark", "qsbench": that
 *	benchmark's runs alone
 * @out: where to
 * @err: reason of a failure
 *
 * Tables are computed from the boots' journals alone. In JSON everything
 * that depends on the host (times, paths, host CPU) stands in members called
 * "host" and nowhere else, so that what is left of two exact runs is the same
 * to the byte.
 *
 * Return: 0, or -1.
 */
int report_print(struct store *s, const char *run_id, const char *format,
		 FILE *out, struct error *err);

/**
 * report_print_beside() - print foreign results, beside a run's or alone
 * @s: store
 * @run_id: whole run id, or NULL for none
 * @imports: ids of imports, at least one
 * @format: as in report_print(); NULL means "contest-0.61" beside a run, and
 *	the tables as they were printed, to the byte, where there is none
 * @out: where to
 * @err: reason of a failure
 *
 * Foreign rows are marked, have no intervals and play no part in any figure of
 * the run.
 *
 * Return: 0, or -1.
 */
int report_print_beside(struct store *s, const char *run_id,
			const struct strings *imports, const char *format,
			FILE *out, struct error *err);

/* report_formats() - the names, NULL-terminated */
const char *const *report_formats(void);

#endif
