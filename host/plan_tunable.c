/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/plan_tunable.h"

#include <ctype.h>
#include <string.h>

#include "images/kconfig.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define BOOT "boot:"
#define SYSCTL "sysctl:"
#define BLANKS " \t\r\n"
#define TARGET_MAX 200
#define VALUE_MAX 100
#define BRIEF_MAX 16
#define CONFIG_MAX (16u << 20)
#define TARGET_CHARS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./"

void plan_tunables_free(struct tunables *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i].name);
		free(t->v[i].knob);
		free(t->v[i].target);
		free(t->v[i].brief);
		strings_clear(&t->v[i].values);
	}
	tunables_free(t);
}

static char *trimmed(const char *s, size_t len)
{
	while (len && strchr(BLANKS, *s))
		s++, len--;
	while (len && strchr(BLANKS, s[len - 1]))
		len--;
	return xstrndup(s, len);
}

static int set_values(struct tunable *t, const char *list, struct error *err)
{
	for (const char *s = list;; s++) {
		size_t len = strcspn(s, ",");
		char *v = trimmed(s, len);

		strings_add(&t->values, v);
		if (!*v || strlen(v) > VALUE_MAX || strpbrk(v, "\n\r"))
			return error_set(err, 0, "[tunable %s] values = %s: give values of 1 to %d bytes with commas between",
					 t->name, list, VALUE_MAX);
		for (size_t i = 0; i + 1 < t->values.n; i++)
			if (!strcmp(t->values.v[i], v))
				return error_set(err, 0, "[tunable %s] values: '%s' is there twice",
						 t->name, v);
		s += len;
		if (!*s)
			break;
	}
	if (t->values.n > TUNABLE_VALUES_MAX)
		return error_set(err, 0, "[tunable %s] values: more than %d",
				 t->name, TUNABLE_VALUES_MAX);
	return 0;
}

static struct tunable *get(struct tunables *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->v[i].name, name))
			return &t->v[i];
	return tunables_add(t, (struct tunable){ .name = xstrdup(name) });
}

int plan_tunable_key(struct tunables *t, const char *name, const char *key,
		     const char *value, struct error *err)
{
	struct tunable *one = get(t, name);

	if (!strcmp(key, "values"))
		return set_values(one, value, err);
	if (!strcmp(key, "knob")) {
		one->knob = xstrdup(value);
		return 0;
	}
	if (strcmp(key, "short"))
		return error_set(err, 0, "unknown key '%s' in [tunable %s]: there are knob, values and short",
				 key, name);
	if (!*value || strlen(value) > BRIEF_MAX ||
	    strspn(value, TARGET_CHARS) != strlen(value) || strchr(value, '/'))
		return error_set(err, 0, "[tunable %s] short = %s: give 1 to %d letters, digits and _-.",
				 name, value, BRIEF_MAX);
	one->brief = xstrdup(value);
	return 0;
}

/* "sysctl:vm.swappiness" -> "/proc/sys/vm/swappiness", as sysctl(8) reads it */
static char *sysctl_path(const char *name)
{
	char *path = xasprintf("/proc/sys/%s", name);

	if (!strchr(name, '/'))
		for (char *dot; (dot = strchr(path, '.'));)
			*dot = '/';
	return path;
}

static char *target_of(const char *knob)
{
	static const char *const plain[] = {
		BOOT, "queue/", "/proc/sys/", "/sys/",
	};

	if (str_starts(knob, SYSCTL) && knob[strlen(SYSCTL)])
		return sysctl_path(knob + strlen(SYSCTL));
	if (str_starts(knob, "sched/"))
		return xasprintf("/sys/kernel/debug/%s", knob);
	if (str_starts(knob, "transparent_hugepage/"))
		return xasprintf("/sys/kernel/mm/%s", knob);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (str_starts(knob, plain[i]) && knob[strlen(plain[i])])
			return xstrdup(knob);
	return NULL;
}

