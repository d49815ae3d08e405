/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strbuf.c - strings that grow, lists of them, and file-name patterns
 */
#include "strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strbuf_init(struct strbuf *b)
{
	b->room = 16;
	b->text = xmalloc(b->room);
	b->text[0] = '\0';
	b->len = 0;
}

void strbuf_free(struct strbuf *b)
{
	free(b->text);
	b->text = NULL;
	b->len = b->room = 0;
}

void strbuf_clear(struct strbuf *b)
{
	b->len = 0;
	b->text[0] = '\0';
}

static void reserve(struct strbuf *b, size_t more)
{
	size_t want = b->len + more + 1;

	if (want <= b->room)
		return;
	while (b->room < want)
		b->room += b->room / 2 + 16;
	b->text = xrealloc(b->text, b->room);
}

void strbuf_add(struct strbuf *b, const char *data, size_t len)
{
	reserve(b, len);
	memcpy(b->text + b->len, data, len);
	b->len += len;
	b->text[b->len] = '\0';
}

void strbuf_puts(struct strbuf *b, const char *text)
{
	strbuf_add(b, text, strlen(text));
}

void strbuf_putc(struct strbuf *b, char c)
{
	strbuf_add(b, &c, 1);
}

void strbuf_repeat(struct strbuf *b, char c, size_t n)
{
	reserve(b, n);
	memset(b->text + b->len, c, n);
	b->len += n;
	b->text[b->len] = '\0';
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	check(len >= 0, "strbuf", "format");

	reserve(b, (size_t)len);
	va_start(ap, fmt);
	vsnprintf(b->text + b->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)len;
}

long strbuf_find(const struct strbuf *b, size_t from, const char *what)
{
	const char *hit;

	if (from > b->len)
		return -1;
	hit = strstr(b->text + from, what);
	return hit != NULL ? (long)(hit - b->text) : -1;
}

size_t strbuf_replace(struct strbuf *b, const char *from, const char *to)
{
	size_t from_len = strlen(from), count = 0, at = 0;
	struct strbuf out;
	long hit;

	if (from_len == 0)
		return 0;
	strbuf_init(&out);
	while ((hit = strbuf_find(b, at, from)) >= 0) {
		strbuf_add(&out, b->text + at, (size_t)hit - at);
		strbuf_puts(&out, to);
		at = (size_t)hit + from_len;
		count++;
	}
	strbuf_add(&out, b->text + at, b->len - at);
	strbuf_free(b);
	*b = out;
	return count;
}

bool strbuf_equal(const struct strbuf *a, const struct strbuf *b)
{
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

void strlist_init(struct strlist *l)
{
	l->item = NULL;
	l->count = l->room = 0;
}

void strlist_free(struct strlist *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->item[i]);
	free(l->item);
	strlist_init(l);
}

void strlist_add(struct strlist *l, const char *text, size_t len)
{
	char *copy = xmalloc(len + 1);

	memcpy(copy, text, len);
	copy[len] = '\0';
	if (l->count == l->room) {
		l->room = l->room * 2 + 8;
		l->item = xrealloc(l->item, l->room * sizeof(*l->item));
	}
	l->item[l->count++] = copy;
}

void strlist_split(struct strlist *l, const char *text, const char *separators)
{
	for (;;) {
		size_t len;

		text += strspn(text, separators);
		if (*text == '\0')
			return;
		len = strcspn(text, separators);
		strlist_add(l, text, len);
		text += len;
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strlist_sort(struct strlist *l)
{
	if (l->count > 1)
		qsort(l->item, l->count, sizeof(*l->item), by_text);
}

void strlist_unique(struct strlist *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++) {
		if (kept > 0 && strcmp(l->item[kept - 1], l->item[i]) == 0)
			free(l->item[i]);
		else
			l->item[kept++] = l->item[i];
	}
	l->count = kept;
}

void strlist_join(const struct strlist *l, const char *between,
		  struct strbuf *out)
{
	for (size_t i = 0; i < l->count; i++) {
		if (i > 0)
			strbuf_puts(out, between);
		strbuf_puts(out, l->item[i]);
	}
}

/* Is @c in the set behind a '['? Sets *@end to what follows the ']' */
static bool in_set(const char *set, char c, const char **end)
{
	bool negate = *set == '!', hit = false;

	if (negate)
		set++;
	for (; *set != '\0' && *set != ']'; set++) {
		if (set[1] == '-' && set[2] != '\0' && set[2] != ']') {
			if (c >= set[0] && c <= set[2])
				hit = true;
			set += 2;
		} else if (*set == c) {
			hit = true;
		}
	}
	*end = *set == ']' ? set + 1 : set;
	return hit != negate;
}

bool glob_match(const char *pattern, const char *text)
{
	const char *star = NULL, *again = NULL;

	while (*text != '\0') {
		const char *next = pattern + 1;
		bool same = false;

		if (*pattern == '*') {
			star = pattern++;
			again = text;
			continue;
		}
		if (*pattern == '?')
			same = true;
		else if (*pattern == '[')
			same = in_set(pattern + 1, *text, &next);
		else if (*pattern != '\0')
			same = *pattern == *text;
		if (same) {
			pattern = next;
			text++;
		} else if (star != NULL) {
			pattern = star + 1;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

void strbuf_check(struct sum *s)
{
	struct strbuf b, c;
	struct strlist l;

	strbuf_init(&b);
	strbuf_init(&c);
	strbuf_puts(&b, "the cat sat on the mat");
	check(strbuf_replace(&b, "at", "og") == 3, "strbuf", "replace");
	check(strcmp(b.text, "the cog sog on the mog") == 0, "strbuf", "text");
	strbuf_printf(&b, "; %d %s %c %05.2f", 42, "words", '!', 3.14159);
	sum_text(s, b.text);

	strlist_init(&l);
	strlist_split(&l, "pear,apple;fig,,apple;quince,fig", ",;");
	strlist_sort(&l);
	strlist_unique(&l);
	check(l.count == 4, "strbuf", "unique");
	strlist_join(&l, "+", &c);
	check(strcmp(c.text, "apple+fig+pear+quince") == 0, "strbuf", "join");
	check(!strbuf_equal(&b, &c), "strbuf", "equal");
	strbuf_repeat(&c, '=', 300);
	sum_bytes(s, c.text, c.len);
	strbuf_clear(&c);
	strbuf_putc(&c, 'x');
	check(c.len == 1 && strbuf_find(&c, 0, "y") == -1, "strbuf", "find");

	check(glob_match("*.[ch]", "strbuf.c"), "strbuf", "glob set");
	check(!glob_match("*.[!ch]", "strbuf.h"), "strbuf", "glob not");
	check(glob_match("a*b?d*", "axxbbcdz"), "strbuf", "glob stars");
	check(glob_match("[a-f]?[0-9]", "cx7"), "strbuf", "glob range");
	check(!glob_match("a*c", "abd"), "strbuf", "glob miss");
	strlist_free(&l);
	strbuf_free(&b);
	strbuf_free(&c);
}
