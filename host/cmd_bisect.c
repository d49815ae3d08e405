/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/bisect.h"
#include "host/cmd.h"
#include "host/experiment.h"
#include "host/paths.h"
#include "host/recover.h"
#include "images/kbuild.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define MAX_BOOTS 16
#define THRESHOLD_PCT 1
#define TEXT_MAX (16u << 20)
#define EXIT_SEVERAL 1
#define EXIT_SAME 3

enum {
	OPT_SOURCE = 256, OPT_LOAD, OPT_METRIC, OPT_THRESHOLD, OPT_BOOTS, OPT_MAX_BOOTS,
	OPT_CONFIG, OPT_FRAGMENT, OPT_SET, OPT_JOBS, OPT_PLAN, OPT_PLAN_KEY, OPT_CMDLINE,
	OPT_CONNECT, OPT_STORE, OPT_LOCKED, OPT_PARALLEL, OPT_RESOLUTION, OPT_RESUME, OPT_SHOW, OPT_LIST,
	OPT_HELP,
};

static const struct option options[] = {
	{ "source", required_argument, NULL, OPT_SOURCE },
	{ "load", required_argument, NULL, OPT_LOAD },
	{ "metric", required_argument, NULL, OPT_METRIC },
	{ "threshold", required_argument, NULL, OPT_THRESHOLD },
	{ "resolution", required_argument, NULL, OPT_RESOLUTION },
	{ "boots", required_argument, NULL, OPT_BOOTS },
	{ "max-boots", required_argument, NULL, OPT_MAX_BOOTS },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "fragment", required_argument, NULL, OPT_FRAGMENT },
	{ "set", required_argument, NULL, OPT_SET },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "plan", required_argument, NULL, OPT_PLAN },
	{ "profile", required_argument, NULL, OPT_PLAN_KEY },
	{ "job", required_argument, NULL, OPT_PLAN_KEY },
	{ "runs", required_argument, NULL, OPT_PLAN_KEY },
	{ "accel", required_argument, NULL, OPT_PLAN_KEY },
	{ "lead-ms", required_argument, NULL, OPT_PLAN_KEY },
	{ "run-timeout", required_argument, NULL, OPT_PLAN_KEY },
	{ "cmdline", required_argument, NULL, OPT_CMDLINE },
	{ "connect", required_argument, NULL, OPT_CONNECT },
	{ "store", required_argument, NULL, OPT_STORE },
	{ "locked", no_argument, NULL, OPT_LOCKED },
	{ "parallel", required_argument, NULL, OPT_PARALLEL },
	{ "resume", no_argument, NULL, OPT_RESUME },
	{ "show", no_argument, NULL, OPT_SHOW },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

/**
 * struct bisect_args - the command line
 * @plan: what is measured, from --plan and options
 * @config, @fragment: as given, or NULL
 * @mode: OPT_RESUME, OPT_SHOW, OPT_LIST, or 0: a new one
 * @only_new: an option that only a new one takes, or NULL
 * @threshold_pct: NAN: not given; @resolution_pct, @boots, @max_boots: 0: not given
 * @names: GOOD and BAD, or an id
 */
struct bisect_args {
	struct plan plan;
	struct strings sets;
	const char *source, *load, *metric, *config, *fragment, *cmdline, *uri, *store;
	int mode;
	const char *only_new;
	double threshold_pct, resolution_pct;
	unsigned int jobs, boots, max_boots, parallel;
	bool locked;
	char **names;
	int n_names;
};

static int take_number(const char *name, unsigned int max, unsigned int *out,
		       struct error *err)
{
	uint64_t n;

	if (!parse_u64(optarg, &n) || n < 1 || n > max)
		return error_set(err, 0, "--%s %s: give a whole number from 1 to %u", name,
				 optarg, max);
	*out = (unsigned int)n;
	return 0;
}

static int take_pct(const char *name, double min, double *out, struct error *err)
{
	char *end;

	*out = strtod(optarg, &end);
	if (end == optarg || *end || !(*out >= min && *out <= 1000))
		return error_set(err, 0, "--%s %s: give a difference in %%, such as 2", name,
				 optarg);
	return 0;
}

