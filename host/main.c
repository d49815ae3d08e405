/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - the dispatcher
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cmd.h"
#include "host/paths.h"
#include "results/base/cleanup.h"
#include "results/report.h"

static const struct cmd *const cmds[] = {
	&cmd_run, &cmd_build, &cmd_report, &cmd_kernel, &cmd_profile,
	&cmd_journal, &cmd_store, &cmd_doctor, NULL,
};

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

int open_store(const char *file, struct store **s, struct error *err)
{
	cleanup_free char *dir = NULL, *own = NULL;

	if (file)
		return store_open(file, s, err);
	dir = data_home(err);
	if (!dir)
		return -1;
	own = xasprintf("%s/results.db", dir);
	return store_open(own, s, err);
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

static const struct cmd *find_cmd(const char *name)
{
	for (size_t i = 0; cmds[i]; i++)
		if (!strcmp(cmds[i]->name, name))
			return cmds[i];
	return NULL;
}

static int help(const char *name)
{
	const struct cmd *c = name ? find_cmd(name) : NULL;

	if (c)
		return cmd_help(c);
	if (name) {
		fprintf(stderr, "kontest: there is no command '%s'; `kontest help` lists them\n",
			name);
		return EXIT_USAGE;
	}
	puts("Usage: kontest COMMAND [OPTION...]\n"
	     "Kernel benchmarks of the mailing lists, reproducible by somebody else.\n");
	for (size_t i = 0; cmds[i]; i++)
		printf("  %-8s %s\n", cmds[i]->name, cmds[i]->summary);
	puts("  help     show this, or the help of a command\n\n"
	     "`kontest help COMMAND` explains one; kontest(1) explains them all.");
	return 0;
}

int main(int argc, char **argv)
{
	const struct cmd *c;

	if (argc < 2) {
		help(NULL);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("kontest " KONTEST_VERSION);
		return 0;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "-h"))
		return help(argv[2]);
	c = find_cmd(argv[1]);
	if (!c) {
		fprintf(stderr, "kontest: there is no command '%s'; `kontest help` lists them\n",
			argv[1]);
		return EXIT_USAGE;
	}
	return c->run(argc - 1, argv + 1);
}
