/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.c - a journal's content as typed records
 */
#include "results/record.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "results/base/cleanup.h"
#include "results/columns.h"
#include "results/journal_file.h"

static const struct {
	const char *group, *member;
} figures[FIG_COUNT] = {
#define X(name, group, member) [FIG_##name] = { group, member },
	RUN_FIGURES(X)
#undef X
};

const char *figure_group(enum run_figure f)
{
	return figures[f].group;
}

const char *figure_member(enum run_figure f)
{
	return figures[f].member;
}

/*
 * iso_to_us() - "2026-01-31T12:34:56[.789][Z|+hh:mm]" in microseconds since
 * 1970; 0 when it is no such time. No offset counts as UTC.
 */
static int64_t iso_to_us(const char *s)
{
	struct tm tm = { 0 };
	int64_t us = 0, scale = 100000;
	const char *p = s ? strptime(s, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	int hours, minutes;
	char sign;

	if (!p)
		return 0;
	if (*p == '.') {
		for (p++; *p >= '0' && *p <= '9'; p++, scale /= 10)
			us += (*p - '0') * scale;
	}
	us += (int64_t)timegm(&tm) * 1000000;
	if (sscanf(p, "%c%2d:%2d", &sign, &hours, &minutes) == 3 &&
	    (sign == '+' || sign == '-'))
		us -= (sign == '+' ? 1 : -1) *
		      (hours * 60 + minutes) * INT64_C(60000000);
	return us;
}

static const char *get_string(const json_t *obj, const char *group,
			      const char *member)
{
	return json_string_value(json_object_get(json_object_get(obj, group),
						 member));
}

/* get_count() - a whole number of at least @min, or -1 */
static int64_t get_count(const json_t *obj, const char *group,
			 const char *member, int64_t min)
{
	const json_t *v = json_object_get(json_object_get(obj, group), member);

	if (!json_is_integer(v) || json_integer_value(v) < min)
		return -1;
	return json_integer_value(v);
}

static int context_error(const char *path, const char *what, struct error *err)
{
	return error_set(err, 0, "journal '%s': context member %s is missing or wrong: the file is damaged",
			 path, what);
}

static int take_strings(const json_t *array, struct strings *out)
{
	const json_t *v;
	size_t i;

	if (!json_is_array(array))
		return -1;
	json_array_foreach(array, i, v) {
		if (!json_is_string(v))
			return -1;
		strings_add(out, xstrdup(json_string_value(v)));
	}
	return 0;
}

static int take_context(struct boot_record *b, const struct journal *j,
			const char *path, struct error *err)
{
	json_error_t je;
	const json_t *list;

	b->context = json_loadb(j->context, j->super.context_len, 0, &je);
	if (!b->context)
		return error_set(err, 0, "journal '%s': the context is no JSON: line %d: %s: the file is damaged",
				 path, je.line, je.text);
	if (strlen(j->super.run_id) != sizeof(b->run_id) - 1 ||
	    strspn(j->super.run_id, "0123456789abcdefABCDEF-") !=
	    sizeof(b->run_id) - 1)
		return error_set(err, 0, "journal '%s': header field run_id is no UUID: the file is damaged",
				 path);
	strcpy(b->run_id, j->super.run_id);

	b->plan_name = get_string(b->context, "plan", "name");
	b->label = get_string(b->context, "kernel", "label");
	b->plan_boots = get_count(b->context, "plan", "boots", 1);
	b->order = get_count(b->context, "kernel", "order", 0);
	b->index = get_count(b->context, "boot", "index", 1);
	b->number = get_count(b->context, "boot", "number", 1);
	b->repeats = get_count(b->context, "boot", "repeats", 1);
	if (b->repeats < 0)
		b->repeats = 0;
	b->calibration = json_is_true(json_object_get(b->context, "calibration"));
	b->started_us = iso_to_us(get_string(b->context, "host", "start"));
	if (!b->plan_name)
		return context_error(path, "plan.name", err);
	if (!b->label)
		return context_error(path, "kernel.label", err);
	if (b->plan_boots < 0)
		return context_error(path, "plan.boots", err);
	if (b->order < 0)
		return context_error(path, "kernel.order", err);
	if (b->index < 0)
		return context_error(path, "boot.index", err);
	if (b->number < 0)
		return context_error(path, "boot.number", err);

	if (take_strings(json_object_get(b->context, "loads"), &b->loads))
		return context_error(path, "loads", err);
	list = json_object_get(b->context, "benches");
	if (list && take_strings(list, &b->benches))
		return context_error(path, "benches", err);
	list = json_object_get(json_object_get(b->context, "plan"), "kernels");
	if (list && take_strings(list, &b->kernels))
		return context_error(path, "plan.kernels", err);
	return 0;
}

static struct run_record *add_run(struct boot_record *b, int64_t number,
				  const char *load, bool bench)
{
	struct run_record r = {
		.number = number,
		.load = xstrdup(load),
		.bench = bench,
		.index = 1,
		.verdict = VERDICT_UNFINISHED,
	};

	for (size_t f = 0; f < FIG_COUNT; f++)
		r.fig[f] = FIGURE_NONE;
	for (size_t i = 0; i < b->runs.n; i++)
		r.index += strcmp(b->runs.v[i].load, load) == 0;
	return run_records_add(&b->runs, r);
}

/* take_plan() - the runs that were asked for: lines "run=LOAD", "bench=NAME" */
static void take_plan(struct boot_record *b, const char *plan)
{
	cleanup_free char *copy = xstrdup(plan);
	char *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		cleanup_free char *load = NULL;
		bool bench = str_starts(line, "bench=");

		if (!bench && !str_starts(line, "run="))
			continue;
		load = text_clean(strchr(line, '=') + 1, NULL);
		add_run(b, (int64_t)b->runs.n + 1, load, bench);
	}
}