static int set_target(struct tunable *t, struct error *err)
{
	const char *name;

	t->target = target_of(t->knob);
	if (!t->target)
		return error_set(err, 0, "[tunable %s] knob = %s: there are sysctl:NAME, /proc/sys/..., sched/NAME, queue/NAME, transparent_hugepage/NAME, /sys/... and boot:NAME",
				 t->name, t->knob);
	name = t->target + (str_starts(t->target, BOOT) ? strlen(BOOT) : 0);
	if (strlen(name) > TARGET_MAX || strspn(name, TARGET_CHARS) != strlen(name) ||
	    strstr(name, "..") || str_ends(name, "/"))
		return error_set(err, 0, "[tunable %s] knob = %s: a name has letters, digits and _-./ only, and no '..'",
				 t->name, t->knob);
	for (size_t i = 0; str_starts(t->target, BOOT) && i < t->values.n; i++)
		if (strpbrk(t->values.v[i], " \t\"") || strchr(name, '/'))
			return error_set(err, 0, "[tunable %s] values: '%s' cannot stand on a command line: it must have no blanks and no quotes",
					 t->name, t->values.v[i]);
	return 0;
}

/* A knob's own name: without its directories, and without a word that says no
 * more than its unit; "enabled" alone says nothing, so its directory is meant. */
static char *plain_name(const char *target)
{
	static const char *const units[] = { "_ns", "_us", "_ms", "_kb", "_bytes" };
	cleanup_free char *path = xstrdup(target);
	const char *name;
	char *slash;

	slash = strrchr(path, '/');
	if (slash && !strcmp(slash, "/enabled")) {
		*slash = '\0';
		slash = strrchr(path, '/');
	}
	name = slash ? slash + 1 : path;
	if (str_starts(name, BOOT))
		name += strlen(BOOT);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (str_ends(name, units[i]) && strlen(name) > strlen(units[i]))
			return xstrndup(name, strlen(name) - strlen(units[i]));
	return xstrdup(name);
}

/*
 * In the way of the mails (max_tim100 of max_timeslice, chi_pen50 of
 * child_penalty): seven letters, the first word's first three (a word of four is
 * taken whole) and the second one's beginning.
 */
static char *brief_name(const char *target)
{
	cleanup_free char *name = plain_name(target);
	size_t first = strcspn(name, "_-");
	const char *second = name[first] ? name + first + 1 : "";

	if (!*second)
		return xstrndup(name, 7);
	if (first > 4)
		first = 3;
	return xasprintf("%.*s_%.*s", (int)first, name,
			 (int)(first > 3 ? 2 : 3), second);
}

static void make_unique(struct tunables *t, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		char *longer;

		if (strcmp(t->v[k].brief, t->v[i].brief))
			continue;
		longer = xasprintf("%s.%zu", t->v[i].brief, i + 1);
		free(t->v[i].brief);
		t->v[i].brief = longer;
	}
}

int plan_tunables_finish(struct tunables *t, struct error *err)
{
	if (t->n > TUNABLES_MAX)
		return error_set(err, 0, "%zu sections [tunable]: at most %d in one plan, a matrix; make several plans",
				 t->n, TUNABLES_MAX);
	for (size_t i = 0; i < t->n; i++) {
		struct tunable *one = &t->v[i];

		if (!one->knob || !one->values.n)
			return error_set(err, 0, "[tunable %s] has no key '%s'",
					 one->name, one->knob ? "values" : "knob");
		if (set_target(one, err) < 0)
			return -1;
		if (i && !strcmp(one->target, t->v[0].target))
			return error_set(err, 0, "[tunable %s] and [tunable %s] are the same knob: write all values into one",
					 t->v[0].name, one->name);
		if (!one->brief)
			one->brief = brief_name(one->target);
		make_unique(t, i);
	}
	return 0;
}

