/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.c - what sysfs and procfs say of a machine
 *
 * Sources: Linux, Documentation/ABI/stable/sysfs-devices-system-cpu, -node,
 * testing/sysfs-devices-memory, stable/sysfs-block.
 */
#include "host/capture.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"

#define TEXT_MAX_BYTES ((size_t)4 << 20)
#define CPUS_MAX 65536u
#define MIB ((uint64_t)1 << 20)
/* More than any kernel keeps of a memory's last part. */
#define MEMORY_STEP (64 * MIB)
#define CPU "/sys/devices/system/cpu"
#define NODE "/sys/devices/system/node"
#define MEMORY "/sys/devices/system/memory"

void captured_free(struct captured *c)
{
	free(c->model);
	free(c->vendor);
	free(c->flags);
	free(c->kernel);
	free(c->clocksource);
	free(c->governor);
	strings_clear(&c->mitigations);
	for (size_t i = 0; i < c->disks.n; i++) {
		free(c->disks.v[i].name);
		free(c->disks.v[i].model);
	}
	captured_disks_free(&c->disks);
	*c = (struct captured){ 0 };
}

/* Printable, without what ends a line or begins a comment of an INI file. */
static char *clean(char *s)
{
	char *end;

	for (char *p = s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f || *p == ';' || *p == '#')
			*p = ' ';
	while (*s == ' ')
		s++;
	for (end = s + strlen(s); end > s && end[-1] == ' ';)
		*--end = '\0';
	return s;
}

/* A file's first line; owned by the caller; NULL when there is none. */
static char *line_of(const char *root, const char *path)
{
	cleanup_free char *full = xasprintf("%s%s", root, path);
	CLEANUP(buf_free) struct buf b = { 0 };

	if (file_read(full, TEXT_MAX_BYTES, &b, NULL) < 0 || !b.len)
		return NULL;
	b.data[strcspn(b.data, "\n")] = '\0';
	return xstrdup(clean(b.data));
}

static uint64_t number_of(const char *root, const char *path, uint64_t other)
{
	cleanup_free char *line = line_of(root, path);
	uint64_t n;

	return line && parse_u64(line, &n) ? n : other;
}

/* --- CPUs -------------------------------------------------------------------- */

DEFINE_VECTOR(ids, uint64_t)

static void add_once(struct ids *v, uint64_t id)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->v[i] == id)
			return;
	ids_add(v, id);
}

static void take_cpu(const char *root, unsigned int cpu, struct ids *sockets,
		     struct ids *cores)
{
	cleanup_free char *package = xasprintf(CPU "/cpu%u/topology/physical_package_id", cpu);
	cleanup_free char *die = xasprintf(CPU "/cpu%u/topology/die_id", cpu);
	cleanup_free char *core = xasprintf(CPU "/cpu%u/topology/core_id", cpu);
	uint64_t p = number_of(root, package, 0) & 0xffff;

	add_once(sockets, p);
	add_once(cores, p << 48 | (number_of(root, die, 0) & 0xffff) << 32 |
			(number_of(root, core, cpu) & 0xffffffff));
}

/* "0-3,8" as a count, each given to take_cpu() */
static void read_topology(const char *root, struct captured *c)
{
	cleanup_free char *online = line_of(root, CPU "/online");
	CLEANUP(ids_free) struct ids sockets = { 0 }, cores = { 0 };
	char *save = NULL;

	for (char *part = online ? strtok_r(online, ",", &save) : NULL; part;
	     part = strtok_r(NULL, ",", &save)) {
		unsigned int first, last;
		int n = sscanf(part, "%u-%u", &first, &last);

		if (n == 1)
			last = first;
		for (; n >= 1 && first <= last && c->cpus < CPUS_MAX; first++) {
			take_cpu(root, first, &sockets, &cores);
			c->cpus++;
		}
	}
	c->sockets = (unsigned int)sockets.n;
	c->cores = (unsigned int)cores.n;
}

/* The first CPU's line NAME of /proc/cpuinfo */
static char *cpuinfo(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		const char *colon;
		cleanup_free char *value = NULL;

		if (strncmp(p, name, len) || (p[len] != '\t' && p[len] != ' ' && p[len] != ':'))
			continue;
		colon = p + strcspn(p, ":\n");
		if (*colon != ':')
			continue;
		value = xstrndup(colon + 1, strcspn(colon + 1, "\n"));
		return xstrdup(clean(value));
	}
	return NULL;
}

static int read_cpuinfo(const char *root, struct captured *c, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/proc/cpuinfo", root);
	CLEANUP(buf_free) struct buf b = { 0 };
	cleanup_free char *mhz = NULL;
	uint64_t khz = number_of(root, CPU "/cpu0/cpufreq/cpuinfo_max_freq", 0);

	if (file_read(path, TEXT_MAX_BYTES, &b, err) < 0)
		return error_prefix(err, "what this machine is can be read on Linux alone");
	buf_adds(&b, "");
	c->model = cpuinfo(b.data, "model name");
	c->vendor = cpuinfo(b.data, "vendor_id");
	c->flags = cpuinfo(b.data, "flags");
	mhz = cpuinfo(b.data, "cpu MHz");
	/* Without cpufreq the clock is fixed, as far as the kernel knows. */
	c->max_mhz = (unsigned int)(khz ? khz / 1000 : mhz ? strtoul(mhz, NULL, 10) : 0);
	if (c->flags) {
		cleanup_free char *all = xasprintf(" %s ", c->flags);

		c->guest = strstr(all, " hypervisor ") != NULL;
	}
	if (c->cpus)
		return 0;
	for (const char *p = b.data; (p = strstr(p, "processor\t")); p++)
		if (p == b.data || p[-1] == '\n')
			c->cpus++;
	c->cpus = c->cpus ? c->cpus : 1;
	c->sockets = 1;
	c->cores = c->cpus;
	return 0;
}

