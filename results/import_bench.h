/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_bench.h - tables of tiobench and of VolanoMark mails, read back
 *
 *	Sequential Reads
 *	                  File  Blk   Num      ...		tiobench 0.3.3
 *	Identifier        Size  Size  Thr      ...
 *	----------------- ------ ----- ---     ...
 *	2.5.59            252   4096   10      ...
 *
 *	kernel       msg/s  %CPU %sys/%user  Total swpin ...	Bill Hartner's
 *	-----------  -----  ---- ----------  ------------ ...
 *	2.5.38       46081  90.1 1.44        1,992,608 KB ...
 *	2.4.19       ***** system hard hangs - requires reset. *****
 *
 * Lines stay as they were printed, but for quoting and blanks at their end.
 */
#ifndef KONTEST_IMPORT_BENCH_H
#define KONTEST_IMPORT_BENCH_H

#include "results/base/text.h"

enum import_bench_format { IMPORT_TIOBENCH, IMPORT_VOLANOMARK };

/**
 * struct import_bench_row - a line with figures
 * @label: of the kernel; owned
 * @text: figures as printed, in the order of import_bench_figures(); fewer,
 *	with a remark behind them, where a remark stood in their place; owned
 */
struct import_bench_row {
	char *label;
	struct strings text;
};
DEFINE_VECTOR(import_bench_rows, struct import_bench_row)

/**
 * struct import_bench - a table
 * @title: "Sequential Reads"; of VolanoMark what stood in the box above, or "";
 *	owned
 * @line: where it begins, from 1
 * @depth: how often it was quoted
 * @lines: all of it, as printed; owned
 */
struct import_bench {
	enum import_bench_format format;
	char *title;
	size_t line, depth;
	struct strings lines;
	struct import_bench_rows rows;
};
DEFINE_VECTOR(import_benches, struct import_bench)

/* import_bench_format_name() - "tiobench-0.3.3", "volanomark" */
const char *import_bench_format_name(enum import_bench_format f);
/* import_bench_figures() - members in JSON, NULL-terminated */
const char *const *import_bench_figures(enum import_bench_format f);

/**
 * import_parse_bench() - find and read such tables
 * @path: what to call the text in errors
 * @text: changed while it is read
 * @out: gets the tables, in the file's order; end with import_benches_clear(),
 *	also after a failure
 * @quoted: gets the number of those left out since they repeat an earlier one
 *
 * What looks like a part of a table and cannot be read is an error. No table is
 * none.
 *
 * Return: 0, or -1.
 */
int import_parse_bench(const char *path, char *text, struct import_benches *out,
		       size_t *quoted, struct error *err);
void import_bench_free(struct import_bench *t);
void import_benches_clear(struct import_benches *v);

#endif
