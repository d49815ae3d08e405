/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

#include "results/html.h"
#include "results/plot.h"
#include "tests/store_fixture.h"

#define SCRIPT "<script>alert(1)</script>\\\"'&]]>"	/* as JSON writes it */
#define SCRIPT_TEXT "<script>alert(1)</script>\"'&]]>"

static const char *const two_loads = "[\"no_load\",\"io_load\"]";

static void begin_boot(struct fixture *f, const char *label, int order,
		       int number, int boots, const char *start,
		       const char *loads)
{
	char *context = context_json(RUN_A, label, order, number, boots, start,
				     loads);

	must(journal_create(f->journal, RUN_A, "run=no_load\nrun=io_load\n",
			    context, &f->err), &f->err);
	append(f->journal, JOURNAL_RECEIPT, "{\"format\":1}");
	free(context);
}

static void add_run(struct fixture *f, int number, const char *load,
		    const char *verdict, double wall_s)
{
	append_run(f->journal, &(struct made_run){
		.number = number, .load = load, .verdict = verdict,
		.wall_ns = (int64_t)(wall_s * 1e9),
		.job_ns = (int64_t)(wall_s * 0.8e9),
		.done = number == 1 ? 0 : 5, .per_load = number == 1 ? 0 : 2 });
}

static void add_boot(struct fixture *f, const char *label, int order, int number,
		     const char *start, double no_load_s, double io_load_s)
{
	begin_boot(f, label, order, number, 2, start, two_loads);
	add_run(f, 1, "no_load", "ok", no_load_s);
	add_run(f, 2, "io_load", "ok", io_load_s);
	end_boot(f);
}

/* two kernels, two boots, at an hour of the host's */
static void add_pair(struct fixture *f, const char *hour)
{
	char *start = xasprintf("2026-01-01T%s:00:00Z", hour);

	add_boot(f, "one", 0, 1, start, 10, 20);
	add_boot(f, "one", 0, 2, start, 10.5, 20.5);
	add_boot(f, "two", 1, 1, start, 10.25, 30);
	add_boot(f, "two", 1, 2, start, 10.75, 31);
	free(start);
}

/* --- what must hold of every page ---------------------------------------------------- */

/* struct ids - of a page; owned by its document */
struct ids {
	const char *v[4096];
	size_t n;
};

static char *get(xmlNode *n, const char *name)
{
	return (char *)xmlGetNoNsProp(n, (const xmlChar *)name);
}

static bool is(const xmlNode *n, const char *name)
{
	return n->type == XML_ELEMENT_NODE && !strcmp((const char *)n->name, name);
}

static bool has_child(xmlNode *n, const char *name)
{
	for (n = n->children; n; n = n->next)
		if (is(n, name))
			return true;
	return false;
}

static void take_id(xmlNode *n, struct ids *ids)
{
	char *id = get(n, "id");

	if (!id)
		return;
	for (size_t i = 0; i < ids->n; i++)
		assert_string_not_equal(ids->v[i], id);
	assert_true(ids->n < 4096);
	ids->v[ids->n++] = id;
}

static void assert_id(const struct ids *ids, const char *id, size_t len)
{
	for (size_t i = 0; i < ids->n; i++)
		if (strlen(ids->v[i]) == len && !strncmp(ids->v[i], id, len))
			return;
	fail_msg("no element has the id '%.*s'", (int)len, id);
}

static void collect(xmlNode *n, struct ids *ids)
{
	for (; n; n = n->next) {
		if (n->type == XML_ELEMENT_NODE)
			take_id(n, ids);
		collect(n->children, ids);
	}
}

/* each id of a list of them */
static void assert_labels(xmlNode *n, const struct ids *ids)
{
	char *labels = get(n, "aria-labelledby");

	for (char *p = labels; p && *p; p += strspn(p, " ")) {
		assert_id(ids, p, strcspn(p, " "));
		p += strcspn(p, " ");
	}
	if (is(n, "svg")) {
		char *role = get(n, "role");

		assert_non_null(labels);
		assert_string_equal(role, "img");
		assert_true(has_child(n, "title") && has_child(n, "desc"));
		free(role);
	}
	free(labels);
}

/* nothing leads out of the page, nothing runs */
static void assert_inert(xmlNode *n, const struct ids *ids)
{
	static const char *const banned[] = { "script", "iframe", "object",
		"embed", "img", "image", "form", "base", "foreignObject" };
	char *href = get(n, "href");

	for (size_t i = 0; i < sizeof(banned) / sizeof(banned[0]); i++)
		assert_false(is(n, banned[i]));
	for (xmlAttr *a = n->properties; a; a = a->next)
		assert_false(str_starts((const char *)a->name, "on") ||
			     !strcmp((const char *)a->name, "src") ||
			     !strcmp((const char *)a->name, "style"));
	if (href && strcmp(href, "data:,")) {
		assert_int_equal(href[0], '#');
		assert_id(ids, href + 1, strlen(href + 1));
	}
	free(href);
}

