/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strbuf.h - strings that grow
 */
#ifndef STRBUF_H
#define STRBUF_H

#include <stdbool.h>
#include <stddef.h>

#include "quick.h"

/* @text always ends in a NUL that @len does not count */
struct strbuf {
	char *text;
	size_t len;
	size_t room;
};

struct strlist {
	char **item;
	size_t count;
	size_t room;
};

void strbuf_init(struct strbuf *b);
void strbuf_free(struct strbuf *b);
void strbuf_clear(struct strbuf *b);
void strbuf_add(struct strbuf *b, const char *data, size_t len);
void strbuf_puts(struct strbuf *b, const char *text);
void strbuf_putc(struct strbuf *b, char c);
void strbuf_repeat(struct strbuf *b, char c, size_t n);
void strbuf_printf(struct strbuf *b, const char *fmt, ...);
size_t strbuf_replace(struct strbuf *b, const char *from, const char *to);
bool strbuf_equal(const struct strbuf *a, const struct strbuf *b);
long strbuf_find(const struct strbuf *b, size_t from, const char *what);

void strlist_init(struct strlist *l);
void strlist_free(struct strlist *l);
void strlist_add(struct strlist *l, const char *text, size_t len);
void strlist_split(struct strlist *l, const char *text, const char *separators);
void strlist_sort(struct strlist *l);
void strlist_unique(struct strlist *l);
void strlist_join(const struct strlist *l, const char *between,
		  struct strbuf *out);

/* Does @text match @pattern with its '*' and '?' and '[a-z]'? */
bool glob_match(const char *pattern, const char *text);

void strbuf_check(struct sum *s);

#endif
