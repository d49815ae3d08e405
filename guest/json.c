/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.c - a writer of JSON
 */
#include "guest/json.h"

#include <string.h>

static void put(struct jsonw *w, const char *text, size_t len)
{
	if (w->full || len >= w->size - w->len) {
		w->full = true;
		return;
	}
	memcpy(w->buf + w->len, text, len);
	w->len += len;
	w->buf[w->len] = '\0';
}

static void puts_(struct jsonw *w, const char *text)
{
	put(w, text, strlen(text));
}

/*
 * How many bytes of @s are one UTF-8 character (RFC 3629: no overlong forms,
 * no surrogates, nothing above U+10FFFF), 0 when they are none.
 */
static size_t utf8_len(const unsigned char *s)
{
	static const struct {
		unsigned char lo, hi, lo2, hi2;
		size_t len;
	} forms[] = {
		{ 0x01, 0x7f, 0, 0, 1 },
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (s[0] < forms[i].lo || s[0] > forms[i].hi)
			continue;
		if (forms[i].len > 1 &&
		    (s[1] < forms[i].lo2 || s[1] > forms[i].hi2))
			return 0;
		for (size_t k = 2; k < forms[i].len; k++)
			if (s[k] < 0x80 || s[k] > 0xbf)
				return 0;
		return forms[i].len;
	}
	return 0;
}

/* How many bytes of @s stand in JSON as they are */
static size_t plain_len(const unsigned char *s)
{
	size_t n = 0;

	while (s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

/* What cannot stand as it is; returns the bytes of @s it has taken */
static size_t put_special(struct jsonw *w, const unsigned char *s)
{
	size_t n = utf8_len(s);

	if (*s == '"' || *s == '\\') {
		puts_(w, "\\");
		put(w, (const char *)s, 1);
	} else if (*s == '\n') {
		puts_(w, "\\n");
	} else if (*s == '\t') {
		puts_(w, "\\t");
	} else if (n == 0 || *s < 0x20 || *s == 0x7f) {
		puts_(w, "\xef\xbf\xbd");
	} else {
		put(w, (const char *)s, n);
	}
	return n ? n : 1;
}

static void quoted(struct jsonw *w, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;

	puts_(w, "\"");
	while (*s && !w->full) {
		size_t n = plain_len(s);

		put(w, (const char *)s, n);
		s += n;
		if (*s)
			s += put_special(w, s);
	}
	puts_(w, "\"");
}

static void lead(struct jsonw *w, const char *key)
{
	if (w->comma)
		puts_(w, ",");
	w->comma = true;
	if (!key)
		return;
	quoted(w, key);
	puts_(w, ":");
}

void jsonw_begin(struct jsonw *w, char *buf, size_t size)
{
	*w = (struct jsonw){ .buf = buf, .size = size };
	buf[0] = '\0';
}

void jsonw_open(struct jsonw *w, const char *key, char bracket)
{
	lead(w, key);
	put(w, &bracket, 1);
	w->comma = false;
}

void jsonw_close(struct jsonw *w, char bracket)
{
	put(w, &bracket, 1);
	w->comma = true;
}

/* By hand: a sample has some seventy of these, and is written in the window */
void jsonw_u64(struct jsonw *w, const char *key, uint64_t value)
{
	char text[20];
	size_t at = sizeof(text);

	do
		text[--at] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	lead(w, key);
	put(w, text + at, sizeof(text) - at);
}

void jsonw_bool(struct jsonw *w, const char *key, bool value)
{
	lead(w, key);
	puts_(w, value ? "true" : "false");
}

void jsonw_string(struct jsonw *w, const char *key, const char *value)
{
	lead(w, key);
	quoted(w, value);
}

bool jsonw_ok(const struct jsonw *w)
{
	return !w->full;
}
