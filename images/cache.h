/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache.h - the content-addressed layer cache and the report of build steps
 *
 * Below the directory: debs/ base/ kernels/ initramfs/ work/ swap/ grub/
 * images/.
 * An entry's name is the digest of what it is made from; it appears whole by
 * rename and is never changed afterwards. Several kontests may share it: who
 * builds an entry holds its lock, the others wait and then find it made.
 */
#ifndef KONTEST_CACHE_H
#define KONTEST_CACHE_H

#include <stdbool.h>

#include "results/base/error.h"

/**
 * struct cache - where layers are kept
 * @dir: its path; made when missing
 * @step: called when a step ends, may be NULL: name ("base", "kernel",
 *        "initramfs", "esp", ...), detail for the user, seconds it took,
 *        true when it came from the cache
 * @step_data: handed to @step
 */
struct cache {
	const char *dir;
	void (*step)(void *step_data, const char *name, const char *detail,
		     double seconds, bool cached);
	void *step_data;
};

/* cache_lock() - wait for the sole right to make DIR/KIND/KEY; returns an fd to
 * close when done, or -1. The caller looks again for the entry once it has it.
 * What a killed kontest left half made of this very entry has been removed. */
int cache_lock(const struct cache *c, const char *kind, const char *key,
	       struct error *err);
/* cache_path() - DIR/KIND/KEY SUFFIX, its directory made; owned by the caller */
char *cache_path(const struct cache *c, const char *kind, const char *key,
		 const char *suffix);
/* cache_making() - name of a directory in which the holder of the lock makes
 * DIR/KIND/KEY, to be renamed when whole; not there yet; owned by the caller */
char *cache_making(const struct cache *c, const char *kind, const char *key);

/* struct step - measures one step; step_end() reports it to c->step */
struct step {
	const struct cache *c;
	const char *name;
	double t0;
};
void step_begin(struct step *s, const struct cache *c, const char *name);
void step_end(struct step *s, bool cached, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
