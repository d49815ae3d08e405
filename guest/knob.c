/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * knob.c - sets the plan's knobs and reads them back
 */
#include "guest/knob.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define BOOT "boot:"
#define QUEUE "queue/"
#define DEBUGFS "/sys/kernel/debug"

/* Parameters whose effect the kernel tells in a file, too */
static const struct {
	const char *name, *path;
} effects[] = {
	{ "preempt", DEBUGFS "/sched/preempt" },
	{ "transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled" },
};

static bool is_blank(char c)
{
	return isspace((unsigned char)c);
}

/* Is @word one of the blank-separated words of @text? */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += len)
		if ((p == text || is_blank(p[-1])) &&
		    (p[len] == '\0' || is_blank(p[len])))
			return true;
	return false;
}

/* "none [mq-deadline] bfq": what is in brackets, or false when nothing is */
static bool chosen(const char *text, char *out, size_t size)
{
	const char *from = strpbrk(text, "[(");
	const char *to = from ? strchr(from, *from == '[' ? ']' : ')') : NULL;

	if (!to)
		return false;
	snprintf(out, size, "%.*s", (int)(to - from - 1), from + 1);
	return true;
}

/* The same words, whatever is between them */
static bool same_words(const char *a, const char *b)
{
	for (;;) {
		while (is_blank(*a))
			a++;
		while (is_blank(*b))
			b++;
		if (*a == '\0' || *b == '\0')
			return *a == *b;
		while (*a && !is_blank(*a))
			if (*a++ != *b++)
				return false;
		if (*b && !is_blank(*b))
			return false;
	}
}

bool knob_took(const char *path, const char *wanted, const char *text)
{
	size_t len = strlen(path), f = strlen("/features");
	char now[KNOB_TEXT];

	if (len > f && strcmp(path + len - f, "/features") == 0)
		return has_word(text, wanted);
	if (chosen(text, now, sizeof(now)))
		return strcmp(now, wanted) == 0;
	return same_words(text, wanted);
}

bool knob_boot_value(const char *cmdline, const char *name, char *out,
		     size_t size)
{
	size_t len = strlen(name);
	bool found = false;

	out[0] = '\0';
	for (const char *p = cmdline; *p; p += strcspn(p, " \n")) {
		p += strspn(p, " \n");
		if (strncmp(p, name, len) != 0 ||
		    (p[len] && !strchr("= \n", p[len])))
			continue;
		found = true;
		p += len + (p[len] == '=');
		snprintf(out, size, "%.*s", (int)strcspn(p, " \n"), p);
	}
	return found;
}

static void full_path(const char *root, const char *path, char *out, size_t size)
{
	snprintf(out, size, "%s%s", root, path);
}

static bool read_knob(const char *root, const char *path, char *out, size_t size)
{
	char full[4096];

	out[0] = '\0';
	full_path(root, path, full, sizeof(full));
	return read_text(full, out, size) >= 0;
}

static void mount_debugfs(const char *root, const char *path)
{
	char dir[4096];

	if (strncmp(path, DEBUGFS "/", strlen(DEBUGFS "/")) != 0)
		return;
	full_path(root, path, dir, sizeof(dir));
	if (access(dir, F_OK) == 0)
		return;
	full_path(root, DEBUGFS, dir, sizeof(dir));
	/* Whether it worked shows in the knob's file */
	(void)!mount("debugfs", dir, "debugfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		     NULL);
}

static struct knob_result *add_result(struct knobs *out,
				      const struct plan_knob *k)
{
	struct knob_result *r = &out->v[out->n++];

	memset(r, 0, sizeof(*r));
	snprintf(r->knob, sizeof(r->knob), "%s", k->target);
	snprintf(r->wanted, sizeof(r->wanted), "%s", k->value);
	r->set = k->set;
	return r;
}

static void judge(struct knob_result *r)
{
	if (r->took || r->why[0])
		return;
	r->took = knob_took(r->path, r->wanted, r->after);
	if (!r->took)
		snprintf(r->why, sizeof(r->why), "it is '%.200s' after '%.100s' "
			 "was written", r->after, r->wanted);
}

static void apply_file(const char *root, const char *path,
		       struct knob_result *r)
{
	char full[4096];
	struct fail f;

	snprintf(r->path, sizeof(r->path), "%s", path);
	mount_debugfs(root, path);
	full_path(root, path, full, sizeof(full));
	if (!read_knob(root, path, r->before, sizeof(r->before)) && r->set &&
	    errno == ENOENT) {
		snprintf(r->why, sizeof(r->why), "this kernel has no '%s'", path);
		return;
	}
	if (!r->set)
		return;
	if (write_text(full, r->wanted, &f) != 0)
		snprintf(r->why, sizeof(r->why), "%.400s", f.text);
	if (!read_knob(root, path, r->after, sizeof(r->after)) && !r->why[0])
		snprintf(r->why, sizeof(r->why), "read '%s': %s", path,
			 strerror(errno));
	judge(r);
}

static void apply_queue(const char *root, const struct plan_knob *k,
			const struct disk disks[], struct knobs *out)
{
	static const enum disk_role roles[] = { DISK_WORK, DISK_OTHER };
	const char *last = "";

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		const struct disk *d = &disks[roles[i]];
		char path[PLAN_KNOB_MAX + 128];

		/* One disk may have more than one role */
		if (!d->present || strcmp(d->name, last) == 0)
			continue;
		last = d->name;
		snprintf(path, sizeof(path), "/sys/class/block/%s/%s", d->name,
			 k->target);
		apply_file(root, path, add_result(out, k));
	}
	if (!*last && k->set)
		snprintf(add_result(out, k)->why, sizeof(out->v[0].why),
			 "there is no work disk");
}

