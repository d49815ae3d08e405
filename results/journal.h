/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal.h - the results disk: what the host asks and what the guest answers
 *
 * A raw disk without a file system, shared by host and guest. Libc only: this
 * header and crc32c.h are all that the guest takes from results/.
 *
 *	offset		size	content			written by
 *	0		4 KiB	struct journal_super	host, before the boot
 *	4 KiB		60 KiB	guest plan (text)	host, before the boot
 *	64 KiB		192 KiB	context (JSON)		host, before the boot
 *	256 KiB		...	records			guest; VERDICT by the host
 *
 * All integers are little-endian. Every record starts on a multiple of 4 KiB:
 * a struct journal_record, the payload (JSON, UTF-8, no NUL), zeros up to the
 * next multiple. The guest appends with O_DIRECT|O_DSYNC, one write a record;
 * the disk starts out as zeros. A reader stops at the first place where magic,
 * sequence number, length or CRC is wrong: that is the end, or a torn tail.
 *
 * The context is for readers on the host alone. The guest never reads it, so
 * that nothing in it (a path, a date) can change what the guest executes.
 */
#ifndef KONTEST_JOURNAL_H
#define KONTEST_JOURNAL_H

#include <stdint.h>

#define JOURNAL_MAGIC "KONTESTJ"	/* 8 bytes, no NUL */
#define JOURNAL_VERSION 1
#define JOURNAL_BLOCK 4096
#define JOURNAL_PLAN_OFF 4096
#define JOURNAL_PLAN_MAX (60 * 1024)
#define JOURNAL_CONTEXT_OFF (64 * 1024)
#define JOURNAL_CONTEXT_MAX (192 * 1024)
#define JOURNAL_LOG_OFF (256 * 1024)
#define JOURNAL_DISK_BYTES (32 * 1024 * 1024)	/* what the host makes */
#define JOURNAL_PAYLOAD_MAX (64 * 1024)

/**
 * struct journal_super - first block of the results disk
 * @magic: JOURNAL_MAGIC
 * @version: JOURNAL_VERSION
 * @plan_len: bytes of the guest plan
 * @context_len: bytes of the context
 * @crc: CRC-32C of this struct with @crc as 0
 * @run_id: UUID (text) of the `kontest run` that this boot belongs to
 * @plan_digest: SHA-256 (hex) of the guest plan
 */
struct journal_super {
	char magic[8];
	uint32_t version;
	uint32_t plan_len;
	uint32_t context_len;
	uint32_t crc;
	char run_id[40];
	char plan_digest[72];
};

#define JOURNAL_RECORD_MAGIC 0x4352544bu	/* "KTRC" */

/*
 * Payloads; a member is left out when the kernel does not offer the figure.
 *
 * RECEIPT, once, first: what the guest says it got
 *	{"format":1,"guest":"VERSION","release":STR,"version":STR,"cmdline":STR,
 *	 "cpus_online":N,"cpu_model":STR,"ram_bytes":N (System RAM in
 *	 /proc/iomem),"mem_total_bytes":N (/proc/meminfo),"swap_bytes":N,
 *	 "clocksource":STR,"cgroup":2,"psi":BOOL,"compiler":STR,
 *	 "mitigations":{NAME:STR},
 *	 "disks":[{"role":"system|work|swap|other|results","name":"pmem0",
 *	           "bytes":N,"serial":STR,"driver":STR}],
 *	 "knobs":[{"knob":STR,"path":STR,"wanted":STR,"before":STR,"after":STR,
 *	           "took":BOOL}]}	of a sweep; of its baseline without
 *					"wanted", "after" and "took"
 * HEARTBEAT	{} at least every 5 s of guest time while anything runs
 * RUN_START	{"run":1,"load":"io_load","index":1}
 *	run counts from 1 over the boot, index from 1 within the load
 * RUN_END	{"run":1,"load":"io_load","index":1,"verdict":"ok",
 *	 "message":STR (only when not ok),
 *	 "load_size":N,"size_unit":STR	what the load works on, if it has a size
 *	 "wall_ns":N,			the window
 *	 "job":{"user_ns":N,"system_ns":N,"exit":0},
 *	 "load_cpu":{"user_ns":N,"system_ns":N},	in the window
 *	 "count":{"done":N,"per_load":N,"unit":STR},	progress in the window;
 *						Loads = done / per_load
 *	 "cpu":{"user_ns":N,"nice_ns":N,"system_ns":N,"idle_ns":N,
 *	        "iowait_ns":N,"irq_ns":N,"softirq_ns":N,"steal_ns":N},
 *	 "vm":{"pswpin":N,"pswpout":N,"pgfault":N,"pgmajfault":N,"pgpgin":N,
 *	       "pgpgout":N,"oom_kill":N},		/proc/vmstat units
 *	 "psi":{"cpu_some_us":N,"memory_some_us":N,"memory_full_us":N,
 *	        "io_some_us":N,"io_full_us":N},
 *	 "ctxt":N,			context switches
 *	 "disk":{"read_bytes":N,"write_bytes":N,"reads":N,"writes":N},
 *					all disks but results
 *	 "disk_system":{...},"disk_work":{...},"disk_other":{...},
 *	 "disk_swap":{...},		the same by role; of a partition its own
 *	 "job_io":{...},"load_io":{...}}	the same by who caused it (cgroup
 *					io.stat), as far as it has reached disks
 *	verdicts of a run: ok load-failed job-failed no-space oom timed-out
 *	of a benchmark that is not contest, in RUN_START and RUN_END:
 *	{"run":1,"bench":"tiobench","index":1, ... in place of "load"; and in
 *	RUN_END, before "wall_ns",
 *	 "settings":{NAME:N or [N...]},	as the plan had them
 *	 "rows":[{"phase":STR,NAME:N,...}],	its own figures (loads/README.md)
 *	"job" is the benchmark; there is no "load_cpu", no "count", no SAMPLE
 * SAMPLE	{"run":1,"wall_ns":N,...} RUN_END's figures from "wall_ns" on, since
 *	the window opened; "job" has no "exit" yet
 * LOG		{"text":STR}
 * ERROR	{"verdict":STR,"message":STR} the boot cannot go on
 * END		{"runs":N} everything asked for was tried; the only success
 * VERDICT	by the host, after the boot, last:
 *	{"verdict":STR,"evidence":STR,"console":[STR...] (last lines),
 *	 "host":{"start":ISO-8601,"seconds":F,
 *	         "cpus":N,"governor":STR,"turbo":BOOL,	where they are visible
 *	         "noise":[{"run":1,"window_ns":N,...}],	of each run that ended:
 *					results/noise.h
 *	         "noise_left_out":N}}	runs that had no room in the record
 */
