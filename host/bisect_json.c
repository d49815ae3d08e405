/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bisect_json.c - a bisect's state as a file
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "host/bisect.h"
#include "images/kbuild.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/json_put.h"

#define FORMAT 1
#define STATE_MAX (16u << 20)
#define STEPS_MAX 100000

static const char *const machine_names[MACHINE_COUNT] = {
#define X(member, what) #member,
	BISECT_MACHINE(X)
#undef X
};

static void json_freep(json_t **o)
{
	json_decref(*o);
}

/* --- writing ------------------------------------------------------------------------ */

static json_t *strings_json(const struct strings *s)
{
	json_t *a = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_put_last(a, json_string(s->v[i]));
	return a;
}

static json_t *call_json(const struct bisect_call *c)
{
	json_t *o = json_object();

	json_put(o, "verdict", json_string(bisect_verdict_name(c->verdict)));
	json_put(o, "boots", json_integer((json_int_t)c->boots));
	json_put_real(o, "mean", c->boots ? c->mean : NAN);
	json_put_real(o, "low", c->boots ? c->low : NAN);
	json_put_real(o, "high", c->boots ? c->high : NAN);
	json_put_real(o, "boundary", c->boots ? c->boundary : NAN);
	return o;
}

static json_t *step_json(const struct bisect_step *s)
{
	json_t *o = json_object();

	json_put(o, "commit", json_string(s->commit));
	json_put_text(o, "subject", s->subject);
	json_put(o, "verdict", json_string(bisect_verdict_name(s->verdict)));
	json_put_text(o, "reason", s->reason);
	json_put(o, "order", json_integer(s->order));
	json_put(o, "built", json_string(s->built));
	json_put(o, "call", call_json(&s->call));
	return o;
}

static json_t *gap_json(const struct bisect_gap *g)
{
	json_t *o = json_object();

	json_put(o, "told", json_boolean(g->told));
	json_put(o, "small", json_boolean(g->small));
	json_put_real(o, "pct", g->pct);
	json_put_real(o, "low", g->low);
	json_put_real(o, "high", g->high);
	json_put_real(o, "floor_pct", g->floor_pct);
	json_put(o, "need", json_integer((json_int_t)g->need));
	return o;
}

static json_t *kbuild_json(const struct bisect_kbuild *k)
{
	json_t *o = json_object();

	json_put_text(o, "config", k->config);
	json_put(o, "fragment", json_boolean(k->fragment));
	json_put(o, "sets", strings_json(&k->sets));
	json_put(o, "jobs", json_integer(k->jobs));
	return o;
}

static json_t *state_json(const struct bisect *b)
{
	json_t *o = json_object(), *steps = json_array(), *machine = json_object();

	json_put(o, "format", json_integer(FORMAT));
	json_put_text(o, "id", b->id);
	json_put_text(o, "created", b->created);
	json_put_text(o, "source", b->source);
	json_put_text(o, "good", b->good_name);
	json_put_text(o, "bad", b->bad_name);
	json_put_text(o, "load", b->load);
	json_put_text(o, "metric", b->metric);
	json_put_real(o, "threshold_pct", b->threshold_pct);
	json_put_real(o, "resolution_pct", b->resolution_pct);
	json_put(o, "boots", json_integer(b->boots));
	json_put(o, "max_boots", json_integer(b->max_boots));
	json_put_text(o, "cmdline", b->cmdline);
	json_put_text(o, "store", b->store);
	json_put(o, "kbuild", kbuild_json(&b->kbuild));
	for (size_t i = 0; i < MACHINE_COUNT; i++)
		json_put_text(machine, machine_names[i], b->machine[i]);
	json_put(o, "machine", machine);
	json_put(o, "status", json_string(bisect_status_name(b->status)));
	json_put(o, "gap", gap_json(&b->gap));
	for (size_t i = 0; i < b->steps.n; i++)
		json_put_last(steps, step_json(&b->steps.v[i]));
	json_put(o, "steps", steps);
	json_put_text(o, "first_bad", b->first_bad);
	json_put(o, "left", strings_json(&b->left));
	return o;
}

