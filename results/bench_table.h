/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_table.h - the tables that tiobench and Bill Hartner printed, line by line
 */
#ifndef KONTEST_BENCH_TABLE_H
#define KONTEST_BENCH_TABLE_H

#include <stdbool.h>

#include "results/base/text.h"

/**
 * struct tio_row - a line of tiobench's tables; NAN is shown as "-"
 * @size_mib: of the files together
 * @block: bytes
 * @cpu_pct: shown in five characters
 * Latencies in ms.
 */
struct tio_row {
	const char *label;
	long long size_mib, block, threads;
	double rate, cpu_pct, average_ms, max_ms, over_2s_pct, over_10s_pct;
	double cpu_eff;
};

/* tio_put_head() - title, titles of the columns, and a line of dashes */
void tio_put_head(struct buf *b, const char *title);
void tio_put_row(struct buf *b, const struct tio_row *r);

/* struct volano_swap - KB; @other: measured in another way, shown with a "*" */
struct volano_swap {
	double kb;
	bool other;
};

/**
 * struct volano_row - a line of Hartner's tables
 * @remark: stands in place of all figures, or, when @score is finite, of those
 *	of swap alone; or NULL
 */
struct volano_row {
	const char *label;
	double score, cpu_pct, system_to_user;
	struct volano_swap in, out, both;
	const char *remark;
};

/* volano_put_head() - @title boxed in "=", unless NULL; titles and dashes */
void volano_put_head(struct buf *b, const char *title);
void volano_put_row(struct buf *b, const struct volano_row *r);

#endif
