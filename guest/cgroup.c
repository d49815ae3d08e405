/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup.c - cgroup v2
 */
#include "guest/cgroup.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"
#define PARENT ROOT "/kontest"
#define KILL_STEP_MS 20
#define KILL_MS 120000	/* as REAP_MS in child.c */

static const char *const dirs[GROUP_COUNT] = {
	[GROUP_JOB] = PARENT "/job", [GROUP_LOAD] = PARENT "/load",
};

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += len)
		if ((p == text || p[-1] == ' ') &&
		    (p[len] == ' ' || p[len] == '\0'))
			return true;
	return false;
}

/* Passes on the controllers that are there, from a group to its children */
static int enable(const char *dir, struct fail *note, struct fail *f)
{
	static const char *const wanted[] = { "memory", "io", "pids" };
	char path[256], have[512], word[32];

	snprintf(path, sizeof(path), "%s/cgroup.controllers", dir);
	if (read_text(path, have, sizeof(have)) < 0)
		return fail_set(f, errno, "read '%s'", path);
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (!has_word(have, wanted[i])) {
			fail_set(note, 0, "cgroup v2 without the controller '%s'",
				 wanted[i]);
			continue;
		}
		snprintf(word, sizeof(word), "+%s", wanted[i]);
		if (write_text(path, word, f) != 0)
			return -1;
	}
	return 0;
}

int cgroup_setup(bool *v2, struct fail *note, struct fail *f)
{
	struct fail reason;

	note->text[0] = '\0';
	*v2 = false;
	if (mount("cgroup2", ROOT, "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  NULL) != 0) {
		if (errno != ENODEV && errno != ENOENT && errno != EINVAL)
			return fail_set(f, errno, "mount cgroup2");
		fail_set(note, 0, "this kernel has no cgroup v2 (CONFIG_CGROUPS): "
			 "CPU time is counted by process");
		return 0;
	}
	*v2 = true;
	if (enable(ROOT, note, f) != 0 || make_dir(PARENT, 0755, f) != 0 ||
	    enable(PARENT, &reason, f) != 0)
		return -1;
	for (int g = 0; g < GROUP_COUNT; g++)
		if (make_dir(dirs[g], 0755, f) != 0)
			return -1;
	return 0;
}

int cgroup_join(enum group g, struct fail *f)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/cgroup.procs", dirs[g]);
	return write_text(path, "0", f);
}

void cgroup_cpu(enum group g, struct counters *c, enum counter user,
		enum counter system)
{
	char path[256], text[1024];

	snprintf(path, sizeof(path), "%s/cpu.stat", dirs[g]);
	if (read_text(path, text, sizeof(text)) > 0)
		counters_parse_cpu(c, text, user, system);
}

void cgroup_io(enum group g, struct counters *c, enum counter first)
{
	char path[256], text[4096];

	snprintf(path, sizeof(path), "%s/io.stat", dirs[g]);
	/* Empty while there was no I/O: that is a figure, too */
	if (read_text(path, text, sizeof(text)) >= 0)
		counters_parse_io(c, text, first);
}

static bool is_empty(enum group g)
{
	char path[256], text[256];

	snprintf(path, sizeof(path), "%s/cgroup.events", dirs[g]);
	return read_text(path, text, sizeof(text)) > 0 &&
	       strstr(text, "populated 0") != NULL;
}

/* Kernels before 5.14 have no cgroup.kill */
static void kill_each(enum group g)
{
	char path[256];
	char *text, *save = NULL;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dirs[g]);
	text = read_all(path, NULL);
	if (!text)
		return;
	for (char *p = strtok_r(text, "\n", &save); p;
	     p = strtok_r(NULL, "\n", &save)) {
		uint64_t pid;

		if (scan_u64(p, &pid) && pid > 1)
			kill((pid_t)pid, SIGKILL);
	}
	free(text);
}

int cgroup_kill(enum group g, struct fail *f)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/cgroup.kill", dirs[g]);
	for (int ms = 0; !is_empty(g); ms += KILL_STEP_MS) {
		if (ms >= KILL_MS)
			return fail_set(f, 0, "'%s': processes that cannot be killed",
					dirs[g]);
		if (write_text(path, "1", NULL) != 0)
			kill_each(g);
		sleep_ms(KILL_STEP_MS);
	}
	return 0;
}
