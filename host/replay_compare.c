/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay_compare.c - theirs and ours: what went in, and what came out
 */
#include <math.h>
#include <string.h>

#include "host/replay.h"
#include "results/base/cleanup.h"
#include "results/columns.h"
#include "results/journal_file.h"
#include "results/table.h"

/* struct field - a line of the table of inputs: where the context has it */
struct field {
	const char *title, *group, *name;
	bool per_kernel;
};

static const struct field fields[] = {
	{ "image", "image", "system", true },
	{ "kernel", "kernel", "digest", true },
	{ "initramfs", "image", "initramfs", true },
	{ "command line", "image", "cmdline", true },
	{ "guest", "image", "guest", false },
	{ "work disk", "image", "work", false },
	{ "other disk", "image", "other", false },
	{ "swap disk", "image", "swap", false },
	{ "plan", "plan", "digest", false },
	{ "profile", "profile", "digest", false },
	{ "kontest", NULL, "kontest", false },
	{ "QEMU version", "qemu", "version", false },
	{ "QEMU package", "qemu", "package", false },
	{ "CPU model", "qemu", "cpu", false },
	{ "machine", "qemu", "machine", false },
	{ "accelerator", NULL, "accel", false },
	{ "disk bus", NULL, "disk_bus", false },
	{ "host CPU", "host", "cpu", false },
	{ "host kernel", "host", "kernel", false },
	{ "libvirt", "host", "libvirt", false },
};

/* A digest needs no more than its beginning to be told from another. */
static char *shown(const char *s)
{
	if (sha256_is(s))
		return xstrndup(s, 12);
	return *s ? text_clean(s, NULL) : xstrdup("-");
}

static bool print_field(const struct field *f, const struct boot_record *theirs,
			const struct boot_record *ours, FILE *out)
{
	const char *a = context_text(theirs, f->group, f->name);
	const char *b = context_text(ours, f->group, f->name);
	cleanup_free char *there = shown(a), *here = shown(b);
	cleanup_free char *title = f->per_kernel ?
		xasprintf("%s %s", f->title, theirs->label) : xstrdup(f->title);
	CLEANUP(buf_free) struct buf line = { 0 };
	bool same = !strcmp(a, b);

	put_left(&line, title, 24);
	if (same)
		fprintf(out, "  %s  same     %s\n", line.data, there);
	else
		fprintf(out, "  %s  DIFFERS  there %s, here %s\n", line.data, there, here);
	return same;
}

unsigned int replay_inputs(const struct rerun *r, FILE *out)
{
	unsigned int differ = 0;

	fputs("What went in, there and here:\n", out);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		size_t n = fields[i].per_kernel ? r->e.n_candidates : 1;

		for (size_t k = 0; k < n; k++) {
			const struct planned_boot b = { .kernel = k, .number = 1, .index = 1 };
			cleanup_free char *text = boot_context(&r->e, &b);
			struct boot_record ours = {
				.context = text ? json_loads(text, 0, NULL) : NULL,
			};

			differ += !print_field(&fields[i], rerun_first(r, k), &ours, out);
			json_decref(ours.context);
		}
	}
	return differ;
}

/* struct measured - what the guest of one boot measured */
struct measured {
	struct journal journal;
	json_t *context;
	const char *label;
	json_int_t order, number;
};
DEFINE_VECTOR(measured_boots, struct measured)

static void measured_clear(struct measured_boots *v)
{
	for (size_t i = 0; i < v->n; i++) {
		journal_free(&v->v[i].journal);
		json_decref(v->v[i].context);
	}
	measured_boots_free(v);
}

static int measured_load(const struct strings *paths, struct measured_boots *v,
			 struct error *err)
{
	for (size_t i = 0; i < paths->n; i++) {
		struct measured *m = measured_boots_add(v, (struct measured){ 0 });
		json_t *kernel;

		if (journal_read(paths->v[i], &m->journal, err) < 0)
			return -1;
		m->context = json_loads(m->journal.context, 0, NULL);
		kernel = json_object_get(m->context, "kernel");
		m->label = json_string_value(json_object_get(kernel, "label"));
		m->order = json_integer_value(json_object_get(kernel, "order"));
		m->number = json_integer_value(json_object_get(
			json_object_get(m->context, "boot"), "number"));
	}
	return 0;
}

static char *value_text(const json_t *v)
{
	char *text = v ? json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

	return text ? text : xstrdup("nothing");
}

/* The first difference of two values, "NAME: there X, here Y"; NULL: none. */
static char *value_difference(const char *name, json_t *a, json_t *b, size_t *n)
{
	const char *key;
	json_t *v;
	size_t i;

	if (json_is_object(a) && json_is_object(b)) {
		json_object_foreach(a, key, v) {
			cleanup_free char *sub = xasprintf("%s%s%s", name, *name ? "." : "", key);
			char *d = value_difference(sub, v, json_object_get(b, key), n);

			if (d)
				return d;
		}
		json_object_foreach(b, key, v)
			if (!json_object_get(a, key))
				return xasprintf("%s%s%s: not there, but here", name, *name ? "." : "", key);
		return NULL;
	}
	if (json_is_array(a) && json_is_array(b) && json_array_size(a) == json_array_size(b)) {
		json_array_foreach(a, i, v) {
			cleanup_free char *sub = xasprintf("%s[%zu]", name, i);
			char *d = value_difference(sub, v, json_array_get(b, i), n);

			if (d)
				return d;
		}
		return NULL;
	}
	(*n)++;
	if (b && json_equal(a, b))
		return NULL;
	{
		cleanup_free char *there = value_text(a), *here = value_text(b);

		return xasprintf("%s: there %s, here %s", name, there, here);
	}
}