enum journal_type {
	JOURNAL_RECEIPT = 1,
	JOURNAL_HEARTBEAT,
	JOURNAL_RUN_START,
	JOURNAL_RUN_END,
	JOURNAL_SAMPLE,
	JOURNAL_LOG,
	JOURNAL_ERROR,
	JOURNAL_END,
	JOURNAL_VERDICT,
};

/**
 * struct journal_record - header of a record
 * @magic: JOURNAL_RECORD_MAGIC
 * @type: enum journal_type
 * @len: bytes of payload behind the header
 * @crc: CRC-32C of header (with @crc as 0) and payload
 * @seq: 0, 1, 2, ... over the whole journal
 * @t_ns: guest CLOCK_MONOTONIC in ns; 0 in the host's VERDICT
 */
struct journal_record {
	uint32_t magic;
	uint32_t type;
	uint32_t len;
	uint32_t crc;
	uint64_t seq;
	uint64_t t_ns;
};

/*
 * The guest plan: lines "key=value", in this order, no spaces, no quotes,
 * every figure already worked out by the host from plan and profile:
 *
 *	format=1
 *	cpus=1			what the profile promises; also the ring's size
 *	mem=268435456		bytes of RAM that the profile promises
 *				(cpus, mem, jobs: 0 means what the machine has)
 *	exact=0|1
 *	job=quick-1		directory below /work (the work disk) or "none"
 *	job.target=kernel/sched/	of linux-6.1: what is made; else all of it
 *	job.command=make all	of command, which needs it: a line for /bin/sh;
 *				{jobs} stands for jobs, as in job.prepare
 *	job.prepare=rm -f *.o	of command: run before every window
 *	jobs=4			make -j
 *	seed=1			stirred into the kernel's random pool
 *	lead_ms=3000		a load runs at least this long before the job
 *	run_timeout_s=1800	guest time; then the run is timed-out
 *	sample_ms=0		0: no samples
 *	spindle.main=RBPS,WBPS,SEEK_US,SETTLE_US,ROTATION_US	exact mode: how
 *				long the disk with system, work and swap takes
 *				(elsewhere libvirt slows the disks)
 *	spindle.other=...	the same of the second disk
 *	knob=/proc/sys/vm/swappiness=10	set before the runs and read back; also
 *				queue/NAME=VALUE of the disks work and other,
 *				boot:NAME=VALUE, which the command line has, and
 *				knob=TARGET of one that is read alone
 *	size.io_load=268435456	bytes: the size of a load, by the load's name
 *	bench.tiobench.threads=1,2,4,8	every setting of each benchmark that is
 *				run, by its name
 *	run=no_load		one line a run, in order
 *	run=io_load
 *	bench=tiobench		a run of a benchmark that is not contest; without
 *				any run= line job may be "none"
 */

#endif
