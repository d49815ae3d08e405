/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "host/cmd.h"

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "store", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *file = NULL;
	struct store *s = NULL;
	struct error err = { 0 };
	char id[SHA256_HEX];
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'h')
			return cmd_help(&cmd_store);
		if (opt != 's')
			return cmd_usage(&cmd_store, NULL);
		file = optarg;
	}
	argc -= optind;
	argv += optind;
	if (!(argc == 1 && !strcmp(argv[0], "rebuild")) &&
	    !(argc >= 2 && !strcmp(argv[0], "add")))
		return cmd_usage(&cmd_store, "say `kontest store add JOURNAL...` or `kontest store rebuild`");
	ret = open_store(file, &s, &err);
	if (!ret && argc == 1)
		ret = store_rebuild(s, &err);
	for (int i = 1; !ret && i < argc; i++) {
		ret = store_add(s, argv[i], id, &err);
		if (!ret)
			printf("%s  %s\n", id, argv[i]);
	}
	if (s)
		store_close(s);
	return ret < 0 ? cmd_fail(&err) : 0;
}

const struct cmd cmd_store = {
	.name = "store",
	.args = "add JOURNAL... | rebuild [--store FILE]",
	.summary = "take in journals, or make the index again from them",
	.help =
"  add JOURNAL...  take in journals, for instance another person's\n"
"  rebuild         empty the index and fill it from the journals and imports beside it\n"
"  --store FILE    results store (default: the user's own)\n",
	.run = run,
};
