/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_parse.c - contest's tables out of a mail, line by line
 *
 * A table is a heading ("io_load:"), the titles, and rows, all quoted to the
 * same depth. Everything else is prose. Where a line is not quite one or the
 * other it is refused: a table with a row missing is worse than none.
 */
#include "results/import_parse.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/columns.h"

#define LINE_MAX_BYTES ((size_t)16 << 10)
#define TABLES_MAX ((size_t)4096)
#define ROWS_MAX ((size_t)100000)
#define FIGURE_MAX_BYTES 20
#define TITLES "Kernel [runs] Time CPU% Loads LCPU% Ratio"
/* The count of runs and the figures: what follows the label. */
#define AFTER_LABEL (1 + IMPORT_COUNT)

struct token {
	const char *s;
	size_t len;
};
DEFINE_VECTOR(tokens, struct token)

/**
 * struct line - a line of the text
 * @s: without quoting, indentation and blanks at its end; NUL-terminated
 * @number: from 1
 * @depth: how often it is quoted
 */
struct line {
	char *s;
	size_t number, depth;
};

/**
 * struct parser - where the reader is
 * @heading: the last heading, when nothing but empty lines followed it; owned
 * @heading_line, @table_line: where @heading and the titles of @table stand
 * @table: the table being read, while @open
 * @tables, @rows: taken so far, quotations too
 */
struct parser {
	const char *path;
	struct import *imp;
	struct tokens tokens;
	struct line line;
	char *heading;
	struct line heading_line, table_line;
	struct import_table table;
	bool open;
	size_t tables, rows;
	struct error *err;
};

/* refuse() - what is wrong with line @number and what to do about it */
static int refuse(struct parser *p, size_t number, const char *what)
{
	return error_set(p->err, 0, "'%s' line %zu: %s", p->path, number, what);
}

/* --- tokens --------------------------------------------------------------- */

static void split(struct tokens *t, const char *s)
{
	t->n = 0;
	while (*(s += strspn(s, " \t\r\f\v"))) {
		size_t len = strcspn(s, " \t\r\f\v");

		tokens_add(t, (struct token){ s, len });
		s += len;
	}
}

static bool token_is(const struct token *t, const char *text)
{
	return t->len == strlen(text) && memcmp(t->s, text, t->len) == 0;
}

static size_t token_find(const struct tokens *t, const char *text)
{
	size_t i = 0;

	while (i < t->n && !token_is(&t->v[i], text))
		i++;
	return i;
}

/* decimals() - digits behind the point of a number; -1 when it is none */
static int decimals(const struct token *t)
{
	size_t whole = strspn(t->s, "0123456789"), part;

	if (whole == 0 || whole > t->len || t->len > FIGURE_MAX_BYTES)
		return -1;
	if (whole == t->len)
		return 0;
	if (t->s[whole] != '.')
		return -1;
	part = strspn(t->s + whole + 1, "0123456789");
	return part && whole + 1 + part == t->len ? (int)part : -1;
}

static bool is_figure(const struct token *t)
{
	return token_is(t, "-") || decimals(t) >= 0;
}

/* parse_runs() - "3" (0.60) or "[3]" (0.51) */
static bool parse_runs(const struct token *t, uint64_t *runs, bool *brackets)
{
	cleanup_free char *digits = NULL;

	*brackets = t->len > 2 && t->s[0] == '[' && t->s[t->len - 1] == ']';
	digits = *brackets ? xstrndup(t->s + 1, t->len - 2)
			   : xstrndup(t->s, t->len);
	return strlen(digits) < 10 && parse_u64(digits, runs);
}

/* --- what a line is ------------------------------------------------------- */

/* is_heading() - "io_load:" and nothing else */
static bool is_heading(const struct tokens *t)
{
	const struct token *w = t->v;

	if (t->n != 1 || w->len < 2 || w->s[w->len - 1] != ':' ||
	    !isalpha((unsigned char)w->s[0]))
		return false;
	for (size_t i = 1; i < w->len - 1; i++) {
		if (!isalnum((unsigned char)w->s[i]) &&
		    !memchr("_-+.", w->s[i], 4))
			return false;
	}
	return true;
}

