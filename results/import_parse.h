/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_parse.h - between import.c, which has the file, and the reader of lines
 */
#ifndef KONTEST_IMPORT_PARSE_H
#define KONTEST_IMPORT_PARSE_H

#include "results/import.h"

/* import_parse_tables() - the tables of @text into @imp->tables, see
 * import_parse(); on failure what was read stays in @imp */
int import_parse_tables(const char *path, struct buf *text, struct import *imp,
			struct error *err);
void import_table_free(struct import_table *t);

#endif
