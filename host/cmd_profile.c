/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/capture.h"
#include "host/cmd.h"
#include "images/profile.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

enum { OPT_MEASURE = 256, OPT_HELP };

static const struct option capture_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "measure-disk", required_argument, NULL, OPT_MEASURE },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static int is_ini(const struct dirent *e)
{
	return str_ends(e->d_name, ".ini");
}

static int list(struct error *err)
{
	cleanup_free char *dir = xasprintf("%s/images/profiles", share_dir());
	struct dirent **names;
	int n = scandir(dir, &names, is_ini, alphasort);
	int ret = 0;

	if (n < 0)
		return error_set(err, errno, "read directory '%s'", dir);
	for (int i = 0; i < n; i++) {
		cleanup_free char *path = xasprintf("%s/%s", dir, names[i]->d_name);
		struct profile p;

		free(names[i]);
		if (ret || profile_load(path, &p, err) < 0) {
			ret = -1;
			continue;
		}
		printf("%-14s %s\n", p.name, p.description ? p.description : "");
		profile_free(&p);
	}
	free(names);
	return ret;
}

static int show(const char *name, struct error *err)
{
	struct profile p;

	if (profile_load(name, &p, err) < 0)
		return -1;
	fputs(p.text, stdout);
	profile_free(&p);
	return 0;
}

static int write_profile(const struct captured *c, const struct captured_rates *r,
			 const char *output, struct error *err)
{
	CLEANUP(strings_clear) struct strings limits = { 0 };
	CLEANUP(buf_free) struct buf text = { 0 };

	capture_profile(c, r, &text);
	if (output) {
		if (file_write(output, text.data, text.len, err) < 0)
			return -1;
	} else if (fwrite(text.data, 1, text.len, stdout) != text.len ||
		   fflush(stdout)) {
		return error_set(err, errno, "print the profile");
	}
	captured_limits(c, &limits);
	fprintf(stderr, "kontest: a virtual machine cannot imitate:\n");
	for (size_t i = 0; i < limits.n; i++)
		fprintf(stderr, "  - %s\n", limits.v[i]);
	return 0;
}

static int capture(const char *output, const char *measure, struct error *err)
{
	CLEANUP(captured_free) struct captured c = { 0 };
	struct captured_rates rates = { 0 };
	cleanup_free char *disk = NULL;

	if (capture_read("", &c, err) < 0)
		return -1;
	if (measure && capture_measure(measure, &rates, err) < 0)
		return -1;
	disk = rates.disk;
	return write_profile(&c, measure ? &rates : NULL, output, err);
}

static int run_capture(int argc, char **argv)
{
	const char *output = NULL, *measure = NULL;
	struct error err = { 0 };
	int opt;

	while ((opt = getopt_long(argc, argv, "o:", capture_options, NULL)) != -1) {
		switch (opt) {
		case 'o':
			output = optarg;
			break;
		case OPT_MEASURE:
			measure = optarg;
			break;
		case OPT_HELP:
			return cmd_help(&cmd_profile);
		default:
			return cmd_usage(&cmd_profile, NULL);
		}
	}
	if (optind < argc)
		return cmd_usage(&cmd_profile, "capture takes no '%s'", argv[optind]);
	return capture(output, measure, &err) < 0 ? cmd_fail(&err) : 0;
}

static int run(int argc, char **argv)
{
	struct error err = { 0 };

	if (argc == 2 && !strcmp(argv[1], "--help"))
		return cmd_help(&cmd_profile);
	if (argc == 2 && !strcmp(argv[1], "list"))
		return list(&err) < 0 ? cmd_fail(&err) : 0;
	if (argc == 3 && !strcmp(argv[1], "show"))
		return show(argv[2], &err) < 0 ? cmd_fail(&err) : 0;
	if (argc >= 2 && !strcmp(argv[1], "capture"))
		return run_capture(argc - 1, argv + 1);
	return cmd_usage(&cmd_profile, "say `kontest profile list`, `show NAME` or `capture`");
}

const struct cmd cmd_profile = {
	.name = "profile",
	.args = "list | show NAME | capture [-o FILE] [--measure-disk DIR]",
	.summary = "the machines that can be imitated",
	.help =
"A profile is an INI file. Copy what `kontest profile show` prints, change it,\n"
"and name your file with a '/': --profile ./mine.ini\n\n"
"capture writes a profile of the machine that it runs on, and says what a virtual\n"
"machine cannot imitate of it:\n"
"  -o, --output FILE   write it there (default: print it)\n"
"  --measure-disk DIR  measure the disk that DIR is on: about 12 s, a scratch\n"
"                      file of at most 256 MiB, which is gone afterwards\n",
	.run = run,
};