/* --- memory -------------------------------------------------------------------- */

/* How many names of DIR are PREFIX and digits; with @online, those online. */
static unsigned int count_numbered(const char *root, const char *dir,
				   const char *prefix, bool online)
{
	cleanup_free char *full = xasprintf("%s%s", root, dir);
	cleanup_closedir DIR *d = opendir(full);
	const struct dirent *e;
	unsigned int n = 0;

	while (d && (e = readdir(d))) {
		const char *rest = e->d_name + strlen(prefix);
		cleanup_free char *state = NULL;

		if (!str_starts(e->d_name, prefix) || !*rest ||
		    strspn(rest, "0123456789") != strlen(rest))
			continue;
		state = xasprintf("%s/%s/online", dir, e->d_name);
		n += !online || number_of(root, state, 1) != 0;
	}
	return n;
}

static uint64_t meminfo(const char *text, const char *name)
{
	const char *p = strstr(text, name);
	unsigned long long kib = 0;

	return p && sscanf(p + strlen(name), " %llu kB", &kib) == 1 ?
	       (uint64_t)kib * 1024 : 0;
}

static int read_memory(const char *root, struct captured *c, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/proc/meminfo", root);
	cleanup_free char *block = line_of(root, MEMORY "/block_size_bytes");
	CLEANUP(buf_free) struct buf b = { 0 };
	uint64_t blocks = count_numbered(root, MEMORY, "memory", true);
	uint64_t size = block ? strtoull(block, NULL, 16) : 0, total;

	if (file_read(path, TEXT_MAX_BYTES, &b, err) < 0)
		return -1;
	buf_adds(&b, "");
	total = meminfo(b.data, "MemTotal:");
	c->swap = meminfo(b.data, "SwapTotal:");
	if (!total)
		return error_set(err, 0, "'%s' has no line MemTotal", path);
	c->memory = (total + MEMORY_STEP - 1) / MEMORY_STEP * MEMORY_STEP;
	/* Blocks may reach over holes; then there are far more than memory. */
	if (size && size <= (uint64_t)1 << 40 && blocks && blocks * size >= total &&
	    blocks * size - total < total / 8 + 512 * MIB) {
		c->memory = blocks * size;
		c->memory_exact = true;
	}
	c->nodes = count_numbered(root, NODE, "node", false);
	c->nodes = c->nodes ? c->nodes : 1;
	return 0;
}

/* --- the rest ------------------------------------------------------------------- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void take_disk(const char *root, const char *name, struct captured *c)
{
	cleanup_free char *device = xasprintf("%s/sys/block/%s/device", root, name);
	cleanup_free char *model = xasprintf("/sys/block/%s/device/model", name);
	cleanup_free char *size = xasprintf("/sys/block/%s/size", name);
	cleanup_free char *turns = xasprintf("/sys/block/%s/queue/rotational", name);
	cleanup_free char *removable = xasprintf("/sys/block/%s/removable", name);
	struct captured_disk d = { 0 };

	/* Always 512 bytes, whatever the disk's own sectors are */
	d.size = number_of(root, size, 0);
	d.size = d.size < UINT64_MAX / 512 ? d.size * 512 : 0;
	if (name[0] == '.' || !path_exists(device) || !d.size ||
	    number_of(root, removable, 0))
		return;
	d.rotational = number_of(root, turns, 0) != 0;
	d.name = xstrdup(name);
	d.model = line_of(root, model);
	if (!d.model)
		d.model = xstrdup("");
	captured_disks_add(&c->disks, d);
}

static void each_name(const char *root, const char *dir, struct captured *c,
		      void (*take)(const char *root, const char *name,
				   struct captured *c))
{
	cleanup_free char *full = xasprintf("%s%s", root, dir);
	struct dirent **names;
	int n = scandir(full, &names, NULL, by_name);

	if (n < 0)
		return;
	for (int i = 0; i < n; i++) {
		take(root, names[i]->d_name, c);
		free(names[i]);
	}
	free(names);
}

static void take_flaw(const char *root, const char *name, struct captured *c)
{
	cleanup_free char *path = xasprintf(CPU "/vulnerabilities/%s", name);
	cleanup_free char *state = name[0] == '.' ? NULL : line_of(root, path);

	if (state)
		strings_add(&c->mitigations, xasprintf("%s: %s", name, state));
}

int capture_read(const char *root, struct captured *c, struct error *err)
{
	*c = (struct captured){ 0 };
	read_topology(root, c);
	if (read_cpuinfo(root, c, err) < 0 || read_memory(root, c, err) < 0) {
		captured_free(c);
		return -1;
	}
	c->kernel = line_of(root, "/proc/sys/kernel/osrelease");
	c->clocksource = line_of(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	c->governor = line_of(root, CPU "/cpu0/cpufreq/scaling_governor");
	each_name(root, "/sys/block", c, take_disk);
	each_name(root, CPU "/vulnerabilities", c, take_flaw);
	return 0;
}
