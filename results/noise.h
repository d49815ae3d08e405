/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * noise.h - what the host did to a run meanwhile, and whether that was too much
 *
 * The boot's process looks at the host when it sees a RUN_START and again when
 * it sees the RUN_END; the differences stand in VERDICT's "host", member
 * "noise" (journal.h). They cover a little more than the window: all that lies
 * between these two records, the load's start and end included.
 */
#ifndef KONTEST_NOISE_H
#define KONTEST_NOISE_H

#include "results/record.h"

/*
 * X(NAME, member). Differences between the two looks, if nothing else is said.
 * vCPU: a thread of QEMU that runs guest code; emulation that shares one thread
 * between all CPUs of the guest has one.
 *	window_ns		host's monotonic time between the looks
 *	vcpus			vCPU threads
 *	vcpu_run_ns, vcpu_wait_ns	they ran, were ready and had no CPU; all of
 *				them together
 *	vcpu_involuntary	context switches that they did not ask for
 *	worst_wait_ns, worst_slices	of the one that waited longest: its wait,
 *				and how often it was given a CPU
 *	main_wait_ns, main_slices	the same of QEMU's main loop, where disk
 *				requests begin and end
 *	host_busy_ns, host_idle_ns, host_steal_ns	all CPUs of the host: used
 *				(QEMU's part too), idle or waiting for a disk,
 *				taken by a hypervisor below the host
 *	others_busy_ns		used by what is not this QEMU
 *	psi_cpu_some_us, psi_io_some_us, psi_memory_some_us	some task of the
 *				host waited for it
 *	load_1min_milli		load average at the end / 1000
 *	start_late_ns, end_late_ns	at most so long after the record was written
 *				the look was done
 *	clock_guest_ns		between the records, by the guest's clock
 *	clock_host_min_ns, clock_host_max_ns	the same by the host's: it was no
 *				less and no more (host/clock_check.h)
 */
#define NOISE_FIGURES(X)					\
	X(WINDOW_NS, "window_ns")				\
	X(VCPUS, "vcpus")					\
	X(VCPU_RUN_NS, "vcpu_run_ns")				\
	X(VCPU_WAIT_NS, "vcpu_wait_ns")				\
	X(VCPU_INVOLUNTARY, "vcpu_involuntary")			\
	X(WORST_WAIT_NS, "worst_wait_ns")			\
	X(WORST_SLICES, "worst_slices")				\
	X(MAIN_WAIT_NS, "main_wait_ns")				\
	X(MAIN_SLICES, "main_slices")				\
	X(HOST_BUSY_NS, "host_busy_ns")				\
	X(HOST_IDLE_NS, "host_idle_ns")				\
	X(HOST_STEAL_NS, "host_steal_ns")			\
	X(OTHERS_BUSY_NS, "others_busy_ns")			\
	X(PSI_CPU_SOME_US, "psi_cpu_some_us")			\
	X(PSI_IO_SOME_US, "psi_io_some_us")			\
	X(PSI_MEMORY_SOME_US, "psi_memory_some_us")		\
	X(LOAD_1MIN_MILLI, "load_1min_milli")			\
	X(START_LATE_NS, "start_late_ns")			\
	X(END_LATE_NS, "end_late_ns")				\
	X(CLOCK_GUEST_NS, "clock_guest_ns")			\
	X(CLOCK_HOST_MIN_NS, "clock_host_min_ns")		\
	X(CLOCK_HOST_MAX_NS, "clock_host_max_ns")

enum noise_figure {
#define X(name, member) NOISE_##name,
	NOISE_FIGURES(X)
#undef X
	NOISE_COUNT,
};

/* struct run_noise - @fig: FIGURE_NONE where the host does not say */
struct run_noise {
	int64_t fig[NOISE_COUNT];
};

/* noise_member() - the figure's name in the journal */
const char *noise_member(enum noise_figure f);

/*
 * The rule: a run is noisy when, of the stretch between the looks,
 *  - a vCPU, or QEMU's main loop, waited more than NOISE_WAIT_LIMIT for a CPU of
 *    the host. A kernel cannot be slower by that, but its figures are: 1 % is
 *    what the smallest differences are that a handful of boots can tell. Being
 *    woken takes a moment on an idle host too and would add up in a guest that
 *    sleeps often: NOISE_WAKE_NS for each slice of CPU are not counted;
 *  - the guest saw more than NOISE_STEAL_LIMIT of its CPU time stolen, or the
 *    host of the CPU time that it wanted. The first is that wait as a guest
 *    under KVM sees it; the second no thread of the host's can see;
 *  - what is not this QEMU used more than NOISE_OTHERS_LIMIT of all the host's
 *    CPU time. Without waiting for them QEMU still shares caches, memory,
 *    hyper-threads and turbo with them, and disks.
 * PSI, load average and involuntary switches are recorded and decide nothing:
 * a VM that is busy itself raises them too.
 */
#define NOISE_WAIT_LIMIT 0.01
#define NOISE_WAKE_NS 20000
#define NOISE_STEAL_LIMIT 0.01
#define NOISE_OTHERS_LIMIT 0.10

/* boot_measured() - does it depend on the host how long a run takes? Not in
 * exact mode */
bool boot_measured(const struct boot_record *b);

/**
 * run_noise() - what the journal says of a run's host
 * @b: the boot; @r: a run of it
 * @n: result
 *
 * Return: false when it says nothing; @n has no figure then.
 */
bool run_noise(const struct boot_record *b, const struct run_record *r,
	       struct run_noise *n);

/**
 * struct noise_shares - what the rule looks at; NAN: not known
 * @vcpu_wait, @main_wait: of the window, what being woken takes left out
 * @guest_steal: of the CPU time of all the guest's CPUs
 * @host_steal: of the CPU time that the host wanted
 * @others: of the CPU time of all the host's CPUs
 */
struct noise_shares {
	double vcpu_wait, main_wait, guest_steal, host_steal, others;
};
void noise_shares(const struct run_record *r, const struct run_noise *n,
		  struct noise_shares *s);

/**
 * run_noisy() - was the host too busy for this run to be trusted?
 * @b: the boot; @r: a run of it
 * @why: gets what of the rule held, owned by the caller: "the vCPU waited 4.1 %
 *	of the window for a CPU of the host"; NULL when false. May be NULL
 *
 * Never of a boot in exact mode, of a run that has not ended, or of one whose
 * journal does not say. A noisy run counts like any other.
 */
bool run_noisy(const struct boot_record *b, const struct run_record *r,
	       char **why);

#endif
