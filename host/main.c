/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - the dispatcher
 */
#include <stdio.h>
#include <string.h>

#include "host/cmd.h"

static const struct cmd *const cmds[] = {
	&cmd_run, &cmd_build, &cmd_report, &cmd_compare, &cmd_calibrate,
	&cmd_bisect, &cmd_kernel, &cmd_profile, &cmd_journal, &cmd_store,
	&cmd_import, &cmd_export, &cmd_replay, &cmd_verify, &cmd_doctor, NULL,
};

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
		printf("  %-9s %s\n", cmds[i]->name, cmds[i]->summary);
	puts("  help      show this, or the help of a command\n\n"
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
