/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, int errnum, const char *fmt, ...)
{
	va_list ap;
	size_t used;

	if (!err)
		return -1;
	err->errnum = errnum;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	used = strlen(err->text);
	if (errnum && used < sizeof(err->text))
		snprintf(err->text + used, sizeof(err->text) - used, ": %s",
			 strerror(errnum));
	return -1;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	char prefix[ERROR_TEXT_MAX];
	char text[ERROR_TEXT_MAX];
	va_list ap;

	if (!err)
		return -1;
	va_start(ap, fmt);
	vsnprintf(prefix, sizeof(prefix), fmt, ap);
	va_end(ap);
	memcpy(text, err->text, sizeof(text));
	/* Cut at the buffer's end: a prefix is a name, a text one line. */
	strncat(prefix, ": ", sizeof(prefix) - strlen(prefix) - 1);
	strncat(prefix, text, sizeof(prefix) - strlen(prefix) - 1);
	memcpy(err->text, prefix, sizeof(err->text));
	return -1;
}

int error_add(struct error *err, const char *text)
{
	if (err)
		strncat(err->text, text, sizeof(err->text) - strlen(err->text) - 1);
	return -1;
}
