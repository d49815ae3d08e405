/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * noise_look.h - one look at what the host is busy with, and at QEMU's threads
 *
 * Everything comes from files of /proc and /sys; what a host does not offer is
 * not known, which is something else than 0.
 */
#ifndef KONTEST_NOISE_LOOK_H
#define KONTEST_NOISE_LOOK_H

#include <stdint.h>
#include <sys/types.h>

#include "results/base/text.h"
#include "results/noise.h"

DEFINE_VECTOR(tids, pid_t)

/**
 * struct noise_qemu - whose threads are looked at
 * @pid: QEMU's process, 0: not found
 * @vcpus: its threads that run guest code; owned
 */
struct noise_qemu {
	pid_t pid;
	struct tids vcpus;
};

/**
 * noise_find_qemu() - the QEMU that libvirt has started for a domain
 * @proc: "/proc"
 * @domain: its name, which libvirt gives to QEMU as -name guest=NAME
 * @q: result, end with noise_qemu_free(); @q->pid stays 0 when none is found,
 *	as on another host
 *
 * The threads are known by their names, which libvirt has QEMU set
 * (debug-threads=on): "CPU n/KVM", "CPU n/TCG", or "ALL CPUs/TCG" where one
 * thread emulates all.
 */
void noise_find_qemu(const char *proc, const char *domain,
		     struct noise_qemu *q);
void noise_qemu_free(struct noise_qemu *q);

/* struct noise_thread - /proc/PID/task/TID/schedstat and status; FIGURE_NONE:
 * not known */
struct noise_thread {
	int64_t run_ns, wait_ns, slices, involuntary;
};
DEFINE_VECTOR(noise_threads, struct noise_thread)

/**
 * struct noise_look - counters at one moment; FIGURE_NONE: not known
 * @t_ns: host's monotonic time
 * @vcpus: in the order of struct noise_qemu; owned
 * @main: QEMU's first thread, its main loop
 * @qemu_ns: CPU time of all its threads, the ended ones too
 * @busy_ns, @idle_ns, @steal_ns: of all the host's CPUs
 * @psi_cpu_us, @psi_io_us, @psi_memory_us: some task waited
 * @load_milli: load average of a minute / 1000
 */
struct noise_look {
	int64_t t_ns;
	struct noise_threads vcpus;
	struct noise_thread main;
	int64_t qemu_ns;
	int64_t busy_ns, idle_ns, steal_ns;
	int64_t psi_cpu_us, psi_io_us, psi_memory_us;
	int64_t load_milli;
};

/* noise_waited_ns() - of the vCPU that has waited longest for a CPU of the host since
 * it began: how long; 0: not known */
uint64_t noise_waited_ns(const char *proc, const struct noise_qemu *q);

/* noise_look() - now; end with noise_look_free() */
void noise_look(const char *proc, const struct noise_qemu *q,
		struct noise_look *l);
void noise_look_free(struct noise_look *l);

/* noise_between() - the figures of a run from "window_ns" to "load_1min_milli"
 * (results/noise.h); the others become FIGURE_NONE */
void noise_between(const struct noise_look *a, const struct noise_look *b,
		   struct run_noise *n);

/**
 * struct noise_host - what does not change while a boot lasts
 * @cpus: online, 0: not known
 * @governor: of the first CPU's frequency, owned; NULL: not visible
 * @turbo: may CPUs run faster than their nominal speed? -1: not visible
 */
struct noise_host {
	unsigned int cpus;
	char *governor;
	int turbo;
};

/* noise_host() - @sys: "/sys"; end with noise_host_free() */
void noise_host(const char *sys, struct noise_host *h);
void noise_host_free(struct noise_host *h);

#endif
