/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan.c - reads the guest plan
 */
#include "guest/plan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPINDLE_US_MAX 10000000	/* 10 s */

enum key {
	KEY_FORMAT, KEY_CPUS, KEY_MEM, KEY_EXACT, KEY_JOB, KEY_JOBS, KEY_SEED,
	KEY_LEAD_MS, KEY_RUN_TIMEOUT_S, KEY_SAMPLE_MS,
	KEY_NEEDED,		/* the keys above must all be there */
	KEY_SPINDLE_MAIN = KEY_NEEDED, KEY_SPINDLE_OTHER,
	KEY_JOB_TARGET, KEY_JOB_COMMAND, KEY_JOB_PREPARE,
	KEY_COUNT
};

static const char *const key_names[KEY_COUNT] = {
	[KEY_FORMAT] = "format", [KEY_CPUS] = "cpus", [KEY_MEM] = "mem",
	[KEY_EXACT] = "exact", [KEY_JOB] = "job", [KEY_JOBS] = "jobs",
	[KEY_SEED] = "seed", [KEY_LEAD_MS] = "lead_ms",
	[KEY_RUN_TIMEOUT_S] = "run_timeout_s", [KEY_SAMPLE_MS] = "sample_ms",
	[KEY_SPINDLE_MAIN] = "spindle.main",
	[KEY_SPINDLE_OTHER] = "spindle.other",
	[KEY_JOB_TARGET] = "job.target", [KEY_JOB_COMMAND] = "job.command",
	[KEY_JOB_PREPARE] = "job.prepare",
};

/* struct line - one line of the plan, taken apart */
struct line {
	unsigned int number;
	const char *key;
	char *value;
};

static int bad_value(const struct line *l, const char *want, struct fail *f)
{
	return fail_set(f, 0, "plan line %u: %s=%s: %s expected", l->number,
			l->key, l->value, want);
}

static int get_uint(const struct line *l, unsigned int min, unsigned int max,
		    unsigned int *out, struct fail *f)
{
	char want[64];
	uint64_t v;

	snprintf(want, sizeof(want), "a number from %u to %u", min, max);
	if (!scan_u64(l->value, &v) || v < min || v > max)
		return bad_value(l, want, f);
	*out = (unsigned int)v;
	return 0;
}

static int get_u64(const struct line *l, uint64_t *out, struct fail *f)
{
	return scan_u64(l->value, out) ? 0 : bad_value(l, "a number", f);
}

/* A name becomes part of a path: letters, digits, '_', '-' and '.' inside it */
static int get_name(const struct line *l, char out[PLAN_NAME_MAX],
		    struct fail *f)
{
	size_t len = strlen(l->value);

	if (len == 0 || len >= PLAN_NAME_MAX || l->value[0] == '.' ||
	    strspn(l->value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		   "0123456789_-.") != len)
		return bad_value(l, "a name", f);
	memcpy(out, l->value, len + 1);
	return 0;
}

#define SPINDLE_VALUES "RBPS,WBPS,SEEK_US,SETTLE_US,ROTATION_US"

static int get_spindle(const struct line *l, struct plan_spindle *s,
		       struct fail *f)
{
	uint64_t *const out[] = { &s->rbps, &s->wbps, &s->seek_us,
				  &s->settle_us, &s->rotation_us };
	const int last = sizeof(out) / sizeof(out[0]) - 1;
	char part[32];
	const char *p = l->value;

	for (int i = 0; i <= last; i++) {
		size_t len = strcspn(p, ",");

		if (len >= sizeof(part) || (p[len] == ',') != (i < last))
			return bad_value(l, SPINDLE_VALUES, f);
		memcpy(part, p, len);
		part[len] = '\0';
		if (!scan_u64(part, out[i]) ||
		    (i >= 2 && *out[i] > SPINDLE_US_MAX))
			return bad_value(l, SPINDLE_VALUES, f);
		p += len + (i < last);
	}
	return 0;
}

/* What a command line is told: as it is, but neither empty nor cut */
static int get_line(const struct line *l, char out[PLAN_LINE_MAX],
		    struct fail *f)
{
	size_t len = strlen(l->value);

	if (len == 0 || len >= PLAN_LINE_MAX)
		return bad_value(l, "1 to 2047 bytes", f);
	memcpy(out, l->value, len + 1);
	return 0;
}

