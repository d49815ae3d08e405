/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figures.h - what was counted as members of a record (results/journal.h)
 */
#ifndef KONTEST_GUEST_FIGURES_H
#define KONTEST_GUEST_FIGURES_H

#include "guest/run.h"

/**
 * figures_write() - the members of RUN_END and SAMPLE from "wall_ns" on
 * @j: inside the record's object
 * @d: since the window opened; what is not in it is left out
 * @per_load: see struct load_ops
 * @exit_code: the job's exit status, -1: it has none
 */
void figures_write(struct jsonw *j, const struct run *run,
		   const struct counters *d, uint64_t per_load, int exit_code);

#endif
