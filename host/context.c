/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * context.c - what a boot is told (guest plan) and what is kept about it (context)
 */
#include <jansson.h>
#include <libvirt/libvirt.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "host/auto_boots.h"
#include "loads/load.h"
#include "results/base/cleanup.h"
#include "results/journal.h"

static void add_spindle(struct buf *b, const char *name, const struct profile_disk *d)
{
	if (d->present && (d->rbps || d->wbps || d->seek_us || d->rpm))
		buf_printf(b, "spindle.%s=%llu,%llu,%u,%u,%u\n", name,
			   (unsigned long long)d->rbps,
			   (unsigned long long)d->wbps, d->seek_us, d->settle_us,
			   d->rpm ? 60000000 / d->rpm : 0);
}

/* One line a run: contest's loads, or a benchmark again and again */
static void add_runs(struct buf *b, const struct plan *p,
		     const struct planned_bench *bench)
{
	for (size_t i = 0; !bench->ops && i < p->loads.n; i++)
		for (unsigned int r = 0; r < p->loads.v[i].runs; r++)
			buf_printf(b, "run=%s\n", p->loads.v[i].name);
	for (unsigned int r = 0; bench->ops && r < bench->runs; r++)
		buf_printf(b, "bench=%s\n", bench->ops->name);
}

unsigned int boot_seed(const struct experiment *e, const struct planned_boot *b)
{
	if (!e->calibration)
		return b->number;
	return (b->number - 1) * (unsigned int)e->n_candidates +
	       (unsigned int)b->kernel + 1;
}

char *guest_plan(const struct experiment *e, const struct planned_boot *b)
{
	const struct plan *p = e->plan;
	const struct profile *m = &e->profile;
	bool exact = e->accel == ACCEL_EXACT;
	struct buf out = { 0 };

	buf_printf(&out, "format=1\ncpus=%u\nmem=%llu\nexact=%d\njob=%s\njobs=%u\nseed=%u\n",
		   m->cpus, (unsigned long long)m->memory, exact, p->job,
		   p->jobs, boot_seed(e, b));
	buf_printf(&out, "lead_ms=%u\nrun_timeout_s=%u\nsample_ms=%u\n",
		   p->lead_ms, p->run_timeout_s, p->sample_ms);
	if (p->job_target)
		buf_printf(&out, "job.target=%s\n", p->job_target);
	if (p->job_command)
		buf_printf(&out, "job.command=%s\n", p->job_command);
	if (p->job_prepare)
		buf_printf(&out, "job.prepare=%s\n", p->job_prepare);
	if (exact) {
		/* One disk of the machine holds system, tree and swap. */
		add_spindle(&out, "main", &m->work);
		add_spindle(&out, "other", &m->other);
	}
	if (e->n_candidates && e->candidates[b->kernel].point)
		point_lines(&p->tunables, e->candidates[b->kernel].point - 1, &out);
	else
		baseline_lines(&p->tunables, &out);
	for (size_t i = 0; i < p->loads.n; i++)
		if (p->loads.v[i].runs && p->loads.v[i].size)
			buf_printf(&out, "size.%s=%llu\n", p->loads.v[i].name,
				   (unsigned long long)p->loads.v[i].size);
	plan_bench_lines(&p->bench, &out);
	for (size_t i = 0; i < p->bench.list.n; i++)
		add_runs(&out, p, &p->bench.list.v[i]);
	return out.data;
}

const char *carried_plan(void)
{
	/* cpus, mem, jobs 0: as many as the machine that boots it has. */
	return "format=1\ncpus=0\nmem=0\nexact=0\njob=quick-1\njobs=0\nseed=1\n"
	       "lead_ms=3000\nrun_timeout_s=1800\nsample_ms=0\n"
	       "run=no_load\nrun=cacherun\nrun=process_load\n";
}

static char *host_cpu(void)
{
	cleanup_fclose FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (str_starts(line, "model name") && colon) {
			line[strcspn(line, "\n")] = '\0';
			return xstrdup(colon + 2);
		}
	}
	return xstrdup("unknown");
}

/* Whether this host is itself a guest: then its own time may be stolen. */
static bool host_is_guest(void)
{
	cleanup_fclose FILE *f = fopen("/proc/cpuinfo", "re");
	char line[4096];

	while (f && fgets(line, sizeof(line), f))
		if (str_starts(line, "flags"))
			return strstr(line, " hypervisor") != NULL;
	return false;
}

static json_t *host_object(void)
{
	unsigned long v = 0;
	struct utsname u;
	struct timespec now;
	struct tm tm;
	char seconds[32], start[64], version[32];
	cleanup_free char *cpu = host_cpu();

	uname(&u);
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(start, sizeof(start), "%s.%06ldZ", seconds, now.tv_nsec / 1000);
	virGetVersion(&v, NULL, NULL);
	snprintf(version, sizeof(version), "%lu.%lu.%lu", v / 1000000,
		 v / 1000 % 1000, v % 1000);
	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:s}", "start", start,
			 "libvirt", version, "kernel", u.release, "cpu", cpu,
			 "nested", host_is_guest(), "machine", u.machine);
}

