/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_command.c - the job "command": the user's own command line in a tree of
 * his own, by /bin/sh
 */
#include "loads/ops.h"

#include <stdio.h>

#define SHELL "/bin/sh"
#define COMMAND_BYTES 4096

static int prepare(const struct job_args *a, char *message, size_t message_len)
{
	char line[COMMAND_BYTES];
	const char *const argv[] = { SHELL, "-c", line, NULL };

	if (!*a->prepare)
		return 0;
	if (job_expand(a->prepare, a->jobs, line, sizeof(line)) != 0) {
		snprintf(message, message_len, "the command line is too long");
		return -1;
	}
	return job_run(a->tree, argv, a->prepare, message, message_len);
}

static int argv_of(const struct job_args *a, const char *argv[], size_t max,
		   char *store, size_t store_len)
{
	if (max < 4 || job_expand(a->command, a->jobs, store, store_len) != 0)
		return -1;
	argv[0] = SHELL;
	argv[1] = "-c";
	argv[2] = store;
	argv[3] = NULL;
	return 0;
}

const struct job_ops job_command_ops = {
	.name = "command",
	.takes_command = true,
	.prepare = prepare,
	.argv = argv_of,
};
