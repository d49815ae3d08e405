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

static void take_line(struct counters *c, enum counter which, const char *text,
		      const char *key, uint64_t factor)
{
	const char *p = find_line(text, key);
	uint64_t v;

	if (p && take_number(&p, &v))
		counters_set(c, which, v * factor);
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
	take_line(c, C_CTXT, text, "ctxt", 1);
}

void counters_parse_vmstat(struct counters *c, const char *text)
{
	take_line(c, C_PSWPIN, text, "pswpin", 1);
	take_line(c, C_PSWPOUT, text, "pswpout", 1);
	take_line(c, C_PGFAULT, text, "pgfault", 1);
	take_line(c, C_PGMAJFAULT, text, "pgmajfault", 1);
	take_line(c, C_PGPGIN, text, "pgpgin", 1);
	take_line(c, C_PGPGOUT, text, "pgpgout", 1);
	take_line(c, C_OOM_KILL, text, "oom_kill", 1);
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

/* Documentation/block/stat: reads, merges, sectors of 512 B, ms; then writes */
void counters_parse_disk(struct counters *c, const char *text)
{
	uint64_t v[7];

	for (int i = 0; i < 7; i++)
		if (!take_number(&text, &v[i]))
			return;
	counters_add(c, C_DISK_READS, v[0]);
	counters_add(c, C_DISK_READ_BYTES, v[2] * 512);
	counters_add(c, C_DISK_WRITES, v[4]);
	counters_add(c, C_DISK_WRITE_BYTES, v[6] * 512);
}

void counters_parse_cpu(struct counters *c, const char *text,
			enum counter user, enum counter system)
{
	take_line(c, user, text, "user_usec", 1000);
	take_line(c, system, text, "system_usec", 1000);
}

static void read_pressure(struct counters *c)
{
	static const struct {
		const char *path;
		enum counter some, full;
	} files[] = {
		{ "/proc/pressure/cpu", C_PSI_CPU_SOME, C_COUNT },
		{ "/proc/pressure/memory", C_PSI_MEMORY_SOME,
		  C_PSI_MEMORY_FULL },
		{ "/proc/pressure/io", C_PSI_IO_SOME, C_PSI_IO_FULL },
	};
	char text[512];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (read_text(files[i].path, text, sizeof(text)) > 0)
			counters_parse_pressure(c, text, files[i].some,
						files[i].full);
}

static void read_disks(struct counters *c, const struct disk disks[])
{
	static const enum disk_role roles[] = { DISK_SYSTEM, DISK_WORK,
						DISK_OTHER, DISK_SWAP };
	char path[128], text[512];

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		const struct disk *d = &disks[roles[i]];

		if (!d->present)
			continue;
		snprintf(path, sizeof(path), "/sys/class/block/%s/stat",
			 d->name);
		if (read_text(path, text, sizeof(text)) > 0)
			counters_parse_disk(c, text);
	}
}

void counters_read_system(struct counters *c,
			  const struct disk disks[DISK_ROLES])
{
	long ticks = sysconf(_SC_CLK_TCK);
	char *text = read_all("/proc/stat", NULL);

	if (text && ticks > 0)
		counters_parse_stat(c, text, (unsigned int)ticks);
	free(text);
	text = read_all("/proc/vmstat", NULL);
	if (text)
		counters_parse_vmstat(c, text);
	free(text);
	read_pressure(c);
	read_disks(c, disks);
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
	{ C_DISK_READ_BYTES, "disk", "read_bytes" },
	{ C_DISK_WRITE_BYTES, "disk", "write_bytes" },
	{ C_DISK_READS, "disk", "reads" }, { C_DISK_WRITES, "disk", "writes" },
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