static void check(xmlNode *n, const struct ids *ids)
{
	for (; n; n = n->next) {
		if (n->type == XML_ELEMENT_NODE) {
			char *scope = get(n, "scope");

			assert_inert(n, ids);
			assert_labels(n, ids);
			assert_true(!is(n, "table") || has_child(n, "caption"));
			assert_true(!is(n, "th") || scope);
			free(scope);
		}
		check(n->children, ids);
	}
}

/* check_page() - is it XML too, labelled, inert? Its document; end with xmlFreeDoc() */
static xmlDoc *check_page(const char *html)
{
	xmlDoc *doc = xmlReadMemory(html, (int)strlen(html), NULL, NULL,
				    XML_PARSE_NONET);
	struct ids *ids = xcalloc(1, sizeof(*ids));

	assert_non_null(doc);
	collect(xmlDocGetRootElement(doc), ids);
	check(xmlDocGetRootElement(doc), ids);
	for (size_t i = 0; i < ids->n; i++)
		free((char *)ids->v[i]);
	free(ids);
	assert_null(strcasestr(html, "http:"));
	assert_null(strcasestr(html, "https:"));
	assert_non_null(strstr(html, "default-src 'none'"));
	return doc;
}

/* text_of() - what a reader sees of an element; owned by the caller */
static char *text_of(xmlNode *n)
{
	xmlChar *text = xmlNodeGetContent(n);
	char *copy = xstrdup((const char *)text);

	xmlFree(text);
	return copy;
}

static xmlNode *find_id(xmlNode *n, const char *id)
{
	for (; n; n = n->next) {
		char *own = n->type == XML_ELEMENT_NODE ? get(n, "id") : NULL;
		bool found = own && !strcmp(own, id);
		xmlNode *below;

		free(own);
		if (found)
			return n;
		below = find_id(n->children, id);
		if (below)
			return below;
	}
	return NULL;
}

/* section() - text of a section of a page; owned by the caller */
static char *section(xmlDoc *doc, const char *id)
{
	xmlNode *n = find_id(xmlDocGetRootElement(doc), id);

	assert_non_null(n);
	return text_of(n);
}

static size_t count(const char *in, const char *what)
{
	size_t n = 0;

	while ((in = strstr(in, what))) {
		in += strlen(what);
		n++;
	}
	return n;
}

/* --- tests ---------------------------------------------------------------------------- */

static void page_is_whole(void **state)
{
	struct fixture *f = *state;
	char *html, *text;
	xmlDoc *doc;

	add_pair(f, "00");
	html = print_run(f, "html");
	doc = check_page(html);
	/* a strip and a distribution for each load, and every run a point with a tip */
	assert_int_equal(count(html, "<svg class=\"plot\""), 4);
	assert_int_equal(count(html, "<title>boot 1, run 1: "), 4);
	assert_int_equal(count(html, "<title>boot 2, run 1: "), 4);
	assert_non_null(strstr(html, "<title>boot 2, run 1: 31 s</title>"));
	assert_null(strstr(html, "@0<"));

	text = section(doc, "matrix");
	assert_non_null(strstr(text, "30.50 \u00b16.35"));	/* t(1) * 0.5 */
	assert_non_null(strstr(text, "+50.6 %"));
	assert_non_null(strstr(text, "ratio 2.90"));
	free(text);
	text = section(doc, "verdicts");
	assert_non_null(strstr(text, "not enough boots: "));
	free(text);
	text = section(doc, "missing");
	assert_non_null(strstr(text, "Nothing: every run that was asked for counts."));
	free(text);
	assert_null(strcasestr(html, ">nan"));
	assert_null(strcasestr(html, "inf<"));
	xmlFreeDoc(doc);
	free(html);
}

