/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ini_file.c - the one reader of plans, profiles and recipes
 *
 * Debian's libinih cuts a line after 200 bytes and reads the rest as the next
 * line, takes an indented line for the key above once more, and does not tell
 * its caller of either: a kernel's command line would be another than written.
 */
#include "images/ini_file.h"

#include <string.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"

#define BLANKS " \t\r"
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* struct seen - a key that was there, in @line */
struct seen {
	char *section, *key;
	unsigned int line;
};
DEFINE_VECTOR(seen_keys, struct seen)

/**
 * struct reader - where the reading is
 * @section: the present one; owned
 * @seen: keys so far, only when they must be unique
 */
struct reader {
	const struct ini_format *format;
	void *data;
	char *section;
	unsigned int line;
	struct seen_keys seen;
};

static void reader_free(struct reader *rd)
{
	for (size_t i = 0; i < rd->seen.n; i++) {
		free(rd->seen.v[i].section);
		free(rd->seen.v[i].key);
	}
	seen_keys_free(&rd->seen);
	free(rd->section);
}

static bool is_text(const struct buf *b)
{
	for (size_t i = 0; i < b->len; i++) {
		unsigned char c = (unsigned char)b->data[i];

		if (c == 0x7f || (c < ' ' && c != '\t' && c != '\r' && c != '\n'))
			return false;
	}
	return true;
}

static bool is_blank(char c)
{
	return c && strchr(BLANKS, c);
}

/* A comment has a blank before it: a ';' without one belongs to the value. */
static void cut_comment(char *s)
{
	for (size_t i = 1; s[0] && s[i]; i++)
		if (s[i] == ';' && is_blank(s[i - 1]))
			s[i] = '\0';
}

/* @s without the blanks around it. */
static char *trim(char *s)
{
	size_t len;

	s += strspn(s, BLANKS);
	len = strlen(s);
	while (len && is_blank(s[len - 1]))
		len--;
	s[len] = '\0';
	return s;
}

static int neither(struct error *err)
{
	return error_set(err, 0, "neither [section] nor key = value");
}

static int section_line(struct reader *rd, char *line, struct error *err)
{
	char *end = strchr(line, ']');
	const char *rest = end ? trim(end + 1) : NULL;

	if (!rest || (*rest && *rest != ';'))
		return neither(err);
	*end = '\0';
	free(rd->section);
	rd->section = xstrdup(line + 1);
	if (!rd->format->section)
		return 0;
	return rd->format->section(rd->data, rd->section, err);
}

static int check_unique(struct reader *rd, const char *key, struct error *err)
{
	for (size_t i = 0; i < rd->seen.n; i++) {
		const struct seen *s = &rd->seen.v[i];

		if (!strcmp(s->key, key) && !strcmp(s->section, rd->section))
			return error_set(err, 0, "'%s' is given twice in [%s], first in line %u; remove one",
					 key, rd->section, s->line);
	}
	seen_keys_add(&rd->seen, (struct seen){ .section = xstrdup(rd->section),
						.key = xstrdup(key),
						.line = rd->line });
	return 0;
}

static int key_line(struct reader *rd, char *line, struct error *err)
{
	char *equals, *key, *value;

	cut_comment(line);
	equals = strchr(line, '=');
	if (!equals)
		return neither(err);
	*equals = '\0';
	key = trim(line);
	value = trim(equals + 1);
	if (!*key)
		return neither(err);
	if (rd->format->unique && check_unique(rd, key, err) < 0)
		return -1;
	return rd->format->key(rd->data, rd->section, key, value, err);
}

static int one_line(struct reader *rd, char *line, struct error *err)
{
	const char *first = line + strspn(line, BLANKS);

	if (!*first || *first == '#' || *first == ';')
		return 0;
	if (first != line)
		return error_set(err, 0, "the line begins with a blank; a value cannot go on in a further line, so write it in one, and begin sections and keys without a blank");
	return *line == '[' ? section_line(rd, line, err) : key_line(rd, line, err);
}

int ini_file_read(const char *path, const struct ini_format *format, void *data,
		  struct buf *text, struct error *err)
{
	CLEANUP(reader_free) struct reader rd = { .format = format, .data = data,
						  .section = xstrdup("") };
	const char *at;

	if (file_read(path, format->max_bytes, text, err) < 0)
		return error_prefix(err, "%s", format->what);
	if (!is_text(text))
		return error_set(err, 0, "%s '%s' is not a text file",
				 format->what, path);
	at = text->data;
	if (str_starts(at, BYTE_ORDER_MARK))
		at += strlen(BYTE_ORDER_MARK);
	while (*at) {
		size_t len = strcspn(at, "\n");
		cleanup_free char *line = xstrndup(at, len);

		rd.line++;
		if (one_line(&rd, line, err) < 0)
			return error_prefix(err, "%s '%s' line %u", format->what,
					    path, rd.line);
		at += len + (at[len] == '\n');
	}
	return 0;
}
