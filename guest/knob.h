/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * knob.h - the plan's knobs: set before the first run, and read back
 *
 * A knob is a file, "queue/NAME" of the disks that loads work on, or "boot:NAME",
 * which the command line has set already. What the kernel says afterwards
 * decides: a knob that did not take makes the boot's runs void.
 */
#ifndef KONTEST_GUEST_KNOB_H
#define KONTEST_GUEST_KNOB_H

#include "guest/disks.h"
#include "guest/json.h"
#include "guest/plan.h"

#define KNOB_TEXT 1024
/* A queue's knob is one of each disk: work, other */
#define KNOB_RESULTS (2 * PLAN_KNOBS_MAX)

/**
 * struct knob_result - what became of a knob
 * @knob: as the plan names it. @path: the file
 * @wanted: "" and not @set: only read, for the baseline
 * @before, @after: what the file said; "" when it could not be read
 * @set: it was to be set. @took: and is
 * @why: why not
 */
struct knob_result {
	char knob[PLAN_KNOB_MAX];
	char path[PLAN_KNOB_MAX + 128];
	char wanted[PLAN_KNOB_MAX];
	char before[KNOB_TEXT], after[KNOB_TEXT];
	bool set, took;
	char why[512];
};

/* struct knobs - all of a boot */
struct knobs {
	struct knob_result v[KNOB_RESULTS];
	size_t n;
};

/**
 * knobs_apply() - set them, read them back
 * @root: "" in a guest; a directory that holds proc/ and sys/ in a test
 * @p: plan
 * @disks: the queues'
 * @out: result
 *
 * Mounts debugfs below @root when a knob is there and it is not mounted. Nothing
 * here is a failure: knobs_failed() tells.
 */
void knobs_apply(const char *root, const struct plan *p,
		 const struct disk disks[DISK_ROLES], struct knobs *out);
/* knobs_failed() - the first that did not take, in words: false when all did */
bool knobs_failed(const struct knobs *k, struct fail *f);
/* knobs_write() - member "knobs" of the receipt; nothing without a knob */
void knobs_write(struct jsonw *w, const struct knobs *k);

/**
 * knob_took() - does a file's text say that it has this value?
 * @path: "sched/features" lists what is on and NO_NAME for what is off
 * @wanted: what was written
 * @text: what was read: a value, or a choice with the chosen one in [] or ()
 */
bool knob_took(const char *path, const char *wanted, const char *text);
/* knob_boot_value() - the value that NAME has on a command line, the last one; ""
 * when it is not there. false: not there */
bool knob_boot_value(const char *cmdline, const char *name, char *out,
		     size_t size);

#endif
