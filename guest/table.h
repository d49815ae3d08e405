/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - contest's table on the console, for a boot without a results disk
 */
#ifndef KONTEST_GUEST_TABLE_H
#define KONTEST_GUEST_TABLE_H

#include "guest/run.h"

/* struct table_row - one finished run */
struct table_row {
	const struct load_ops *load;
	struct run_result result;
};

/**
 * console_table() - the columns of contest 0.61, by the same rules as the host's
 * report: averages are cut to whole seconds before anything is divided, what
 * cannot be divided is "-"
 * @kernel: uname -r
 * @rows: in the order of the runs
 * @print: console_print, or another printer for tests
 */
void console_table(const char *kernel, const struct table_row rows[], size_t n,
		   void (*print)(const char *fmt, ...));

#endif