static void labels_are_text(void **state)
{
	struct fixture *f = *state;
	char *html, *text;
	xmlDoc *doc;

	for (int number = 1; number <= 2; number++) {
		begin_boot(f, SCRIPT, 0, number, 2, "2026-01-01T00:00:00Z",
			   "[\"no_load\",\"</svg><img src=x>\"]");
		add_run(f, 1, "no_load", "ok", 10 + number);
		add_run(f, 2, "</svg><img src=x>", "ok", 11 + number);
		end_boot(f);
		begin_boot(f, "\\u202e\\u0007`ls`\\nplot 1 @0", 1, number, 2,
			   "2026-01-01T00:00:00Z", "[\"no_load\",\"</svg><img src=x>\"]");
		add_run(f, 1, "no_load", "ok", 10 + number);
		append(f->journal, JOURNAL_RUN_START,
		       "{\"run\":2,\"load\":\"</svg><img src=x>\",\"index\":1}");
		append(f->journal, JOURNAL_RUN_END,
		       "{\"run\":2,\"load\":\"</svg><img src=x>\",\"index\":1,\"verdict\":\"load-failed\",\"message\":\"" SCRIPT "\"}");
		end_boot(f);
	}
	html = print_run(f, "html");
	doc = check_page(html);
	text = section(doc, "matrix");
	assert_non_null(strstr(text, SCRIPT_TEXT));
	assert_non_null(strstr(text, "</svg><img src=x>"));
	/* what turns the direction of a line, rings or ends one is gone */
	assert_non_null(strstr(text, "??`ls`?plot 1 @0"));
	free(text);
	text = section(doc, "load-2");
	assert_non_null(strstr(text, "load-failed: " SCRIPT_TEXT));
	free(text);
	text = section(doc, "load-1");
	assert_int_equal(count(text, "Every run under no_load"), 1);
	assert_true(count(text, SCRIPT_TEXT) >= 3);
	free(text);
	xmlFreeDoc(doc);
	free(html);
}

static void nothing_is_hidden(void **state)
{
	struct fixture *f = *state;
	char *html, *text;
	xmlDoc *doc;

	add_boot(f, "one", 0, 1, "2026-01-01T00:00:00Z", 10, 20);
	begin_boot(f, "two", 1, 1, 2, "2026-01-01T00:00:00Z", two_loads);
	add_run(f, 1, "no_load", "ok", 10);
	append(f->journal, JOURNAL_RUN_START, "{\"run\":2,\"load\":\"io_load\",\"index\":1}");
	append(f->journal, JOURNAL_RUN_END, "{\"run\":2,\"load\":\"io_load\",\"index\":1,\"verdict\":\"timed-out\",\"message\":\"not done after 1800 s\"}");
	end_boot(f);
	html = print_run(f, "html");
	doc = check_page(html);
	text = section(doc, "missing");
	assert_non_null(strstr(text, "two boot 1 run 1: timed-out: not done after 1800 s"));
	assert_int_equal(count(text, "one boot 2: missing, no journal"), 2);
	assert_int_equal(count(text, "two boot 2: missing, no journal"), 2);
	free(text);
	text = section(doc, "matrix");
	assert_non_null(strstr(text, "no run2 not counted"));
	free(text);
	assert_non_null(strstr(html, "of 4 asked for"));
	assert_null(strcasestr(html, "nan<"));
	xmlFreeDoc(doc);
	free(html);
}

/* cut_host() - the page without the section of the host */
static void cut_host(char *html)
{
	char *at = strstr(html, "<section id=\"host\"");
	char *end = at ? strstr(at, "</section>") : NULL;

	assert_non_null(end);
	memmove(at, end, strlen(end) + 1);
}

static void same_bytes(void **state)
{
	struct fixture *f = *state, *other = NULL;
	char *a, *b;

	add_pair(f, "00");
	a = print_run(f, "html");
	b = print_run(f, "html");
	assert_string_equal(a, b);
	free(b);

	/* the same run at another time: journals with other ids */
	setup((void **)&other);
	add_pair(other, "07");
	b = print_run(other, "html");
	assert_string_not_equal(a, b);
	cut_host(a);
	cut_host(b);
	assert_string_equal(a, b);
	teardown((void **)&other);
	free(a);
	free(b);
}

static void gnuplot_is_named(void **state)
{
	struct fixture *f = *state;
	char *path = xstrdup(getenv("PATH")), *text = NULL;
	struct error err = { 0 };
	size_t len;
	FILE *out = open_memstream(&text, &len);

	add_pair(f, "00");
	setenv("PATH", f->dir, 1);
	assert_int_equal(report_print(f->s, RUN_A, "html", out, &err), -1);
	setenv("PATH", path, 1);
	fclose(out);
	assert_string_equal(text, "");
	assert_non_null(strstr(err.text, "gnuplot is missing"));
	assert_non_null(strstr(err.text, "apt-get install gnuplot-nox"));
	free(text);
	free(path);
}

/* --- parts ------------------------------------------------------------------------------ */

static void assert_text(const char *in, const char *out)
{
	struct buf b = { 0 };

	buf_adds(&b, "");
	html_text(&b, in);
	assert_string_equal(b.data, out);
	buf_free(&b);
}

static void texts_are_escaped(void **state)
{
	(void)state;
	assert_text("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;");
	assert_text("\xff\xc3 \xc0\xbc", "?? ??");		/* no UTF-8 */
	assert_text("\xe2\x80\xaeno\xd8\x9c\xe2\x81\xa6", "?no??");
	assert_text("\xe2\x80\x93 \xd8\xaa", "\xe2\x80\x93 \xd8\xaa");
	assert_text("\033[31m\n", "?[31m?");
	assert_text(NULL, "");
}

