/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export.h - a run of the store as a bundle (images/bundle.h)
 */
#ifndef KONTEST_EXPORT_H
#define KONTEST_EXPORT_H

#include <stdio.h>

#include "images/cache.h"
#include "results/store.h"

/**
 * export_run() - write FILE.kontest
 * @s: store
 * @run_id: whole run id
 * @cache: layer cache, where the images are
 * @results_only: leave the images out
 * @path: file to make
 * @out: gets what it holds and how large each part is
 * @err: reason of a failure: an image has left the cache, a disk is full
 *
 * Return: 0, or -1.
 */
int export_run(struct store *s, const char *run_id, const struct cache *cache,
	       bool results_only, const char *path, FILE *out,
	       struct error *err);

#endif
