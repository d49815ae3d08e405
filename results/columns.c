/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns.c - text in columns, whatever script it is written in
 */
#include "results/columns.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* utf8_locale() - character classes of UTF-8, whatever the user's locale is;
 * 0 on a C library without C.UTF-8 */
static locale_t utf8_locale(void)
{
	static locale_t loc;

	if (!loc)
		loc = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return loc;
}

char *text_clean(const char *s, size_t *width)
{
	locale_t loc = utf8_locale(), old = uselocale(loc);
	struct buf b = { 0 };
	mbstate_t state = { 0 };
	size_t columns = 0;

	buf_adds(&b, "");
	while (*s) {
		wchar_t wc;
		size_t n = mbrtowc(&wc, s, strlen(s), &state);
		int w;

		if (n == (size_t)-1 || n == (size_t)-2 || n == 0) {
			memset(&state, 0, sizeof(state));
			n = 1;
			w = -1;
		} else {
			w = wcwidth(wc);
		}
		if (w < 0) {
			buf_adds(&b, "?");
			columns++;
		} else {
			buf_add(&b, s, n);
			columns += (size_t)w;
		}
		s += n;
	}
	uselocale(old);
	if (width)
		*width = columns;
	return b.data;
}

size_t text_width(const char *s)
{
	size_t width;

	free(text_clean(s, &width));
	return width;
}

void put_left(struct buf *b, const char *s, size_t width)
{
	size_t columns;
	char *clean = text_clean(s, &columns);

	buf_adds(b, clean);
	free(clean);
	for (; columns < width; columns++)
		buf_adds(b, " ");
}

void pad_to(struct buf *b, size_t line, size_t col)
{
	size_t at = b->len > line ? text_width(b->data + line) : 0;

	do
		buf_adds(b, " ");
	while (++at < col);
}

void put_number(struct buf *b, double v, int decimals)
{
	char text[64];

	if (!isfinite(v)) {
		buf_adds(b, "-");
		return;
	}
	snprintf(text, sizeof(text), "%.*f", decimals, v);
	/* "-0.0" is a zero that was rounded: the sign says nothing. */
	buf_adds(b, text[0] == '-' && strspn(text + 1, "0.") ==
		    strlen(text + 1) ? text + 1 : text);
}
