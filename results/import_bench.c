/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_bench.c - the reader of tiobench's and VolanoMark's tables
 */
#include "results/import_bench.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/columns.h"

#define TABLES_MAX ((size_t)4096)
#define ROWS_MAX ((size_t)100000)
#define TIO_FIGURES 10
#define VOLANO_FIGURES 6
#define VOLANO_OLD "old data below"

static const char *const tio_figures[] = {
	"file_size_mb", "block_bytes", "threads", "rate_mb_s", "cpu_pct",
	"lat_avg_ms", "lat_max_ms", "over_2s_pct", "over_10s_pct", "cpu_eff",
	NULL
};
static const char *const volano_figures[] = {
	"messages_per_s", "cpu_pct", "system_to_user", "swap_in", "swap_out",
	"swap_io", NULL
};

const char *import_bench_format_name(enum import_bench_format f)
{
	return f == IMPORT_TIOBENCH ? "tiobench-0.3.3" : "volanomark";
}

const char *const *import_bench_figures(enum import_bench_format f)
{
	return f == IMPORT_TIOBENCH ? tio_figures : volano_figures;
}

/* What the next line of tiobench's table has to be */
enum expect { NOTHING, TIO_HEAD_1, TIO_HEAD_2, TIO_DASHES, TIO_ROWS,
	      VOLANO_DASHES, VOLANO_ROWS };

/**
 * struct reader - where it is
 * @words: of the line
 * @table: being read, while @expect is not NOTHING
 * @last: the lines before that were not empty, the newest first; owned
 * @resume: @out's last table is VolanoMark's and may go on
 */
struct reader {
	const char *path;
	struct import_benches *out;
	size_t *quoted;
	struct error *err;
	size_t number, depth;
	char *s;
	struct strings words;
	enum expect expect;
	struct import_bench table;
	char *last[3];
	bool resume;
	size_t rows;
};

static int refuse(const struct reader *r, const char *what)
{
	return error_set(r->err, 0, "'%s' line %zu: %s", r->path, r->number,
			 what);
}

void import_bench_free(struct import_bench *t)
{
	for (size_t i = 0; i < t->rows.n; i++) {
		free(t->rows.v[i].label);
		strings_clear(&t->rows.v[i].text);
	}
	import_bench_rows_free(&t->rows);
	strings_clear(&t->lines);
	free(t->title);
	*t = (struct import_bench){ 0 };
}

void import_benches_clear(struct import_benches *v)
{
	for (size_t i = 0; i < v->n; i++)
		import_bench_free(&v->v[i]);
	import_benches_free(v);
	*v = (struct import_benches){ 0 };
}

/* --- words ------------------------------------------------------------------ */

static void split(struct strings *words, const char *s)
{
	strings_clear(words);
	while (*(s += strspn(s, " \t"))) {
		size_t len = strcspn(s, " \t");

		strings_add(words, xstrndup(s, len));
		s += len;
	}
}

/* words_are() - exactly those of @text */
static bool words_are(const struct strings *words, const char *text)
{
	CLEANUP(strings_clear) struct strings want = { 0 };

	split(&want, text);
	if (want.n != words->n)
		return false;
	for (size_t i = 0; i < want.n; i++)
		if (strcmp(want.v[i], words->v[i]) != 0)
			return false;
	return true;
}

/* all_of() - nothing but @c, @n words */
static bool all_of(const struct strings *words, size_t n, const char *c)
{
	for (size_t i = 0; i < words->n; i++)
		if (strspn(words->v[i], c) != strlen(words->v[i]))
			return false;
	return words->n == n;
}

/* is_number() - digits, with a part behind a point when @decimals, and @end */
static bool is_number(const char *s, bool decimals, const char *end)
{
	size_t whole = strspn(s, "0123456789"), part = 0;

	if (!whole)
		return false;
	s += whole;
	if (*s == '.') {
		part = strspn(s + 1, "0123456789");
		if (!decimals || !part)
			return false;
		s += 1 + part;
	}
	return strcmp(s, end) == 0;
}

/* --- lines and tables ------------------------------------------------------- */