/* With all labels: a kernel that never booted is shown as missing. */
static json_t *plan_object(const struct experiment *e)
{
	const struct plan *p = e->plan;
	json_t *labels = json_array();

	for (size_t i = 0; i < e->n_candidates; i++)
		json_array_append_new(labels,
			json_string(e->candidates[i].kernel.label));
	return json_pack("{s:s, s:s, s:s, s:I, s:i, s:i, s:o, s:o*}", "name",
			 p->name, "text", p->text, "digest", p->digest,
			 "order_seed", (json_int_t)p->order_seed, "boots",
			 (int)(p->more.boots ? e->rounds : p->boots), "runs", (int)p->runs, "kernels", labels,
			 "auto", auto_json(e));
}

static json_t *image_object(const struct experiment *e, const struct candidate *c)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s*, s:s*, s:s}",
			 "system", c->system.digest, "base", e->base.digest,
			 "lock", e->base.lock_digest, "initramfs",
			 c->initramfs.digest, "guest", e->guest_digest, "work",
			 e->work.digest, "other",
			 e->profile.other.present ? e->other.digest : NULL,
			 "swap", e->profile.swap.present ? e->swap.digest : NULL,
			 "cmdline", c->cmdline);
}

static json_t *loads_array(const struct plan *p)
{
	json_t *loads = json_array();

	for (size_t i = 0; i < p->loads.n; i++)
		if (p->loads.v[i].runs)
			json_array_append_new(loads,
					      json_string(p->loads.v[i].name));
	return loads;
}

/* add_benches() - left out of a plan of contest alone */
static void add_benches(json_t *o, const struct plan_bench *b)
{
	json_t *benches = json_array();

	for (size_t i = 0; i < b->list.n; i++)
		if (b->list.v[i].ops)
			json_array_append_new(benches,
				json_string(b->list.v[i].ops->name));
	if (json_array_size(benches))
		json_object_set(o, "benches", benches);
	json_decref(benches);
}

/* Members that a job does not have are left out. */
static json_t *job_object(const struct experiment *e)
{
	const struct plan *p = e->plan;
	const struct job_tree *j = &e->job;

	return json_pack("{s:s, s:s, s:i, s:s*, s:s*, s:s*, s:s*, s:s*}",
			 "name", p->job, "digest", j->digest, "jobs", (int)p->jobs,
			 "target", p->job_target, "command", p->job_command,
			 "prepare", p->job_prepare, "package", j->package,
			 "config", *j->config ? j->config : NULL);
}

char *boot_context(const struct experiment *e, const struct planned_boot *b)
{
	const struct candidate *c = &e->candidates[b->kernel];
	const struct kernel *k = &c->kernel;
	const struct profile *m = &e->profile;
	json_t *o;
	char *text;

	o = json_pack("{s:s, s:s, s:o, s:{s:i, s:i, s:i, s:o*}}",
		      "kontest", KONTEST_VERSION, "run_id", e->run_id,
		      "plan", plan_object(e), "boot",
		      "index", (int)b->index, "number", (int)b->number,
		      "seed", (int)boot_seed(e, b), "repeats",
		      b->repeats ? json_integer(b->repeats) : NULL);
	if (e->calibration)
		json_object_set_new(o, "calibration", json_true());
	json_object_set_new(o, "kernel", json_pack(
		"{s:s, s:s, s:s, s:s?, s:s?, s:s, s:i}", "label", k->label,
		"spec", k->spec, "release", k->release, "package", k->package,
		"version", k->package_version,
		"digest", k->digest, "order", (int)b->kernel));
	if (c->tunables)
		json_object_set(json_object_get(o, "kernel"), "tunables",
				c->tunables);
	json_object_set_new(o, "profile", json_pack(
		"{s:s, s:s, s:s, s:i, s:I}", "name", m->name, "digest",
		m->digest, "text", m->text, "cpus", (int)m->cpus, "memory",
		(json_int_t)m->memory));
	json_object_set_new(o, "loads", loads_array(e->plan));
	add_benches(o, &e->plan->bench);
	json_object_set_new(o, "job", job_object(e));
	json_object_set_new(o, "image", image_object(e, c));
	json_object_set_new(o, "accel", json_string(accel_name(e->accel)));
	json_object_set_new(o, "disk_bus",
			    json_string(e->accel == ACCEL_EXACT ? "NVDIMM" :
					kernel_bus_name(e->bus)));
	json_object_set_new(o, "qemu", json_pack(
		"{s:s, s:s, s:s, s:s, s:i}", "version", e->qemu.version,
		"package", e->qemu.package, "machine", m->machine, "cpu",
		m->cpu_model, "shift", (int)m->icount_shift));
	json_object_set_new(o, "host", host_object());
	text = json_dumps(o, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	json_decref(o);
	return text;
}