/* find_run() - the run that a RUN_START or RUN_END is about; one that was not
 * asked for is kept all the same */
static struct run_record *find_run(struct boot_record *b, const json_t *rec)
{
	const json_t *number = json_object_get(rec, "run");
	const char *bench = json_string_value(json_object_get(rec, "bench"));
	const char *load = bench ? bench :
			   json_string_value(json_object_get(rec, "load"));

	if (!json_is_integer(number) || json_integer_value(number) < 1)
		return NULL;
	for (size_t i = 0; i < b->runs.n; i++) {
		struct run_record *r = &b->runs.v[i];

		if (r->number != json_integer_value(number))
			continue;
		if (load && strcmp(load, r->load) != 0) {
			free(r->load);
			r->load = xstrdup(load);
			r->bench = bench != NULL;
		}
		return r;
	}
	return add_run(b, json_integer_value(number), load ? load : "?",
		       bench != NULL);
}

static void set_text(char **to, const char *text)
{
	free(*to);
	*to = text ? xstrdup(text) : NULL;
}

static void run_spoil(struct run_record *r, const char *group,
		      const char *member, const char *what)
{
	free(r->message);
	r->message = xasprintf("RUN_END: %s%s%s %s", group, *group ? "." : "",
			       member, what);
	r->verdict = VERDICT_UNFINISHED;
}

static bool is_count(const json_t *v)
{
	return json_is_integer(v) && json_integer_value(v) >= 0;
}

static bool are_settings(json_t *settings)
{
	const char *name;
	const json_t *v, *item;
	size_t i;

	json_object_foreach(settings, name, v) {
		if (!json_is_array(v) && !is_count(v))
			return false;
		json_array_foreach(v, i, item) {
			if (!is_count(item))
				return false;
		}
	}
	return json_is_object(settings);
}

static bool are_rows(const json_t *rows)
{
	const char *name;
	json_t *row;
	const json_t *v;
	size_t i;

	json_array_foreach(rows, i, row) {
		if (!json_is_object(row))
			return false;
		json_object_foreach(row, name, v) {
			if (!json_is_string(v) && !is_count(v))
				return false;
		}
	}
	return json_is_array(rows);
}

