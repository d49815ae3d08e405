/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot_svg.c - what gnuplot drew, taken over element by element
 *
 * Its SVG is a file of its own with its own colours, fonts and ids. In the page it
 * becomes an element: with a title and a description, with classes in place of
 * colours, ids that are unique, and nothing that is not asked for here.
 */
#include "results/plot.h"

#include <stdio.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/tree.h>

#include "results/base/cleanup.h"
#include "results/html.h"

/**
 * struct svg - a plot on its way into the page
 * @f: what it is
 * @number: of the plot, in its ids
 * @tips: of the points drawn so far
 * @symbols: ids of the symbols that it needs; gnuplot's, not owned
 * @out: the page
 */
struct svg {
	const struct figure *f;
	size_t number, tips;
	struct strings symbols;
	struct buf *out;
};

static void doc_free(xmlDoc **doc)
{
	if (*doc)
		xmlFreeDoc(*doc);
}

static void attr_free(xmlChar **s)
{
	if (*s)
		xmlFree(*s);
}

static bool is(const xmlNode *n, const char *name)
{
	return n->type == XML_ELEMENT_NODE &&
	       !strcmp((const char *)n->name, name);
}

/* get() - an attribute, whatever its namespace; owned by the caller, or NULL */
static xmlChar *get(xmlNode *n, const char *name)
{
	return xmlGetProp(n, (const xmlChar *)name);
}

static void put_attr(struct svg *s, const char *name, const char *value)
{
	size_t len = strlen(value);
	cleanup_free char *trimmed = NULL;

	while (len && value[len - 1] == ' ')
		len--;
	trimmed = xstrndup(value, len);
	buf_printf(s->out, " %s=\"", name);
	html_text(s->out, trimmed);
	buf_adds(s->out, "\"");
}

static void copy_attr(struct svg *s, xmlNode *n, const char *name)
{
	CLEANUP(attr_free) xmlChar *v = get(n, name);

	if (v)
		put_attr(s, name, (const char *)v);
}

/* --- colours ------------------------------------------------------------------------ */

/* ink_of() - of "rgb(0,0,17)"; 0 when it is none of ours */
static int ink_of(const char *color)
{
	int r, g, b;

	if (!color || sscanf(color, "rgb(%d,%d,%d)", &r, &g, &b) != 3 || r || g)
		return 0;
	return b;
}

static void put_class(struct svg *s, xmlNode *n, const char *attr)
{
	static const char *const names[] = {
		[INK_AXIS] = "ax", [INK_TEXT] = "tx", [INK_GRID] = "gr",
		[INK_BAND] = "bd",
	};
	CLEANUP(attr_free) xmlChar *color = get(n, attr);
	int ink = ink_of((const char *)color);

	if (ink >= INK_SERIES)
		buf_printf(s->out, " class=\"k%d\"",
			   (ink - INK_SERIES) % PLOT_SERIES);
	else if (ink > 0 && ink <= INK_BAND)
		put_attr(s, "class", names[ink]);
}

/* --- elements ----------------------------------------------------------------------- */

static void put_href(struct svg *s, xmlNode *n)
{
	CLEANUP(attr_free) xmlChar *href = get(n, "href");

	if (href && href[0] == '#')
		buf_printf(s->out, " href=\"#f%zu-%s\"", s->number, href + 1);
}

static void put_use(struct svg *s, xmlNode *n)
{
	buf_adds(s->out, "<use");
	put_href(s, n);
	copy_attr(s, n, "transform");
	put_class(s, n, "color");
	if (s->tips < s->f->tips.n) {
		buf_adds(s->out, "><title>");
		html_text(s->out, s->f->tips.v[s->tips++]);
		buf_adds(s->out, "</title></use>");
	} else {
		buf_adds(s->out, "/>");
	}
}

/* put_content() - a number of an axis, or what "@N" stands for */
static void put_content(struct svg *s, xmlNode *n)
{
	CLEANUP(attr_free) xmlChar *text = xmlNodeGetContent(n);
	const char *t = text ? (const char *)text : "";
	uint64_t which;

	t += strspn(t, " ");
	if (t[0] == '@' && parse_u64(t + 1, &which) && which < s->f->texts.n)
		html_text(s->out, s->f->texts.v[which]);
	else
		html_text(s->out, t);
}

static void put_nodes(struct svg *s, xmlNode *n);

/* put_group() - without what it says about colours and fonts; not at all, when
 * nothing is in it */
static void put_group(struct svg *s, xmlNode *n)
{
	CLEANUP(attr_free) xmlChar *width = get(n, "stroke-width");
	size_t from = s->out->len, inside;

	buf_adds(s->out, "<g");
	copy_attr(s, n, "transform");
	copy_attr(s, n, "text-anchor");
	if (width && strcmp((const char *)width, "1.00"))
		put_attr(s, "stroke-width", (const char *)width);
	put_class(s, n, "fill");
	buf_adds(s->out, ">");
	inside = s->out->len;
	put_nodes(s, n->children);
	if (s->out->len == inside)
		s->out->data[s->out->len = from] = '\0';
	else
		buf_adds(s->out, "</g>\n");
}

