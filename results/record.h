/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - a journal's content as typed records: one boot and its runs
 */
#ifndef KONTEST_RECORD_H
#define KONTEST_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "results/base/digest.h"
#include "results/base/text.h"
#include "results/verdict.h"

/*
 * The whole-number figures of a RUN_END: X(NAME, group, member). They stand in
 * the order in which reports write them; groups are JSON objects ("" is the
 * payload itself).
 */
#define RUN_IO_FIGURES(X, NAME, group)				\
	X(NAME##_READ_BYTES, group, "read_bytes")		\
	X(NAME##_WRITE_BYTES, group, "write_bytes")		\
	X(NAME##_READS, group, "reads")				\
	X(NAME##_WRITES, group, "writes")

#define RUN_FIGURES(X)						\
	X(WALL_NS, "", "wall_ns")				\
	X(JOB_USER_NS, "job", "user_ns")			\
	X(JOB_SYSTEM_NS, "job", "system_ns")			\
	X(JOB_EXIT, "job", "exit")				\
	X(LOAD_USER_NS, "load_cpu", "user_ns")			\
	X(LOAD_SYSTEM_NS, "load_cpu", "system_ns")		\
	X(COUNT_DONE, "count", "done")				\
	X(COUNT_PER_LOAD, "count", "per_load")			\
	X(CPU_USER_NS, "cpu", "user_ns")			\
	X(CPU_NICE_NS, "cpu", "nice_ns")			\
	X(CPU_SYSTEM_NS, "cpu", "system_ns")			\
	X(CPU_IDLE_NS, "cpu", "idle_ns")			\
	X(CPU_IOWAIT_NS, "cpu", "iowait_ns")			\
	X(CPU_IRQ_NS, "cpu", "irq_ns")				\
	X(CPU_SOFTIRQ_NS, "cpu", "softirq_ns")			\
	X(CPU_STEAL_NS, "cpu", "steal_ns")			\
	X(VM_PSWPIN, "vm", "pswpin")				\
	X(VM_PSWPOUT, "vm", "pswpout")				\
	X(VM_PGFAULT, "vm", "pgfault")				\
	X(VM_PGMAJFAULT, "vm", "pgmajfault")			\
	X(VM_PGPGIN, "vm", "pgpgin")				\
	X(VM_PGPGOUT, "vm", "pgpgout")				\
	X(VM_OOM_KILL, "vm", "oom_kill")			\
	X(PSI_CPU_SOME_US, "psi", "cpu_some_us")		\
	X(PSI_MEMORY_SOME_US, "psi", "memory_some_us")		\
	X(PSI_MEMORY_FULL_US, "psi", "memory_full_us")		\
	X(PSI_IO_SOME_US, "psi", "io_some_us")			\
	X(PSI_IO_FULL_US, "psi", "io_full_us")			\
	X(CTXT, "", "ctxt")					\
	RUN_IO_FIGURES(X, DISK, "disk")				\
	RUN_IO_FIGURES(X, DISK_SYSTEM, "disk_system")		\
	RUN_IO_FIGURES(X, DISK_WORK, "disk_work")		\
	RUN_IO_FIGURES(X, DISK_OTHER, "disk_other")		\
	RUN_IO_FIGURES(X, DISK_SWAP, "disk_swap")		\
	RUN_IO_FIGURES(X, JOB_IO, "job_io")			\
	RUN_IO_FIGURES(X, LOAD_IO, "load_io")			\
	X(LOAD_SIZE, "", "load_size")

enum run_figure {
#define X(name, group, member) FIG_##name,
	RUN_FIGURES(X)
#undef X
	FIG_COUNT,
};

#define FIGURE_NONE INT64_MIN	/* the guest's kernel does not offer it */

/* figure_group(), figure_member() - where a figure stands in RUN_END */
const char *figure_group(enum run_figure f);
const char *figure_member(enum run_figure f);

/**
 * struct run_record - one (load, job) measurement, done or not
 * @number: from 1 over the boot
 * @load: its load, or its benchmark; owned
 * @bench: it is a run of a benchmark that is not contest
 * @index: from 1 within the load
 * @started: a RUN_START is there
 * @ended: a RUN_END is there
 * @verdict: RUN_END's; VERDICT_UNFINISHED while not @ended
 * @message: what went wrong, owned, or NULL
 * @unit: what one Load is, owned, or NULL
 * @size_unit: what @fig[FIG_LOAD_SIZE] counts, owned, or NULL
 * @settings, @rows: of a benchmark, an object of numbers and lists of numbers,
 *	and an array of objects of numbers and texts; or NULL
 * @fig: exact figures, FIGURE_NONE where there is none
 */
struct run_record {
	int64_t number;
	char *load;
	bool bench;
	int64_t index;
	bool started, ended;
	enum verdict verdict;
	char *message;
	char *unit, *size_unit;
	json_t *settings, *rows;
	int64_t fig[FIG_COUNT];
};
DEFINE_VECTOR(run_records, struct run_record)

/**
 * struct boot_record - what a journal says about its boot
 * @id: SHA-256 of the journal as it is stored
 * @run_id: the `kontest run` that it belongs to
 * @context: the context, whole; the const char * below point into it
 * @receipt: RECEIPT, or NULL when the guest never came that far
 * @host: "host" of VERDICT, or NULL
 * @console: "console" of VERDICT, or NULL
 * @plan: what the guest was told, lines of text; owned
 * @plan_name: name of the plan
 * @plan_boots: boots a kernel that the plan asks for; of boots = auto those that
 *	were planned when this one began
 * @label: kernel's label; @order: its position in the plan, from 0
 * @index: boot's position in the order of execution, from 1
 * @number: boot's number within its kernel, from 1
 * @repeats: index of the noisy boot that it does again; 0: none
 * @replaced_by: number of the boot that did this one again and stands for it, set
 *	by boot_records_link(); 0: it stands for itself
 * @calibration: one kernel under several labels
 * @started_us: microseconds since 1970 when it began, 0 when not stated
 * @loads: the plan's loads, in order; owned strings
 * @benches: its benchmarks that are not contest, in order; owned strings
 * @kernels: labels of the plan's kernels, in order (plan.kernels; an older
 *	context has none); owned strings
 * @verdict: how it ended; VERDICT_OK only when an END is there
 * @evidence: why it ended so, owned; "" when there is nothing to say
 * @runs: every run that was asked for, in order, begun or not
 */
struct boot_record {
	char id[SHA256_HEX];
	char run_id[UUID_TEXT];
	json_t *context, *receipt, *host, *console;
	char *plan;
	const char *plan_name;
	int64_t plan_boots;
	const char *label;
	int64_t order, index, number;
	int64_t repeats, replaced_by;
	bool calibration;
	int64_t started_us;
	struct strings loads, benches, kernels;
	enum verdict verdict;
	char *evidence;
	struct run_records runs;
};
DEFINE_VECTOR(boot_records, struct boot_record)

/**
 * boot_record_load() - read a journal
 * @path: journal
 * @b: result; end with boot_record_free()
 * @err: reason of a failure: not a journal, header or context damaged
 *
 * A torn tail, a missing END, a run's unreadable figures are no failures: they
 * are in the verdicts.
 *
 * Return: 0, or -1.
 */
int boot_record_load(const char *path, struct boot_record *b,
		     struct error *err);
void boot_record_free(struct boot_record *b);
void boot_records_clear(struct boot_records *v);

/* boot_records_link() - of all boots of a run: which one stands for which. A repeat
 * that did not end well stands for nothing, and both are looked at as they are */
void boot_records_link(struct boot_records *v);

/* context_value() - a member of the boot's context, or of a @group of it; NULL when it
 * is not there */
json_t *context_value(const struct boot_record *b, const char *group,
		      const char *name);
/* context_text() - the same as text, "" when it is not there or none; owned by the
 * boot. @group: NULL for the context itself */
const char *context_text(const struct boot_record *b, const char *group,
			 const char *name);

/* run_good() - may this run's figures be averaged? It ended well, and its boot
 * was on the machine that was asked for, and was not done again */
bool run_good(const struct boot_record *b, const struct run_record *r);

/* run_failure() - why not, in a few words; owned by the caller */
char *run_failure(const struct boot_record *b, const struct run_record *r);

#endif
