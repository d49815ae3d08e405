/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "host/cmd.h"
#include "host/verify_bundle.h"
#include "images/bundle.h"

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pubkey", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *pubkey = NULL;
	struct error err = { 0 };
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'h')
			return cmd_help(&cmd_verify);
		if (opt != 'p')
			return cmd_usage(&cmd_verify, NULL);
		pubkey = optarg;
	}
	if (argc - optind != 1)
		return cmd_usage(&cmd_verify, "name one bundle");
	if (verify_bundle(argv[optind], pubkey, stdout, &err) < 0) {
		cmd_fail(&err);
		return 1;
	}
	return 0;
}

const struct cmd cmd_verify = {
	.name = "verify",
	.args = "FILE.kontest [--pubkey KEY]",
	.summary = "check a bundle: its signature and every member's digest",
	.help =
"  FILE.kontest   a bundle, made by `kontest export`\n"
"  --pubkey KEY   public key of minisign, its file or the base64 text in it: the\n"
"                 bundle must be signed by it (FILE.kontest.minisig)\n"
"Exit status: 0 when all is as manifest and signature say, 1 when not.\n",
	.run = run,
};
