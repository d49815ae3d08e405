/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_calibrate.c - one kernel against itself: what can be told here
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/cmd_run.h"
#include "results/base/cleanup.h"
#include "results/calibration.h"

/* Ten boots tell the spread to about a third of it, in either direction. */
#define CALIBRATE_BOOTS 10

static int check_format_here(const char *format, struct error *err)
{
	if (!strcmp(format, "text") || !strcmp(format, "json"))
		return 0;
	return error_set(err, 0, "a calibration has no format '%s'; there are text and json",
			 format);
}

static char *copy(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

static void free_kernel(struct plan_kernel *k)
{
	free(k->label);
	free(k->image);
	free(k->modules);
	free(k->config);
	free(k->cmdline);
}

/* The plan's first kernel, twice; of a sweep the baseline */
static int adapt(struct plan *p, struct error *err)
{
	struct plan_kernels *k = &p->kernels;

	if (!p->more.boots && p->boots < 2)
		return error_set(err, 0, "boots = %u: a calibration needs the spread between boots: give 2 at least, better %d",
				 p->boots, CALIBRATE_BOOTS);
	if (!k->n || !k->v[0].image)
		return error_set(err, 0, "no kernel to calibrate with: name one with --kernel debian:linux-image-cloud-amd64, or a plan that has one");
	for (; k->n > 1; k->n--) {
		fprintf(stderr, "kontest: a calibration takes one kernel, the first of the plan: %s is left out\n",
			k->v[k->n - 1].label ? k->v[k->n - 1].label :
			k->v[k->n - 1].image ? k->v[k->n - 1].image : "a kernel");
		free_kernel(&k->v[k->n - 1]);
	}
	if (p->tunables.n)
		fputs("kontest: a calibration takes the baseline of a sweep: [tunable] is left out\n",
		      stderr);
	plan_tunables_free(&p->tunables);
	free(k->v[0].label);
	k->v[0].label = xstrdup("a");
	plan_kernels_add(k, (struct plan_kernel){
		.label = xstrdup("b"),
		.image = copy(k->v[0].image),
		.modules = copy(k->v[0].modules),
		.config = copy(k->v[0].config),
		.cmdline = copy(k->v[0].cmdline),
	});
	return 0;
}

static int show(struct store *s, const char *run_id, const char *format, FILE *out,
		struct error *err)
{
	CLEANUP(calibration_free) struct calibration c = { 0 };
	CLEANUP(buf_free) struct buf b = { 0 };

	if (calibration_load(s, run_id, &c, err) < 0)
		return -1;
	if (!strcmp(format, "json"))
		calibration_put_json(&c, &b);
	else
		calibration_put_text(&c, &b);
	if (fputs(b.data, out) < 0 || fflush(out))
		return error_set(err, errno, "print the calibration");
	return calibration_wrong(&c) > 0;
}

/* kontest calibrate --show [RUN]: what was measured before */
static int show_again(int argc, char **argv)
{
	static const struct option options[] = {
		{ "show", no_argument, NULL, 'n' },
		{ "store", required_argument, NULL, 's' },
		{ "format", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *file = NULL, *format = "text";
	CLEANUP(strings_clear) struct strings ids = { 0 };
	struct store *store = NULL;
	struct error err = { 0 };
	char id[UUID_TEXT];
	int opt, ret = -1;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == '?' || opt == 'h')
			return opt == 'h' ? cmd_help(&cmd_calibrate) :
					    cmd_usage(&cmd_calibrate, NULL);
		if (opt == 's')
			file = optarg;
		if (opt == 'f')
			format = optarg;
	}
	if (argc - optind > 1)
		return cmd_usage(&cmd_calibrate, "one run at a time, not '%s'",
				 argv[optind + 1]);
	if (check_format_here(format, &err) < 0 || open_store(file, &store, &err) < 0)
		return cmd_fail(&err);
	if (optind < argc)
		ret = store_find(store, argv[optind], id, &err);
	else if (!store_calibrations(store, &ids, &err))
		ret = ids.n ? snprintf(id, sizeof(id), "%s", ids.v[0]) < 0 :
		      error_set(&err, 0, "the store has no calibration: `kontest calibrate` makes one");
	ret = ret ? ret : show(store, id, format, stdout, &err);
	store_close(store);
	return ret < 0 ? cmd_fail(&err) : ret;
}

static int run(int argc, char **argv)
{
	static const struct run_kind kind = {
		.cmd = &cmd_calibrate,
		.boots = CALIBRATE_BOOTS,
		.format = "text",
		.check_format = check_format_here,
		.adapt = adapt,
		.calibration = true,
		.show = show,
	};

	if (argc > 1 && !strcmp(argv[1], "--show"))
		return show_again(argc, argv);
	return run_plan(&kind, argc, argv);
}

const struct cmd cmd_calibrate = {
	.name = "calibrate",
	.args = "[PLAN] [--kernel KERNEL] [OPTION...], or --show [RUN]",
	.summary = "boot one kernel against itself: what change can be told here?",
	.help =
"The first kernel of the plan, or --kernel, is booted under two labels, a and b, boots\n"
"interleaved. What differs is noise; its spread tells what change a number of boots can\n"
"tell on this host, with this profile, accelerator and job. The store keeps it.\n\n"
"  --show [RUN]         boot nothing, print what that run, or the newest calibration,\n"
"                       told; with --store and --format\n"
"  --kernel KERNEL      the kernel\n"
"  --boots N|auto       boots of each label (default 10); auto: as many as the\n"
"                       precision needs and the budget holds\n"
RUN_PLAN_HELP
"  --format FORMAT      text (default) or json\n"
"\n"
KERNEL_SPEC_HELP
"\nExit status: as `kontest run`, and 1 when a verdict says that the kernel is better or\n"
"worse than itself.\n",
	.run = run,
};
