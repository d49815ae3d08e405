/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_html_origin.c - what is missing, how boots ended, where it all comes from
 */
#include "results/report_html.h"

#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/provenance.h"

/* put_lines() - a text of several lines for a <pre> */
static void put_lines(struct buf *b, const char *text)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;

	while (rest && *rest) {
		char *line = strsep(&rest, "\n");

		line[strcspn(line, "\r")] = '\0';
		for (char *tab = line; (tab = strchr(tab, '\t')); )
			*tab = ' ';
		html_text(b, line);
		buf_adds(b, "\n");
	}
}

static void put_pre(struct buf *b, const char *summary, const char *text)
{
	if (!text || !*text)
		return;
	buf_printf(b, "<details><summary>%s</summary>\n<pre>", summary);
	put_lines(b, text);
	buf_adds(b, "</pre></details>\n");
}

static void section(struct buf *b, const char *id, const char *title)
{
	buf_printf(b, "<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h2 id=\"h-%s\">%s</h2>\n",
		   id, id, id, title);
}

/* --- imports ------------------------------------------------------------------------ */

void html_put_imports(struct html_page *p)
{
	CLEANUP(buf_free) struct buf text = { 0 };

	if (p->r->imports.n == 0)
		return;
	put_imports(p->r, &text);
	section(p->b, "imports", "Imported results");
	buf_adds(p->b, "<p>Foreign figures, as they were printed. They are in no mean, in no interval and in no verdict.</p>\n<pre tabindex=\"0\">");
	put_lines(p->b, text.data ? text.data : "");
	buf_adds(p->b, "</pre>\n</section>\n");
}

/* --- what is missing ------------------------------------------------------------------ */

static size_t put_missing(struct html_page *p, const char *what,
			  const struct cell *c, bool *begun)
{
	for (size_t i = 0; i < c->notes.n; i++) {
		if (!*begun) {
			html_table(p->b, "", "What was asked for and is in no figure above");
			buf_adds(p->b, "<thead><tr><th scope=\"col\">Load</th><th scope=\"col\">What became of it</th></tr></thead>\n<tbody>\n");
			*begun = true;
		}
		buf_adds(p->b, "<tr><th scope=\"row\">");
		html_label(p->b, what);
		buf_adds(p->b, "</th><td>");
		html_label(p->b, c->notes.v[i]);
		buf_adds(p->b, "</td></tr>\n");
	}
	return c->notes.n;
}

/* put_noise() - the noisy runs, which count; none in exact mode, where the host can
 * touch no figure */
static void put_noise(struct html_page *p)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	char *rest, *line;

	put_noisy(p->r, &text);
	rest = text.data;
	if (!rest)
		return;
	buf_adds(p->b, "<div class=\"note\" role=\"note\"><p>Noisy: the host disturbed these runs, by the rule in kontest(1). They count as all others do.</p>\n<ul>\n");
	while ((line = strsep(&rest, "\n")) && *line) {
		buf_adds(p->b, "<li>");
		html_label(p->b, line);
		buf_adds(p->b, "</li>\n");
	}
	buf_adds(p->b, "</ul></div>\n");
}

void html_put_missing(struct html_page *p)
{
	const struct table *t = &p->r->table;
	bool begun = false;
	size_t n = 0;

	section(p->b, "missing", "Missing, censored, void");
	for (size_t row = 0; row < table_rows(t); row++)
		for (size_t k = 0; k < t->kernels.n; k++)
			n += put_missing(p, table_row_name(t, row),
					 table_cell(t, row, k), &begun);
	if (begun) {
		buf_adds(p->b, "</tbody>\n");
		html_table_end(p->b);
	}
	buf_adds(p->b, n ? "<p>A run that was timed out is censored: it would have taken longer, nobody knows how long. None of these is averaged in.</p>\n" :
		 "<p>Nothing: every run that was asked for counts.</p>\n");
	put_noise(p);
	buf_adds(p->b, "</section>\n");
}

/* --- boots -------------------------------------------------------------------------- */

static void put_count(struct buf *b, const json_t *v)
{
	if (json_is_integer(v))
		buf_printf(b, "<td class=\"n\">%lld</td>",
			   (long long)json_integer_value(v));
	else
		buf_adds(b, "<td class=\"n\">\u2013</td>");
}

static void put_boot(struct buf *b, const struct boot_record *boot)
{
	size_t good = 0;
	bool ok = boot->verdict == VERDICT_OK;

	for (size_t i = 0; i < boot->runs.n; i++)
		good += run_good(boot, &boot->runs.v[i]);
	buf_printf(b, "<tr%s><th scope=\"row\">", ok ? "" : " class=\"bad\"");
	html_label(b, boot->label);
	buf_printf(b, "</th><td class=\"n\">%lld</td><td class=\"n\">%lld</td>",
		   (long long)boot->number, (long long)boot->index);
	put_count(b, context_value(boot, "boot", "seed"));
	buf_printf(b, "<td class=\"n\">%zu of %zu</td><td>%s", good,
		   boot->runs.n, verdict_name(boot->verdict));
	/* A good boot's evidence may well say how long the host took. */
	if (!ok && boot->evidence && *boot->evidence) {
		buf_adds(b, ": ");
		html_label(b, boot->evidence);
	}
	buf_adds(b, "</td></tr>\n");
}