static void put_node(struct svg *s, xmlNode *n)
{
	if (is(n, "g")) {
		put_group(s, n);
	} else if (is(n, "path")) {
		buf_adds(s->out, "<path");
		put_class(s, n, "stroke");
		copy_attr(s, n, "stroke-dasharray");
		copy_attr(s, n, "d");
		buf_adds(s->out, "/>");
	} else if (is(n, "polygon")) {
		buf_adds(s->out, "<polygon");
		put_class(s, n, "fill");
		copy_attr(s, n, "points");
		buf_adds(s->out, "/>");
	} else if (is(n, "use")) {
		put_use(s, n);
	} else if (is(n, "text")) {
		buf_adds(s->out, "<text>");
		put_content(s, n);
		buf_adds(s->out, "</text>");
	}
}

static void put_nodes(struct svg *s, xmlNode *n)
{
	for (; n; n = n->next)
		put_node(s, n);
}

/* --- symbols ------------------------------------------------------------------------ */

static bool wants(const struct svg *s, const char *id)
{
	for (size_t i = 0; i < s->symbols.n; i++)
		if (!strcmp(s->symbols.v[i], id))
			return true;
	return false;
}

/* want() - the symbol that a <use> shows */
static void want(struct svg *s, xmlNode *n)
{
	CLEANUP(attr_free) xmlChar *href = get(n, "href");

	if (href && href[0] == '#' && !wants(s, (const char *)href + 1))
		strings_add(&s->symbols, xstrdup((const char *)href + 1));
}

static void want_all(struct svg *s, xmlNode *n)
{
	for (; n; n = n->next) {
		if (is(n, "defs"))
			continue;
		if (is(n, "use"))
			want(s, n);
		want_all(s, n->children);
	}
}

static void put_symbol(struct svg *s, xmlNode *n)
{
	static const char *const attrs[] = {
		"x", "y", "width", "height", "cx", "cy", "r", "d", "transform",
		"stroke-width",
	};
	CLEANUP(attr_free) xmlChar *id = get(n, "id");
	CLEANUP(attr_free) xmlChar *fill = get(n, "fill");
	const char *name = (const char *)n->name;

	buf_printf(s->out, "<%s id=\"f%zu-%s\"", name, s->number, id);
	if (is(n, "use"))
		put_href(s, n);
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		copy_attr(s, n, attrs[i]);
	/* No class: a style does not see the page from within a <use>. */
	if (fill && !strcmp((const char *)fill, "currentColor"))
		buf_adds(s->out, " fill=\"currentColor\" stroke=\"none\"");
	buf_adds(s->out, "/>");
}

static bool is_symbol(const struct svg *s, xmlNode *n)
{
	CLEANUP(attr_free) xmlChar *id = get(n, "id");

	return id && wants(s, (const char *)id) &&
	       (is(n, "path") || is(n, "rect") || is(n, "circle") || is(n, "use"));
}

/* put_symbols() - those in use; a symbol may show one that stands before it */
static void put_symbols(struct svg *s, xmlNode *canvas)
{
	xmlNode *defs = canvas->children;

	while (defs && !is(defs, "defs"))
		defs = defs->next;
	if (!defs)
		return;
	want_all(s, canvas->children);
	if (s->symbols.n == 0)
		return;
	for (xmlNode *n = defs->last; n; n = n->prev)
		if (n->type == XML_ELEMENT_NODE && is(n, "use") && is_symbol(s, n))
			want(s, n);
	buf_adds(s->out, "<defs>");
	for (xmlNode *n = defs->children; n; n = n->next)
		if (n->type == XML_ELEMENT_NODE && is_symbol(s, n))
			put_symbol(s, n);
	buf_adds(s->out, "</defs>\n");
}

/* --- the whole ---------------------------------------------------------------------- */

static void put_head(struct svg *s)
{
	buf_printf(s->out,
		   "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"f%zu-t f%zu-d\">\n<title id=\"f%zu-t\">",
		   s->f->width, s->f->height, s->number, s->number, s->number);
	html_text(s->out, s->f->title);
	buf_printf(s->out, "</title>\n<desc id=\"f%zu-d\">", s->number);
	html_text(s->out, s->f->desc.data);
	buf_adds(s->out, "</desc>\n");
}

int figure_put_svg(const struct figure *f, size_t number, const char *svg,
		   size_t len, struct buf *out, struct error *err)
{
	size_t skip = strspn(svg, " \t\r\n");
	CLEANUP(doc_free) xmlDoc *doc =
		xmlReadMemory(svg + skip, (int)(len - skip), NULL, "UTF-8",
			      XML_PARSE_NONET | XML_PARSE_NOERROR |
			      XML_PARSE_NOWARNING);
	struct svg s = { .f = f, .number = number, .out = out };
	xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
	xmlNode *canvas = root && is(root, "svg") ? root->children : NULL;

	while (canvas && !is(canvas, "g"))
		canvas = canvas->next;
	if (!canvas)
		return error_set(err, 0, "gnuplot's plot '%s' is no SVG that can be read",
				 f->title);
	put_head(&s);
	put_symbols(&s, canvas);
	put_nodes(&s, canvas->children);
	buf_adds(out, "</svg>\n");
	strings_clear(&s.symbols);
	return 0;
}
