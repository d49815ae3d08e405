/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.h - writes the JSON of a record into a buffer, nothing else
 *
 *	jsonw_begin(&w, buf, sizeof(buf));
 *	jsonw_open(&w, NULL, '{');
 *	jsonw_u64(&w, "run", 1);
 *	jsonw_close(&w, '}');
 *	if (!jsonw_ok(&w)) ...
 */
#ifndef KONTEST_GUEST_JSON_H
#define KONTEST_GUEST_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct jsonw - a JSON text being written
 * @buf: the text, always NUL-terminated
 * @len: bytes so far
 * @full: something did not fit: the text is of no use
 */
struct jsonw {
	char *buf;
	size_t size;
	size_t len;
	bool full;
	bool comma;
};

void jsonw_begin(struct jsonw *w, char *buf, size_t size);
/* @key: NULL inside an array and at the top. @bracket: '{' or '[' */
void jsonw_open(struct jsonw *w, const char *key, char bracket);
void jsonw_close(struct jsonw *w, char bracket);
void jsonw_u64(struct jsonw *w, const char *key, uint64_t value);
void jsonw_bool(struct jsonw *w, const char *key, bool value);
/* jsonw_string() - escaped; what is not UTF-8 becomes U+FFFD, control bytes
 * but newline and tab too, so that any program's output can be kept */
void jsonw_string(struct jsonw *w, const char *key, const char *value);
/* jsonw_ok() - it all fitted */
bool jsonw_ok(const struct jsonw *w);

#endif
