/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bisect.h - which commit changed a load's figure
 *
 * DATA/bisect/ID/ is all of a bisect, and the only place that it writes to beside the
 * store and the cache: state.json (struct bisect), plan.ini (how a boot is measured),
 * config and fragment (of the kernels), git and tree (a clone of its own), lock,
 * bisect.log (for `git bisect replay`). ID is also the id of the run in the store that
 * all its boots belong to, so that `kontest report ID` shows them: a kernel for each
 * commit, labelled with the beginning of its id.
 *
 * The state is written after everything that cannot be worked out again from the store:
 * a bisect that was killed at any moment goes on where it was, but for the boot that ran.
 */
#ifndef KONTEST_BISECT_H
#define KONTEST_BISECT_H

#include <stdio.h>

#include "host/bisect_git.h"
#include "host/bisect_judge.h"
#include "results/base/digest.h"

/* enum bisect_status - BISECT_SAME: the ends cannot be told apart; BISECT_SEVERAL: skipped
 * commits leave more than one */
enum bisect_status {
	BISECT_RUNNING, BISECT_FOUND, BISECT_SEVERAL, BISECT_SAME, BISECT_STATUSES
};
/* bisect_status_name() - "running", "found", "several", "same" */
const char *bisect_status_name(enum bisect_status s);

/**
 * struct bisect_step - a commit that was tried
 * @commit: its id
 * @subject: first line of its message; owned
 * @verdict: BISECT_OPEN while it is being measured
 * @reason: why it was skipped; owned, or NULL
 * @order: its kernel's position in the run, from 0; -1: it has none, since it did not
 *	build or cannot boot
 * @built: digest of what its kernel was built from (struct kbuild.key), "" before that
 * @call: what it was judged by, when it was; of the ends, by all of their boots
 */
struct bisect_step {
	char commit[GIT_ID];
	char *subject;
	enum bisect_verdict verdict;
	char *reason;
	int order;
	char built[SHA256_HEX];
	struct bisect_call call;
};
DEFINE_VECTOR(bisect_steps, struct bisect_step)

/* What must stay as it is, or boots cannot be compared with those before:
 * X(member, what to call it) */
#define BISECT_MACHINE(X)					\
	X(profile, "profile")					\
	X(guest, "guest program")				\
	X(base, "base layer")					\
	X(work, "work disk")					\
	X(accel, "accelerator")					\
	X(bus, "disks' bus")					\
	X(qemu, "QEMU")						\
	X(compiler, "compiler")

enum bisect_machine {
#define X(member, what) MACHINE_##member,
	BISECT_MACHINE(X)
#undef X
	MACHINE_COUNT,
};

/* struct bisect_kbuild - as struct kbuild_opts, but that files are copies in @dir of
 * struct bisect; owned. @config: "tinyconfig", "defconfig", or "file" */
struct bisect_kbuild {
	char *config;
	bool fragment;
	struct strings sets;
	unsigned int jobs;
};

/**
 * struct bisect - the state; strings owned
 * @id: UUID, also of the run in the store
 * @dir: DATA/bisect/ID; not in the file
 * @created: UTC, "2026-11-30T12:00:00Z"
 * @source: the user's git tree, absolute
 * @good_name, @bad_name: as the user named the ends
 * @load, @metric: what is judged: a load of the plan, a name of bisect_metrics()
 * @threshold_pct: a smaller difference of the ends is none
 * @resolution_pct: how far the user takes one boot's figure to be off, in exact mode;
 *	0: that is told by the spread of the boots
 * @boots, @max_boots: of a commit at first, and at most
 * @cmdline: more kernel command line, or NULL
 * @store: index of the results store, absolute
 * @kbuild: how kernels are built
 * @machine: see BISECT_MACHINE; NULL before the first boot
 * @steps: [0] is GOOD, [1] is BAD, then the commits in the order in which git chose them
 * @status: how far it is
 * @gap: between the ends, when they were measured
 * @first_bad: what git says about it, several lines; NULL before it was found
 * @left: ids of the commits that are left, with BISECT_SEVERAL
 */
struct bisect {
	char id[UUID_TEXT];
	char *dir;
	char *created;
	char *source;
	char *good_name, *bad_name;
	char *load, *metric;
	double threshold_pct, resolution_pct;
	unsigned int boots, max_boots;
	char *cmdline;
	char *store;
	struct bisect_kbuild kbuild;
	char *machine[MACHINE_COUNT];
	struct bisect_steps steps;
	enum bisect_status status;
	struct bisect_gap gap;
	char *first_bad;
	struct strings left;
};