static bool is_titles(const struct tokens *t)
{
	static const char *const titles[] = { "Kernel", "[runs]",
#define X(name, title) title,
		IMPORT_FIGURES(X)
#undef X
	};
	const size_t n = sizeof(titles) / sizeof(titles[0]);

	if (t->n != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!token_is(&t->v[i], titles[i]))
			return false;
	}
	return true;
}

/* nearly_titles() - titles cut, wrapped, with something before them, or of
 * another benchmark or version */
static bool nearly_titles(const struct tokens *t)
{
	size_t runs = token_find(t, "[runs]");

	if (runs + 1 < t->n && token_is(&t->v[runs + 1], "Time"))
		return true;
	return t->n > 2 && token_is(&t->v[0], "Kernel") &&
	       token_find(t, "Time") < t->n &&
	       (token_find(t, "CPU%") < t->n || token_find(t, "CPU") < t->n);
}

/* has_shape() - does the line end in a count of runs and five figures? */
static bool has_shape(const struct tokens *t, bool *brackets)
{
	uint64_t runs;

	if (t->n < AFTER_LABEL)
		return false;
	for (size_t i = t->n - IMPORT_COUNT; i < t->n; i++) {
		if (!is_figure(&t->v[i]))
			return false;
	}
	return parse_runs(&t->v[t->n - AFTER_LABEL], &runs, brackets);
}

/* bad_figure() - the first figure that no contest of this layout printed with
 * so many decimals; IMPORT_COUNT when there is none */
static size_t bad_figure(const struct tokens *t, bool brackets)
{
	static const int want_051[] = { 1, 0, 0, 0, 2 };
	static const int want_060[] = { 0, 1, 0, 1, 2 };
	const int *want = brackets ? want_051 : want_060;
	size_t i = 0;

	for (; i < IMPORT_COUNT; i++) {
		const struct token *f = &t->v[t->n - IMPORT_COUNT + i];
		int got = decimals(f);

		if (got != want[i] && !token_is(f, "-") &&
		    !(i == IMPORT_loads && !brackets && got == 1))
			break;
	}
	return i;
}

/* all_dashes() - no figure is known */
static bool all_dashes(const struct tokens *t)
{
	for (size_t i = t->n - IMPORT_COUNT; i < t->n; i++) {
		if (!token_is(&t->v[i], "-"))
			return false;
	}
	return true;
}

/* nearly_row() - in a table: runs in brackets, or mostly numbers */
static bool nearly_row(const struct tokens *t)
{
	size_t numbers = 0;

	if (t->n < 2)
		return false;
	for (size_t i = 1; i < t->n; i++) {
		const struct token *w = &t->v[i];

		numbers += isdigit((unsigned char)w->s[0]) &&
			   strspn(w->s, "0123456789.,%") >= w->len;
	}
	return t->v[1].s[0] == '[' ||
	       (numbers >= 2 && 2 * numbers >= t->n - 1);
}

/* --- tables ----------------------------------------------------------------- */

static bool same_row(const struct import_row *a, const struct import_row *b)
{
	if (a->runs != b->runs || strcmp(a->label, b->label) != 0)
		return false;
	for (size_t i = 0; i < IMPORT_COUNT; i++) {
		if (strcmp(a->text[i], b->text[i]) != 0)
			return false;
	}
	return true;
}

/* quotes() - are all rows of @a among those of @b, in the same order? */
static bool quotes(const struct import_table *a, const struct import_table *b)
{
	size_t i = 0;

	if (a->format != b->format || strcmp(a->load, b->load) != 0)
		return false;
	for (size_t k = 0; i < a->rows.n && k < b->rows.n; k++)
		i += same_row(&a->rows.v[i], &b->rows.v[k]);
	return i == a->rows.n;
}