/* The command line is what was asked; what the kernel did not know of it, it has
 * put into our environment, or else it may tell what came of it. */
static void apply_boot(const char *root, const struct plan_knob *k,
		       struct knob_result *r)
{
	const char *name = k->target + strlen(BOOT);
	const char *unknown = getenv(name);
	char cmdline[4096];

	snprintf(r->path, sizeof(r->path), "/proc/cmdline");
	if (!read_knob(root, r->path, cmdline, sizeof(cmdline)) ||
	    !knob_boot_value(cmdline, name, r->after, sizeof(r->after))) {
		if (r->set)
			snprintf(r->why, sizeof(r->why), "it is not on the "
				 "kernel's command line");
	} else if (unknown && strcmp(unknown, r->after) == 0) {
		snprintf(r->why, sizeof(r->why), "this kernel does not know the "
			 "parameter");
	}
	for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++) {
		char now[KNOB_TEXT];

		if (strcmp(name, effects[i].name) != 0)
			continue;
		mount_debugfs(root, effects[i].path);
		if (!read_knob(root, effects[i].path, now, sizeof(now)))
			continue;
		snprintf(r->path, sizeof(r->path), "%s", effects[i].path);
		memcpy(r->after, now, sizeof(now));
	}
	if (r->set) {
		judge(r);
	} else {
		memcpy(r->before, r->after, sizeof(r->before));
		r->after[0] = '\0';
		r->why[0] = '\0';
	}
}

void knobs_apply(const char *root, const struct plan *p,
		 const struct disk disks[DISK_ROLES], struct knobs *out)
{
	out->n = 0;
	for (size_t i = 0; i < p->nknobs; i++) {
		const struct plan_knob *k = &p->knobs[i];

		if (strncmp(k->target, BOOT, strlen(BOOT)) == 0)
			apply_boot(root, k, add_result(out, k));
		else if (strncmp(k->target, QUEUE, strlen(QUEUE)) == 0)
			apply_queue(root, k, disks, out);
		else
			apply_file(root, k->target, add_result(out, k));
	}
}

bool knobs_failed(const struct knobs *k, struct fail *f)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct knob_result *r = &k->v[i];

		if (!r->set || r->took)
			continue;
		fail_set(f, 0, "the knob '%s' did not take '%s': %s", r->knob,
			 r->wanted, r->why);
		return true;
	}
	return false;
}

void knobs_write(struct jsonw *w, const struct knobs *k)
{
	if (k->n == 0)
		return;
	jsonw_open(w, "knobs", '[');
	for (size_t i = 0; i < k->n; i++) {
		const struct knob_result *r = &k->v[i];

		jsonw_open(w, NULL, '{');
		jsonw_string(w, "knob", r->knob);
		jsonw_string(w, "path", r->path);
		if (r->set)
			jsonw_string(w, "wanted", r->wanted);
		if (r->before[0])
			jsonw_string(w, "before", r->before);
		if (r->set && r->after[0])
			jsonw_string(w, "after", r->after);
		if (r->set)
			jsonw_bool(w, "took", r->took);
		jsonw_close(w, '}');
	}
	jsonw_close(w, ']');
}