/* What also changes a bisect that is there already; 1: it is none of these */
static int common_option(struct bisect_args *a, int opt, struct error *err)
{
	switch (opt) {
	case OPT_THRESHOLD:
		return take_pct("threshold", 0, &a->threshold_pct, err);
	case OPT_MAX_BOOTS:
		return take_number("max-boots", 1000, &a->max_boots, err);
	case OPT_PARALLEL:
		return take_number("parallel", 1024, &a->parallel, err);
	case OPT_CONNECT:
		a->uri = optarg;
		return 0;
	case OPT_LOCKED:
		a->locked = true;
		return 0;
	case OPT_RESUME:
	case OPT_SHOW:
	case OPT_LIST:
		if (a->mode && a->mode != opt)
			return error_set(err, 0, "one of --resume, --show and --list at a time");
		a->mode = opt;
		return 0;
	default:
		return 1;
	}
}

static int new_option(struct bisect_args *a, int opt, const char *name, struct error *err)
{
	const char **text = opt == OPT_SOURCE ? &a->source : opt == OPT_LOAD ? &a->load
		: opt == OPT_METRIC ? &a->metric : opt == OPT_CONFIG ? &a->config
		: opt == OPT_FRAGMENT ? &a->fragment : opt == OPT_CMDLINE ? &a->cmdline
		: opt == OPT_STORE ? &a->store : NULL;

	a->only_new = name;
	if (text) {
		*text = optarg;
		return 0;
	}
	switch (opt) {
	case OPT_BOOTS:
		return take_number(name, 1000, &a->boots, err);
	case OPT_RESOLUTION:
		return take_pct(name, 0.001, &a->resolution_pct, err);
	case OPT_JOBS:
		return take_number(name, 4096, &a->jobs, err);
	case OPT_SET:
		if (kbuild_set_ok(optarg, err) < 0)
			return -1;
		strings_add(&a->sets, xstrdup(optarg));
		return 0;
	case OPT_PLAN_KEY:
		return plan_set(&a->plan, name, optarg, err);
	default:
		return 0;
	}
}

/* The plan is read first, so that options override it. Returns an exit status, or -1
 * to go on. */
static int parse(struct bisect_args *a, int argc, char **argv, struct error *err)
{
	int opt, index = 0;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == '?')
			return cmd_usage(&cmd_bisect, NULL);
		if (opt == OPT_HELP)
			return cmd_help(&cmd_bisect);
		if (opt == OPT_PLAN && plan_read(&a->plan, optarg, err) < 0)
			return cmd_fail(err);
	}
	a->names = argv + optind;
	a->n_names = argc - optind;
	optind = 1;
	while ((opt = getopt_long(argc, argv, "", options, &index)) != -1) {
		int ret = common_option(a, opt, err);

		if (ret < 0 || (ret && new_option(a, opt, options[index].name, err) < 0))
			return cmd_fail(err);
	}
	if (a->mode && a->only_new)
		return cmd_usage(&cmd_bisect, "--%s belongs to a new bisect, and cannot be changed later",
				 a->only_new);
	if (a->mode ? a->n_names > (a->mode == OPT_LIST ? 0 : 1) : a->n_names != 2)
		return cmd_usage(&cmd_bisect, a->mode == OPT_LIST ? "--list takes no arguments"
				 : a->mode ? "give one ID, or none for the newest"
				 : "give two commits, GOOD and BAD");
	if (!a->mode && (!a->source || !a->load || !a->config))
		return cmd_usage(&cmd_bisect, "a new bisect needs --source, --load and --config");
	return -1;
}

/* --- a new one ------------------------------------------------------------------------ */

static void absolute(char **path)
{
	char *real = *path && strchr(*path, '/') ? realpath(*path, NULL) : NULL;

	if (real) {
		free(*path);
		*path = real;
	}
}

