/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/cmd_kernel_build.h"

#include <stdio.h>
#include <string.h>

#include "host/built.h"
#include "host/cmd.h"
#include "results/base/cleanup.h"

enum {
	OPT_SOURCE = 256, OPT_CONFIG, OPT_FRAGMENT, OPT_SET, OPT_LABEL, OPT_JOBS,
	OPT_HELP
};

static const struct option options[] = {
	{ "source", required_argument, NULL, OPT_SOURCE },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "fragment", required_argument, NULL, OPT_FRAGMENT },
	{ "set", required_argument, NULL, OPT_SET },
	{ "label", required_argument, NULL, OPT_LABEL },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

/* struct build_args - @dir: -o, or NULL */
struct build_args {
	struct kbuild_opts o;
	const char *label;
	const char *dir;
};

/* Returns an exit status, or -1 to go on. */
static int parse(struct build_args *a, int argc, char **argv, struct error *err)
{
	uint64_t n;
	int opt;

	while ((opt = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		switch (opt) {
		case OPT_SOURCE:
			a->o.source = optarg;
			break;
		case OPT_CONFIG:
			a->o.config = optarg;
			break;
		case OPT_FRAGMENT:
			a->o.fragment = optarg;
			break;
		case OPT_SET:
			if (kbuild_set_ok(optarg, err) < 0)
				return cmd_fail(err);
			strings_add(&a->o.sets, xstrdup(optarg));
			break;
		case OPT_LABEL:
			a->label = optarg;
			break;
		case OPT_JOBS:
			if (!parse_u64(optarg, &n) || n < 1 || n > 4096)
				return cmd_usage(&cmd_kernel, "--jobs %s: give a number from 1 to 4096",
						 optarg);
			a->o.jobs = (unsigned int)n;
			break;
		case 'o':
			a->dir = optarg;
			break;
		case OPT_HELP:
			return cmd_help(&cmd_kernel);
		default:
			return cmd_usage(&cmd_kernel, NULL);
		}
	}
	if (argc != optind)
		return cmd_usage(&cmd_kernel, "kernel build takes options only, not '%s'",
				 argv[optind]);
	if (!a->o.source || !a->o.config || !a->label)
		return cmd_usage(&cmd_kernel, "kernel build needs --source, --config and --label");
	if (built_label_ok(a->label, err) < 0)
		return cmd_fail(err);
	return -1;
}

static int build(struct build_args *a, struct error *err)
{
	cleanup_free char *fragment = kbuild_fragment(a->o.config, a->o.fragment);
	cleanup_free char *dir = a->dir ? xstrdup(a->dir) : built_dir(a->label, err);
	CLEANUP(kbuild_free) struct kbuild k = { 0 };
	CLEANUP(close_cache) struct cache c = { 0 };

	if (!dir)
		return cmd_fail(err);
	a->o.fragment = fragment;
	if (open_cache(&c, err) < 0 || kbuild(&c, &a->o, &k, err) < 0 ||
	    built_publish(&k, a->label, dir, err) < 0)
		return cmd_fail(err);
	for (size_t i = 0; i < k.notes.n; i++)
		fprintf(stderr, "kontest: note: %s\n", k.notes.v[i]);
	printf("%s\n", dir);
	return 0;
}

int kernel_build_main(int argc, char **argv)
{
	struct build_args a = { 0 };
	struct error err = { 0 };
	int status = parse(&a, argc, argv, &err);

	if (status < 0)
		status = build(&a, &err);
	strings_clear(&a.o.sets);
	return status;
}

int kernel_list_main(int argc, char **argv)
{
	struct error err = { 0 };

	(void)argv;
	if (argc != 1)
		return cmd_usage(&cmd_kernel, "kernel list takes no arguments");
	return built_list(stdout, &err) < 0 ? cmd_fail(&err) : 0;
}
