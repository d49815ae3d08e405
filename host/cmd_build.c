/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cmd.h"
#include "host/experiment.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

enum { OPT_KERNEL = 256, OPT_MODULES, OPT_CONFIG, OPT_LOCKED, OPT_EXACT,
       OPT_JOB, OPT_PROFILE, OPT_OUTPUT, OPT_HELP };

static const struct option options[] = {
	{ "kernel", required_argument, NULL, OPT_KERNEL },
	{ "modules", required_argument, NULL, OPT_MODULES },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "locked", no_argument, NULL, OPT_LOCKED },
	{ "exact", no_argument, NULL, OPT_EXACT },
	{ "job", required_argument, NULL, OPT_JOB },
	{ "profile", required_argument, NULL, OPT_PROFILE },
	{ "output", required_argument, NULL, OPT_OUTPUT },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

struct build_args {
	const char *image;
	struct plan_kernel kernel;
	const char *job, *profile;
	const char *output;
	bool locked, exact;
};

static int copy_out(const char *path, uint64_t size, const char *to,
		    struct error *err)
{
	CLEANUP(newfile_abort) struct newfile f = { .fd = -1 };
	cleanup_close int in = open(path, O_RDONLY | O_CLOEXEC);

	if (in < 0)
		return error_set(err, errno, "open '%s'", path);
	if (newfile_open(&f, to, 0666, err) < 0)
		return -1;
	if (ftruncate(f.fd, (off_t)size) < 0)
		return error_set(err, errno, "resize '%s'", to);
	if (file_copy_range(in, 0, f.fd, 0, size, to, err) < 0)
		return -1;
	return newfile_commit(&f, err);
}

static int build(struct build_args *a, struct experiment *e, struct error *err)
{
	struct candidate *c;

	if (experiment_build(e, a->locked, true, err) < 0)
		return -1;
	if (e->base.changes)
		fprintf(stderr, "kontest: %s\n", e->base.changes);
	c = &e->candidates[0];
	if (a->output && copy_out(c->system.path, c->system.size, a->output, err) < 0)
		return -1;
	printf("%s  %s\n", c->system.digest, a->output ? a->output : c->system.path);
	return 0;
}

/* The work disk of a job, without any kernel */
static int build_work(const struct build_args *a, const struct cache *c,
		      struct error *err)
{
	CLEANUP(profile_free) struct profile profile = { 0 };
	CLEANUP(disk_image_free) struct disk_image d = { 0 };
	CLEANUP(job_tree_free) struct job_tree j = { 0 };
	CLEANUP(plan_free) struct plan plan;

	plan_init(&plan);
	if (plan_set(&plan, "job", a->job, err) < 0 || plan_job(&plan, err) < 0 ||
	    profile_load(a->profile ? a->profile : plan.profile, &profile, err) < 0 ||
	    job_build(c, plan.job, NULL, a->locked, profile.work.size, &j, &d,
		      err) < 0)
		return -1;
	if (j.note)
		fprintf(stderr, "kontest: %s\n", j.note);
	if (a->output && copy_out(d.path, d.size, a->output, err) < 0)
		return -1;
	printf("%s  %s\n", d.digest, a->output ? a->output : d.path);
	return 0;
}

static int run(int argc, char **argv)
{
	struct build_args a = { 0 };
	struct plan plan = { 0 };
	struct experiment e = { 0 };
	struct cache cache = { 0 };
	struct error err = { 0 };
	int opt, status = 0;

	while ((opt = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		switch (opt) {
		case OPT_KERNEL:
			a.image = optarg;
			break;
		case OPT_MODULES:
			a.kernel.modules = optarg;
			break;
		case OPT_CONFIG:
			a.kernel.config = optarg;
			break;
		case OPT_LOCKED:
			a.locked = true;
			break;
		case OPT_EXACT:
			a.exact = true;
			break;
		case OPT_JOB:
			a.job = optarg;
			break;
		case OPT_PROFILE:
			a.profile = optarg;
			break;
		case 'o':
		case OPT_OUTPUT:
			a.output = optarg;
			break;
		case OPT_HELP:
			return cmd_help(&cmd_build);
		default:
			return cmd_usage(&cmd_build, NULL);
		}
	}
	if (!a.image && optind < argc)
		a.image = argv[optind++];
	if (!a.image && !a.job)
		return cmd_usage(&cmd_build, "which kernel?");
	if (optind < argc)
		return cmd_usage(&cmd_build, "one kernel at a time, not '%s'",
				 argv[optind]);
	if (a.job ? a.image != NULL : a.profile != NULL)
		return cmd_usage(&cmd_build, a.job ? "a kernel or a job, not both"
				 : "--profile is for --job");
	if (open_cache(&cache, &err) < 0)
		return cmd_fail(&err);
	if (a.job) {
		if (build_work(&a, &cache, &err) < 0)
			status = cmd_fail(&err);
		close_cache(&cache);
		return status;
	}
	a.kernel.image = (char *)a.image;
	plan.kernels = (struct plan_kernels){ .v = &a.kernel, .n = 1 };
	e.plan = &plan;
	e.cache = &cache;
	e.accel = a.exact ? ACCEL_EXACT : ACCEL_TCG;
	if (build(&a, &e, &err) < 0)
		status = cmd_fail(&err);
	experiment_free(&e);
	close_cache(&cache);
	return status;
}

const struct cmd cmd_build = {
	.name = "build",
	.args = "IMAGE|--job JOB [-o FILE] [OPTION...]",
	.summary = "build a system disk image of one kernel, show the time of each step",
	.help =
"  -o, --output FILE  copy the image there (it is kept in the cache anyway)\n"
"  --modules DIR      modules of a bzImage or vmlinux\n"
"  --config FILE      configuration of a bzImage or vmlinux\n"
"  --exact            refuse a kernel that cannot run in exact mode\n"
"  --job JOB          instead, the work disk with the tree of quick or linux\n"
"  --profile NAME     of the machine whose work disk it is (default osdl-up)\n"
"  --locked           refuse other package versions than the locked ones\n\n"
"The image boots alone, by BIOS or UEFI, and runs the plan that it carries:\n"
"  qemu-system-x86_64 -m 512 -nographic -drive file=FILE,format=raw\n"
"It is bit-identical whoever builds it: its SHA-256 is printed.\n\n"
KERNEL_SPEC_HELP,
	.run = run,
};
