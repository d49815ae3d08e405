/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * textfmt.c - fills, justifies and lines up plain text
 */
#include "textfmt.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* @spaces are shared out among the gaps; the wider gaps stand to the right */
static void justified(char *const *word, size_t count, size_t spaces,
		      struct strbuf *out)
{
	size_t gaps = count - 1;

	for (size_t i = 0; i < count; i++) {
		strbuf_puts(out, word[i]);
		if (gaps > 0) {
			size_t n = spaces / gaps;

			strbuf_repeat(out, ' ', n);
			spaces -= n;
			gaps--;
		}
	}
}

static void put_line(char *const *word, size_t count, size_t width,
		     enum align align, bool last, struct strbuf *out)
{
	size_t letters = 0, used, spare;

	for (size_t i = 0; i < count; i++)
		letters += strlen(word[i]);
	used = letters + count - 1;
	spare = used < width ? width - used : 0;
	if (align == ALIGN_RIGHT)
		strbuf_repeat(out, ' ', spare);
	else if (align == ALIGN_CENTRE)
		strbuf_repeat(out, ' ', spare / 2);
	if (align == ALIGN_JUSTIFY && !last && count > 1)
		used += spare;
	justified(word, count, used - letters, out);
	strbuf_putc(out, '\n');
}

static void paragraph(const struct strlist *words, size_t width,
		      enum align align, struct strbuf *out)
{
	size_t first = 0;

	while (first < words->count) {
		size_t len = strlen(words->item[first]);
		size_t end = first + 1;

		while (end < words->count) {
			size_t more = strlen(words->item[end]) + 1;

			if (len + more > width)
				break;
			len += more;
			end++;
		}
		put_line(words->item + first, end - first, width, align,
			 end == words->count, out);
		first = end;
	}
}

void format_text(const char *text, size_t width, enum align align,
		 struct strbuf *out)
{
	while (*text != '\0') {
		const char *end = strstr(text, "\n\n");
		size_t len = end != NULL ? (size_t)(end - text) : strlen(text);
		struct strlist words;
		struct strbuf part;

		strbuf_init(&part);
		strbuf_add(&part, text, len);
		strlist_init(&words);
		strlist_split(&words, part.text, " \t\n");
		paragraph(&words, width, align, out);
		strlist_free(&words);
		strbuf_free(&part);
		text += len;
		if (end != NULL) {
			text += 2;
			strbuf_putc(out, '\n');
		}
	}
}

static bool is_number(const char *cell)
{
	bool digits = false;

	if (*cell == '-' || *cell == '+')
		cell++;
	for (; *cell != '\0'; cell++) {
		if (isdigit((unsigned char)*cell))
			digits = true;
		else if (*cell != '.' && *cell != '%')
			return false;
	}
	return digits;
}

struct column {
	size_t width;
	bool numbers;
};

#define COLUMNS_MAX 16

static size_t measure(const struct strlist *cells, size_t count,
		      struct column column[COLUMNS_MAX])
{
	size_t columns = 0;

	for (size_t i = 0; i < COLUMNS_MAX; i++) {
		column[i].width = 0;
		column[i].numbers = true;
	}
	for (size_t row = 0; row < count; row++)
		for (size_t i = 0; i < cells[row].count; i++) {
			const char *cell = cells[row].item[i];
			size_t len = strlen(cell);

			check(i < COLUMNS_MAX, "textfmt", "columns");
			if (len > column[i].width)
				column[i].width = len;
			/* The first row is the headings */
			if (row > 0 && !is_number(cell))
				column[i].numbers = false;
			if (i >= columns)
				columns = i + 1;
		}
	return columns;
}

void format_table(const char *const rows[], size_t count, struct strbuf *out)
{
	struct strlist *cells = xcalloc(count, sizeof(*cells));
	struct column column[COLUMNS_MAX];
	size_t columns;

	for (size_t row = 0; row < count; row++) {
		strlist_init(&cells[row]);
		strlist_split(&cells[row], rows[row], "|");
	}
	columns = measure(cells, count, column);
	for (size_t row = 0; row < count; row++) {
		for (size_t i = 0; i < cells[row].count; i++) {
			int width = (int)column[i].width;

			if (!column[i].numbers)
				width = -width;
			strbuf_printf(out, "%s%*s", i > 0 ? "  " : "", width,
				      cells[row].item[i]);
		}
		strbuf_putc(out, '\n');
		for (size_t i = 0; row == 0 && i < columns; i++)
			strbuf_repeat(out, '-', column[i].width +
				      (i + 1 < columns ? 2 : 0));
		if (row == 0)
			strbuf_putc(out, '\n');
		strlist_free(&cells[row]);
	}
	free(cells);
}

void textfmt_check(struct sum *s)
{
	static const char text[] =
		"A benchmark that cannot be repeated by others is a story "
		"about\na computer.\n\nIt may be a good story, though, and "
		"stories have led to discoveries.";
	static const char *const rows[] = {
		"Kernel|Time|CPU%|Note", "2.4.19|68|99.0|first",
		"2.5.59-mm7|1079|7.5|slow", "6.1|-3|100%|odd",
	};
	struct strbuf out;

	strbuf_init(&out);
	for (int align = ALIGN_LEFT; align <= ALIGN_JUSTIFY; align++)
		format_text(text, 30, (enum align)align, &out);
	check(strbuf_find(&out, 0, "\n       It may") > 0, "textfmt", "right");
	check(strbuf_find(&out, 0, "A  benchmark") > 0 ||
	      strbuf_find(&out, 0, "A benchmark  ") > 0, "textfmt", "justify");
	format_table(rows, 4, &out);
	check(strbuf_find(&out, 0, "6.1           -3") > 0, "textfmt", "table");
	sum_text(s, out.text);
	strbuf_free(&out);
}
