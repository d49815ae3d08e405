/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/progress.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "results/base/cleanup.h"
#include "results/base/clock.h"

void sleep_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

static unsigned int runs_done(const struct progress *p)
{
	unsigned int done = 0;

	for (size_t i = 0; i < p->n; i++)
		done += p->boots[i].done;
	return done;
}

static void clear_line(const struct progress *p)
{
	if (p->tty)
		fputs("\r\033[K", stderr);
}

void progress_say(const struct progress *p, const char *fmt, ...)
{
	va_list ap;

	clear_line(p);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	progress_draw(p);
}

static void run_started(struct boot_progress *b, json_t *o)
{
	const char *bench = json_string_value(json_object_get(o, "bench"));
	const char *load = bench ? bench :
			   json_string_value(json_object_get(o, "load"));

	snprintf(b->load, sizeof(b->load), "%s", load ? load : "?");
	b->index = (unsigned int)json_integer_value(json_object_get(o, "index"));
}

static void run_ended(struct progress *p, struct boot_progress *b, json_t *o)
{
	const char *name = json_string_value(json_object_get(o, "verdict"));
	const char *said = json_string_value(json_object_get(o, "message"));
	double wall_s = (double)json_integer_value(
		json_object_get(o, "wall_ns")) / 1e9;
	enum verdict v = VERDICT_UNFINISHED;

	if (name)
		verdict_parse(name, &v);
	if (v > b->worst)
		b->worst = v;
	b->done++;
	if (v == VERDICT_OK)
		progress_say(p, "  %s, boot %u: %s, run %u: %.2f s", b->label,
			     b->number, b->load, b->index, wall_s);
	else
		progress_say(p, "  %s, boot %u: %s, run %u: %s%s%s", b->label,
			     b->number, b->load, b->index, verdict_name(v),
			     said ? ": " : "", said ? said : "");
	*b->load = '\0';
}

void progress_record(struct progress *p, struct boot_progress *b,
		     const struct journal_entry *e)
{
	json_t *o;

	if (e->type != JOURNAL_RUN_START && e->type != JOURNAL_RUN_END)
		return;
	o = json_loadb(e->payload, e->len, 0, NULL);
	if (e->type == JOURNAL_RUN_START)
		run_started(b, o);
	else
		run_ended(p, b, o);
	json_decref(o);
}

static void add_time_left(const struct progress *p, unsigned int done,
			  struct buf *line)
{
	double elapsed = clock_now_s() - p->t_start;
	double left = p->budget_s - elapsed;
	const char *about = p->budget_s > 0 ? "at most" : "about";

	if (p->budget_s <= 0 && !done)
		return;
	if (p->budget_s <= 0)
		left = elapsed * (p->runs_total - done) / done;
	left = left > 0 ? left : 0;
	if (left < 90)
		buf_printf(line, " · %s %.0f s left", about, left);
	else
		buf_printf(line, " · %s %.0f min left", about, left / 60);
}

void progress_draw(const struct progress *p)
{
	CLEANUP(buf_free) struct buf line = { 0 };
	unsigned int done = runs_done(p);
	struct winsize ws = { 0 };
	int width = 80;

	if (!p->tty)
		return;
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) && ws.ws_col > 10)
		width = ws.ws_col;
	buf_printf(&line, "%u of %u runs%s", done, p->runs_total,
		   p->budget_s > 0 ? " so far" : "");
	add_time_left(p, done, &line);
	for (size_t i = 0; i < p->n; i++) {
		const struct boot_progress *b = &p->boots[i];

		if (!b->active)
			continue;
		buf_printf(&line, " · %s, boot %u: ", b->label, b->number);
		if (*b->load)
			buf_printf(&line, "%s %u", b->load, b->index);
		else
			buf_adds(&line, b->done ? "between runs" : "booting");
	}
	/* Bytes, not columns: at worst a little is cut that would have fitted. */
	fprintf(stderr, "\r\033[K%.*s", width - 1, line.data);
	fflush(stderr);
}

void progress_end(const struct progress *p)
{
	clear_line(p);
	fflush(stderr);
}
