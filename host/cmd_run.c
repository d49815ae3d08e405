/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/auto_boots.h"
#include "host/cmd_run.h"
#include "host/paths.h"
#include "host/recover.h"
#include "host/run_boots.h"
#include "results/base/cleanup.h"
#include "results/fingerprint.h"
#include "results/report.h"

/* struct run_args - what the command line says beside the plan */
struct run_args {
	const struct run_kind *kind;
	struct plan plan;
	const char *uri;
	const char *store;
	const char *format;
	const char *expect;
	bool locked;
	unsigned int parallel;
};

enum { OPT_KERNEL = 256, OPT_MODULES, OPT_CONFIG, OPT_CMDLINE, OPT_PLAN_KEY,
       OPT_CONNECT, OPT_STORE, OPT_FORMAT, OPT_LOCKED, OPT_PARALLEL,
       OPT_EXPECT, OPT_HELP };

static const struct option options[] = {
	{ "kernel", required_argument, NULL, OPT_KERNEL },
	{ "modules", required_argument, NULL, OPT_MODULES },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "cmdline", required_argument, NULL, OPT_CMDLINE },
	{ "name", required_argument, NULL, OPT_PLAN_KEY },
	{ "profile", required_argument, NULL, OPT_PLAN_KEY },
	{ "bench", required_argument, NULL, OPT_PLAN_KEY },
	{ "loads", required_argument, NULL, OPT_PLAN_KEY },
	{ "job", required_argument, NULL, OPT_PLAN_KEY },
	{ "boots", required_argument, NULL, OPT_PLAN_KEY },
	{ "budget", required_argument, NULL, OPT_PLAN_KEY },
	{ "precision", required_argument, NULL, OPT_PLAN_KEY },
	{ "repeat-noisy", required_argument, NULL, OPT_PLAN_KEY },
	{ "runs", required_argument, NULL, OPT_PLAN_KEY },
	{ "accel", required_argument, NULL, OPT_PLAN_KEY },
	{ "order-seed", required_argument, NULL, OPT_PLAN_KEY },
	{ "jobs", required_argument, NULL, OPT_PLAN_KEY },
	{ "lead-ms", required_argument, NULL, OPT_PLAN_KEY },
	{ "run-timeout", required_argument, NULL, OPT_PLAN_KEY },
	{ "sample-ms", required_argument, NULL, OPT_PLAN_KEY },
	{ "connect", required_argument, NULL, OPT_CONNECT },
	{ "store", required_argument, NULL, OPT_STORE },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "expect", required_argument, NULL, OPT_EXPECT },
	{ "locked", no_argument, NULL, OPT_LOCKED },
	{ "parallel", required_argument, NULL, OPT_PARALLEL },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

/* "LABEL=IMAGE" or "IMAGE"; a path may hold a '=' behind its first '/'. */
static int add_kernel(struct plan *p, const char *arg, struct error *err)
{
	const char *eq = strchr(arg, '='), *slash = strchr(arg, '/');
	cleanup_free char *label = NULL;

	if (eq && (!slash || eq < slash)) {
		label = xstrndup(arg, (size_t)(eq - arg));
		arg = eq + 1;
	}
	return plan_add_kernel(p, label, arg, err);
}

/* --modules, --config and --cmdline belong to the --kernel before them. */
static int kernel_option(struct plan *p, int opt, const char *name,
			 const char *value, struct error *err)
{
	struct plan_kernel *k;
	char **s;

	if (!p->kernels.n)
		return error_set(err, 0, "--%s must follow the --kernel that it belongs to",
				 name);
	k = &p->kernels.v[p->kernels.n - 1];
	s = opt == OPT_MODULES ? &k->modules
	  : opt == OPT_CONFIG ? &k->config : &k->cmdline;
	free(*s);
	*s = xstrdup(value);
	return 0;
}

static int one_option(struct run_args *a, int opt, const char *name,
		      struct error *err)
{
	uint64_t n;

	switch (opt) {
	case OPT_KERNEL:
		return add_kernel(&a->plan, optarg, err);
	case OPT_MODULES:
	case OPT_CONFIG:
	case OPT_CMDLINE:
		return kernel_option(&a->plan, opt, name, optarg, err);
	case OPT_PLAN_KEY:
		return plan_set(&a->plan, name, optarg, err);
	case OPT_CONNECT:
		a->uri = optarg;
		return 0;
	case OPT_STORE:
		a->store = optarg;
		return 0;
	case OPT_FORMAT:
		a->format = optarg;
		return a->kind->check_format(optarg, err);
	case OPT_EXPECT:
		a->expect = optarg;
		return 0;
	case OPT_LOCKED:
		a->locked = true;
		return 0;
	case OPT_PARALLEL:
		if (!parse_u64(optarg, &n) || n < 1 || n > 1024)
			return error_set(err, 0, "--parallel %s: give a number from 1 to 1024",
					 optarg);
		a->parallel = (unsigned int)n;
		return 0;
	default:
		return -1;
	}
}

/* The plan file is read first, so that options override it. Returns an exit
 * status, or -1 to go on. */
static int parse(struct run_args *a, int argc, char **argv, struct error *err)
{
	const struct cmd *cmd = a->kind->cmd;
	int opt, index = 0;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == '?')
			return cmd_usage(cmd, NULL);
		if (opt == OPT_HELP)
			return cmd_help(cmd);
	}
	if (argc - optind > 1)
		return cmd_usage(cmd, "one plan at a time, not '%s'",
				 argv[optind + 1]);
	if (optind < argc && plan_read(&a->plan, argv[optind], err) < 0)
		return cmd_fail(err);
	optind = 1;
	while ((opt = getopt_long(argc, argv, "", options, &index)) != -1)
		if (one_option(a, opt, options[index].name, err) < 0)
			return cmd_fail(err);
	if ((a->kind->adapt && a->kind->adapt(&a->plan, err) < 0) ||
	    plan_finish(&a->plan, err) < 0 ||
	    (a->expect && fingerprint_check(a->expect, err) < 0))
		return cmd_fail(err);
	return -1;
}

