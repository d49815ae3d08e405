/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * receipt.c - gathers the receipt
 */
#include "guest/receipt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "guest/child.h"
#include "guest/json.h"
#include "guest/machine.h"

#define VULNERABILITIES "/sys/devices/system/cpu/vulnerabilities"
#define CLOCKSOURCE \
	"/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define COMPILER_OUTPUT "/run/compiler"
#define COMPILER_TIMEOUT_S 60

/* The value of the line "KEY<blanks>: VALUE" or "KEY: VALUE" in a text */
static bool find_field(const char *text, const char *key, char *out,
		       size_t size)
{
	size_t len = strlen(key);

	for (const char *p = text; p && *p; p = strchr(p, '\n')) {
		const char *v;

		p += *p == '\n';
		if (strncmp(p, key, len) != 0)
			continue;
		v = p + len + strspn(p + len, " \t");
		if (*v != ':')
			continue;
		v += 1 + strspn(v + 1, " \t");
		snprintf(out, size, "%.*s", (int)strcspn(v, "\n"), v);
		return true;
	}
	return false;
}

static void write_file(struct jsonw *w, const char *key, const char *path)
{
	char text[4096];

	if (read_text(path, text, sizeof(text)) > 0)
		jsonw_string(w, key, text);
}

static void write_kib(struct jsonw *w, const char *key, const char *meminfo,
		      const char *field)
{
	char text[64];

	if (find_field(meminfo, field, text, sizeof(text)))
		jsonw_u64(w, key, strtoull(text, NULL, 10) * 1024);
}

static void write_memory(struct jsonw *w)
{
	char *text = read_all("/proc/iomem", NULL);
	uint64_t ram = text ? machine_ram_bytes(text) : 0;

	free(text);
	if (ram > 0)
		jsonw_u64(w, "ram_bytes", ram);
	text = read_all("/proc/meminfo", NULL);
	if (!text)
		return;
	write_kib(w, "mem_total_bytes", text, "MemTotal");
	write_kib(w, "swap_bytes", text, "SwapTotal");
	free(text);
}

static void write_cpu(struct jsonw *w)
{
	char *text = read_all("/proc/cpuinfo", NULL);
	char model[256];
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (online > 0)
		jsonw_u64(w, "cpus_online", (uint64_t)online);
	if (text && find_field(text, "model name", model, sizeof(model)))
		jsonw_string(w, "cpu_model", model);
	free(text);
}

static int exec_compiler(void *arg)
{
	(void)arg;
	execlp("gcc", "gcc", "--version", (char *)NULL);
	return 127;
}

/* The compiler is part of what the job measures: its own first line */
static void write_compiler(struct jsonw *w)
{
	const struct child_opts o = { .output = COMPILER_OUTPUT, .dir = "/",
				      .main = exec_compiler };
	struct child c;
	struct child *const list[] = { &c, NULL };
	char text[512];

	if (child_start(&o, &c, NULL) != 0)
		return;
	if (child_go(&c, NULL) != 0 ||
	    child_wait(list, now_ns() + COMPILER_TIMEOUT_S * NS_PER_S) == 0) {
		child_kill(&c, &o, NULL);
	} else if (child_exit_code(&c) == 0 &&
		   read_text(COMPILER_OUTPUT, text, sizeof(text)) > 0) {
		text[strcspn(text, "\n")] = '\0';
		jsonw_string(w, "compiler", text);
	}
	unlink(COMPILER_OUTPUT);
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void write_mitigations(struct jsonw *w)
{
	struct dirent **list;
	int n = scandir(VULNERABILITIES, &list, visible, compare_names);
	char path[512];

	if (n < 0)
		return;
	jsonw_open(w, "mitigations", '{');
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), VULNERABILITIES "/%s",
			 list[i]->d_name);
		write_file(w, list[i]->d_name, path);
		free(list[i]);
	}
	free(list);
	jsonw_close(w, '}');
}

static void write_disks(struct jsonw *w, const struct disk disks[])
{
	jsonw_open(w, "disks", '[');
	for (int r = 0; r < DISK_ROLES; r++) {
		const struct disk *d = &disks[r];

		if (!d->present)
			continue;
		jsonw_open(w, NULL, '{');
		jsonw_string(w, "role", disk_role_name((enum disk_role)r));
		jsonw_string(w, "name", d->name);
		jsonw_u64(w, "bytes", d->bytes);
		if (d->serial[0])
			jsonw_string(w, "serial", d->serial);
		if (d->driver[0])
			jsonw_string(w, "driver", d->driver);
		jsonw_close(w, '}');
	}
	jsonw_close(w, ']');
}

int receipt_write(struct jw *j, const struct disk disks[DISK_ROLES],
		  bool cgroup2, const struct knobs *knobs, struct fail *f)
{
	static char payload[JOURNAL_PAYLOAD_MAX];
	struct utsname u;
	struct jsonw w;

	if (uname(&u) != 0)
		return fail_set(f, errno, "uname");
	jsonw_begin(&w, payload, sizeof(payload));
	jsonw_open(&w, NULL, '{');
	jsonw_u64(&w, "format", 1);
	jsonw_string(&w, "guest", KONTEST_VERSION);
	jsonw_string(&w, "release", u.release);
	jsonw_string(&w, "version", u.version);
	write_file(&w, "cmdline", "/proc/cmdline");
	write_cpu(&w);
	write_memory(&w);
	write_file(&w, "clocksource", CLOCKSOURCE);
	jsonw_u64(&w, "cgroup", cgroup2 ? 2 : 0);
	jsonw_bool(&w, "psi", access("/proc/pressure/cpu", R_OK) == 0);
	write_compiler(&w);
	write_mitigations(&w);
	write_disks(&w, disks);
	knobs_write(&w, knobs);
	jsonw_close(&w, '}');
	if (!jsonw_ok(&w))
		return fail_set(f, 0, "the receipt is too long");
	return jw_append(j, JOURNAL_RECEIPT, payload, f);
}
