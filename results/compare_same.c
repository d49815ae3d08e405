/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_same.c - may these boots be held against each other?
 */
#include <string.h>

#include "results/base/cleanup.h"
#include "results/columns.h"
#include "results/compare.h"

/* Digests are shown so far: enough to tell them apart */
#define DIGEST_SHOWN 12
#define NOT_STATED "not stated"

/*
 * struct must_agree - what a boot's context says at @group.@member
 * @title: in a report
 * @own: it is the kernel's own, the same within a side alone
 */
struct must_agree {
	const char *group, *member, *title;
	bool own;
};

static const struct must_agree keys[] = {
	{ NULL, "accel", "accelerator", false },
	{ "profile", "digest", "profile", false },
	{ "image", "guest", "guest program", false },
	{ "job", "name", "job", false },
	{ "job", "digest", "job's source tree", false },
	{ "job", "jobs", "job's make -j", false },
	{ "job", "target", "job's target", false },
	{ "job", "command", "job's command", false },
	{ "job", "prepare", "job's preparation", false },
	{ "job", "config", "job's kernel configuration", false },
	{ "image", "lock", "package lock", false },
	{ "image", "base", "root file system", false },
	{ "image", "work", "work disk", false },
	{ "image", "other", "other disk", false },
	{ "image", "swap", "swap disk", false },
	{ "qemu", "version", "QEMU", false },
	{ "qemu", "machine", "machine type", false },
	{ "qemu", "cpu", "CPU model", false },
	{ "qemu", "shift", "instruction time (icount shift)", false },
	{ NULL, "disk_bus", "disk bus", false },
	{ "kernel", "digest", "kernel image", true },
	{ "kernel", "tunables", "knobs", true },
	{ "image", "initramfs", "initramfs", true },
	{ "image", "system", "system image", true },
	{ "image", "cmdline", "command line", true },
	{ NULL, NULL, NULL, false },
};

/* shown() - a value as it stands in a report; owned by the caller */
static char *shown(const json_t *v)
{
	const char *s = json_string_value(v);
	char *text;

	if (!v || json_is_null(v))
		return xstrdup(NOT_STATED);
	if (!s) {
		text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
		if (!text)
			abort();
		return text;
	}
	if (sha256_is(s))
		return xstrndup(s, DIGEST_SHOWN);
	return text_clean(s, NULL);
}

static const json_t *look_up(const struct boot_record *b, const struct must_agree *k)
{
	return context_value(b, k->group, k->member);
}

static bool stated(const json_t *v)
{
	return v && !json_is_null(v);
}

static bool equal(const json_t *a, const json_t *b)
{
	if (!stated(a) || !stated(b))
		return !stated(a) && !stated(b);
	return json_equal(a, b);
}

static bool of_side(const struct compare_side *s, const struct boot_record *b)
{
	return b->order == s->table->kernels.v[s->kernel].order;
}

static const char *side_title(const struct compare_side *s)
{
	return s->title ? s->title : s->table->kernels.v[s->kernel].label;
}

/* within() - boots of one side that are not alike */
static void within(const struct compare_side *s, const struct must_agree *k,
		   struct strings *differences)
{
	const struct boot_record *first = compare_first_boot(s);

	for (size_t i = 0; first && i < s->boots->n; i++) {
		const struct boot_record *b = &s->boots->v[i];
		cleanup_free char *one = NULL, *other = NULL;

		if (!of_side(s, b) || equal(look_up(first, k), look_up(b, k)))
			continue;
		one = shown(look_up(first, k));
		other = shown(look_up(b, k));
		strings_add(differences, xasprintf("%s: %s and %s, both among the boots of %s",
						   k->title, one, other,
						   side_title(s)));
		return;
	}
}

static void between(const struct compare_side *a, const struct compare_side *b,
		    const struct must_agree *k, struct strings *differences)
{
	const struct boot_record *fa = compare_first_boot(a), *fb = compare_first_boot(b);
	cleanup_free char *one = NULL, *other = NULL;

	if (!fa || !fb || equal(look_up(fa, k), look_up(fb, k)))
		return;
	one = shown(look_up(fa, k));
	other = shown(look_up(fb, k));
	strings_add(differences, xasprintf("%s: %s (%s), %s (%s)", k->title, one,
					   side_title(a), other, side_title(b)));
}

/* --- what the guest was told ---------------------------------------------------------- */

/* Lines that may differ: which runs, the seed, a point's knobs. What kontest compares
 * by a digest above is not said again. */
static bool free_line(const char *line)
{
	static const char *const may[] = { "run=", "bench=", "seed=", "knob=", "job=",
					   "jobs=", "job.", "exact=", NULL };

	for (size_t i = 0; may[i]; i++)
		if (str_starts(line, may[i]))
			return true;
	return false;
}

/* line_value() - what stands behind "@key=", @len bytes of it; NULL: no such line */
static const char *line_value(const char *plan, const char *key, size_t key_len,
			      size_t *len)
{
	for (const char *l = plan; l && *l; l = strchr(l, '\n')) {
		l += *l == '\n';
		if (strncmp(l, key, key_len) == 0 && l[key_len] == '=') {
			*len = strcspn(l + key_len + 1, "\n");
			return l + key_len + 1;
		}
	}
	return NULL;
}

/* plan_lines() - lines of @a that @b has otherwise; or has not, when it is @missing that
 * is asked for */
static void plan_lines(const struct boot_record *a, const char *title_a,
		       const struct boot_record *b, const char *title_b,
		       bool missing, struct strings *differences)
{
	for (const char *l = a->plan; l && *l; l = strchr(l, '\n')) {
		size_t key, len = 0, len_b = 0;
		const char *va, *vb;

		l += *l == '\n';
		key = strcspn(l, "=\n");
		if (free_line(l) || l[key] != '=')
			continue;
		va = line_value(l, l, key, &len);
		vb = line_value(b->plan, l, key, &len_b);
		if (!va || (vb ? missing || (len == len_b && !strncmp(va, vb, len))
			       : !missing))
			continue;
		strings_add(differences, xasprintf(
			"guest's plan, %.*s: %.*s (%s), %.*s (%s)", (int)key, l,
			(int)len, va, title_a,
			vb ? (int)len_b : (int)strlen(NOT_STATED),
			vb ? vb : NOT_STATED, title_b));
	}
}

static void told_alike(const struct boot_record *a, const char *title_a,
		       const struct boot_record *b, const char *title_b,
		       struct strings *differences)
{
	if (!a || !b || a == b)
		return;
	plan_lines(a, title_a, b, title_b, false, differences);
	plan_lines(a, title_a, b, title_b, true, differences);
	plan_lines(b, title_b, a, title_a, true, differences);
}

void compare_same(const struct compare_side *sides, size_t n,
		  struct strings *differences)
{
	for (const struct must_agree *k = keys; k->title; k++) {
		for (size_t s = 0; s < n; s++)
			within(&sides[s], k, differences);
		for (size_t s = 1; s < n && !k->own; s++)
			between(&sides[0], &sides[s], k, differences);
	}
	for (size_t s = 0; s < n; s++) {
		const struct boot_record *first = compare_first_boot(&sides[s]);
		size_t before = differences->n;

		for (size_t i = 0; i < sides[s].boots->n &&
		     differences->n == before; i++)
			if (of_side(&sides[s], &sides[s].boots->v[i]))
				told_alike(first, side_title(&sides[s]),
					   &sides[s].boots->v[i], "another boot",
					   differences);
		if (s)
			told_alike(compare_first_boot(&sides[0]), side_title(&sides[0]),
				   first, side_title(&sides[s]), differences);
	}
}
