/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.c - reads and subtracts the kernel's counters
 */
#include "guest/counters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void counters_set(struct counters *c, enum counter which, uint64_t value)
{
	c->value[which] = value;
	c->have[which] = true;
}

void counters_add(struct counters *c, enum counter which, uint64_t value)
{
	c->value[which] += value;
	c->have[which] = true;
}

/* The text behind the line that begins with @key and a space, or NULL */
static const char *find_line(const char *text, const char *key)
{
	size_t len = strlen(key);

	while (text && *text) {
		if (strncmp(text, key, len) == 0 && text[len] == ' ')
			return text + len + 1;
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return NULL;
}

/* The decimal number at *p, past spaces; moves *p behind it */
static bool take_number(const char **p, uint64_t *value)
{
	char *end;

	while (**p == ' ')
		(*p)++;
	if (**p < '0' || **p > '9')
		return false;
	*value = strtoull(*p, &end, 10);
	*p = end;
	return true;
}

struct key {
	const char *name;
	enum counter which;
	uint64_t factor;
};

/* Lines "NAME NUMBER", all keys in one pass: this is done in every sample */
static void take_lines(struct counters *c, const char *text,
		       const struct key keys[], size_t n)
{
	while (text && *text) {
		for (size_t i = 0; i < n; i++) {
			size_t len = strlen(keys[i].name);
			const char *p = text + len;
			uint64_t v;

			if (*text != *keys[i].name ||
			    strncmp(text, keys[i].name, len) != 0 || *p != ' ')
				continue;
			if (take_number(&p, &v))
				counters_set(c, keys[i].which,
					     v * keys[i].factor);
			break;
		}
		text = strchr(text, '\n');
		if (text)
			text++;
	}
}

void counters_parse_stat(struct counters *c, const char *text,
			 unsigned int ticks_per_s)
{
	const char *p = find_line(text, "cpu");
	uint64_t v;

	for (int i = C_CPU_USER; p && i <= C_CPU_STEAL; i++) {
		if (!take_number(&p, &v))
			break;
		counters_set(c, (enum counter)i, v * (NS_PER_S / ticks_per_s));
	}
	p = find_line(text, "ctxt");
	if (p && take_number(&p, &v))
		counters_set(c, C_CTXT, v);
}

void counters_parse_vmstat(struct counters *c, const char *text)
{
	static const struct key keys[] = {
		{ "pswpin", C_PSWPIN, 1 }, { "pswpout", C_PSWPOUT, 1 },
		{ "pgfault", C_PGFAULT, 1 }, { "pgmajfault", C_PGMAJFAULT, 1 },
		{ "pgpgin", C_PGPGIN, 1 }, { "pgpgout", C_PGPGOUT, 1 },
		{ "oom_kill", C_OOM_KILL, 1 },
	};

	take_lines(c, text, keys, sizeof(keys) / sizeof(keys[0]));
}

void counters_parse_pressure(struct counters *c, const char *text,
			     enum counter some, enum counter full)
{
	static const char *const keys[] = { "some", "full" };
	const enum counter to[] = { some, full };

	for (int i = 0; i < 2; i++) {
		const char *p = find_line(text, keys[i]);
		uint64_t v;

		p = p ? strstr(p, "total=") : NULL;
		if (!p || to[i] == C_COUNT)
			continue;
		p += strlen("total=");
		if (take_number(&p, &v))
			counters_set(c, to[i], v);
	}
}

/* The four figures in the order of IO_COUNTERS */
static void add_io(struct counters *c, enum counter first,
		   const uint64_t v[4])
{
	for (unsigned int i = 0; i < 4; i++)
		counters_add(c, (enum counter)(first + i), v[i]);
}

/* Documentation/block/stat: reads, merges, sectors of 512 B, ms; then writes */
void counters_parse_disk(struct counters *c, const char *text,
			 enum counter first)
{
	uint64_t v[7];

	for (int i = 0; i < 7; i++)
		if (!take_number(&text, &v[i]))
			return;
	add_io(c, first, (const uint64_t[]){ v[2] * 512, v[6] * 512, v[0],
					     v[4] });
}

/* Documentation/admin-guide/cgroup-v2: "8:16 rbytes=1 wbytes=2 rios=3 wios=4
 * dbytes=0 dios=0", but only where there was something to count */
void counters_parse_io(struct counters *c, const char *text,
		       enum counter first)
{
	static const char *const names[4] = { " rbytes=", " wbytes=", " rios=",
					      " wios=" };
	uint64_t v[4] = { 0 };

	for (unsigned int i = 0; i < 4; i++) {
		const char *p = text;

		while ((p = strstr(p, names[i]))) {
			uint64_t one;

			p += strlen(names[i]);
			if (take_number(&p, &one))
				v[i] += one;
		}
	}
	add_io(c, first, v);
}

void counters_parse_cpu(struct counters *c, const char *text,
			enum counter user, enum counter system)
{
	const struct key keys[] = {
		{ "user_usec", user, 1000 }, { "system_usec", system, 1000 },
	};

	take_lines(c, text, keys, sizeof(keys) / sizeof(keys[0]));
}

static void read_pressure(struct counters *c, const char *root)
{
	static const struct {
		const char *name;
		enum counter some, full;
	} files[] = {
		{ "cpu", C_PSI_CPU_SOME, C_COUNT },
		{ "memory", C_PSI_MEMORY_SOME, C_PSI_MEMORY_FULL },
		{ "io", C_PSI_IO_SOME, C_PSI_IO_FULL },
	};
	char path[256], text[512];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/proc/pressure/%s", root,
			 files[i].name);
		if (read_text(path, text, sizeof(text)) > 0)
			counters_parse_pressure(c, text, files[i].some,
						files[i].full);
	}
}