void plan_tunables_text(const struct tunables *t, struct buf *out)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct tunable *one = &t->v[i];

		buf_printf(out, "[tunable %s]\nknob = %s\nshort = %s\nvalues = ",
			   one->name, one->knob, one->brief);
		for (size_t k = 0; k < one->values.n; k++)
			buf_printf(out, "%s%s", k ? ", " : "", one->values.v[k]);
		buf_adds(out, "\n");
	}
}

size_t plan_points(const struct tunables *t)
{
	size_t n = t->n > 0;

	for (size_t i = 0; i < t->n; i++)
		n *= t->v[i].values.n;
	return n;
}

const char *point_value(const struct tunables *t, size_t point, size_t i)
{
	for (size_t k = t->n - 1; k > i; k--)
		point /= t->v[k].values.n;
	return t->v[i].values.v[point % t->v[i].values.n];
}

/* Are all values whole microseconds of a knob in nanoseconds? */
static bool in_us(const struct tunable *t)
{
	uint64_t v;

	for (size_t i = 0; i < t->values.n; i++)
		if (!parse_u64(t->values.v[i], &v) || v % 1000)
			return false;
	return str_ends(t->target, "_ns");
}

char *point_label(const struct tunables *t, size_t point, const char *kernel)
{
	struct buf b = { 0 };

	buf_adds(&b, kernel);
	for (size_t i = 0; i < t->n; i++) {
		const char *value = point_value(t, point, i);
		uint64_t v = 0;

		buf_printf(&b, "_%s", t->v[i].brief);
		if (in_us(&t->v[i]) && parse_u64(value, &v))
			buf_printf(&b, "%llu", (unsigned long long)v / 1000);
		else
			buf_printf(&b, "%s%s", isdigit((unsigned char)*value) ? "" : "=",
				   value);
	}
	return b.data;
}

char *point_cmdline(const struct tunables *t, size_t point)
{
	struct buf b = { 0 };

	buf_adds(&b, "");
	for (size_t i = 0; i < t->n; i++)
		if (str_starts(t->v[i].target, BOOT))
			buf_printf(&b, "%s%s=%s", b.len ? " " : "",
				   t->v[i].target + strlen(BOOT),
				   point_value(t, point, i));
	return b.data;
}

json_t *point_json(const struct tunables *t, size_t point)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->n; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "knob",
						      t->v[i].knob, "value",
						      point_value(t, point, i),
						      "short", t->v[i].brief));
	return list;
}

void point_lines(const struct tunables *t, size_t point, struct buf *out)
{
	for (size_t i = 0; i < t->n; i++)
		buf_printf(out, "knob=%s=%s\n", t->v[i].target,
			   point_value(t, point, i));
}

void baseline_lines(const struct tunables *t, struct buf *out)
{
	for (size_t i = 0; i < t->n; i++)
		buf_printf(out, "knob=%s\n", t->v[i].target);
}

static uint64_t hz_of(const struct kernel *k)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	CLEANUP(kconfig_free) struct kconfig kc = { 0 };
	const char *hz;
	uint64_t n = 0;

	if (!k->config || file_read(k->config, CONFIG_MAX, &text, NULL) < 0 ||
	    !text.data || kconfig_parse(text.data, k->config, &kc, NULL) < 0)
		return 0;
	hz = kconfig_get(&kc, "HZ");
	return hz && parse_u64(hz, &n) ? n : 0;
}

char *tunables_note(const struct tunables *t, const struct kernel *k)
{
	uint64_t hz = 0, v;

	for (size_t i = 0; i < t->n; i++) {
		const struct tunable *one = &t->v[i];

		if (!str_ends(one->target, "/base_slice_ns"))
			continue;
		hz = hz ? hz : hz_of(k);
		for (size_t n = 0; hz && n < one->values.n; n++)
			if (parse_u64(one->values.v[n], &v) && v < 1000000000 / hz)
				return xasprintf("%s = %s is below one tick (%llu ns at HZ=%llu), and a slice ends at a tick: little or no effect",
						 one->knob, one->values.v[n],
						 1000000000ULL / hz,
						 (unsigned long long)hz);
	}
	return NULL;
}