/* take_bench() - a benchmark's own figures */
static void take_bench(struct run_record *r, const json_t *rec)
{
	json_t *settings = json_object_get(rec, "settings");
	json_t *rows = json_object_get(rec, "rows");

	json_decref(r->settings);
	json_decref(r->rows);
	r->settings = are_settings(settings) ? json_incref(settings) : NULL;
	r->rows = are_rows(rows) ? json_incref(rows) : NULL;
	if (r->verdict != VERDICT_OK)
		return;
	if (!r->settings)
		run_spoil(r, "", "settings", "is missing or wrong");
	else if (!r->rows || json_array_size(r->rows) == 0)
		run_spoil(r, "", "rows", "is missing, empty or wrong");
}

static void take_run_end(struct run_record *r, const json_t *rec)
{
	const char *verdict = json_string_value(json_object_get(rec,
								"verdict"));

	r->started = r->ended = true;
	set_text(&r->message,
		 json_string_value(json_object_get(rec, "message")));
	set_text(&r->unit, get_string(rec, "count", "unit"));
	set_text(&r->size_unit,
		 json_string_value(json_object_get(rec, "size_unit")));
	if (!verdict_parse(verdict, &r->verdict)) {
		run_spoil(r, "", "verdict", "is missing or unknown");
		return;
	}
	for (int f = 0; f < FIG_COUNT; f++) {
		const char *group = figures[f].group;
		const json_t *obj = *group ? json_object_get(rec, group) : rec;
		const json_t *v = json_object_get(obj, figures[f].member);

		if (!v || json_is_null(v))
			continue;
		if (!json_is_integer(v) ||
		    (f != FIG_JOB_EXIT && json_integer_value(v) < 0)) {
			run_spoil(r, group, figures[f].member,
				  "is no whole number");
			continue;
		}
		r->fig[f] = json_integer_value(v);
	}
	if (r->verdict == VERDICT_OK && r->fig[FIG_WALL_NS] <= 0)
		run_spoil(r, "", "wall_ns", "is missing or zero");
	if (r->bench)
		take_bench(r, rec);
}

/* struct ending - what decides a boot's verdict */
struct ending {
	bool receipt, end, error, host;
	enum verdict verdict;
};

static void take_verdict(struct boot_record *b, const json_t *rec,
			 const char *evidence, struct ending *e)
{
	const char *name = json_string_value(json_object_get(rec, "verdict"));
	const char *text = json_string_value(json_object_get(rec, evidence));

	set_text(&b->evidence, text ? text : "");
	if (!verdict_parse(name, &e->verdict)) {
		e->verdict = VERDICT_UNFINISHED;
		free(b->evidence);
		b->evidence = xasprintf("verdict '%s' is unknown to this kontest",
					name ? name : "");
	}
}

static void take_entry(struct boot_record *b, const struct journal_entry *je,
		       struct ending *e)
{
	json_auto_t *rec = json_loadb(je->payload, je->len, 0, NULL);
	struct run_record *r;

	/* A payload that is no JSON says nothing more than that it is there. */
	switch (je->type) {
	case JOURNAL_RECEIPT:
		e->receipt = true;
		json_decref(b->receipt);
		b->receipt = json_incref(rec);
		break;
	case JOURNAL_RUN_START:
		r = find_run(b, rec);
		if (r)
			r->started = true;
		break;
	case JOURNAL_RUN_END:
		r = find_run(b, rec);
		if (r)
			take_run_end(r, rec);
		break;
	case JOURNAL_ERROR:
		e->error = true;
		take_verdict(b, rec, "message", e);
		break;
	case JOURNAL_END:
		e->end = true;
		break;
	case JOURNAL_VERDICT:
		e->host = true;
		take_verdict(b, rec, "evidence", e);
		json_decref(b->host);
		b->host = json_incref(json_object_get(rec, "host"));
		json_decref(b->console);
		b->console = json_incref(json_object_get(rec, "console"));
		break;
	default:
		break;
	}
}

