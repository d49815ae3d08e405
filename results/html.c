/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * html.c - text and numbers into HTML and SVG
 */
#include "results/html.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/columns.h"

#define MINUS "\u2212"
#define DASH "\u2013"

/* turns_direction() - length of a bidirectional control at @s, else 0: U+061C,
 * U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069 (Unicode, annex 9) */
static size_t turns_direction(const char *s)
{
	const unsigned char *c = (const unsigned char *)s;

	if (c[0] == 0xd8 && c[1] == 0x9c)
		return 2;
	if (c[0] != 0xe2)
		return 0;
	if (c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f ||
			     (c[2] >= 0xaa && c[2] <= 0xae)))
		return 3;
	return c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9 ? 3 : 0;
}

static const char *entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void html_text(struct buf *b, const char *s)
{
	cleanup_free char *clean = text_clean(s ? s : "", NULL);

	for (const char *p = clean; *p;) {
		size_t turn = turns_direction(p);
		const char *safe = turn ? "?" : entity(*p);

		if (safe)
			buf_adds(b, safe);
		else
			buf_add(b, p, 1);
		p += turn ? turn : 1;
	}
}

void html_label(struct buf *b, const char *s)
{
	buf_adds(b, "<bdi>");
	html_text(b, s);
	buf_adds(b, "</bdi>");
}

/* put_magnitude() - @v; with @signs, a plus and a plus-minus too */
static void put_magnitude(struct buf *b, double v, int decimals, bool signs)
{
	char text[400];
	bool zero;

	snprintf(text, sizeof(text), "%.*f", decimals, fabs(v));
	zero = strspn(text, "0.") == strlen(text);
	if (!zero && v < 0)
		buf_adds(b, MINUS);
	else if (signs)
		buf_adds(b, zero ? "\u00b1" : "+");
	buf_adds(b, text);
}

void html_number(struct buf *b, double v, int decimals)
{
	if (isfinite(v))
		put_magnitude(b, v, decimals, false);
	else
		buf_adds(b, DASH);
}

void html_signed(struct buf *b, double v, int decimals)
{
	if (isfinite(v))
		put_magnitude(b, v, decimals, true);
	else
		buf_adds(b, DASH);
}

int html_decimals(double v)
{
	double size = fabs(v);

	if (!isfinite(v) || size >= 1000)
		return 0;
	return size >= 100 ? 1 : size >= 10 ? 2 : 3;
}

void html_table(struct buf *b, const char *class, const char *caption)
{
	buf_printf(b, "<div class=\"scroll\" tabindex=\"0\">\n<table%s%s%s>\n<caption><span>%s</span></caption>\n",
		   *class ? " class=\"" : "", class, *class ? "\"" : "",
		   caption);
}

void html_table_end(struct buf *b)
{
	buf_adds(b, "</table>\n</div>\n");
}