#define BISECT_ENDS 2

/* --- bisect_state.c --------------------------------------------------------------- */

/* bisect_new() - an id, the time, and a directory below @data_dir, locked; @lock gets
 * the lock, to be closed at the end */
int bisect_new(struct bisect *b, const char *data_dir, int *lock, struct error *err);
void bisect_free(struct bisect *b);
/* bisect_save() - state.json, whole or not at all */
int bisect_save(const struct bisect *b, struct error *err);
/* bisect_load() - read and check DIR/state.json; bisect_free() ends it either way */
int bisect_load(struct bisect *b, const char *dir, struct error *err);
/* bisect_lock() - the sole right to a bisect's directory, an fd; -1 when somebody else
 * has it. Boots of a kontest that was killed are given time to end. */
int bisect_lock(const char *dir, struct error *err);
/**
 * bisect_find() - the directory of a bisect
 * @data_dir: DATA
 * @prefix: how its id begins; NULL: the newest one that is not done, else the newest
 *
 * Return: owned by the caller; NULL with the reason when there is none, or several.
 */
char *bisect_find(const char *data_dir, const char *prefix, struct error *err);
/* bisect_list() - a line a bisect, newest first */
int bisect_list(const char *data_dir, FILE *out, struct error *err);
/* bisect_file() - path of a file of its directory; owned by the caller */
char *bisect_file(const struct bisect *b, const char *name);
/* bisect_step() - index of a commit's step, added when it is new */
size_t bisect_step(struct bisect *b, const char *commit, const char *subject);
/* bisect_label() - how a commit is called in tables */
void bisect_label(const char *commit, char label[GIT_LABEL]);

/* --- bisect_drive.c --------------------------------------------------------------- */

/**
 * struct bisect_ops - how commits are measured; all but @data get it first
 * @prepare: make the kernel of a step, whose tree is checked out, and check it. Sets the
 *	step's @order and @built; or @skip, owned by the caller, when the commit is at
 *	fault
 * @measure: boot the kernels of @n steps until each has @boots of them, in turns; those
 *	that the store has count
 * @figures: of a step, from the store; sets @skip when it has a boot without a figure
 * @say: a line on how it goes; may be NULL
 */
struct bisect_ops {
	int (*prepare)(void *data, struct bisect *b, size_t step, char **skip,
		       struct error *err);
	int (*measure)(void *data, struct bisect *b, const size_t *steps, size_t n,
		       unsigned int boots, struct error *err);
	int (*figures)(void *data, const struct bisect *b, size_t step,
		       struct nested *out, char **skip, struct error *err);
	void (*say)(void *data, const char *line);
	void *data;
};

/**
 * bisect_drive() - from where it is to its end
 * @b: saved, its directory locked; the caller looks at its status afterwards
 * @ops: how to measure
 * @err: why it stopped; it can go on from there
 *
 * Return: 0 when it ended, whatever its status; -1 when it had to stop.
 */
int bisect_drive(struct bisect *b, const struct bisect_ops *ops, struct error *err);

/* --- bisect_figures.c, bisect_measure.c ----------------------------------------- */

struct sample;

/* struct bisect_metric - a figure of a run that can be judged */
struct bisect_metric {
	const char *name, *unit, *what;
	double (*of)(const struct sample *s);
};
/* bisect_metrics() - all of them, the last has no name; bisect_metric(): or NULL */
const struct bisect_metric *bisect_metrics(void);
const struct bisect_metric *bisect_metric(const char *name);

/**
 * struct bisect_host - how boots are done here; not in the state
 * @cache: layer cache
 * @data_dir: DATA
 * @uri, @parallel: see struct run_opts; @parallel 0: as `kontest run` does
 * @locked: see experiment_build()
 */
struct bisect_host {
	const struct cache *cache;
	const char *data_dir;
	const char *uri;
	unsigned int parallel;
	bool locked;
	struct store *store;
};

/* bisect_real_ops() - that build kernels and boot them; @h must live as long */
struct bisect_ops bisect_real_ops(struct bisect_host *h);

/* --- bisect_report.c -------------------------------------------------------------- */

/* bisect_print() - what was found, and the evidence: a row a commit */
int bisect_print(const struct bisect *b, FILE *out, struct error *err);
/* bisect_write_log() - bisect.log, in the form of `git bisect log` */
int bisect_write_log(const struct bisect *b, struct error *err);

#endif