static int check_plan(struct bisect_args *a, struct error *err)
{
	struct plan *p = &a->plan;

	if (p->kernels.n)
		return error_set(err, 0, "the plan names kernels, and those of a bisect are built from commits: leave its [kernel] sections out");
	if (p->tunables.n)
		return error_set(err, 0, "the plan sweeps a tunable; a bisect measures one load as it is: leave its [tunable] sections out");
	if (strpbrk(a->load, ":, \t") || plan_set(p, "loads", a->load, err) < 0)
		return *err->text ? -1 : error_set(err, 0, "--load %s: name one load",
						   a->load);
	if (!p->name)
		p->name = xasprintf("bisect %s %s..%s", a->load, a->names[0], a->names[1]);
	absolute(&p->profile);
	absolute(&p->job_tree);
	return 0;
}

/* The plan's canonical text: what a later kontest reads again */
static int plan_text(struct bisect_args *a, struct cache *c, bool *exact, char **text,
		     struct error *err)
{
	struct experiment e = { 0 };
	struct plan *p = &a->plan;
	int ret = -1;

	if (check_plan(a, err) < 0 ||
	    plan_add_kernel(p, "commit", "commit", err) < 0 || plan_finish(p, err) < 0)
		return -1;
	if (!plan_bench_contest(&p->bench) || plan_bench_runs(&p->bench))
		return error_set(err, 0, "the plan runs benchmarks other than contest; a bisect measures a load: leave 'bench' out");
	*text = xstrndup(p->text, (size_t)(strstr(p->text, "\n[kernel ") + 1 - p->text));
	if (experiment_profile(&e, p, c, err) == 0) {
		*exact = e.accel == ACCEL_EXACT;
		ret = 0;
	}
	experiment_free(&e);
	return ret;
}

static int read_if(const char *path, const char *option, struct buf *out,
		   struct error *err)
{
	if (path && file_read(path, TEXT_MAX, out, err) < 0)
		return error_prefix(err, "%s", option);
	return 0;
}

static int put_file(const struct bisect *b, const char *name, const struct buf *text,
		    struct error *err)
{
	cleanup_free char *path = bisect_file(b, name);

	return file_write(path, text->data ? text->data : "", text->len, err);
}

static int resolve(const struct bisect_args *a, struct bisect *b, struct error *err)
{
	char id[BISECT_ENDS][GIT_ID];

	b->source = realpath(a->source, NULL);
	if (!b->source)
		return error_set(err, errno, "--source %s", a->source);
	for (size_t i = 0; i < BISECT_ENDS; i++) {
		if (git_resolve(b->source, a->names[i], id[i], err) < 0)
			return -1;
		bisect_step(b, id[i], "");
	}
	if (!strcmp(id[0], id[1]))
		return error_set(err, 0, "GOOD and BAD are the same commit, %.12s", id[0]);
	b->good_name = xstrdup(a->names[0]);
	b->bad_name = xstrdup(a->names[1]);
	return 0;
}

static int settings(const struct bisect_args *a, bool exact, struct bisect *b,
		    struct error *err)
{
	b->load = xstrdup(a->load);
	b->metric = xstrdup(a->metric ? a->metric : "time");
	if (!bisect_metric(b->metric)) {
		CLEANUP(buf_free) struct buf names = { 0 };

		for (const struct bisect_metric *m = bisect_metrics(); m->name; m++)
			buf_printf(&names, "%s%s", names.len ? ", " : "", m->name);
		return error_set(err, 0, "there is no metric '%s'; there are %s", b->metric,
				 names.data);
	}
	b->threshold_pct = isnan(a->threshold_pct) ? THRESHOLD_PCT : a->threshold_pct;
	b->resolution_pct = a->resolution_pct;
	if (b->resolution_pct > 0 && !exact)
		return error_set(err, 0, "--resolution is for exact mode: elsewhere every boot is another, and its noise must be measured");
	b->boots = a->boots ? a->boots : b->resolution_pct > 0 ? 1
		 : (unsigned int)rank_min_boots(INFER_LEVEL);
	b->max_boots = a->max_boots ? a->max_boots : MAX_BOOTS;
	if (b->max_boots < b->boots)
		b->max_boots = b->boots;
	b->cmdline = a->cmdline ? xstrdup(a->cmdline) : NULL;
	b->kbuild.config = xstrdup(kbuild_is_target(a->config) ? a->config : "file");
	for (size_t i = 0; i < a->sets.n; i++)
		strings_add(&b->kbuild.sets, xstrdup(a->sets.v[i]));
	b->kbuild.jobs = a->jobs;
	b->store = store_path(a->store, err);
	return b->store ? 0 : -1;
}

