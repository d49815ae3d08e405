/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "host/cmd.h"
#include "results/journal_file.h"

static const char *type_name(enum journal_type t)
{
	static const char *const names[] = {
		[JOURNAL_RECEIPT] = "RECEIPT", [JOURNAL_HEARTBEAT] = "HEARTBEAT",
		[JOURNAL_RUN_START] = "RUN_START", [JOURNAL_RUN_END] = "RUN_END",
		[JOURNAL_SAMPLE] = "SAMPLE", [JOURNAL_LOG] = "LOG",
		[JOURNAL_ERROR] = "ERROR", [JOURNAL_END] = "END",
		[JOURNAL_VERDICT] = "VERDICT",
	};

	if ((size_t)t >= sizeof(names) / sizeof(*names) || !names[t])
		return "UNKNOWN";
	return names[t];
}

static int cat(const char *path, struct error *err)
{
	struct journal j = { 0 };

	if (journal_read(path, &j, err) < 0)
		return -1;
	printf("run %s\n\nguest plan:\n%s\ncontext:\n%s\n\n", j.super.run_id,
	       j.plan, j.context);
	for (size_t i = 0; i < j.entries.n; i++) {
		const struct journal_entry *e = &j.entries.v[i];

		printf("%4llu %12.6f %-9s %s\n", (unsigned long long)e->seq,
		       (double)e->t_ns / 1e9, type_name(e->type), e->payload);
	}
	if (j.torn)
		printf("the journal ends with a torn record, at byte %llu\n",
		       (unsigned long long)j.end);
	journal_free(&j);
	return 0;
}

static int run(int argc, char **argv)
{
	struct error err = { 0 };

	if (argc == 2 && !strcmp(argv[1], "--help"))
		return cmd_help(&cmd_journal);
	if (argc != 3 || strcmp(argv[1], "cat"))
		return cmd_usage(&cmd_journal, "say `kontest journal cat FILE`");
	return cat(argv[2], &err) < 0 ? cmd_fail(&err) : 0;
}

const struct cmd cmd_journal = {
	.name = "journal",
	.args = "cat FILE",
	.summary = "show what a boot wrote, record by record",
	.help =
"FILE is a journal of the store ($XDG_DATA_HOME/kontest/journals/ID) or a results\n"
"disk. Columns: sequence number, guest's monotonic time in seconds, type, content.\n",
	.run = run,
};
