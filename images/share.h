/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * share.h - where the files are that belong to this very program
 *
 *	PREFIX/bin/kontest		installed: its data are in
 *	PREFIX/share/kontest		also when PREFIX as a whole was moved, and
 *	PREFIX/share/kontest/guest/kontest-guest
 *
 *	BUILD/kontest			built: BUILD/kontest.paths tells it, and
 *	BUILD/guest/kontest-guest	its data are in the source tree
 */
#ifndef KONTEST_SHARE_H
#define KONTEST_SHARE_H

#include "results/base/error.h"

/* share_dir() - where recipes, profiles and jobs are: $KONTEST_SHARE, else by
 * the rules above. Static storage. Sub-paths: images/, loads/jobs/ */
const char *share_dir(void);

/* guest_program() - path of the guest program, owned by the caller; NULL when
 * there is none */
char *guest_program(struct error *err);

/**
 * share_find() - share_dir() of any program
 * @exe: path of the program
 * @tree: source tree it was built from
 * @installed: where its data are installed, for want of anything better
 *
 * The source tree counts for a program in a build directory only: an installed
 * one must not change with a tree that happens to be there still.
 *
 * Return: a path, owned by the caller.
 */
char *share_find(const char *exe, const char *tree, const char *installed);

/* guest_find() - guest_program() of the program @exe with the data in @share */
char *guest_find(const char *exe, const char *share, struct error *err);

#endif
