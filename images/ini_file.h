/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ini_file.h - the one reader of plans, profiles and recipes
 *
 *	# a comment, on a line of its own
 *	[section]
 *	key = value		; a comment, with a blank before it
 *
 * A value ends with its line, of any length; blanks around it do not belong to
 * it. A line that begins with a blank is refused: some readers take it for more
 * of the value above, others for a key.
 */
#ifndef KONTEST_INI_FILE_H
#define KONTEST_INI_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "results/base/error.h"
#include "results/base/text.h"

/**
 * struct ini_format - what a kind of file may have
 * @what: "plan", "profile", ... for error texts
 * @max_bytes: a larger file is refused
 * @unique: refuse a key that comes again in a section of the same name
 * @section: called for each [section], may be NULL
 * @key: called for each key; @section is "" before the first [section]
 *
 * The callbacks return 0, or -1 with the reason; the reader puts kind, file and
 * line before it and stops.
 */
struct ini_format {
	const char *what;
	size_t max_bytes;
	bool unique;
	int (*section)(void *data, const char *section, struct error *err);
	int (*key)(void *data, const char *section, const char *key,
		   const char *value, struct error *err);
};

/**
 * ini_file_read() - read a file and hand over its keys in their order
 * @path: the file
 * @format: its kind
 * @data: for the callbacks
 * @text: empty; the file as it was read, the caller's to free, also on failure
 * @err: reason of a failure, "WHAT 'PATH' line N: ..."
 *
 * Return: 0, or -1; err->errnum is that of open(2) when that failed.
 */
int ini_file_read(const char *path, const struct ini_format *format, void *data,
		  struct buf *text, struct error *err);

#endif
