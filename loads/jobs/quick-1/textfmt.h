/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * textfmt.h - paragraphs and tables of plain text
 */
#ifndef TEXTFMT_H
#define TEXTFMT_H

#include <stddef.h>

#include "quick.h"
#include "strbuf.h"

enum align {
	ALIGN_LEFT,
	ALIGN_RIGHT,
	ALIGN_CENTRE,
	ALIGN_JUSTIFY,
};

/* Fills lines of @width characters; an empty line parts paragraphs */
void format_text(const char *text, size_t width, enum align align,
		 struct strbuf *out);

/* @rows: each "cell|cell|cell"; columns whose cells are numbers go right */
void format_table(const char *const rows[], size_t count, struct strbuf *out);

void textfmt_check(struct sum *s);

#endif