/* All is checked before anything is written. */
static int begin(struct bisect_args *a, struct cache *c, const char *data_dir,
		 struct bisect *b, int *lock, struct error *err)
{
	CLEANUP(buf_free) struct buf config = { 0 }, fragment = { 0 }, plan = { 0 };
	cleanup_free char *file = kbuild_fragment(a->config, a->fragment);
	cleanup_free char *text = NULL;
	bool exact = false;

	if (plan_text(a, c, &exact, &text, err) < 0 || settings(a, exact, b, err) < 0 ||
	    resolve(a, b, err) < 0 ||
	    read_if(strcmp(b->kbuild.config, "file") ? NULL : a->config, "--config takes tinyconfig, defconfig or a file",
		    &config, err) < 0 ||
	    read_if(file, "--fragment", &fragment, err) < 0 ||
	    bisect_new(b, data_dir, lock, err) < 0)
		return -1;
	buf_adds(&plan, text);
	b->kbuild.fragment = file != NULL;
	if (put_file(b, "plan.ini", &plan, err) < 0 ||
	    put_file(b, "config", &config, err) < 0 ||
	    put_file(b, "fragment", &fragment, err) < 0)
		return -1;
	return bisect_save(b, err);
}

/* --- one that is there ------------------------------------------------------------------ */

/* With more boots, what could not be told may be told. */
static void reopen(struct bisect *b)
{
	if (b->status == BISECT_SAME)
		b->status = BISECT_RUNNING;
	if (b->status != BISECT_SEVERAL)
		return;
	for (size_t i = BISECT_ENDS; i < b->steps.n; i++) {
		struct bisect_step *s = &b->steps.v[i];

		if (s->verdict != BISECT_SKIP || !s->call.boots)
			continue;
		s->verdict = BISECT_OPEN;
		free(steal_ptr(s->reason));
		b->status = BISECT_RUNNING;
	}
}

static int take_up(const struct bisect_args *a, const char *dir, struct bisect *b,
		   int *lock, struct error *err)
{
	bool more = a->max_boots || !isnan(a->threshold_pct);

	*lock = bisect_lock(dir, err);
	if (*lock < 0 || bisect_load(b, dir, err) < 0)
		return -1;
	if (a->max_boots)
		b->max_boots = a->max_boots;
	if (b->max_boots < b->boots)
		b->max_boots = b->boots;
	if (!isnan(a->threshold_pct))
		b->threshold_pct = a->threshold_pct;
	if (!more)
		return 0;
	reopen(b);
	return bisect_save(b, err);
}

/* --- both ------------------------------------------------------------------------------- */

static int status_exit(enum bisect_status s)
{
	return s == BISECT_FOUND ? 0 : s == BISECT_SEVERAL ? EXIT_SEVERAL
	     : s == BISECT_SAME ? EXIT_SAME : EXIT_USAGE;
}

static int drive(const struct bisect_args *a, struct cache *c, const char *data_dir,
		 struct bisect *b, struct error *err)
{
	struct bisect_host h = {
		.cache = c, .data_dir = data_dir, .uri = a->uri,
		.parallel = a->parallel, .locked = a->locked,
	};
	struct bisect_ops ops = bisect_real_ops(&h);
	int ret;

	recover_boots(data_dir);
	if (store_open(b->store, &h.store, err) < 0)
		return -1;
	fprintf(stderr, "bisect %.8s: %s of %s between %s and %s, in '%s'\n", b->id,
		b->metric, b->load, b->good_name, b->bad_name, b->dir);
	ret = bisect_drive(b, &ops, err);
	store_close(h.store);
	return ret;
}

