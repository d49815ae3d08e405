/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apt_run.h - run apt with the host's sources and a state of our own (apt.c's)
 */
#ifndef KONTEST_APT_RUN_H
#define KONTEST_APT_RUN_H

#include <stdbool.h>

#include "images/cache.h"
#include "results/base/text.h"

/**
 * struct apt - what is known of apt while it is used; strings owned
 * @dir: DIR/apt, absolute: kontest.conf, lists/, status, updated
 * @host_lists: the host's own lists
 * @use_own: the lists in @dir are asked, not the host's
 * @refreshed: the lists were updated meanwhile, or are too young for it
 *             to help
 * @update_err: why an update failed, "" when none did
 * @lock: held until apt_close()
 */
struct apt {
	char *dir;
	char *host_lists;
	bool use_own;
	bool refreshed;
	struct error update_err;
	int lock;
};

#define APT_CLOSED { .lock = -1 }

/* apt_open() - lock DIR/apt, choose lists, updating them when all are old */
int apt_open(struct apt *a, const struct cache *c, struct error *err);
void apt_close(struct apt *a);

/**
 * apt_do() - run apt-get or apt-cache; when it fails, update the lists and run
 *            it once more
 * @a: from apt_open()
 * @argv: program and arguments
 * @timeout_s: seconds
 * @cwd: where, or NULL
 * @out: what it printed, diagnostics among it
 * @err: its first complaint and a remedy
 */
int apt_do(struct apt *a, const struct strings *argv, int timeout_s,
	   const char *cwd, struct buf *out, struct error *err);
/* apt_ask() - apt_do() for a question that the lists alone decide: the answer is
 * kept, and given again while the lists are the same */
int apt_ask(struct apt *a, const struct strings *argv, struct buf *out,
	    struct error *err);
/* apt_show() - the same, but names that apt does not know are no failure */
int apt_show(struct apt *a, const struct strings *argv, struct buf *out,
	     struct error *err);
/* apt_refresh() - update the lists, once between apt_open() and apt_close(); true when new ones came */
bool apt_refresh(struct apt *a);

#endif
