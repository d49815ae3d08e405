/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_profile.c - a profile out of what a machine says of itself
 */
#include <stdio.h>
#include <string.h>

#include "host/capture.h"
#include "results/base/cleanup.h"

#define MIB ((uint64_t)1 << 20)
#define DISK_ALIGN (2 * MIB)
#define MEMORY_MIN (32 * MIB)
#define CPUS_MAX 255u
#define MIPS_MAX 1000u
/* Beside a file as large as memory, which io_load writes: tree and objects. */
#define WORK_ROOM (512 * MIB)
#define OTHER_ROOM (128 * MIB)
/* No disk tells its own; half of all that were sold had it. */
#define RPM 7200u
#define TRACK_SEEK_US 1000u

/* --- choosing ---------------------------------------------------------------------- */

static bool has_flag(const struct captured *c, const char *flag)
{
	cleanup_free char *all = xasprintf(" %s ", c->flags ? c->flags : "");
	cleanup_free char *one = xasprintf(" %s ", flag);

	return strstr(all, one) != NULL;
}

/* The newest of QEMU 7.2's models, with its version, whose mark the CPU has. */
static const char *cpu_model(const struct captured *c)
{
	static const struct {
		const char *vendor, *flag, *model;
	} models[] = {
		{ "GenuineIntel", "avx512f", "Skylake-Server-v4" },
		{ "GenuineIntel", "avx2", "Haswell-v4" },
		{ "GenuineIntel", "avx", "SandyBridge-v2" },
		{ "GenuineIntel", "sse4_2", "Nehalem-v2" },
		{ "AuthenticAMD", "avx2", "EPYC-v3" },
		{ "AuthenticAMD", "avx", "Opteron_G4-v1" },
		{ "HygonGenuine", "avx2", "EPYC-v3" },
	};

	for (size_t i = 0; c->vendor && i < sizeof(models) / sizeof(models[0]); i++)
		if (!strcmp(models[i].vendor, c->vendor) && has_flag(c, models[i].flag))
			return models[i].model;
	return "Opteron_G1-v1";
}

/* One instruction a cycle: what a compile gets on many machines, roughly. */
static unsigned int mips(const struct captured *c)
{
	unsigned int v = MIPS_MAX;

	while (c->max_mhz && v > c->max_mhz && v > 1)
		v /= 2;
	return v;
}

static uint64_t align(uint64_t bytes)
{
	return (bytes + DISK_ALIGN - 1) / DISK_ALIGN * DISK_ALIGN;
}

static const struct captured_disk *find_disk(const struct captured *c,
					     const char *name)
{
	for (size_t i = 0; i < c->disks.n; i++)
		if (!strcmp(c->disks.v[i].name, name))
			return &c->disks.v[i];
	return NULL;
}

/* --- what cannot be imitated ---------------------------------------------------------- */

static void add_cpu_limits(const struct captured *c, struct strings *out)
{
	strings_add(out, xasprintf("the clock (%u MHz) and its changes with load and heat: in exact mode every instruction takes the same time",
				   c->max_mhz));
	strings_add(out, xstrdup("caches, branch prediction and memory bandwidth: exact mode has none, other modes have the host's"));
	if (c->cpus > 1)
		strings_add(out, xasprintf("%u CPUs in exact mode: it runs one alone, so this profile is refused there; set cpus = 1",
					   c->cpus));
	if (c->cpus > CPUS_MAX)
		strings_add(out, xasprintf("more than %u CPUs", CPUS_MAX));
	if (c->cores && c->cpus > c->cores)
		strings_add(out, xasprintf("SMT (%u threads on %u cores): all CPUs of the VM are cores",
					   c->cpus, c->cores));
	if (c->sockets > 1)
		strings_add(out, xasprintf("%u sockets and what lies between them",
					   c->sockets));
	if (c->nodes > 1)
		strings_add(out, xasprintf("NUMA: %u nodes, of which the VM has one",
					   c->nodes));
}

void captured_limits(const struct captured *c, struct strings *out)
{
	bool turns = false, flash = false;

	for (size_t i = 0; i < c->disks.n; i++) {
		turns |= c->disks.v[i].rotational;
		flash |= !c->disks.v[i].rotational;
	}
	add_cpu_limits(c, out);
	if (c->governor)
		strings_add(out, xasprintf("the frequency governor (%s)", c->governor));
	if (c->clocksource)
		strings_add(out, xasprintf("the clocksource (%s): the VM's is QEMU's to offer",
					   c->clocksource));
	if (c->mitigations.n)
		strings_add(out, xstrdup("the flaws of this very CPU: the mitigations are those that the kernel takes for the model of CPU below"));
	if (turns)
		strings_add(out, xstrdup("the caches and the command queues of turning disks"));
	if (flash)
		strings_add(out, xstrdup("the parallelism and the housekeeping of flash disks"));
	if (c->guest)
		strings_add(out, xstrdup("this machine's own host: it is a virtual machine itself, so all here is what that one offered"));
}

/* --- writing ------------------------------------------------------------------------- */

static void put_size(struct buf *out, const char *key, uint64_t bytes)
{
	buf_printf(out, "%s = %lluMiB\n", key, (unsigned long long)(bytes / MIB));
}