/* find_format() - 0.61 alone has decimals of Loads */
static int find_format(struct parser *p)
{
	struct import_table *t = &p->table;
	size_t whole = 0, tenths = 0;

	if (t->format == IMPORT_051)
		return 0;
	for (size_t i = 0; i < t->rows.n; i++) {
		const char *loads = t->rows.v[i].text[IMPORT_loads];

		tenths += strchr(loads, '.') != NULL;
		whole += isdigit((unsigned char)*loads) && !strchr(loads, '.');
	}
	if (whole && tenths)
		return refuse(p, p->table_line.number,
			      "some Loads of this table are whole and some have decimals: a table is of contest 0.60 or 0.61; correct the figures or take the tables apart");
	t->format = whole ? IMPORT_060 : IMPORT_061;
	return 0;
}

static int close_table(struct parser *p)
{
	if (!p->open)
		return 0;
	if (p->table.rows.n == 0)
		return refuse(p, p->table_line.number,
			      "titles without a row below them: put the rows straight below, unwrapped, or remove this line");
	if (find_format(p))
		return -1;
	p->open = false;
	for (size_t i = 0; p->table_line.depth && i < p->imp->tables.n; i++) {
		if (quotes(&p->table, &p->imp->tables.v[i])) {
			p->imp->quoted++;
			import_table_free(&p->table);
			return 0;
		}
	}
	import_tables_add(&p->imp->tables, p->table);
	p->table = (struct import_table){ 0 };
	return 0;
}

/* check_printable() - what is printed back must not steer a terminal, and must
 * be text in JSON */
