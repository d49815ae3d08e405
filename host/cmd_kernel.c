/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "host/built.h"
#include "host/cmd.h"
#include "host/cmd_kernel_build.h"
#include "images/kernel.h"
#include "results/base/cleanup.h"

enum { OPT_MODULES = 256, OPT_CONFIG, OPT_HELP };

static const struct option options[] = {
	{ "modules", required_argument, NULL, OPT_MODULES },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

/* What the disks of a measured boot can be attached to, the fastest first */
static void show_buses(const struct kernel *k)
{
	unsigned int set;

	if (kernel_disk_buses(k, &set, NULL) < 0)
		return;
	printf("  disks:");
	for (unsigned int i = 0, n = 0; i < KERNEL_BUSES; i++)
		if (set & 1u << i)
			printf("%s %s", n++ ? "," : "", kernel_bus_name(i));
	printf("\n");
	if (set == 1u << KERNEL_BUS_PIIX)
		printf("  note: %s: IDE disks alone: the profile must have machine = pc-i440fx-7.2, and four disks at most\n",
		       k->label);
}

static void show_mode(const struct kernel *k, const char *name, bool exact,
		      bool *bootable)
{
	struct strings notes = { 0 };
	struct error err = { 0 };

	if (kernel_preflight(k, exact ? KERNEL_EXACT : 0, &notes, &err) < 0) {
		printf("%s: no: %s\n", name, err.text);
	} else {
		printf("%s: yes\n", name);
		*bootable = true;
		if (!exact)
			show_buses(k);
		for (size_t i = 0; i < notes.n; i++)
			printf("  note: %s\n", notes.v[i]);
	}
	strings_clear(&notes);
}

static int check(const struct cache *c, const char *spec,
		 const struct kernel_opts *o, struct error *err)
{
	struct kernel k = { 0 };
	cleanup_free char *image = built_find(spec, err);
	bool bootable = false;

	if (!image || kernel_resolve(c, image, o, &k, err) < 0)
		return cmd_fail(err);
	printf("label: %s\nkind: %s\nrelease: %s\nsha256: %s\n", k.label, k.kind,
	       k.release, k.digest);
	if (k.package_version)
		printf("package version: %s\n", k.package_version);
	show_mode(&k, "measured modes (kvm, tcg)", false, &bootable);
	show_mode(&k, "exact mode", true, &bootable);
	kernel_free(&k);
	return bootable ? 0 : EXIT_USAGE;
}

static int run(int argc, char **argv)
{
	struct kernel_opts o = { 0 };
	struct cache c = { 0 };
	struct error err = { 0 };
	int opt, status;

	if (argc > 1 && !strcmp(argv[1], "build"))
		return kernel_build_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "list"))
		return kernel_list_main(argc - 1, argv + 1);
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case OPT_MODULES:
			o.modules = optarg;
			break;
		case OPT_CONFIG:
			o.config = optarg;
			break;
		case OPT_HELP:
			return cmd_help(&cmd_kernel);
		default:
			return cmd_usage(&cmd_kernel, NULL);
		}
	}
	if (argc - optind != 2 || strcmp(argv[optind], "check"))
		return cmd_usage(&cmd_kernel, "say `kontest kernel check IMAGE`, `kontest kernel build ...` or `kontest kernel list`");
	if (open_cache(&c, &err) < 0)
		return cmd_fail(&err);
	status = check(&c, argv[optind + 1], &o, &err);
	close_cache(&c);
	return status;
}

const struct cmd cmd_kernel = {
	.name = "kernel",
	.args = "check IMAGE [OPTION...] | build OPTION... | list",
	.summary = "say what a kernel is and whether it can be tested; build one",
	.help =
"kernel check\n"
"  --modules DIR  modules of a bzImage or vmlinux\n"
"  --config FILE  configuration of a bzImage or vmlinux\n\n"
"Missing features are named by their CONFIG_ options. Exit status 2 when the\n"
"kernel can boot in no mode.\n\n"
KERNEL_BUILD_HELP
"kernel list: what was built, a line each\n\n"
KERNEL_SPEC_HELP,
	.run = run,
};
