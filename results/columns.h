/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns.h - text in columns, whatever script it is written in
 */
#ifndef KONTEST_COLUMNS_H
#define KONTEST_COLUMNS_H

#include <stddef.h>

#include "results/base/text.h"

/**
 * text_clean() - a text as it can be shown on one line of a terminal
 * @s: UTF-8, or what claims to be
 * @width: gets the columns it takes; may be NULL
 *
 * Control characters, line ends included, and broken UTF-8 become "?". The
 * answer is the same under every locale.
 *
 * Return: the text, owned by the caller.
 */
char *text_clean(const char *s, size_t *width);

/* text_width() - columns that text_clean() of it takes */
size_t text_width(const char *s);

/* put_left() - text_clean(@s), padded on the right to @width columns; a longer
 * text is not cut */
void put_left(struct buf *b, const char *s, size_t width);

/* pad_to() - spaces up to column @col (from 0) of the line that begins at
 * @line, an offset in @b; at least one when @col is already passed */
void pad_to(struct buf *b, size_t line, size_t col);

/* put_number() - @v with @decimals, or "-" when it is not finite; negative
 * zero shows as zero */
void put_number(struct buf *b, double v, int decimals);

#endif
