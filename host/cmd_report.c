/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "host/cmd.h"
#include "results/base/cleanup.h"
#include "results/fingerprint.h"
#include "results/report.h"

#define FINGERPRINT "fingerprint"

enum { OPT_FORMAT = 256, OPT_STORE, OPT_LIST, OPT_HELP };

static const struct option options[] = {
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "store", required_argument, NULL, OPT_STORE },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static int report(struct store *s, const char *prefix, const char *format,
		  bool list, struct error *err)
{
	char run_id[UUID_TEXT];

	if (list)
		return store_list(s, stdout, err);
	if (store_find(s, prefix, run_id, err) < 0)
		return -1;
	if (!strcmp(format, FINGERPRINT)) {
		CLEANUP(buf_free) struct buf text = { 0 };

		if (fingerprint_text(s, run_id, &text, err) < 0)
			return -1;
		fputs(text.data, stdout);
		return 0;
	}
	return report_print(s, run_id, format, stdout, err);
}

static int run(int argc, char **argv)
{
	const char *format = "contest-0.61", *file = NULL;
	struct store *s = NULL;
	struct error err = { 0 };
	bool list = false;
	int opt, status = 0;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case OPT_FORMAT:
			format = optarg;
			break;
		case OPT_STORE:
			file = optarg;
			break;
		case OPT_LIST:
			list = true;
			break;
		case OPT_HELP:
			return cmd_help(&cmd_report);
		default:
			return cmd_usage(&cmd_report, NULL);
		}
	}
	if (argc - optind > 1)
		return cmd_usage(&cmd_report, "one run at a time, not '%s'",
				 argv[optind + 1]);
	if ((strcmp(format, FINGERPRINT) &&
	     check_format(format, &err) < 0) ||
	    open_store(file, &s, &err) < 0 ||
	    report(s, argv[optind], format, list, &err) < 0)
		status = cmd_fail(&err);
	if (s)
		store_close(s);
	return status;
}

const struct cmd cmd_report = {
	.name = "report",
	.args = "[RUN] [--format FORMAT] [--store FILE]",
	.summary = "print the results of a run again, in any format",
	.help =
"  RUN              run id, or its beginning (default: the newest run)\n"
"  --list           list the runs in the store instead\n"
"  --format FORMAT  contest-0.61  the table of the mails of 2003 (default)\n"
"                   contest-0.51  the table of the mails of 2002\n"
"                   wide          exact figures, rates, intervals\n"
"                   json, csv     for programs\n"
"                   fingerprint   digests of table and inputs, for run --expect\n"
"  --store FILE     results store (default: the user's own)\n",
	.run = run,
};
