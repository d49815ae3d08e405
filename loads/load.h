/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load.h - what every load and every foreground job is
 *
 * A load is a background burden; a job is the work whose time is measured.
 * Each is one file with one ops struct, named in the table of registry.c.
 * Libc only: they build into the guest and, for unit tests, on the host.
 */
#ifndef KONTEST_LOAD_H
#define KONTEST_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct load_shared - what a load's processes and the driver share
 * @done: progress in the load's own unit; relaxed adds, no locks
 * @stop: set by the driver when the window has closed
 * @failed: errno of the load's failure, 0 while it works
 * @per_load: what makes one Load, found out by prepare() for loads that cannot
 *       know it before; 0: not found out
 *
 * In memory mapped MAP_SHARED|MAP_ANONYMOUS. Each member on its own cache line.
 */
struct load_shared {
	_Alignas(64) atomic_uint_fast64_t done;
	_Alignas(64) atomic_int stop;
	_Alignas(64) atomic_int failed;
	_Alignas(64) atomic_uint_fast64_t per_load;
	char message[256];
};

/**
 * struct load_args - what a load may know
 * @shared: see above
 * @dir: a directory of its own, on the disk that the load works on
 * @tree: the job's source tree
 * @cpus: CPUs of the profile
 * @mem: bytes of RAM of the profile
 * @size: the load's size in its own unit, from the plan; 0: its default
 */
struct load_args {
	struct load_shared *shared;
	const char *dir;
	const char *tree;
	unsigned int cpus;
	uint64_t mem;
	uint64_t size;
};

/**
 * struct load_ops - a load
 * @name: as in plans and tables
 * @unit: what one Load is, for people ("file of RAM size written")
 * @size_unit: what its size counts: "bytes", "processes", "clients"; NULL when
 *       it has no size
 * @size: the size it works with: args' own, or the default that follows from
 *       the machine; NULL when it has none. Recorded with every run
 * @per_load: how much of struct load_shared.done makes one Load; of a load with
 *       @prepare, asked after it; 0: unknown
 * @prepare: what must be there before it can run (a file to read), in a process
 *       of its own, before the caches are dropped; what it leaves in @dir is
 *       @run's to tidy up. Counts no progress. Fails as @run does. NULL: nothing
 * @run: the load itself, in a process of its own (with its own children);
 *       goes on until shared->stop, then tidies up and returns 0; a failure is
 *       said in shared->failed and message, and -1 returned.
 *       NULL: nothing runs (no_load, cacherun)
 * @proof_s: seconds that it may take until it shows progress, where that can be
 *       long (mem_load first fills its memory); NULL: a minute
 * @keeps_cache: the driver does not drop caches before it (cacherun)
 * @work_disk: it needs a real work disk, a tmpfs will not do
 * @other_disk: its @dir is on the other disk
 */
struct load_ops {
	const char *name;
	const char *unit;
	const char *size_unit;
	uint64_t (*size)(const struct load_args *a);
	uint64_t (*per_load)(const struct load_args *a);
	int (*prepare)(const struct load_args *a);
	int (*run)(const struct load_args *a);
	unsigned int (*proof_s)(const struct load_args *a);
	bool keeps_cache;
	bool work_disk;
	bool other_disk;
};

/**
 * struct job_args - what a job may know
 * @tree: its source tree, an absolute path; the working directory, too
 * @jobs: for make -j
 * @target: what of the tree is to be made ("kernel/sched/"); "": all of it
 * @command: the command line to time, for `command` alone; else ""
 * @prepare: the command line that brings the tree to its starting state, for
 *           `command` alone; "": there is none
 */
struct job_args {
	const char *tree;
	unsigned int jobs;
	const char *target;
	const char *command;
	const char *prepare;
};

/**
 * struct job_ops - a foreground job
 * @name: "quick-1"; also the directory of its tree on the work disk
 * @environment: "NAME=VALUE" for preparation and command, ends in NULL; or NULL
 * @takes_target: it knows struct job_args.target
 * @takes_command: it is what struct job_args.command says
 * @prepare: brings the tree to its starting state, outside the window
 *           Return: 0, or -1 with the reason in @message
 * @argv: fills @argv (at most @max with the NULL) with the command to time;
 *        strings live in @store. It is run with the tree as its working
 *        directory. Return: 0, or -1 when @max or @store_len is too small
 */
struct job_ops {
	const char *name;
	const char *const *environment;
	bool takes_target;
	bool takes_command;
	int (*prepare)(const struct job_args *a, char *message,
		       size_t message_len);
	int (*argv)(const struct job_args *a, const char *argv[], size_t max,
		    char *store, size_t store_len);
};

/**
 * job_expand() - a command line with {jobs} replaced
 * @text: as the plan has it
 * @jobs: for make -j
 * @out: the result, at most @size bytes with its NUL
 *
 * Return: 0, or -1 when it does not fit.
 */
int job_expand(const char *text, unsigned int jobs, char *out, size_t size);

const struct load_ops *load_find(const char *name);
const struct job_ops *job_find(const char *name);

/**
 * load_reexec() - the other parts that a program with loads in it can play
 * @argc: main()'s
 * @argv: main()'s
 *
 * Some loads are made of processes by fork() and exec(): they start
 * /proc/self/exe again with LOAD_REEXEC_NAME as argv[0] and the part in
 * argv[1]. The main() of every program that runs loads calls this first, and
 * exits with what it returns unless that is -1.
 *
 * Return: exit status of the part played, or -1 when this start of the program
 * is not such a call.
 */
int load_reexec(int argc, char **argv);
#define LOAD_REEXEC_NAME "kontest-load"

/**
 * load_fail() - say why a load cannot go on
 * @shared: where it is said; the first failure stays
 * @err: errno; 0 is taken for EIO
 * @fmt: what was tried, as for printf(); ": " and strerror(@err) are appended
 *
 * Return: -1, for the load's own return.
 */
int load_fail(struct load_shared *shared, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* load_nth(), job_nth() - the registries in their order, NULL behind the end */
const struct load_ops *load_nth(size_t n);
const struct job_ops *job_nth(size_t n);

#endif