void html_put_boots(struct html_page *p)
{
	section(p->b, "boots", "Boots");
	html_table(p->b, "", "Every boot in the store: its place in the random order of execution, its seed, how it ended");
	buf_adds(p->b, "<thead><tr><th scope=\"col\">Kernel</th><th scope=\"col\" class=\"n\">Boot</th><th scope=\"col\" class=\"n\">Executed as</th><th scope=\"col\" class=\"n\">Seed</th><th scope=\"col\" class=\"n\">Runs that count</th><th scope=\"col\">Ended</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < p->r->boots.n; i++)
		put_boot(p->b, &p->r->boots.v[i]);
	buf_adds(p->b, "</tbody>\n");
	html_table_end(p->b);
	buf_adds(p->b, "</section>\n");
}

/* --- provenance --------------------------------------------------------------------- */

/* put_value() - "-" for what an older journal does not say */
static void put_value(struct buf *b, const json_t *v)
{
	if (sha256_is(json_string_value(v)))
		buf_printf(b, "<code>%s</code>", json_string_value(v));
	else if (json_is_string(v))
		html_label(b, json_string_value(v));
	else if (json_is_boolean(v))
		buf_adds(b, json_is_true(v) ? "yes" : "no");
	else if (json_is_integer(v))
		buf_printf(b, "%lld", (long long)json_integer_value(v));
	else
		buf_adds(b, "\u2013");
}

/* put_members() - a row each; objects and lists have tables of their own */
static void put_members(struct buf *b, json_t *o)
{
	const char *name;
	json_t *v;

	json_object_foreach(o, name, v) {
		if (json_is_object(v) || json_is_array(v))
			continue;
		buf_adds(b, "<tr><th scope=\"row\">");
		html_text(b, name);
		buf_adds(b, "</th><td>");
		put_value(b, v);
		buf_adds(b, "</td></tr>\n");
	}
}

static void put_origin(struct buf *b, const char *caption, json_t *o)
{
	html_table(b, "origin", caption);
	buf_adds(b, "<tbody>\n");
	put_members(b, o);
	buf_adds(b, "</tbody>\n");
	html_table_end(b);
}

static void put_kernels(struct buf *b, const json_t *kernels)
{
	json_t *k;
	size_t i;

	html_table(b, "origin", "Kernels");
	json_array_foreach(kernels, i, k) {
		buf_adds(b, "<tbody>\n<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"2\">");
		html_label(b, json_string_value(json_object_get(k, "label")));
		buf_adds(b, "</th></tr>\n");
		json_object_del(k, "label");
		put_members(b, k);
		buf_adds(b, "</tbody>\n");
	}
	html_table_end(b);
}

static const char *text_of(const struct report *r, const char *group)
{
	return context_text(&r->boots.v[0], group, "text");
}

void html_put_provenance(struct html_page *p)
{
	json_t *o = provenance_json(&p->r->boots);

	section(p->b, "provenance", "Provenance");
	buf_adds(p->b, "<p>All that decides these figures. Digests are SHA-256; with the same ones, in exact mode, the figures are the same.</p>\n");
	put_origin(p->b, "Measured with", o);
	put_origin(p->b, "QEMU", json_object_get(o, "qemu"));
	put_kernels(p->b, json_object_get(o, "kernels"));
	put_pre(p->b, "Plan", text_of(p->r, "plan"));
	put_pre(p->b, "Machine profile", text_of(p->r, "profile"));
	buf_adds(p->b, "</section>\n");
	json_decref(o);
}

/* --- host ----------------------------------------------------------------------------- */

static void put_host_boot(struct buf *b, const struct boot_record *boot)
{
	buf_adds(b, "<tr><th scope=\"row\">");
	html_label(b, boot->label);
	buf_printf(b, "</th><td class=\"n\">%lld</td><td>",
		   (long long)boot->number);
	put_value(b, context_value(boot, "host", "start"));
	buf_printf(b, "</td><td><code>%s</code></td></tr>\n", boot->id);
}

/* put_console() - the last lines of a boot that did not end well */
static void put_console(struct buf *b, const struct boot_record *boot)
{
	const json_t *line;
	size_t i;

	if (boot->verdict == VERDICT_OK || !json_array_size(boot->console))
		return;
	buf_adds(b, "<details><summary>Last console lines of ");
	html_label(b, boot->label);
	buf_printf(b, ", boot %lld</summary>\n<pre>", (long long)boot->number);
	json_array_foreach(boot->console, i, line) {
		if (json_is_string(line))
			put_lines(b, json_string_value(line));
	}
	buf_adds(b, "</pre></details>\n");
}

void html_put_host(struct html_page *p)
{
	json_t *o = provenance_json(&p->r->boots);
	json_t *host = json_object_get(o, "host");

	section(p->b, "host", "Host");
	buf_adds(p->b, "<p>In exact mode this section alone differs from host to host and from time to time.</p>\n");
	if (p->r->run_id)
		json_object_set_new(host, "run", json_string(p->r->run_id));
	put_origin(p->b, "Where it ran", host);
	html_table(p->b, "origin", "Boots as they are in the store: the id is the SHA-256 of the journal");
	buf_adds(p->b, "<thead><tr><th scope=\"col\">Kernel</th><th scope=\"col\" class=\"n\">Boot</th><th scope=\"col\">Began</th><th scope=\"col\">Journal</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < p->r->boots.n; i++)
		put_host_boot(p->b, &p->r->boots.v[i]);
	buf_adds(p->b, "</tbody>\n");
	html_table_end(p->b);
	for (size_t i = 0; i < p->r->boots.n; i++)
		put_console(p->b, &p->r->boots.v[i]);
	buf_adds(p->b, "</section>\n");
	json_decref(o);
}
