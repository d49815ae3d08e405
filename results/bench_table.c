/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_table.c - lines laid out as tiobench 0.3.3 and as the mails of Bill Hartner
 */
#include "results/bench_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/columns.h"

/* --- tiobench --------------------------------------------------------------- */

/* Columns, from 0, as the line of dashes has them */
#define TIO_LABEL 28
#define TIO_SIZE 6
#define TIO_BLOCK 5

void tio_put_head(struct buf *b, const char *title)
{
	buf_printf(b, "%s\n", title);
	buf_printf(b, "%30sFile  Blk   Num%19sAvg      Maximum      Lat%%     Lat%%    CPU\n",
		   "", "");
	buf_printf(b, "%-30sSize  Size  Thr   Rate  (CPU%%)  Latency    Latency      >2s      >10s    Eff\n",
		   "Identifier");
	buf_adds(b, "---------------------------- ------ ----- ---  ------ ------ --------- -----------  -------- -------- -----\n");
}

/* In the middle, the odd blank behind it */
static void put_centred(struct buf *b, long long v, int width)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%lld", v);
	int before = len < width ? (width - len) / 2 : 0;

	buf_printf(b, " %*s%-*s", before, "", width - before, digits);
}

static void put_right(struct buf *b, double v, int width, int decimals)
{
	CLEANUP(buf_free) struct buf n = { 0 };

	put_number(&n, v, decimals);
	buf_printf(b, " %*s", width, n.data);
}

/* As many decimals as five characters hold */
static void put_percent(struct buf *b, double v)
{
	char text[64] = "-";

	for (int decimals = 3; decimals >= 0 && isfinite(v); decimals--) {
		snprintf(text, sizeof(text), "%.*f", decimals, v);
		if (strlen(text) <= 5)
			break;
	}
	buf_printf(b, " %5s%%", text);
}

void tio_put_row(struct buf *b, const struct tio_row *r)
{
	put_left(b, r->label, TIO_LABEL);
	put_centred(b, r->size_mib, TIO_SIZE);
	put_centred(b, r->block, TIO_BLOCK);
	buf_printf(b, " %3lld ", r->threads);
	put_right(b, r->rate, 6, 2);
	put_percent(b, r->cpu_pct);
	put_right(b, r->average_ms, 9, 3);
	put_right(b, r->max_ms, 11, 2);
	buf_adds(b, " ");
	put_right(b, r->over_2s_pct, 8, 5);
	put_right(b, r->over_10s_pct, 8, 5);
	put_right(b, r->cpu_eff, 5, 0);
	buf_adds(b, "\n");
}

/* --- VolanoMark --------------------------------------------------------------- */

/* Where the columns begin */
enum { SCORE = 13, CPU = 20, RATIO = 25, SWAP_IN = 37, SWAP_OUT = 51,
       SWAP_BOTH = 65 };

void volano_put_head(struct buf *b, const char *title)
{
	if (title) {
		CLEANUP(buf_free) struct buf line = { 0 };

		for (size_t i = text_width(title); i > 0; i--)
			buf_adds(&line, "=");
		buf_printf(b, "%s\n%s\n%s\n\n", line.data, title, line.data);
	}
	buf_adds(b, "kernel       msg/s  %CPU %sys/%user  Total swpin   Total swpout  Total swapio\n"
		    "-----------  -----  ---- ----------  ------------  ------------  ------------\n");
}

/* 1992608 -> "1,992,608 KB"; nothing is "0" */
static void put_kb(struct buf *b, size_t line, size_t col,
		   const struct volano_swap *s)
{
	char digits[32];
	size_t len;

	/* The mark stands in the blank before the column */
	pad_to(b, line, col - s->other);
	if (s->other)
		buf_adds(b, "*");
	if (!isfinite(s->kb) || s->kb < 0.5) {
		buf_adds(b, isfinite(s->kb) ? "0" : "-");
		return;
	}
	len = (size_t)snprintf(digits, sizeof(digits), "%.0f", s->kb);
	for (size_t i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			buf_adds(b, ",");
		buf_add(b, &digits[i], 1);
	}
	buf_adds(b, " KB");
}

void volano_put_row(struct buf *b, const struct volano_row *r)
{
	size_t line = b->len;

	put_left(b, r->label, 0);
	pad_to(b, line, SCORE);
	if (r->remark && !isfinite(r->score)) {
		put_left(b, r->remark, 0);
		buf_adds(b, "\n");
		return;
	}
	put_number(b, r->score, 0);
	pad_to(b, line, CPU);
	put_number(b, r->cpu_pct, 1);
	pad_to(b, line, RATIO);
	put_number(b, r->system_to_user, 2);
	if (r->remark) {
		pad_to(b, line, SWAP_IN);
		put_left(b, r->remark, 0);
	} else {
		put_kb(b, line, SWAP_IN, &r->in);
		put_kb(b, line, SWAP_OUT, &r->out);
		put_kb(b, line, SWAP_BOTH, &r->both);
	}
	buf_adds(b, "\n");
}
