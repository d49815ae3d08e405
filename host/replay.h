/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.h - a bundle's run, done again: the same bytes, here
 */
#ifndef KONTEST_REPLAY_H
#define KONTEST_REPLAY_H

#include <stdbool.h>
#include <stdio.h>

#include "host/rerun.h"
#include "images/bundle.h"

/**
 * replay_unpack() - unpack a bundle, or find it unpacked
 * @b: open bundle
 * @c: cache; it goes to bundles/DIGEST there
 * @dir: another directory for it, not there yet or unpacked before; or NULL
 * @path: gets where it is; owned by the caller
 * @err: reason of a failure
 *
 * Return: 0, or -1.
 */
int replay_unpack(struct bundle *b, const struct cache *c, const char *dir,
		  char **path, struct error *err);

/**
 * replay_load() - make the run of an unpacked bundle ready to be done again
 * @r: zeroed; rerun_free() ends it, also after a failure
 * @b: its bundle
 * @c: cache
 * @dir: of replay_unpack()
 * @err: reason of a failure: manifest and journals do not say the same
 *
 * Return: 0, or -1.
 */
int replay_load(struct rerun *r, const struct bundle *b, const struct cache *c,
		const char *dir, struct error *err);

/* replay_inputs() - print what is the same here as it was there, field by field;
 * returns how many differ. @r: after rerun_schedule() */
unsigned int replay_inputs(const struct rerun *r, FILE *out);

/**
 * replay_first_difference() - hold two sets of boots against each other
 * @theirs, @ours: paths of journals; kernel and boot number tell which belong
 *                 together
 * @n_theirs, @n_ours: how many
 * @figures: gets how many figures were compared
 * @what: gets the first difference in words, owned by the caller; NULL when
 *        everything that the guests measured is the same
 * @err: why a journal could not be read
 *
 * Compared is what exact mode promises: every value in every RUN_START, SAMPLE,
 * RUN_END and END, and how each boot ended.
 *
 * Return: 0, or -1.
 */
int replay_first_difference(const struct strings *theirs,
			    const struct strings *ours, size_t *figures,
			    char **what, struct error *err);

/* replay_side_by_side() - print both sets of results, load by load */
void replay_side_by_side(struct boot_records *theirs, struct boot_records *ours,
			 FILE *out);

/**
 * replay_verdicts() - print what `kontest compare` says of each kernel there and here
 * @theirs, @ours: boots; they are sorted
 * @out: where to
 * @err: reason of a failure
 *
 * For measured modes. A kernel whose boots were not made under the same conditions is
 * not compared, and what differs is named.
 *
 * Return: 0, or -1.
 */
int replay_verdicts(struct boot_records *theirs, struct boot_records *ours,
		    FILE *out, struct error *err);

#endif