static int keep_line(struct reader *r)
{
	cleanup_free char *plain = xstrdup(r->s), *clean = NULL;

	for (char *tab = plain; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	clean = text_clean(plain, NULL);
	if (strcmp(plain, clean) != 0)
		return refuse(r, "a line of a table with bytes that are not printable UTF-8: convert the file (iconv -t UTF-8) or correct the line");
	strings_add(&r->table.lines, xstrdup(r->s));
	return 0;
}

static bool same_lines(const struct strings *a, const struct strings *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	return true;
}

static int close_table(struct reader *r)
{
	struct strings *lines = &r->table.lines;

	if (r->expect == NOTHING)
		return 0;
	if (r->table.rows.n == 0)
		return refuse(r, "a table of tiobench or VolanoMark that has titles and no rows, or not all titles: put its lines straight below one another, unwrapped, or remove them");
	while (lines->n && !*lines->v[lines->n - 1])
		free(lines->v[--lines->n]);
	r->expect = NOTHING;
	r->resume = r->table.format == IMPORT_VOLANOMARK;
	for (size_t i = 0; r->table.depth && i < r->out->n; i++) {
		if (same_lines(lines, &r->out->v[i].lines)) {
			++*r->quoted;
			r->resume = false;
			import_bench_free(&r->table);
			return 0;
		}
	}
	import_benches_add(r->out, r->table);
	r->table = (struct import_bench){ 0 };
	return 0;
}

static int open_table(struct reader *r, enum import_bench_format format,
		      const char *title)
{
	if (close_table(r))
		return -1;
	if (r->out->n >= TABLES_MAX)
		return refuse(r, "more than 4096 tables: take the file apart");
	r->resume = false;
	r->table = (struct import_bench){
		.format = format, .title = xstrdup(title), .line = r->number,
		.depth = r->depth,
	};
	return 0;
}

static int add_row(struct reader *r, size_t label_words, size_t figures)
{
	struct import_bench_row row = { 0 };
	const char *s = r->s + strspn(r->s, " \t");
	const char *end = s;

	if (++r->rows > ROWS_MAX)
		return refuse(r, "more than 100000 rows: take the file apart");
	for (size_t i = 0; i < label_words; i++) {
		end += strspn(end, " \t");
		end += strcspn(end, " \t");
	}
	row.label = xstrndup(s, (size_t)(end - s));
	for (size_t i = 0; i < figures; i++)
		strings_add(&row.text, xstrdup(r->words.v[label_words + i]));
	import_bench_rows_add(&r->table.rows, row);
	return keep_line(r);
}

/* took() - a line was taken: 1, or -1 when that failed. The readers below return
 * it, or 0 for a line that is not theirs */
static int took(int ret)
{
	return ret ? -1 : 1;
}

/* forget_title() - prose may well say "Random Reads" on a line of its own */
static void forget_title(struct reader *r)
{
	if (r->expect != TIO_HEAD_1)
		return;
	r->expect = NOTHING;
	import_bench_free(&r->table);
}

/* --- tiobench ---------------------------------------------------------------- */

static bool tio_title(const struct reader *r)
{
	return words_are(&r->words, "Sequential Reads") ||
	       words_are(&r->words, "Random Reads") ||
	       words_are(&r->words, "Sequential Writes") ||
	       words_are(&r->words, "Random Writes");
}

/* tio_shape() - how many of the last ten words are what they have to be */
static size_t tio_shape(const struct strings *w)
{
	size_t good = 0;

	if (w->n <= TIO_FIGURES)
		return 0;
	for (size_t i = 0; i < TIO_FIGURES; i++) {
		const char *s = w->v[w->n - TIO_FIGURES + i];

		if (i == 4)
			good += is_number(s, true, "%");
		else
			good += is_number(s, i >= 3 && i <= 8, "");
	}
	return good;
}

static int tio_line(struct reader *r)
{
	static const char *const heads[] = {
		[TIO_HEAD_1] = "File Blk Num Avg Maximum Lat% Lat% CPU",
		[TIO_HEAD_2] = "Identifier Size Size Thr Rate (CPU%) Latency Latency >2s >10s Eff",
	};
	size_t shape = tio_shape(&r->words);

	if (tio_title(r)) {
		forget_title(r);
		if (open_table(r, IMPORT_TIOBENCH, r->s + strspn(r->s, " \t")))
			return -1;
		r->expect = TIO_HEAD_1;
		return took(keep_line(r));
	}
	if ((r->expect == TIO_HEAD_1 || r->expect == TIO_HEAD_2) &&
	    words_are(&r->words, heads[r->expect])) {
		r->expect++;
		return took(keep_line(r));
	}
	forget_title(r);
	if (r->expect == TIO_DASHES && all_of(&r->words, 11, "-")) {
		r->expect++;
		return took(keep_line(r));
	}
	if (r->expect == TIO_ROWS && shape == TIO_FIGURES)
		return took(add_row(r, r->words.n - TIO_FIGURES, TIO_FIGURES));
	/* Prose may well end in many numbers; below rows it had better not */
	if (shape == TIO_FIGURES ||
	    (r->expect == TIO_ROWS && shape > TIO_FIGURES / 2))
		return refuse(r, "nearly a row of tiobench, or one outside of a table: it has a label, File Size, Blk Size, Num Thr, Rate, CPU%, two latencies, two Lat% and CPU Eff, straight below the others; join it if it was wrapped, or correct it");
	if (words_are(&r->words, heads[TIO_HEAD_2]))
		return refuse(r, "titles of tiobench without 'Sequential Reads' or the like and 'File Blk Num ...' above them: put all titles straight below one another");
	return 0;
}

/* --- VolanoMark --------------------------------------------------------------- */

#define VOLANO_TITLES "kernel msg/s %CPU %sys/%user Total swpin Total swpout Total swapio"

static bool is_box(const char *s)
{
	return s && *s && strspn(s, "=") == strlen(s);
}

/* volano_open() - with the box of "=" above, if there is one */
static int volano_open(struct reader *r)
{
	bool boxed = is_box(r->last[0]) && is_box(r->last[2]) && r->last[1];
	const char *title = boxed ? r->last[1] : "";

	if (open_table(r, IMPORT_VOLANOMARK, title))
		return -1;
	if (boxed) {
		for (int i = 2; i >= 0; i--)
			strings_add(&r->table.lines, xstrdup(r->last[i]));
		strings_add(&r->table.lines, xstrdup(""));
	}
	r->expect = VOLANO_DASHES;
	return keep_line(r);
}

/* Bill Hartner's mails set old rows apart below the new ones */
static bool volano_old(const struct reader *r)
{
	const char *text = strstr(r->s, VOLANO_OLD);

	return text && *r->s == '=' && r->s[strlen(r->s) - 1] == '=';
}

/* swap_figures() - words that the three figures of swap take from @from on: "0",
 * "1,234 KB", "*1,234 KB"; 0: they are something else */
static size_t swap_figures(const struct strings *w, size_t from)
{
	size_t at = from;

	for (int i = 0; i < 3; i++) {
		const char *s = at < w->n ? w->v[at] : "";

		s += *s == '*';
		if (!*s || strspn(s, "0123456789,") != strlen(s))
			return 0;
		at++;
		if (at < w->n && strcmp(w->v[at], "KB") == 0)
			at++;
	}
	return at == w->n ? at - from : 0;
}

/* A row with all figures: the words of swap are joined, "1,234 KB" */
static int volano_full_row(struct reader *r)
{
	struct strings *w = &r->words;
	struct import_bench_row *row;
	size_t at = 4;

	if (add_row(r, 1, 3))
		return -1;
	row = &r->table.rows.v[r->table.rows.n - 1];
	while (at < w->n) {
		bool kb = at + 1 < w->n && strcmp(w->v[at + 1], "KB") == 0;

		strings_add(&row->text, xasprintf("%s%s", w->v[at],
						  kb ? " KB" : ""));
		at += 1 + kb;
	}
	return 0;
}

/* volano_remark() - from word @from on, as it was printed */
static int volano_remark(struct reader *r, size_t from, size_t figures)
{
	const char *s = r->s;

	for (size_t i = 0; i < from; i++) {
		s += strspn(s, " \t");
		s += strcspn(s, " \t");
	}
	s += strspn(s, " \t");
	if (add_row(r, 1, figures))
		return -1;
	strings_add(&r->table.rows.v[r->table.rows.n - 1].text, xstrdup(s));
	return 0;
}

static bool volano_shape(const struct strings *w)
{
	return w->n > 4 && is_number(w->v[1], false, "") &&
	       is_number(w->v[2], true, "") && is_number(w->v[3], true, "") &&
	       strchr(w->v[2], '.') && strchr(w->v[3], '.');
}

static int volano_row(struct reader *r)
{
	const struct strings *w = &r->words;

	if (volano_old(r))
		return took(keep_line(r));
	if (w->n > 2 && strcmp(w->v[1], "*****") == 0)
		return took(volano_remark(r, 1, 0));
	if (volano_shape(w) && swap_figures(w, 4))
		return took(volano_full_row(r));
	if (volano_shape(w) && !isdigit((unsigned char)w->v[4][0]))
		return took(volano_remark(r, 4, 3));
	if (volano_shape(w))
		return refuse(r, "not quite a row of a VolanoMark table (label, msg/s, %CPU, %sys/%user, three figures of swap): correct it");
	/* A note on figures with a star belongs to them */
	if (str_starts(r->s, "* "))
		return took(keep_line(r) || close_table(r));
	return 0;
}

static int volano_line(struct reader *r)
{
	if (words_are(&r->words, VOLANO_TITLES))
		return took(volano_open(r));
	if (r->expect == VOLANO_DASHES && all_of(&r->words, 7, "-")) {
		r->expect++;
		return took(keep_line(r));
	}
	if (r->expect == VOLANO_ROWS)
		return volano_row(r);
	if (r->expect != NOTHING || !r->resume ||
	    r->out->v[r->out->n - 1].depth != r->depth)
		return 0;
	if (volano_old(r)) {
		r->table = r->out->v[--r->out->n];
		r->expect = VOLANO_ROWS;
		return took(keep_line(r));
	}
	if (volano_shape(&r->words) && swap_figures(&r->words, 4))
		return refuse(r, "a row that belongs to no table: put it straight below the others");
	return 0;
}

/* --- the whole ---------------------------------------------------------------- */

static void remember(struct reader *r)
{
	free(r->last[2]);
	r->last[2] = r->last[1];
	r->last[1] = r->last[0];
	r->last[0] = xstrdup(r->s);
}

static int take_empty(struct reader *r)
{
	forget_title(r);
	if (r->expect != VOLANO_ROWS)
		return close_table(r);
	strings_add(&r->table.lines, xstrdup(""));
	return 0;
}

static int take_line(struct reader *r)
{
	int ret = 0;

	split(&r->words, r->s);
	if (r->words.n == 0)
		return take_empty(r);
	if (r->expect != NOTHING && r->table.depth != r->depth) {
		forget_title(r);
		if (close_table(r))
			return -1;
	}
	if (r->expect != VOLANO_DASHES && r->expect != VOLANO_ROWS)
		ret = tio_line(r);
	if (ret == 0)
		ret = volano_line(r);
	if (ret != 0)
		return ret < 0 ? -1 : 0;
	remember(r);
	return close_table(r);
}

/* unquote() - without "> > " and blanks at its end; indentation stays */
static void unquote(struct reader *r, char *s, size_t len)
{
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	s[len] = '\0';
	r->depth = 0;
	while (*s == '>') {
		r->depth++;
		s++;
		s += *s == ' ';
	}
	r->s = s;
}

int import_parse_bench(const char *path, char *text, struct import_benches *out,
		       size_t *quoted, struct error *err)
{
	struct reader r = { .path = path, .out = out, .quoted = quoted,
			    .err = err };
	int ret = 0;

	while (*text && !ret) {
		size_t len = strcspn(text, "\n");
		bool more = text[len] == '\n';

		r.number++;
		unquote(&r, text, len);
		ret = take_line(&r);
		text += len + more;
	}
	if (!ret) {
		forget_title(&r);
		ret = close_table(&r);
	}
	import_bench_free(&r.table);
	strings_clear(&r.words);
	for (int i = 0; i < 3; i++)
		free(r.last[i]);
	return ret;
}
