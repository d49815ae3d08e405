/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/paths.h"
#include "results/base/cleanup.h"
#include "results/report.h"

int cmd_fail(const struct error *err)
{
	fprintf(stderr, "kontest: %s\n", err->text);
	return EXIT_USAGE;
}

int cmd_usage(const struct cmd *c, const char *fmt, ...)
{
	va_list ap;

	if (fmt) {
		fprintf(stderr, "kontest %s: ", c->name);
		va_start(ap, fmt);
		vfprintf(stderr, fmt, ap);
		va_end(ap);
		fputc('\n', stderr);
	}
	fprintf(stderr, "Try `kontest help %s`.\n", c->name);
	return EXIT_USAGE;
}

int cmd_help(const struct cmd *c)
{
	printf("Usage: kontest %s %s\n%s\n\n%s", c->name, c->args, c->summary,
	       c->help);
	return 0;
}

static void show_step(void *data, const char *name, const char *detail,
		      double seconds, bool cached)
{
	(void)data;
	fprintf(stderr, "  %-14s %7.2f s  %s%s\n", name, seconds, detail,
		cached ? " (cached)" : "");
}

int open_cache(struct cache *c, struct error *err)
{
	char *dir = cache_home(err);

	*c = (struct cache){ .dir = dir, .step = show_step };
	return dir ? 0 : -1;
}

void close_cache(struct cache *c)
{
	free((char *)c->dir);
	c->dir = NULL;
}

char *store_path(const char *file, struct error *err)
{
	cleanup_free char *dir = file ? getcwd(NULL, 0) : data_home(err);

	if (!dir) {
		if (file)
			error_set(err, errno, "find the current directory");
		return NULL;
	}
	if (!file)
		return xasprintf("%s/results.db", dir);
	return *file == '/' ? xstrdup(file) : xasprintf("%s/%s", dir, file);
}

int open_store(const char *file, struct store **s, struct error *err)
{
	cleanup_free char *path = store_path(file, err);

	return path ? store_open(path, s, err) : -1;
}

int check_format(const char *format, struct error *err)
{
	CLEANUP(buf_free) struct buf names = { 0 };
	const char *const *f = report_formats();

	for (size_t i = 0; f[i]; i++) {
		if (!strcmp(f[i], format))
			return 0;
		buf_printf(&names, "%s%s", i ? ", " : "", f[i]);
	}
	return error_set(err, 0, "there is no format '%s'; there are %s", format,
			 names.data);
}
