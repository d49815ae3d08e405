/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paths.h - where files go: the XDG base directories, and nowhere else
 *
 *	$XDG_CACHE_HOME/kontest		layers: can be deleted when nothing runs
 *	$XDG_DATA_HOME/kontest		results.db, journals/, logs/, running/
 */
#ifndef KONTEST_PATHS_H
#define KONTEST_PATHS_H

#include "results/base/error.h"

/* cache_home(), data_home() - the directory, made when missing; owned by the
 * caller; NULL with the reason when neither the variable nor HOME is set */
char *cache_home(struct error *err);
char *data_home(struct error *err);

#endif