static int run_mode(struct bisect_args *a, const char *data_dir, struct error *err)
{
	CLEANUP(close_cache) struct cache c = { 0 };
	CLEANUP(bisect_free) struct bisect b = { 0 };
	cleanup_close int lock = -1;
	cleanup_free char *dir = a->mode ? bisect_find(data_dir, a->n_names ? a->names[0]
						       : NULL, err) : NULL;

	if (a->mode && !dir)
		return cmd_fail(err);
	if (a->mode == OPT_SHOW) {
		if (bisect_load(&b, dir, err) < 0 || bisect_print(&b, stdout, err) < 0)
			return cmd_fail(err);
		return 0;
	}
	if (open_cache(&c, err) < 0)
		return cmd_fail(err);
	if (a->mode ? take_up(a, dir, &b, &lock, err) < 0
		    : begin(a, &c, data_dir, &b, &lock, err) < 0)
		return cmd_fail(err);
	if (drive(a, &c, data_dir, &b, err) < 0) {
		cmd_fail(err);
		fprintf(stderr, "bisect %.8s: `kontest bisect --resume %.8s` goes on from here\n",
			b.id, b.id);
		return EXIT_USAGE;
	}
	if (bisect_print(&b, stdout, err) < 0)
		return cmd_fail(err);
	return status_exit(b.status);
}

static int run(int argc, char **argv)
{
	struct bisect_args a = { .threshold_pct = NAN };
	struct error err = { 0 };
	char *data_dir = NULL;
	int status;

	plan_init(&a.plan);
	status = parse(&a, argc, argv, &err);
	if (status < 0) {
		data_dir = data_home(&err);
		if (!data_dir)
			status = cmd_fail(&err);
		else if (a.mode == OPT_LIST)
			status = bisect_list(data_dir, stdout, &err) < 0 ? cmd_fail(&err) : 0;
		else
			status = run_mode(&a, data_dir, &err);
	}
	free(data_dir);
	strings_clear(&a.sets);
	plan_free(&a.plan);
	return status;
}

const struct cmd cmd_bisect = {
	.name = "bisect",
	.args = "GOOD BAD --source TREE --load LOAD --config CONFIG [OPTION...]",
	.summary = "find the commit that changed a load's figure",
	.help =
"  GOOD, BAD            two commits; BAD's figure is to be told from GOOD's\n"
"  --source TREE        git tree of kernel source; it is only read\n"
"  --load LOAD          what runs while the job is measured: no_load, io_load ...\n"
"  --metric METRIC      time (default), job-cpu, load-cpu or loads (a second)\n"
"  --threshold PCT      a smaller difference of GOOD and BAD is none (default 1)\n"
"  --resolution PCT     exact mode: take one boot's figure to be off by no more than\n"
"                       that, and judge by one boot of each commit\n"
"  --boots N            boots of a commit at first (default 4; with --resolution 1)\n"
"  --max-boots N        as long as it cannot be told, twice as many, up to N\n"
"                       (default 16)\n"
"  --config, --fragment, --set, --jobs\n"
"                       of the kernels: see `kontest help kernel`, kernel build\n"
"  --plan FILE          profile, job, sizes and so on from a plan without kernels\n"
"  --profile, --job, --runs, --accel, --lead-ms, --run-timeout, --parallel,\n"
"  --locked, --connect, --store\n"
"                       of the boots: see `kontest help run`\n"
"  --cmdline TEXT       more kernel command line\n"
"\n"
"  --resume [ID]        go on with one that was interrupted; --max-boots and\n"
"                       --threshold may be changed\n"
"  --show [ID]          print it as far as it is\n"
"  --list               list all\n"
"\n"
"A commit is good (bad) when the 95 % interval of its mean lies on GOOD's (BAD's)\n"
"side of the middle between both; one that does not build or boot, or cannot be told\n"
"by so many boots, is skipped. All boots are a run of the same id in the store.\n"
"Exit status: 0 found, 1 several are left since commits were skipped, 3 GOOD and BAD\n"
"cannot be told apart, 2 it could not be done or was interrupted.\n",
	.run = run,
};