/* A target becomes an argument of make: no option, no assignment, no blank */
static int get_target(const struct line *l, char out[PLAN_LINE_MAX],
		      struct fail *f)
{
	if (l->value[0] == '-' || l->value[0] == '/' ||
	    strspn(l->value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		   "0123456789_-./+") != strlen(l->value))
		return bad_value(l, "a make target", f);
	return get_line(l, out, f);
}

static int set_key(struct plan *p, enum key key, const struct line *l,
		   struct fail *f)
{
	unsigned int flag;

	switch (key) {
	case KEY_FORMAT:
		if (strcmp(l->value, "1") != 0)
			return bad_value(l, "1 (this guest knows no other)", f);
		return 0;
	case KEY_CPUS:
		return get_uint(l, 0, 4096, &p->cpus, f);
	case KEY_MEM:
		return get_u64(l, &p->mem, f);
	case KEY_EXACT:
		if (get_uint(l, 0, 1, &flag, f) != 0)
			return -1;
		p->exact = flag;
		return 0;
	case KEY_JOB:
		return get_name(l, p->job, f);
	case KEY_JOBS:
		return get_uint(l, 0, 65536, &p->jobs, f);
	case KEY_SEED:
		return get_u64(l, &p->seed, f);
	case KEY_LEAD_MS:
		return get_uint(l, 0, 3600000, &p->lead_ms, f);
	case KEY_RUN_TIMEOUT_S:
		return get_uint(l, 1, 30 * 86400, &p->run_timeout_s, f);
	case KEY_SAMPLE_MS:
		return get_uint(l, 0, 3600000, &p->sample_ms, f);
	case KEY_SPINDLE_MAIN:
		return get_spindle(l, &p->main_spindle, f);
	case KEY_SPINDLE_OTHER:
		return get_spindle(l, &p->other_spindle, f);
	case KEY_JOB_TARGET:
		return get_target(l, p->job_target, f);
	case KEY_JOB_COMMAND:
		return get_line(l, p->job_command, f);
	case KEY_JOB_PREPARE:
		return get_line(l, p->job_prepare, f);
	default:
		return fail_set(f, EINVAL, "plan line %u", l->number);
	}
}

static int add_run(struct plan *p, const struct line *l, bool bench,
		   struct fail *f)
{
	void *more = realloc(p->runs, (p->nruns + 1) * sizeof(*p->runs));

	if (!more)
		return fail_set(f, errno, "plan line %u", l->number);
	p->runs = more;
	more = realloc(p->benches, (p->nruns + 1) * sizeof(*p->benches));
	if (!more)
		return fail_set(f, errno, "plan line %u", l->number);
	p->benches = more;
	if (get_name(l, p->runs[p->nruns], f) != 0)
		return -1;
	p->benches[p->nruns++] = bench;
	p->ncontest += !bench;
	return 0;
}

/* "bench.NAME.SETTING=N[,N...]": every setting of a benchmark, once */
static int add_setting(struct plan *p, const struct line *l, struct fail *f)
{
	char name[PLAN_NAME_MAX];
	const char *key = l->key + strlen("bench.");
	const char *dot = strchr(key, '.');
	const struct bench_ops *ops;
	struct bench_values *values;
	int which;

	snprintf(name, sizeof(name), "%.*s", dot ? (int)(dot - key) : 0, key);
	ops = bench_find(name);
	which = ops ? bench_setting(ops, dot + 1) : -1;
	if (which < 0)
		return fail_set(f, 0, "plan line %u: unknown key '%s'",
				l->number, l->key);
	values = &p->bench[bench_index(ops)].of[which];
	if (values->n > 0)
		return fail_set(f, 0, "plan line %u: '%s' is given twice",
				l->number, l->key);
	for (char *part = l->value, *next; part; part = next) {
		uint64_t v;

		next = strchr(part, ',');
		if (next)
			*next++ = '\0';
		if (!scan_u64(part, &v) ||
		    !bench_setting_ok(&ops->settings[which], values, v))
			return bad_value(l, "a setting of this benchmark", f);
		values->v[values->n++] = v;
	}
	return 0;
}

/* "knob=TARGET=VALUE", or "knob=TARGET" of one that is only read */
static int add_knob(struct plan *p, const struct line *l, struct fail *f)
{
	const char *eq = strchrnul(l->value, '=');
	const char *value = *eq ? eq + 1 : eq;
	struct plan_knob *k;

	if (p->nknobs == PLAN_KNOBS_MAX)
		return fail_set(f, 0, "plan line %u: more than %d knobs",
				l->number, PLAN_KNOBS_MAX);
	if (eq == l->value || eq - l->value >= PLAN_KNOB_MAX ||
	    strlen(value) >= PLAN_KNOB_MAX || (*eq && !*value))
		return bad_value(l, "TARGET=VALUE", f);
	k = &p->knobs[p->nknobs++];
	snprintf(k->target, sizeof(k->target), "%.*s", (int)(eq - l->value),
		 l->value);
	snprintf(k->value, sizeof(k->value), "%s", value);
	k->set = *eq != '\0';
	return 0;
}

