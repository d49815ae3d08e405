/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * html.h - text and numbers into HTML and SVG
 *
 * Labels and messages come from plans, guests and other people's journals. They get
 * into a page through html_text() alone, so that they can be nothing but text.
 */
#ifndef KONTEST_HTML_H
#define KONTEST_HTML_H

#include "results/base/text.h"

/**
 * html_text() - a text as the content of an element or a quoted attribute
 * @b: where to
 * @s: UTF-8, or what claims to be; NULL is nothing
 *
 * Control characters, broken UTF-8 and the characters that turn the direction of
 * what follows become "?"; & < > " ' are escaped. So it holds in XML as well.
 */
void html_text(struct buf *b, const char *s);

/* html_label() - a text of others in a <bdi>: whatever its script, it leaves what
 * stands beside it in its place */
void html_label(struct buf *b, const char *s);

/* html_number() - @v with @decimals and a true minus; a dash when it is not finite */
void html_number(struct buf *b, double v, int decimals);

/* html_signed() - the same with a sign: "+3.1", "−0.4", "±0.0" */
void html_signed(struct buf *b, double v, int decimals);

/* html_decimals() - how many tell a figure of this size to four digits, 0 to 3 */
int html_decimals(double v);

/**
 * html_table() - begin a table that scrolls by itself when it is wider than the page
 * @class: of the table, or ""
 * @caption: of the project's own words, as HTML
 */
void html_table(struct buf *b, const char *class, const char *caption);
void html_table_end(struct buf *b);

#endif