int bisect_save(const struct bisect *b, struct error *err)
{
	cleanup_free char *path = bisect_file(b, "state.json");
	CLEANUP(json_freep) json_t *o = state_json(b);
	cleanup_free char *text = json_dumps(o, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	cleanup_free char *whole = text ? xasprintf("%s\n", text) : NULL;

	if (!whole)
		return error_set(err, 0, "write '%s': out of memory", path);
	return file_write(path, whole, strlen(whole), err);
}

/* --- reading ------------------------------------------------------------------------ */

/* struct in - where a value is looked for, and how to call the place */
struct in {
	const char *path, *where;
	const json_t *o;
	struct error *err;
};

static int wrong(const struct in *in, const char *name, const char *what)
{
	return error_set(in->err, 0, "bisect state '%s': %s%s%s is not %s: the file is damaged; restore it, or remove its directory and begin anew",
			 in->path, in->where, *in->where ? "." : "", name, what);
}

static int get_text(const struct in *in, const char *name, char **out, bool needed)
{
	const json_t *v = json_object_get(in->o, name);

	if (!needed && json_is_null(v))
		return 0;
	if (!json_is_string(v) || strlen(json_string_value(v)) != json_string_length(v))
		return wrong(in, name, "a text");
	free(*out);
	*out = xstrdup(json_string_value(v));
	return 0;
}

static int get_number(const struct in *in, const char *name, json_int_t min,
		      json_int_t max, json_int_t *out)
{
	const json_t *v = json_object_get(in->o, name);

	if (!json_is_integer(v) || json_integer_value(v) < min ||
	    json_integer_value(v) > max) {
		cleanup_free char *what = xasprintf("a whole number from %" JSON_INTEGER_FORMAT
						    " to %" JSON_INTEGER_FORMAT, min, max);

		return wrong(in, name, what);
	}
	*out = json_integer_value(v);
	return 0;
}

/* null stands for what is not known. */
static int get_real(const struct in *in, const char *name, double *out)
{
	const json_t *v = json_object_get(in->o, name);

	if (!json_is_null(v) && !json_is_number(v))
		return wrong(in, name, "a number");
	*out = json_is_null(v) ? NAN : json_number_value(v);
	return 0;
}

static int get_bool(const struct in *in, const char *name, bool *out)
{
	const json_t *v = json_object_get(in->o, name);

	if (!json_is_boolean(v))
		return wrong(in, name, "true or false");
	*out = json_is_true(v);
	return 0;
}

static bool is_hex(const char *s, size_t min, size_t max)
{
	size_t len = strlen(s);

	return len >= min && len <= max && strspn(s, "0123456789abcdef") == len;
}

/* A digest or an id, into an array of @size */
static int get_hex(const struct in *in, const char *name, size_t min, char *out,
		   size_t size)
{
	const char *s = json_string_value(json_object_get(in->o, name));

	if (!s || (!is_hex(s, min, size - 1) && !(min == 0 && !*s)))
		return wrong(in, name, "a number in hex");
	memcpy(out, s, strlen(s) + 1);
	return 0;
}

static int get_strings(const struct in *in, const char *name, struct strings *out)
{
	const json_t *a = json_object_get(in->o, name), *v;
	size_t i;

	if (!json_is_array(a))
		return wrong(in, name, "a list of texts");
	json_array_foreach(a, i, v) {
		if (!json_is_string(v))
			return wrong(in, name, "a list of texts");
		strings_add(out, xstrdup(json_string_value(v)));
	}
	return 0;
}

/* One of the @n names that @of gives */
static int get_word(const struct in *in, const char *name, const char *(*of)(unsigned int),
		    unsigned int n, unsigned int *out)
{
	const char *s = json_string_value(json_object_get(in->o, name));
	CLEANUP(buf_free) struct buf all = { 0 };

	for (unsigned int i = 0; i < n; i++) {
		buf_printf(&all, "%s%s", i ? ", " : "one of ", of(i));
		if (s && !strcmp(s, of(i))) {
			*out = i;
			return 0;
		}
	}
	return wrong(in, name, all.data ? all.data : "a word");
}

static const char *verdict_word(unsigned int i)
{
	return bisect_verdict_name((enum bisect_verdict)i);
}

static const char *status_word(unsigned int i)
{
	return bisect_status_name((enum bisect_status)i);
}

static int get_verdict(const struct in *in, enum bisect_verdict *out)
{
	unsigned int v;

	if (get_word(in, "verdict", verdict_word, BISECT_VERDICTS, &v) < 0)
		return -1;
	*out = (enum bisect_verdict)v;
	return 0;
}

static int get_call(const struct in *step, struct bisect_call *c)
{
	cleanup_free char *where = xasprintf("%s.call", step->where);
	const struct in in = { step->path, where, json_object_get(step->o, "call"),
			       step->err };
	json_int_t boots;

	if (get_verdict(&in, &c->verdict) < 0 ||
	    get_number(&in, "boots", 0, INT32_MAX, &boots) < 0 ||
	    get_real(&in, "mean", &c->mean) < 0 || get_real(&in, "low", &c->low) < 0 ||
	    get_real(&in, "high", &c->high) < 0 ||
	    get_real(&in, "boundary", &c->boundary) < 0)
		return -1;
	c->boots = (size_t)boots;
	return 0;
}

static int get_step(const struct in *in, struct bisect *b)
{
	struct bisect_step s = { .order = -1 };
	struct bisect_step *kept = bisect_steps_add(&b->steps, s);
	json_int_t order;

	if (get_hex(in, "commit", 40, kept->commit, sizeof(kept->commit)) < 0 ||
	    get_text(in, "subject", &kept->subject, true) < 0 ||
	    get_verdict(in, &kept->verdict) < 0 ||
	    get_text(in, "reason", &kept->reason, false) < 0 ||
	    get_number(in, "order", -1, STEPS_MAX, &order) < 0 ||
	    get_hex(in, "built", 0, kept->built, sizeof(kept->built)) < 0 ||
	    get_call(in, &kept->call) < 0)
		return -1;
	kept->order = (int)order;
	for (size_t i = 0; i + 1 < b->steps.n; i++)
		if (!strcmp(b->steps.v[i].commit, kept->commit) ||
		    (order >= 0 && b->steps.v[i].order == order))
			return wrong(in, "commit", "a commit and a kernel of its own");
	return 0;
}

static int get_steps(const struct in *in, struct bisect *b)
{
	const json_t *a = json_object_get(in->o, "steps"), *v;
	size_t i;

	if (!json_is_array(a) || json_array_size(a) < BISECT_ENDS ||
	    json_array_size(a) > STEPS_MAX)
		return wrong(in, "steps", "a list of two commits and more");
	json_array_foreach(a, i, v) {
		cleanup_free char *where = xasprintf("steps[%zu]", i);
		const struct in one = { in->path, where, v, in->err };

		if (get_step(&one, b) < 0)
			return -1;
	}
	return 0;
}

static int get_kbuild(const struct in *state, struct bisect_kbuild *k)
{
	const struct in in = { state->path, "kbuild", json_object_get(state->o, "kbuild"),
			       state->err };
	json_int_t jobs;

	if (get_text(&in, "config", &k->config, true) < 0 ||
	    get_bool(&in, "fragment", &k->fragment) < 0 ||
	    get_strings(&in, "sets", &k->sets) < 0 ||
	    get_number(&in, "jobs", 0, 4096, &jobs) < 0)
		return -1;
	if (!kbuild_is_target(k->config) && strcmp(k->config, "file"))
		return wrong(&in, "config", "tinyconfig, defconfig or file");
	k->jobs = (unsigned int)jobs;
	return 0;
}

static int get_gap(const struct in *state, struct bisect_gap *g)
{
	const struct in in = { state->path, "gap", json_object_get(state->o, "gap"),
			       state->err };
	json_int_t need;

	if (get_bool(&in, "told", &g->told) < 0 || get_bool(&in, "small", &g->small) < 0 ||
	    get_real(&in, "pct", &g->pct) < 0 || get_real(&in, "low", &g->low) < 0 ||
	    get_real(&in, "high", &g->high) < 0 ||
	    get_real(&in, "floor_pct", &g->floor_pct) < 0 ||
	    get_number(&in, "need", 0, INT32_MAX, &need) < 0)
		return -1;
	g->need = (size_t)need;
	return 0;
}

static int get_machine(const struct in *state, struct bisect *b)
{
	const struct in in = { state->path, "machine",
			       json_object_get(state->o, "machine"), state->err };

	for (size_t i = 0; i < MACHINE_COUNT; i++)
		if (get_text(&in, machine_names[i], &b->machine[i], false) < 0)
			return -1;
	return 0;
}

static int get_head(const struct in *in, struct bisect *b)
{
	json_int_t format, boots, max_boots;
	const char *name = strrchr(b->dir, '/');
	const char *id = json_string_value(json_object_get(in->o, "id"));
	unsigned int status;

	if (get_number(in, "format", FORMAT, FORMAT, &format) < 0)
		return -1;
	name = name ? name + 1 : b->dir;
	if (!id || strlen(id) != UUID_TEXT - 1 || strcmp(id, name))
		return wrong(in, "id", "the name of its directory");
	memcpy(b->id, id, UUID_TEXT);
	if (get_text(in, "created", &b->created, true) < 0 ||
	    get_text(in, "source", &b->source, true) < 0 ||
	    get_text(in, "good", &b->good_name, true) < 0 ||
	    get_text(in, "bad", &b->bad_name, true) < 0 ||
	    get_text(in, "load", &b->load, true) < 0 ||
	    get_text(in, "metric", &b->metric, true) < 0 ||
	    get_real(in, "threshold_pct", &b->threshold_pct) < 0 ||
	    get_real(in, "resolution_pct", &b->resolution_pct) < 0 ||
	    get_number(in, "boots", 1, 1000, &boots) < 0 ||
	    get_number(in, "max_boots", 1, 1000, &max_boots) < 0 ||
	    get_text(in, "cmdline", &b->cmdline, false) < 0 ||
	    get_text(in, "store", &b->store, true) < 0 ||
	    get_word(in, "status", status_word, BISECT_STATUSES, &status) < 0)
		return -1;
	if (!bisect_metric(b->metric))
		return wrong(in, "metric", "a metric that this kontest knows");
	b->boots = (unsigned int)boots;
	b->max_boots = (unsigned int)max_boots;
	b->status = (enum bisect_status)status;
	return 0;
}

int bisect_load(struct bisect *b, const char *dir, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/state.json", dir);
	CLEANUP(buf_free) struct buf text = { 0 };
	CLEANUP(json_freep) json_t *o = NULL;
	json_error_t why;
	struct in in = { path, "", NULL, err };

	*b = (struct bisect){ .dir = xstrdup(dir) };
	if (file_read(path, STATE_MAX, &text, err) < 0)
		return -1;
	o = json_loadb(text.data ? text.data : "", text.len, JSON_REJECT_DUPLICATES, &why);
	if (!o)
		return error_set(err, 0, "bisect state '%s' line %d: %s: the file is damaged; restore it, or remove its directory and begin anew",
				 path, why.line, why.text);
	in.o = o;
	if (get_head(&in, b) < 0 || get_kbuild(&in, &b->kbuild) < 0 ||
	    get_machine(&in, b) < 0 || get_gap(&in, &b->gap) < 0 ||
	    get_steps(&in, b) < 0 || get_text(&in, "first_bad", &b->first_bad, false) < 0 ||
	    get_strings(&in, "left", &b->left) < 0)
		return -1;
	return 0;
}