static int check_printable(struct parser *p)
{
	cleanup_free char *plain = xstrdup(p->line.s), *clean = NULL;

	for (char *tab = plain; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	clean = text_clean(plain, NULL);
	if (strcmp(plain, clean) != 0)
		return refuse(p, p->line.number,
			      "a line of a table with bytes that are not printable UTF-8: convert the file (iconv -t UTF-8) or correct the line");
	return 0;
}

static int open_table(struct parser *p)
{
	char *name;

	if (close_table(p) || check_printable(p))
		return -1;
	if (!p->heading || p->heading_line.depth != p->line.depth)
		return refuse(p, p->line.number,
			      "titles of a table without a line such as 'io_load:' above them: put the name of the load there, quoted in the same way");
	if (++p->tables > TABLES_MAX)
		return refuse(p, p->line.number,
			      "more than 4096 tables: take the file apart");
	name = xstrndup(p->heading, strlen(p->heading) - 1);
	if (strcmp(name, "noload") == 0) {
		free(name);
		name = xstrdup("no_load");
	}
	p->table = (struct import_table){
		.line = p->line.number,
		.heading = p->heading,
		.load = name,
		.header = xstrdup(p->line.s),
		.format = IMPORT_060,
	};
	p->heading = NULL;
	p->table_line = p->line;
	p->open = true;
	return 0;
}

/* make_row() - of a line that has the shape */
static struct import_row make_row(const struct parser *p)
{
	const struct token *t = p->tokens.v + p->tokens.n - AFTER_LABEL;
	const struct token *last = t - 1;
	struct import_row row = {
		.line = xstrdup(p->line.s),
		.label = xstrndup(p->line.s,
				  (size_t)(last->s + last->len - p->line.s)),
	};
	bool brackets;

	for (char *c = row.label; *c; c++)
		*c = *c == '\t' ? ' ' : *c;
	parse_runs(t, &row.runs, &brackets);
	for (size_t i = 0; i < IMPORT_COUNT; i++) {
		row.text[i] = xstrndup(t[1 + i].s, t[1 + i].len);
		row.value[i] = strcmp(row.text[i], "-") == 0 ?
			NAN : strtod(row.text[i], NULL);
	}
	return row;
}

static int add_row(struct parser *p, bool brackets)
{
	static const char *const titles[] = {
#define X(name, title) title,
		IMPORT_FIGURES(X)
#undef X
	};
	size_t bad = bad_figure(&p->tokens, brackets);
	bool first = p->table.rows.n == 0;

	if (check_printable(p))
		return -1;
	if (bad < IMPORT_COUNT)
		return error_set(p->err, 0, "'%s' line %zu: no contest with runs %s prints %s as '%.*s': correct the figure",
				 p->path, p->line.number,
				 brackets ? "in brackets" : "without brackets",
				 titles[bad],
				 (int)p->tokens.v[p->tokens.n - IMPORT_COUNT +
						  bad].len,
				 p->tokens.v[p->tokens.n - IMPORT_COUNT + bad].s);
	if (!first && brackets != (p->table.format == IMPORT_051))
		return refuse(p, p->line.number,
			      "the runs of this row are written in another way than those above: correct it or give it a table of its own");
	if (++p->rows > ROWS_MAX)
		return refuse(p, p->line.number,
			      "more than 100000 rows: take the file apart");
	if (brackets)
		p->table.format = IMPORT_051;
	import_rows_add(&p->table.rows, make_row(p));
	return 0;
}

static int take_prose(struct parser *p)
{
	free(p->heading);
	p->heading = NULL;
	return close_table(p);
}

/* take_other() - a row, what might be one, or prose */
static int take_other(struct parser *p)
{
	bool in = p->open && p->table_line.depth == p->line.depth;
	bool brackets = false;

	if (has_shape(&p->tokens, &brackets)) {
		/* Prose may well end in six dashes or numbers. */
		bool sound = bad_figure(&p->tokens, brackets) == IMPORT_COUNT &&
			     !all_dashes(&p->tokens);

		if (p->tokens.n == AFTER_LABEL && (in || sound))
			return refuse(p, p->line.number,
				      "a row without a label: join it with the line above or write the kernel's label before it");
		if (in)
			return add_row(p, brackets);
		if (sound)
			return refuse(p, p->line.number,
				      "a row that belongs to no table: put '" TITLES "' and the rows straight below one another, quoted in the same way");
	} else if (in && nearly_row(&p->tokens)) {
		return refuse(p, p->line.number,
			      "not quite a row of a table (label, runs, Time, CPU%, Loads, LCPU%, Ratio): join it if it was wrapped, correct it, or put an empty line before it if it is none");
	}
	return take_prose(p);
}

static int take_line(struct parser *p)
{
	split(&p->tokens, p->line.s);
	if (p->tokens.n == 0)
		return close_table(p);
	if (is_heading(&p->tokens)) {
		free(p->heading);
		p->heading = xstrdup(p->line.s);
		p->heading_line = p->line;
		return close_table(p);
	}
	if (is_titles(&p->tokens))
		return open_table(p);
	if (nearly_titles(&p->tokens))
		return refuse(p, p->line.number,
			      "these are nearly the titles of a table, but only '" TITLES "' can be read: join them if they were wrapped, take away what stands before them, or remove the table");
	return take_other(p);
}

/* unquote() - @s without "> > ", indentation, and blanks at its end */
static void unquote(struct line *l, char *s, size_t len)
{
	l->depth = 0;
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	s[len] = '\0';
	while (isspace((unsigned char)*s) || *s == '>') {
		l->depth += *s == '>';
		s++;
	}
	l->s = s;
}

static int take_lines(struct parser *p, char *at, char *end)
{
	if (end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
		at += 3;	/* byte order mark */
	while (at < end) {
		char *nl = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((nl ? nl : end) - at);

		p->line.number++;
		if (memchr(at, 0, len))
			return refuse(p, p->line.number,
				      "a NUL byte: this is no text; give the mail or the tables as plain text");
		if (len > LINE_MAX_BYTES)
			return refuse(p, p->line.number,
				      "longer than 16 KiB: no mail or table has such lines; give the part with the tables");
		unquote(&p->line, at, len);
		if (take_line(p))
			return -1;
		at += len + 1;
	}
	return close_table(p);
}

int import_parse_tables(const char *path, struct buf *text, struct import *imp,
			struct error *err)
{
	struct parser p = { .path = path, .imp = imp, .err = err };
	int ret = take_lines(&p, text->data, text->data + text->len);

	free(p.heading);
	tokens_free(&p.tokens);
	import_table_free(&p.table);
	if (!ret && import_tables_total(imp) == 0)
		return error_set(err, 0, "'%s' holds no table of contest: one has a line such as 'io_load:', the line '%s', and rows; nor one of tiobench or VolanoMark",
				 path, TITLES);
	return ret;
}