static void announce(const struct experiment *e, unsigned int parallel)
{
	const struct profile *p = &e->profile;
	cleanup_free char *boots = auto_planned(e->plan) ?
		xstrdup("rounds of") : xasprintf("%zu", e->boots.n);

	if (e->accel_note)
		fprintf(stderr, "kontest: %s\n", e->accel_note);
	if (e->base.changes)
		fprintf(stderr, "kontest: %s\n", e->base.changes);
	fprintf(stderr, "run %.8s: plan %s, profile %s (%u CPU, %llu MiB), accel %s, QEMU %s, %s boots, order seed %llu, %u at a time\n",
		e->run_id, e->plan->name, p->name, p->cpus,
		(unsigned long long)(p->memory >> 20), accel_name(e->accel),
		e->qemu.version, boots,
		(unsigned long long)e->plan->order_seed, parallel);
}

/* Boots until there are no more; says the rule before and what came of it. */
static int boot(struct experiment *e, const struct run_opts *o, enum verdict *worst,
		struct error *err)
{
	struct run_opts with_more = *o;
	struct error say_err = { 0 };
	struct auto_boots more;
	int ret;

	if (!auto_planned(e->plan))
		return run_boots(e, o, worst, err);
	auto_init(&more, e, o->store);
	auto_say_rule(&more, stderr);
	with_more.more = auto_more;
	with_more.more_data = &more;
	with_more.budget_min = e->plan->more.boots ? e->plan->more.budget_min : 0;
	ret = run_boots(e, &with_more, worst, err);
	/* Also of an interrupted run: with no boot there is nothing to say. */
	if (auto_say_end(&more, stderr, &say_err) < 0 && !ret)
		ret = error_set(err, 0, "%s", say_err.text);
	auto_free(&more);
	return ret;
}

static int measure(struct run_args *a, struct experiment *e, struct store *s,
		   const char *index, const char *data_dir, struct error *err)
{
	struct run_opts o = {
		.uri = a->uri,
		.data_dir = data_dir,
		.store = s,
		.store_path = index,
	};
	enum verdict worst = VERDICT_OK;
	struct error report_err = { 0 };
	int ret, shown, differs = 0;

	if (experiment_build(e, a->locked, false, err) < 0 ||
	    experiment_schedule(e, err) < 0)
		return cmd_fail(err);
	o.parallel = boots_side_by_side(e->accel, a->parallel);
	announce(e, o.parallel);
	ret = boot(e, &o, &worst, err);
	if (ret < 0)
		cmd_fail(err);
	/* What was finished is shown all the same. */
	shown = a->kind->show(s, e->run_id, a->format, stdout, &report_err);
	if (ret < 0)
		return EXIT_USAGE;
	if (shown < 0)
		return cmd_fail(&report_err);
	if (a->expect) {
		differs = fingerprint_compare(s, e->run_id, a->expect, stdout, err);
		if (differs < 0)
			return cmd_fail(err);
	}
	return worst ? verdict_exit(worst) : differs || shown ? 1 : 0;
}

int run_plan(const struct run_kind *k, int argc, char **argv)
{
	struct run_args a = { .kind = k, .format = k->format };
	struct experiment e = { .calibration = k->calibration };
	struct cache cache = { 0 };
	struct error err = { 0 };
	struct store *store = NULL;
	char *data_dir = NULL, *index = NULL;
	int status;

	plan_init(&a.plan);
	a.plan.boots = k->boots;
	status = parse(&a, argc, argv, &err);
	if (status < 0) {
		data_dir = data_home(&err);
		index = data_dir ? store_path(a.store, &err) : NULL;
		if (!index || open_cache(&cache, &err) < 0 ||
		    experiment_profile(&e, &a.plan, &cache, &err) < 0 ||
		    store_open(index, &store, &err) < 0) {
			status = cmd_fail(&err);
		} else {
			recover_boots(data_dir);
			status = measure(&a, &e, store, index, data_dir, &err);
		}
	}
	if (store)
		store_close(store);
	free(index);
	free(data_dir);
	experiment_free(&e);
	close_cache(&cache);
	plan_free(&a.plan);
	return status;
}

static int run(int argc, char **argv)
{
	static const struct run_kind kind = {
		.cmd = &cmd_run,
		.boots = 1,
		.format = "contest-0.61",
		.check_format = check_format,
		.show = report_print,
	};

	return run_plan(&kind, argc, argv);
}

const struct cmd cmd_run = {
	.name = "run",
	.args = "[PLAN] [--kernel KERNEL]... [OPTION...]",
	.summary = "build what is missing, boot, measure, print the table",
	.help =
"  --kernel KERNEL      a kernel to test; may be given several times\n"
"  --boots N|auto       boots of each kernel (default 1); auto: as many as the\n"
"                       precision needs and the budget holds\n"
RUN_PLAN_HELP
"  --format FORMAT      see `kontest help report`\n"
"  --expect FILE        compare with what another run printed, exit 1 if it differs\n"
"\n"
KERNEL_SPEC_HELP
"\nOptions override the plan. Exit status: 0 when every run is ok, 2 when it could\n"
"not be done, 1 when --expect differs, else that of the worst verdict: kontest(1).\n",
	.run = run,
};