static void read_disks(struct counters *c, const char *root,
		       const struct disk disks[])
{
	static const struct {
		enum disk_role role;
		enum counter first;
	} roles[] = {
		{ DISK_SYSTEM, C_SYSTEM_READ_BYTES },
		{ DISK_WORK, C_WORK_READ_BYTES },
		{ DISK_OTHER, C_OTHER_READ_BYTES },
		{ DISK_SWAP, C_SWAP_READ_BYTES },
	};
	char path[256], text[512];

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		const struct disk *d = &disks[roles[i].role];
		const char *base = strrchr(d->path, '/');

		if (!d->present)
			continue;
		snprintf(path, sizeof(path), "%s/sys/class/block/%s/stat",
			 root, base ? base + 1 : d->path);
		if (read_text(path, text, sizeof(text)) <= 0)
			continue;
		counters_parse_disk(c, text, roles[i].first);
		counters_parse_disk(c, text, C_DISK_READ_BYTES);
	}
}

static char *read_proc(const char *root, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/proc/%s", root, name);
	return read_all(path, NULL);
}

void counters_read_system(struct counters *c, const char *root,
			  const struct disk disks[DISK_ROLES])
{
	long ticks = sysconf(_SC_CLK_TCK);
	char *text = read_proc(root, "stat");

	if (text && ticks > 0)
		counters_parse_stat(c, text, (unsigned int)ticks);
	free(text);
	text = read_proc(root, "vmstat");
	if (text)
		counters_parse_vmstat(c, text);
	free(text);
	read_pressure(c, root);
	read_disks(c, root, disks);
}

struct counters counters_diff(const struct counters *before,
			      const struct counters *after)
{
	struct counters d = { 0 };

	for (int i = 0; i < C_COUNT; i++) {
		if (!before->have[i] || !after->have[i])
			continue;
		/* iowait may run backwards (proc(5)): never below nothing */
		counters_set(&d, (enum counter)i,
			     after->value[i] > before->value[i] ?
			     after->value[i] - before->value[i] : 0);
	}
	return d;
}

#define IO_MEMBERS(of, group)						\
	{ of##_READ_BYTES, group, "read_bytes" },			\
	{ of##_WRITE_BYTES, group, "write_bytes" },			\
	{ of##_READS, group, "reads" }, { of##_WRITES, group, "writes" }

static const struct {
	enum counter which;
	const char *group;
	const char *key;
} members[] = {
	{ C_CPU_USER, "cpu", "user_ns" }, { C_CPU_NICE, "cpu", "nice_ns" },
	{ C_CPU_SYSTEM, "cpu", "system_ns" }, { C_CPU_IDLE, "cpu", "idle_ns" },
	{ C_CPU_IOWAIT, "cpu", "iowait_ns" }, { C_CPU_IRQ, "cpu", "irq_ns" },
	{ C_CPU_SOFTIRQ, "cpu", "softirq_ns" },
	{ C_CPU_STEAL, "cpu", "steal_ns" },
	{ C_PSWPIN, "vm", "pswpin" }, { C_PSWPOUT, "vm", "pswpout" },
	{ C_PGFAULT, "vm", "pgfault" }, { C_PGMAJFAULT, "vm", "pgmajfault" },
	{ C_PGPGIN, "vm", "pgpgin" }, { C_PGPGOUT, "vm", "pgpgout" },
	{ C_OOM_KILL, "vm", "oom_kill" },
	{ C_PSI_CPU_SOME, "psi", "cpu_some_us" },
	{ C_PSI_MEMORY_SOME, "psi", "memory_some_us" },
	{ C_PSI_MEMORY_FULL, "psi", "memory_full_us" },
	{ C_PSI_IO_SOME, "psi", "io_some_us" },
	{ C_PSI_IO_FULL, "psi", "io_full_us" },
	{ C_CTXT, NULL, "ctxt" },
	IO_MEMBERS(C_DISK, "disk"), IO_MEMBERS(C_SYSTEM, "disk_system"),
	IO_MEMBERS(C_WORK, "disk_work"), IO_MEMBERS(C_OTHER, "disk_other"),
	IO_MEMBERS(C_SWAP, "disk_swap"), IO_MEMBERS(C_JOB, "job_io"),
	IO_MEMBERS(C_LOAD, "load_io"),
};

void counters_json(struct jsonw *w, const struct counters *diff)
{
	const char *open = NULL;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const char *group = members[i].group;

		if (!diff->have[members[i].which])
			continue;
		if (open && (!group || strcmp(open, group) != 0)) {
			jsonw_close(w, '}');
			open = NULL;
		}
		if (group && !open) {
			jsonw_open(w, group, '{');
			open = group;
		}
		jsonw_u64(w, members[i].key, diff->value[members[i].which]);
	}
	if (open)
		jsonw_close(w, '}');
}
