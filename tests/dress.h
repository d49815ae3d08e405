/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dress.h - tables as mails have them
 */
#ifndef KONTEST_DRESS_H
#define KONTEST_DRESS_H

#include <string.h>

#include "results/base/text.h"

/* dress() - every line of @text between @before and @after; owned by the caller */
static inline char *dress(const char *text, const char *before, const char *after)
{
	struct buf b = { 0 };

	while (*text) {
		size_t len = strcspn(text, "\n");

		buf_printf(&b, "%s%.*s%s\n", before, (int)len, text, after);
		text += len + 1;
	}
	return b.data;
}

#endif
