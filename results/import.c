/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import.c - a file with contest's tables: its bytes, its name, its document
 */
#include "results/import.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/columns.h"
#include "results/import_parse.h"

#define FILE_MAX_BYTES ((size_t)64 << 20)
#define NAME_MAX_BYTES 200

const char *import_figure_name(enum import_figure f)
{
	static const char *const names[] = {
#define X(name, title) #name,
		IMPORT_FIGURES(X)
#undef X
	};

	return names[f];
}

const char *import_format_name(enum import_format f)
{
	static const char *const names[] = {
		[IMPORT_051] = "contest-0.51",
		[IMPORT_060] = "contest-0.60",
		[IMPORT_061] = "contest-0.61",
	};

	return names[f];
}

static void row_free(struct import_row *r)
{
	free(r->line);
	free(r->label);
	for (size_t i = 0; i < IMPORT_COUNT; i++)
		free(r->text[i]);
}

void import_table_free(struct import_table *t)
{
	for (size_t i = 0; i < t->rows.n; i++)
		row_free(&t->rows.v[i]);
	import_rows_free(&t->rows);
	free(t->heading);
	free(t->load);
	free(t->header);
	*t = (struct import_table){ 0 };
}

void import_free(struct import *imp)
{
	for (size_t i = 0; i < imp->tables.n; i++)
		import_table_free(&imp->tables.v[i]);
	import_tables_free(&imp->tables);
	import_benches_clear(&imp->benches);
	free(imp->name);
	*imp = (struct import){ 0 };
}

void imports_clear(struct imports *v)
{
	for (size_t i = 0; i < v->n; i++)
		import_free(&v->v[i]);
	imports_free(v);
}

size_t import_rows_total(const struct import *imp)
{
	size_t n = 0;

	for (size_t i = 0; i < imp->tables.n; i++)
		n += imp->tables.v[i].rows.n;
	for (size_t i = 0; i < imp->benches.n; i++)
		n += imp->benches.v[i].rows.n;
	return n;
}

size_t import_tables_total(const struct import *imp)
{
	return imp->tables.n + imp->benches.n;
}

static void print_contest(const struct import_table *t, struct buf *b)
{
	buf_printf(b, "%s\n%s\n", t->heading, t->header);
	for (size_t k = 0; k < t->rows.n; k++)
		buf_printf(b, "%s\n", t->rows.v[k].line);
}

/* An empty line keeps such a table and what is before it apart */
static void print_bench(const struct import_bench *t, bool first, struct buf *b)
{
	if (!first)
		buf_adds(b, "\n");
	for (size_t k = 0; k < t->lines.n; k++)
		buf_printf(b, "%s\n", t->lines.v[k]);
}

void import_print(const struct import *imp, struct buf *b)
{
	size_t i = 0, k = 0, start = b->len;

	/* Both are in the file's order */
	while (i < imp->tables.n || k < imp->benches.n) {
		if (k == imp->benches.n ||
		    (i < imp->tables.n &&
		     imp->tables.v[i].line < imp->benches.v[k].line))
			print_contest(&imp->tables.v[i++], b);
		else
			print_bench(&imp->benches.v[k++], b->len == start, b);
	}
}

void import_document(const struct import *imp, struct buf *b)
{
	buf_printf(b, IMPORT_MAGIC "\nname: %s\n\n", imp->name);
	import_print(imp, b);
}

/* trimmed() - a copy of @len bytes without blanks around them */
static char *trimmed(const char *s, size_t len)
{
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	while (len && isspace((unsigned char)*s)) {
		s++;
		len--;
	}
	return xstrndup(s, len);
}

/*
 * header_field() - a field of a mail's header, or of our own document's
 *
 * The header ends with the first empty line; lines that begin with a blank
 * continue the field before them (RFC 5322, section 2.2.3).
 *
 * Return: its value, owned by the caller, or NULL.
 */