static void numbers_are_numbers(void **state)
{
	struct buf b = { 0 };

	(void)state;
	html_number(&b, -1.25, 1);
	html_number(&b, NAN, 1);
	html_number(&b, INFINITY, 1);
	html_number(&b, -0.001, 1);
	html_signed(&b, 0.04, 1);
	html_signed(&b, 3, 0);
	assert_string_equal(b.data, "\u22121.2\u2013\u20130.0\u00b10.0+3");
	buf_free(&b);
}

static void long_names_are_cut(void **state)
{
	struct figure f = { 0 };

	(void)state;
	assert_int_equal(plot_text(&f, "short", 8), 0);
	assert_int_equal(plot_text(&f, "0123456789abcdef", 8), 1);
	assert_int_equal(plot_text(&f, "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", 5), 2);
	assert_string_equal(f.texts.v[0], "short");
	assert_string_equal(f.texts.v[1], "0123\u2026def");
	assert_string_equal(f.texts.v[2], "\u00e4\u00e4\u2026\u00e4\u00e4");
	strings_clear(&f.texts);
}

static void ranges_have_room(void **state)
{
	struct plot_range r = { .low = INFINITY, .high = -INFINITY };

	(void)state;
	plot_range_finish(&r, 5);		/* of nothing */
	assert_true(r.low < r.high && r.step > 0);
	r = (struct plot_range){ .low = INFINITY, .high = -INFINITY };
	plot_range_add(&r, NAN);
	plot_range_add(&r, 12);
	plot_range_finish(&r, 5);		/* of one figure */
	assert_true(r.low < 12 && r.high > 12 && r.step > 0);
	assert_true(r.first >= r.low && r.first < r.high);
	r = (struct plot_range){ .low = 0, .high = 0 };
	plot_range_finish(&r, 5);
	assert_true(r.low < r.high && r.step > 0);
	r = (struct plot_range){ .low = 10, .high = 20 };
	plot_range_finish(&r, 5);
	assert_true(r.step == 5 && r.first == 10 && r.decimals == 0);
}

/* All that gnuplot could be made to draw by mistake is left out. */
static void svg_is_sifted(void **state)
{
	static const char svg[] =
		"<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">"
		"<g id=\"c\"><defs><circle id=\"gpPt5\" r=\"1\"/><use xlink:href=\"#gpPt5\" id=\"gpPt6\" fill=\"currentColor\"/><circle id=\"gpPt1\" r=\"9\"/></defs>"
		"<script>x</script><path onclick=\"x\" stroke=\"rgb(  0,   0,  19)\" d=\"M0,0 L1,1  \"/>"
		"<use xlink:href=\"http://x/#gpPt6\"/><use xlink:href=\"#gpPt6\" color=\"rgb(0,0,16)\"/>"
		"<g fill=\"none\"></g><g fill=\"rgb(0,0,2)\"><text>@0</text><text> 1.5</text><text>@7</text></g></g></svg>";
	struct figure f = { .width = 4, .height = 2, .title = (char *)"t<" };
	struct buf out = { 0 };
	struct error err = { 0 };

	(void)state;
	plot_text(&f, "a<b", 9);
	assert_int_equal(figure_put_svg(&f, 3, svg, strlen(svg), &out, &err), 0);
	assert_string_equal(out.data,
		"<svg class=\"plot\" viewBox=\"0 0 4 2\" role=\"img\" aria-labelledby=\"f3-t f3-d\">\n"
		"<title id=\"f3-t\">t&lt;</title>\n<desc id=\"f3-d\"></desc>\n"
		"<defs><circle id=\"f3-gpPt5\" r=\"1\"/><use id=\"f3-gpPt6\" href=\"#f3-gpPt5\" fill=\"currentColor\" stroke=\"none\"/></defs>\n"
		"<path class=\"k3\" d=\"M0,0 L1,1\"/><use/><use href=\"#f3-gpPt6\" class=\"k0\"/>"
		"<g class=\"tx\"><text>a&lt;b</text><text>1.5</text><text>@7</text></g>\n</svg>\n");
	buf_free(&out);
	assert_int_equal(figure_put_svg(&f, 3, "<svg", 4, &out, &err), -1);
	assert_int_equal(figure_put_svg(&f, 3, "<svg/>", 6, &out, &err), -1);
	buf_free(&out);
	strings_clear(&f.texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(page_is_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(labels_are_text, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_hidden, setup, teardown),
		cmocka_unit_test_setup_teardown(same_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(gnuplot_is_named, setup, teardown),
		cmocka_unit_test(texts_are_escaped),
		cmocka_unit_test(numbers_are_numbers),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(ranges_have_room),
		cmocka_unit_test(svg_is_sifted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