static void put_facts(const struct captured *c, struct buf *out)
{
	buf_adds(out, "# What the machine said of itself:\n");
	buf_printf(out, "# CPU: %s; CPUs %u, cores %u, sockets %u, threads a core %u\n",
		   c->model ? c->model : "not told", c->cpus, c->cores, c->sockets,
		   c->cores ? c->cpus / c->cores : 1);
	buf_printf(out, "# memory: %llu MiB%s; swap: %llu MiB; NUMA nodes: %u\n",
		   (unsigned long long)(c->memory / MIB), c->memory_exact ? "" :
		   " (what the kernel manages, rounded up to whole 64 MiB)",
		   (unsigned long long)(c->swap / MIB), c->nodes);
	for (size_t i = 0; i < c->disks.n; i++) {
		const struct captured_disk *d = &c->disks.v[i];

		buf_printf(out, "# disk %s: %s%s%llu MiB, %s\n", d->name, d->model,
			   *d->model ? ", " : "", (unsigned long long)(d->size / MIB),
			   d->rotational ? "rotational" : "not rotational");
	}
	buf_printf(out, "# kernel: %s; clocksource: %s; governor: %s\n",
		   c->kernel ? c->kernel : "not told",
		   c->clocksource ? c->clocksource : "not told",
		   c->governor ? c->governor : "none (no cpufreq)");
	for (size_t i = 0; i < c->mitigations.n; i++)
		buf_printf(out, "# mitigation %s\n", c->mitigations.v[i]);
}

static void put_limits(const struct captured *c, struct buf *out)
{
	CLEANUP(strings_clear) struct strings limits = { 0 };

	captured_limits(c, &limits);
	buf_adds(out, "#\n# What a virtual machine cannot imitate:\n");
	for (size_t i = 0; i < limits.n; i++)
		buf_printf(out, "# - %s\n", limits.v[i]);
}

static void put_machine(const struct captured *c, struct buf *out)
{
	uint64_t memory = c->memory < MEMORY_MIN ? MEMORY_MIN : c->memory / MIB * MIB;

	buf_adds(out, "\n[profile]\n");
	buf_printf(out, "description = %u x %s, %llu MiB\n", c->cpus,
		   c->model ? c->model : "CPU", (unsigned long long)(memory / MIB));
	buf_printf(out, "source = kontest profile capture, on kernel %s\n",
		   c->kernel ? c->kernel : "not told");
	buf_printf(out, "cpus = %u\n", c->cpus < CPUS_MAX ? c->cpus : CPUS_MAX);
	put_size(out, "memory", memory);
	buf_adds(out, "# The newest model of QEMU 7.2 whose instructions this CPU has, by its vendor and\n"
		      "# flags; what emulation lacks of it is left out, and QEMU says so.\n");
	buf_printf(out, "cpu-model = %s\n", cpu_model(c));
	buf_adds(out, "machine = pc-q35-7.2\n"
		      "# Exact mode: one instruction a cycle, up to the 1000 MIPS that it can do.\n");
	buf_printf(out, "mips = %u\naccel = auto\n", mips(c));
}

/* The mechanics that a profile needs, from the time of a random read: a seek and
 * half a turn. */
static void put_mechanics(const struct captured_rates *r, struct buf *out)
{
	unsigned int half_turn_us = 60000000 / RPM / 2;
	uint64_t access_us = r->read_iops ? 1000000 / r->read_iops : 0;
	uint64_t seek_us = access_us > half_turn_us + TRACK_SEEK_US ?
			   access_us - half_turn_us : TRACK_SEEK_US;

	buf_printf(out, "# Exact mode: a random read took %llu us, of which half a turn; %u turns a minute\n"
			"# are assumed, for no disk tells.\n",
		   (unsigned long long)access_us, RPM);
	buf_printf(out, "average-seek-us = %llu\ntrack-seek-us = %u\nrpm = %u\n",
		   (unsigned long long)(seek_us < 1000000 ? seek_us : 1000000),
		   TRACK_SEEK_US, RPM);
}

static void put_rates(const struct captured *c, const struct captured_rates *r,
		      struct buf *out)
{
	const struct captured_disk *d = r ? find_disk(c, r->disk) : NULL;

	if (!r) {
		buf_adds(out, "# Not measured, so it is as fast as the host: --measure-disk DIR measures.\n");
		return;
	}
	buf_printf(out, "# Measured%s%s: sequential by 1 MiB, at random by 4 KiB, one request at a time.\n",
		   *r->disk ? " on " : "", r->disk);
	buf_printf(out, "read-bytes-per-second = %llu\nwrite-bytes-per-second = %llu\n",
		   (unsigned long long)r->read_bps, (unsigned long long)r->write_bps);
	if (d && d->rotational && !c->guest && r->read_bps && r->write_bps)
		put_mechanics(r, out);
	buf_printf(out, "read-iops = %llu\nwrite-iops = %llu\n",
		   (unsigned long long)r->read_iops, (unsigned long long)r->write_iops);
}

static void put_disks(const struct captured *c, const struct captured_rates *r,
		      struct buf *out)
{
	buf_adds(out, "\n[disk work]\n# Holds the job's tree and a file as large as memory, not the machine's own data.\n");
	put_size(out, "size", align(c->memory + WORK_ROOM));
	put_rates(c, r, out);
	if (c->disks.n > 1) {
		buf_adds(out, "\n[disk other]\n# The machine has a second disk; as fast as the first, for want of better knowledge.\n");
		put_size(out, "size", align(c->memory + OTHER_ROOM));
		put_rates(c, r, out);
	}
	if (c->swap) {
		uint64_t swap = c->swap < 2 * c->memory ? c->swap : 2 * c->memory;

		buf_adds(out, "\n[disk swap]\n");
		put_size(out, "size", align(swap));
	}
}

void capture_profile(const struct captured *c, const struct captured_rates *r,
		     struct buf *out)
{
	put_facts(c, out);
	put_limits(c, out);
	put_machine(c, out);
	put_disks(c, r, out);
}