static char *header_field(const char *text, const char *field)
{
	size_t want = strlen(field);

	while (*text && *text != '\n' && *text != '\r') {
		size_t len = strcspn(text, "\n");

		while (text[len] == '\n' &&
		       (text[len + 1] == ' ' || text[len + 1] == '\t'))
			len += 1 + strcspn(text + len + 1, "\n");
		if (strncasecmp(text, field, want) == 0 && text[want] == ':')
			return trimmed(text + want + 1, len - want - 1);
		text += len + (text[len] == '\n');
	}
	return NULL;
}

/* tidy() - the name on one line: folded header lines joined, no controls */
static char *tidy(char *name)
{
	struct buf b = { 0 };
	char *clean;

	for (const char *p = name; *p; p++) {
		if (!isspace((unsigned char)*p))
			buf_add(&b, p, 1);
		else if (!isspace((unsigned char)p[1]))
			buf_adds(&b, " ");
	}
	free(name);
	clean = text_clean(b.data ? b.data : "", NULL);
	buf_free(&b);
	return clean;
}

static int check_name(const char *name, struct error *err)
{
	cleanup_free char *clean = text_clean(name, NULL);

	if (!*name || strcmp(name, clean) != 0)
		return error_set(err, 0, "'%s' cannot name an import: give --name some printable text",
				 clean);
	if (strlen(name) > NAME_MAX_BYTES)
		return error_set(err, 0, "an import's name has at most %d bytes, not %zu: give a shorter one with --name",
				 NAME_MAX_BYTES, strlen(name));
	return 0;
}

/* find_name() - what the user says, else our document, else Subject, else the
 * file's own */
static char *find_name(const char *path, const char *text, const char *name)
{
	bool ours = str_starts(text, IMPORT_MAGIC "\n");
	const char *slash = strrchr(path, '/');
	char *field;

	if (name)
		return xstrdup(name);
	field = header_field(text, ours ? "name" : "Subject");
	if (field && *field)
		return ours ? field : tidy(field);
	free(field);
	return tidy(xstrdup(slash ? slash + 1 : path));
}

/* encoded() - is the mail's text hidden by an encoding? */
static bool encoded(const char *text)
{
	cleanup_free char *how = header_field(text,
					      "Content-Transfer-Encoding");

	return how && (!strcasecmp(how, "base64") ||
		       !strcasecmp(how, "quoted-printable"));
}

int import_parse(const char *path, struct buf *text, const char *name,
		 struct import *imp, struct error *err)
{
	cleanup_free char *copy = NULL;
	bool hidden;

	*imp = (struct import){ 0 };
	buf_add(text, "", 0);
	copy = xstrdup(text->data);
	hidden = encoded(text->data);
	imp->name = find_name(path, text->data, name);
	if (check_name(imp->name, err) ||
	    import_parse_bench(path, copy, &imp->benches, &imp->quoted, err) ||
	    import_parse_tables(path, text, imp, err)) {
		import_free(imp);
		return hidden ? error_add(err, "; the mail is encoded (base64 or quoted-printable): let a mail program save its text first")
			      : -1;
	}
	return 0;
}

static int read_stdin(struct buf *out, struct error *err)
{
	char chunk[65536];
	ssize_t n;

	while ((n = read(STDIN_FILENO, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, errno, "read standard input");
		buf_add(out, chunk, (size_t)n);
		if (out->len > FILE_MAX_BYTES)
			return error_set(err, 0, "standard input has more than %zu bytes: give the part with the tables",
					 FILE_MAX_BYTES);
	}
	return 0;
}

int import_read(const char *path, const char *name, struct import *imp,
		struct error *err)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	bool in = strcmp(path, "-") == 0;

	*imp = (struct import){ 0 };
	if (in ? read_stdin(&text, err)
	       : file_read(path, FILE_MAX_BYTES, &text, err))
		return -1;
	return import_parse(in ? "standard input" : path, &text, name, imp,
			    err);
}
