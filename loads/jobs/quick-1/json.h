/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.h - reads and writes JSON texts
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "quick.h"
#include "strbuf.h"

enum json_type {
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/* Arrays and objects are lists of members; those of an object have names */
struct json {
	enum json_type type;
	char *name;
	char *string;
	double number;
	bool truth;
	struct json *first, *last, *next;
	size_t count;
};

struct json_error {
	size_t line, column;
	const char *what;
};

/* Return: a tree for json_free(), or NULL with @err filled */
struct json *json_parse(const char *text, struct json_error *err);
void json_free(struct json *j);
void json_write(const struct json *j, struct strbuf *out);
const struct json *json_member(const struct json *j, const char *name);

void json_check(struct sum *s);

#endif