/* conclude() - END alone makes a boot good; all else has to say how it ended */
static void conclude(struct boot_record *b, const struct ending *e)
{
	if (e->host || e->error) {
		b->verdict = e->verdict;
		if (b->verdict == VERDICT_OK && !e->end) {
			b->verdict = VERDICT_UNFINISHED;
			set_text(&b->evidence,
				 "the journal has no END: the guest did not finish");
		}
		return;
	}
	if (e->end) {
		b->verdict = VERDICT_OK;
		set_text(&b->evidence, "");
	} else if (e->receipt) {
		b->verdict = VERDICT_KILLED;
		set_text(&b->evidence,
			 "the journal ends without END or VERDICT: kontest or its host died");
	} else {
		b->verdict = VERDICT_BOOT_FAILED;
		set_text(&b->evidence, "the guest wrote no receipt");
	}
}

int boot_record_load(const char *path, struct boot_record *b,
		     struct error *err)
{
	CLEANUP(journal_free) struct journal j = { 0 };
	struct ending e = { 0 };

	*b = (struct boot_record) { 0 };
	if (journal_read(path, &j, err))
		return -1;
	if (take_context(b, &j, path, err)) {
		boot_record_free(b);
		return -1;
	}
	b->plan = xstrdup(j.plan);
	take_plan(b, j.plan);
	for (size_t i = 0; i < j.entries.n; i++)
		take_entry(b, &j.entries.v[i], &e);
	conclude(b, &e);
	if (journal_id(path, &j, b->id, err)) {
		boot_record_free(b);
		return -1;
	}
	return 0;
}

void boot_record_free(struct boot_record *b)
{
	for (size_t i = 0; i < b->runs.n; i++) {
		free(b->runs.v[i].load);
		free(b->runs.v[i].message);
		free(b->runs.v[i].unit);
		free(b->runs.v[i].size_unit);
		json_decref(b->runs.v[i].settings);
		json_decref(b->runs.v[i].rows);
	}
	run_records_free(&b->runs);
	strings_clear(&b->loads);
	strings_clear(&b->benches);
	strings_clear(&b->kernels);
	free(b->evidence);
	free(b->plan);
	json_decref(b->context);
	json_decref(b->receipt);
	json_decref(b->host);
	json_decref(b->console);
	*b = (struct boot_record) { 0 };
}

void boot_records_clear(struct boot_records *v)
{
	for (size_t i = 0; i < v->n; i++)
		boot_record_free(&v->v[i]);
	boot_records_free(v);
}

json_t *context_value(const struct boot_record *b, const char *group,
		      const char *name)
{
	return json_object_get(group ? json_object_get(b->context, group) :
			       b->context, name);
}

const char *context_text(const struct boot_record *b, const char *group,
			 const char *name)
{
	const char *s = json_string_value(context_value(b, group, name));

	return s ? s : "";
}

void boot_records_link(struct boot_records *v)
{
	for (size_t i = 0; i < v->n; i++)
		v->v[i].replaced_by = 0;
	for (size_t i = 0; i < v->n; i++) {
		const struct boot_record *again = &v->v[i];

		for (size_t k = 0; again->repeats && k < v->n; k++) {
			struct boot_record *b = &v->v[k];

			if (b->index == again->repeats && b->order == again->order &&
			    again->verdict == VERDICT_OK)
				b->replaced_by = again->number;
		}
	}
}

bool run_good(const struct boot_record *b, const struct run_record *r)
{
	return r->ended && r->verdict == VERDICT_OK && !b->replaced_by &&
	       b->verdict != VERDICT_PROFILE_MISMATCH &&
	       b->verdict != VERDICT_CLOCK_DRIFT;
}

char *run_failure(const struct boot_record *b, const struct run_record *r)
{
	const char *boot = verdict_name(b->verdict);

	if (r->ended && r->verdict != VERDICT_OK)
		return xasprintf("%s%s%s", verdict_name(r->verdict),
				 r->message ? ": " : "",
				 r->message ? r->message : "");
	if (r->ended && b->replaced_by)
		return xasprintf("noisy, repeated as boot %lld",
				 (long long)b->replaced_by);
	if (r->ended)
		return xasprintf("not counted, boot %s%s%s", boot,
				 *b->evidence ? ": " : "", b->evidence);
	return xasprintf("%s, boot %s%s%s",
			 r->started ? verdict_name(VERDICT_UNFINISHED) :
				      "not started",
			 boot, *b->evidence ? ": " : "", b->evidence);
}