static int add_size(struct plan *p, const struct line *l, struct fail *f)
{
	const char *load = l->key + strlen("size.");
	struct plan_size *more;

	if (*load == '\0' || strlen(load) >= PLAN_NAME_MAX)
		return fail_set(f, 0, "plan line %u: '%s' names no load",
				l->number, l->key);
	for (size_t i = 0; i < p->nsizes; i++)
		if (strcmp(p->sizes[i].load, load) == 0)
			return fail_set(f, 0, "plan line %u: '%s' is given twice",
					l->number, l->key);
	more = realloc(p->sizes, (p->nsizes + 1) * sizeof(*more));
	if (!more)
		return fail_set(f, errno, "plan line %u", l->number);
	p->sizes = more;
	if (get_u64(l, &p->sizes[p->nsizes].size, f) != 0)
		return -1;
	snprintf(p->sizes[p->nsizes].load, PLAN_NAME_MAX, "%s", load);
	p->nsizes++;
	return 0;
}

static int take_line(struct plan *p, const struct line *l, bool seen[],
		     struct fail *f)
{
	if (!seen[KEY_FORMAT] && strcmp(l->key, "format") != 0)
		return fail_set(f, 0, "plan line %u: the plan must begin with format=1",
				l->number);
	if (strcmp(l->key, "run") == 0)
		return add_run(p, l, false, f);
	if (strcmp(l->key, "bench") == 0)
		return add_run(p, l, true, f);
	if (strncmp(l->key, "bench.", 6) == 0)
		return add_setting(p, l, f);
	if (strcmp(l->key, "knob") == 0)
		return add_knob(p, l, f);
	if (strncmp(l->key, "size.", 5) == 0)
		return add_size(p, l, f);
	for (int k = 0; k < KEY_COUNT; k++) {
		if (strcmp(l->key, key_names[k]) != 0)
			continue;
		if (seen[k])
			return fail_set(f, 0, "plan line %u: '%s' is given twice",
					l->number, l->key);
		seen[k] = true;
		return set_key(p, (enum key)k, l, f);
	}
	return fail_set(f, 0, "plan line %u: unknown key '%s'", l->number,
			l->key);
}

int guest_plan_parse(char *text, struct plan *p, struct fail *f)
{
	bool seen[KEY_COUNT] = { false };
	struct line l = { 0 };

	memset(p, 0, sizeof(*p));
	while (*text) {
		char *line = text;
		char *end = strchrnul(text, '\n');

		text = *end ? end + 1 : end;
		*end = '\0';
		l.number++;
		if (*line == '\0')
			continue;
		l.key = line;
		l.value = strchr(line, '=');
		if (!l.value)
			return fail_set(f, 0, "plan line %u: '%s' is no key=value",
					l.number, line);
		*l.value++ = '\0';
		if (take_line(p, &l, seen, f) != 0)
			return -1;
	}
	for (int k = 0; k < KEY_NEEDED; k++)
		if (!seen[k])
			return fail_set(f, 0, "the plan has no line '%s='",
					key_names[k]);
	if (strcmp(p->job, "none") == 0 && p->ncontest > 0)
		return fail_set(f, 0, "the plan has runs but job=none");
	return 0;
}

void guest_plan_free(struct plan *p)
{
	free(p->sizes);
	free(p->runs);
	free(p->benches);
	memset(p, 0, sizeof(*p));
}

void guest_plan_fill(struct plan *p, unsigned int cpus, uint64_t ram_bytes)
{
	if (p->cpus == 0)
		p->cpus = cpus;
	if (p->mem == 0)
		p->mem = ram_bytes;
	if (p->jobs == 0)
		p->jobs = 4 * p->cpus;
}

bool guest_plan_modelled(const struct plan_spindle *s)
{
	return s->rbps || s->wbps || s->seek_us || s->rotation_us;
}

uint64_t guest_plan_size(const struct plan *p, const char *load)
{
	for (size_t i = 0; i < p->nsizes; i++)
		if (strcmp(p->sizes[i].load, load) == 0)
			return p->sizes[i].size;
	return 0;
}
