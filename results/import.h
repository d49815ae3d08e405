/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import.h - tables that contest itself printed, read back: foreign results
 *
 * What is read are the tables of contest 0.51 (runs in brackets behind the
 * label, tenths of a second), 0.60 and 0.61 (a plain count of runs, whole
 * seconds; 0.61 has tenths of Loads), alone in a file or in a mail:
 *
 *	no_load:
 *	Kernel     [runs]       Time    CPU%    Loads   LCPU%   Ratio
 *	2.5.59          3       79      94.9    0       0.0     1.00
 *
 * Figures stay as they were printed. Nobody knows the runs behind them, so they
 * have no intervals and are averaged with nothing.
 */
#ifndef KONTEST_IMPORT_H
#define KONTEST_IMPORT_H

#include <stdbool.h>

#include "results/base/digest.h"
#include "results/base/text.h"
#include "results/import_bench.h"

/* The figures of a row, in the order in which contest printed them: X(name of
 * its member in JSON and CSV, title) */
#define IMPORT_FIGURES(X)		\
	X(time_s, "Time")		\
	X(cpu_pct, "CPU%")		\
	X(loads, "Loads")		\
	X(lcpu_pct, "LCPU%")		\
	X(ratio, "Ratio")

enum import_figure {
#define X(name, title) IMPORT_##name,
	IMPORT_FIGURES(X)
#undef X
	IMPORT_COUNT,
};

/* import_figure_name() - "time_s", ... */
const char *import_figure_name(enum import_figure f);

/**
 * struct import_row - a kernel's line
 * @line: as printed, without quoting, indentation and blanks at its end; owned
 * @label: of the kernel; owned
 * @runs: that the figures are means over
 * @text: the figures as printed; owned; "-" for one that is not known
 * @value: the same as numbers, NAN for "-"
 */
struct import_row {
	char *line;
	char *label;
	uint64_t runs;
	char *text[IMPORT_COUNT];
	double value[IMPORT_COUNT];
};
DEFINE_VECTOR(import_rows, struct import_row)

enum import_format { IMPORT_051, IMPORT_060, IMPORT_061 };

/* import_format_name() - "contest-0.51", ... */
const char *import_format_name(enum import_format f);

/**
 * struct import_table - one load
 * @heading: name of the load as printed, with its colon; owned
 * @load: kontest's name of it (contest 0.51 said "noload"); owned
 * @header: the line of titles as printed; owned
 * @format: whose layout it has
 * @rows: at least one
 * @line: where the titles stand in the file, from 1
 */
struct import_table {
	size_t line;
	char *heading;
	char *load;
	char *header;
	enum import_format format;
	struct import_rows rows;
};
DEFINE_VECTOR(import_tables, struct import_table)

/**
 * struct import - the tables of a file
 * @name: what it is called; owned
 * @tables: contest's, in the file's order
 * @benches: tiobench's and VolanoMark's (results/import_bench.h)
 * @quoted: tables that were left out because they only quote, whole or
 *	shortened, one that stands before them in the file
 */
struct import {
	char *name;
	struct import_tables tables;
	struct import_benches benches;
	size_t quoted;
};
DEFINE_VECTOR(imports, struct import)

/**
 * import_parse() - find and read the tables of a text
 * @path: what to call the text in errors
 * @text: bytes of the file, changed while it is read
 * @name: what to call the import; NULL means the Subject of the mail, else
 *	the last part of @path
 * @imp: result; end with import_free()
 * @err: reason of a failure, with the line
 *
 * Quoting by ">", CR LF, indentation and blanks at the end of a line do not
 * matter. What is no part of a table is passed over; what looks like a part
 * of one and cannot be read is an error, so no row is ever lost unsaid. A text
 * without a table, with NULs, with a line of more than 16 KiB, with more than
 * 4096 tables or 100000 rows is an error.
 *
 * Return: 0, or -1.
 */
int import_parse(const char *path, struct buf *text, const char *name,
		 struct import *imp, struct error *err);
/* import_read() - import_parse() of a file of up to 64 MiB, "-" is standard
 * input */
int import_read(const char *path, const char *name, struct import *imp,
		struct error *err);
void import_free(struct import *imp);
void imports_clear(struct imports *v);

/* import_rows_total() - rows of all tables; import_tables_total(): tables */
size_t import_rows_total(const struct import *imp);
size_t import_tables_total(const struct import *imp);

/* import_print() - the tables as they were printed, to the byte */
void import_print(const struct import *imp, struct buf *b);

/* IMPORT_MAGIC - first line of a document */
#define IMPORT_MAGIC "kontest-import 1"

/**
 * import_document() - what the store keeps of an import
 * @imp: it
 * @b: gets a line IMPORT_MAGIC, a line "name: ...", an empty line, and
 *	import_print(); import_parse() reads it back
 */
void import_document(const struct import *imp, struct buf *b);

#endif
