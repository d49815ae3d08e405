/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.c - a recursive-descent reader of JSON, and a writer
 */
#include "json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

/* What stands behind a backslash, and what it stands for */
static const char escapes[] = "\"\\bfnrt/";
static const char escaped[] = "\"\\\b\f\n\r\t/";

struct reader {
	const char *at, *start;
	const char *what;	/* the first error */
	int depth;
};

static struct json *parse_value(struct reader *r);

static struct json *fail(struct reader *r, const char *what)
{
	if (r->what == NULL)
		r->what = what;
	return NULL;
}

static struct json *make(enum json_type type)
{
	struct json *j = xcalloc(1, sizeof(*j));

	j->type = type;
	return j;
}

void json_free(struct json *j)
{
	struct json *member, *next;

	if (j == NULL)
		return;
	for (member = j->first; member != NULL; member = next) {
		next = member->next;
		json_free(member);
	}
	free(j->name);
	free(j->string);
	free(j);
}

static void append(struct json *list, struct json *member)
{
	if (list->last != NULL)
		list->last->next = member;
	else
		list->first = member;
	list->last = member;
	list->count++;
}

static void skip_space(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
		r->at++;
}

static bool accept(struct reader *r, char c)
{
	skip_space(r);
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

/* Behind the backslash; characters by number are not for us */
static bool parse_escape(struct reader *r, struct strbuf *b)
{
	const char *hit = *r->at != '\0' ? strchr(escapes, *r->at) : NULL;

	if (hit == NULL)
		return false;
	strbuf_putc(b, escaped[hit - escapes]);
	r->at++;
	return true;
}

/* Behind the opening quote. Return: text to free, or NULL */
static char *parse_text(struct reader *r)
{
	struct strbuf b;

	strbuf_init(&b);
	while (*r->at != '"') {
		bool ok = (unsigned char)*r->at >= 0x20;

		if (ok && *r->at == '\\') {
			r->at++;
			ok = parse_escape(r, &b);
		} else if (ok) {
			strbuf_putc(&b, *r->at++);
		}
		if (!ok) {
			fail(r, "bad character in a string");
			strbuf_free(&b);
			return NULL;
		}
	}
	r->at++;
	return b.text;
}

/* A little more generous than the standard: "1." and "01" will do */
static struct json *parse_number(struct reader *r)
{
	const char *digits = r->at + (*r->at == '-');
	struct json *j;
	char *end;

	if (!isdigit((unsigned char)*digits))
		return fail(r, "a value was expected");
	j = make(JSON_NUMBER);
	j->number = strtod(r->at, &end);
	r->at = end;
	return j;
}

static struct json *parse_word(struct reader *r, const char *word,
			       enum json_type type, bool truth)
{
	size_t len = strlen(word);
	struct json *j;

	if (strncmp(r->at, word, len) != 0)
		return fail(r, "unknown word");
	r->at += len;
	j = make(type);
	j->truth = truth;
	return j;
}

/* Behind the opening bracket */
static struct json *parse_list(struct reader *r, enum json_type type)
{
	char end = type == JSON_ARRAY ? ']' : '}';
	struct json *list = make(type), *member;
	char *name = NULL;

	if (accept(r, end))
		return list;
	do {
		if (type == JSON_OBJECT) {
			if (accept(r, '"'))
				name = parse_text(r);
			if (name == NULL || !accept(r, ':')) {
				fail(r, "a name and ':' were expected");
				goto bad;
			}
		}
		member = parse_value(r);
		if (member == NULL)
			goto bad;
		member->name = name;
		name = NULL;
		append(list, member);
	} while (accept(r, ','));
	if (accept(r, end))
		return list;
	fail(r, "a ',' or the end of the list was expected");
bad:
	free(name);
	json_free(list);
	return NULL;
}

static struct json *parse_value(struct reader *r)
{
	struct json *j;
	char *text;

	if (r->depth >= DEPTH_MAX)
		return fail(r, "too deep");
	r->depth++;
	skip_space(r);
	switch (*r->at) {
	case '{':
		r->at++;
		j = parse_list(r, JSON_OBJECT);
		break;
	case '[':
		r->at++;
		j = parse_list(r, JSON_ARRAY);
		break;
	case '"':
		r->at++;
		text = parse_text(r);
		j = text != NULL ? make(JSON_STRING) : NULL;
		if (j != NULL)
			j->string = text;
		break;
	case 't':
		j = parse_word(r, "true", JSON_BOOL, true);
		break;
	case 'f':
		j = parse_word(r, "false", JSON_BOOL, false);
		break;
	case 'n':
		j = parse_word(r, "null", JSON_NULL, false);
		break;
	default:
		j = parse_number(r);
	}
	r->depth--;
	return j;
}

struct json *json_parse(const char *text, struct json_error *err)
{
	struct reader r = { text, text, NULL, 0 };
	struct json *j = parse_value(&r);

	skip_space(&r);
	if (j != NULL && *r.at != '\0') {
		fail(&r, "text behind the end");
		json_free(j);
		j = NULL;
	}
	if (j != NULL)
		return j;
	err->what = r.what;
	err->line = err->column = 1;
	for (const char *p = text; p < r.at; p++) {
		err->column++;
		if (*p == '\n') {
			err->line++;
			err->column = 1;
		}
	}
	return NULL;
}

static void write_text(const char *text, struct strbuf *out)
{
	const char *hit;

	strbuf_putc(out, '"');
	for (; *text != '\0'; text++) {
		hit = *text != '/' ? strchr(escaped, *text) : NULL;
		if (hit != NULL)
			strbuf_printf(out, "\\%c", escapes[hit - escaped]);
		else
			strbuf_putc(out, *text);
	}
	strbuf_putc(out, '"');
}

void json_write(const struct json *j, struct strbuf *out)
{
	const struct json *m;

	switch (j->type) {
	case JSON_NULL:
		strbuf_puts(out, "null");
		return;
	case JSON_BOOL:
		strbuf_puts(out, j->truth ? "true" : "false");
		return;
	case JSON_NUMBER:
		strbuf_printf(out, "%.15g", j->number);
		return;
	case JSON_STRING:
		write_text(j->string, out);
		return;
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
	strbuf_putc(out, j->type == JSON_ARRAY ? '[' : '{');
	for (m = j->first; m != NULL; m = m->next) {
		if (j->type == JSON_OBJECT) {
			write_text(m->name, out);
			strbuf_putc(out, ':');
		}
		json_write(m, out);
		if (m->next != NULL)
			strbuf_putc(out, ',');
	}
	strbuf_putc(out, j->type == JSON_ARRAY ? ']' : '}');
}

const struct json *json_member(const struct json *j, const char *name)
{
	if (j == NULL || j->type != JSON_OBJECT)
		return NULL;
	for (j = j->first; j != NULL; j = j->next)
		if (strcmp(j->name, name) == 0)
			return j;
	return NULL;
}

void json_check(struct sum *s)
{
	static const char text[] =
		"{\"name\": \"hz\", \"boots\": [{\"id\": 1, \"ok\": true},\n"
		" {\"id\": 2, \"ok\": false, \"why\": null}],\n"
		" \"text\": \"tab\\t \\\\ \\/ \\\"q\\\"\",\n"
		" \"n\": [-0.5, 1e3, 12.25E-2, 0], \"e\": [], \"o\": {}}";
	static const char *const bad[] = {
		"", "{", "[1,]", "{\"a\" 1}", "[-]", "\"\\x\"", "tru", "[1] 2",
		"\"\\u12\"", "[\n1,\n2\n", "-", ".5", "{\"a\":1,}",
	};
	struct json_error err;
	struct json *j = json_parse(text, &err), *again;
	struct strbuf out, out2;

	check(j != NULL, "json", "parse");
	strbuf_init(&out);
	strbuf_init(&out2);
	json_write(j, &out);
	again = json_parse(out.text, &err);
	check(again != NULL, "json", "parse again");
	json_write(again, &out2);
	check(strbuf_equal(&out, &out2), "json", "round trip");
	sum_text(s, out.text);
	check(json_member(j, "boots")->count == 2, "json", "count");
	check(json_member(j, "n")->first->number == -0.5, "json", "number");
	check(json_member(j, "m") == NULL, "json", "no member");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		check(json_parse(bad[i], &err) == NULL, "json", bad[i]);
		sum_text(s, err.what);
		sum_u64(s, err.line * 1000 + err.column);
	}
	json_free(j);
	json_free(again);
	strbuf_free(&out);
	strbuf_free(&out2);
}