/* The next entry from @i on that the guest measured, or NULL. */
static const struct journal_entry *next_measured(const struct measured *m, size_t *i)
{
	for (; *i < m->journal.entries.n; (*i)++) {
		enum journal_type t = m->journal.entries.v[*i].type;

		if (t == JOURNAL_RUN_START || t == JOURNAL_RUN_END ||
		    t == JOURNAL_SAMPLE || t == JOURNAL_END || t == JOURNAL_VERDICT)
			return &m->journal.entries.v[(*i)++];
	}
	return NULL;
}

/* The host's verdict holds host times as well. */
static void keep_guest(json_t *o, enum journal_type type)
{
	if (type != JOURNAL_VERDICT)
		return;
	json_object_del(o, "host");
	json_object_del(o, "console");
	json_object_del(o, "evidence");
}

static char *entry_difference(const struct journal_entry *a,
			      const struct journal_entry *b, size_t *n)
{
	json_t *x, *y;
	char *d;

	if (a && b && a->type != b->type)
		return xstrdup("another kind of record follows there than here");
	if (!a || !b)
		return xasprintf("the journal %s there, and %s here",
				 a ? "goes on" : "ends",
				 b ? "goes on" : "ends");
	x = json_loadb(a->payload, a->len, 0, NULL);
	y = json_loadb(b->payload, b->len, 0, NULL);
	if (!x || !y) {
		d = a->len == b->len && !memcmp(a->payload, b->payload, a->len) ?
		    NULL : xstrdup("a record that is no JSON");
	} else {
		keep_guest(x, a->type);
		keep_guest(y, b->type);
		d = value_difference("", x, y, n);
	}
	/* Which run it is about, in its own words. */
	if (d && json_object_get(x, "load")) {
		char *more = xasprintf("%s, run %lld: %s",
				       json_string_value(json_object_get(x, "load")),
				       (long long)json_integer_value(json_object_get(x, "run")), d);

		free(d);
		d = more;
	}
	json_decref(x);
	json_decref(y);
	return d;
}

static char *boot_difference(const struct measured *a, const struct measured *b,
			     size_t *n)
{
	size_t i = 0, k = 0;

	for (;;) {
		const struct journal_entry *x = next_measured(a, &i);
		const struct journal_entry *y = next_measured(b, &k);
		char *d;

		if (!x && !y)
			return NULL;
		d = entry_difference(x, y, n);
		if (d)
			return d;
	}
}

int replay_first_difference(const struct strings *theirs,
			    const struct strings *ours, size_t *figures,
			    char **what, struct error *err)
{
	CLEANUP(measured_clear) struct measured_boots a = { 0 }, b = { 0 };
	size_t pairs = 0;

	*figures = 0;
	*what = NULL;
	if (measured_load(theirs, &a, err) < 0 || measured_load(ours, &b, err) < 0)
		return -1;
	for (size_t i = 0; i < a.n && !*what; i++)
		for (size_t k = 0; k < b.n && !*what; k++) {
			const struct measured *x = &a.v[i], *y = &b.v[k];
			cleanup_free char *d = NULL, *label = NULL;

			if (x->order != y->order || x->number != y->number)
				continue;
			pairs++;
			d = boot_difference(x, y, figures);
			label = text_clean(x->label ? x->label : "", NULL);
			if (d)
				*what = xasprintf("kernel %s, boot %lld: %s", label,
						  (long long)x->number, d);
		}
	if (!*what && (pairs != a.n || pairs != b.n))
		*what = xasprintf("%zu boots there, %zu here, and %zu of them belong together",
				  a.n, b.n, pairs);
	return 0;
}

static void put_figure(FILE *out, double v, double hw, int digits)
{
	cleanup_free char *text = isnan(v) ? xstrdup("-") :
		isnan(hw) ? xasprintf("%.*f", digits, v) :
		xasprintf("%.*f +-%.*f", digits, v, digits, hw);

	fprintf(out, "  %18s", text);
}

static void side(const struct table *t, const char *load, int64_t order,
		 struct cell_figures *f)
{
	*f = (struct cell_figures){ .time_s = NAN, .time_hw_s = NAN,
				    .loads_per_s = NAN, .loads_per_s_hw = NAN };
	for (size_t l = 0; l < t->loads.n; l++)
		for (size_t k = 0; k < t->kernels.n; k++)
			if (!strcmp(t->loads.v[l], load) && t->kernels.v[k].order == order)
				cell_compute(t, l, k, f);
}

void replay_side_by_side(struct boot_records *theirs, struct boot_records *ours,
			 FILE *out)
{
	struct table a, b;

	table_make(&a, theirs);
	table_make(&b, ours);
	for (size_t l = 0; l < a.loads.n; l++) {
		fprintf(out, "\n%s:\n%-24s  %18s  %18s  %18s  %18s\n", a.loads.v[l],
			"Kernel", "Time s, there", "here", "Loads/s, there", "here");
		for (size_t k = 0; k < a.kernels.n; k++) {
			CLEANUP(buf_free) struct buf label = { 0 };
			struct cell_figures x, y;

			side(&a, a.loads.v[l], a.kernels.v[k].order, &x);
			side(&b, a.loads.v[l], a.kernels.v[k].order, &y);
			put_left(&label, a.kernels.v[k].label, 24);
			fputs(label.data, out);
			put_figure(out, x.time_s, x.time_hw_s, 6);
			put_figure(out, y.time_s, y.time_hw_s, 6);
			put_figure(out, x.loads_per_s, x.loads_per_s_hw, 3);
			put_figure(out, y.loads_per_s, y.loads_per_s_hw, 3);
			fputc('\n', out);
		}
	}
	fputs("+-: half the 95 % confidence interval over boots\n", out);
	table_free(&a);
	table_free(&b);
}
