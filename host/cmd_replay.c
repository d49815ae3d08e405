/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cmd.h"
#include "host/paths.h"
#include "host/recover.h"
#include "host/replay.h"
#include "host/run_boots.h"
#include "host/verify_bundle.h"
#include "results/base/cleanup.h"

struct replay_args {
	const char *file, *dir, *pubkey, *store, *uri;
	unsigned int parallel;
	bool accel_set;
	enum accel accel;
};

/* struct replay - what one replay holds open */
struct replay {
	struct cache cache;
	struct bundle bundle;
	struct rerun rerun;
	struct store *store;
	char *data_dir, *index, *unpacked;
};

static void replay_free(struct replay *p)
{
	if (p->store)
		store_close(p->store);
	rerun_free(&p->rerun);
	bundle_close(&p->bundle);
	close_cache(&p->cache);
	free(p->data_dir);
	free(p->index);
	free(p->unpacked);
}

static int choose_accel(const struct replay_args *a, struct experiment *e,
			struct error *err)
{
	if (!a->accel_set || a->accel == e->accel)
		return 0;
	if (a->accel == ACCEL_EXACT || e->accel == ACCEL_EXACT)
		return error_set(err, 0, "--accel %s: the run was under %s, and exact mode is another machine, whose guests are told other things",
				 accel_name(a->accel), accel_name(e->accel));
	e->accel = a->accel;
	return 0;
}

static int prepare(const struct replay_args *a, struct replay *p, struct error *err)
{
	if (bundle_signature(a->file, a->pubkey, stderr, err) < 0 ||
	    bundle_open(&p->bundle, a->file, err) < 0)
		return -1;
	if (!p->bundle.m.full)
		return error_set(err, 0, "bundle '%s' has results only, no images to boot: `kontest import` takes the results in; ask its author for one made without --results-only",
				 a->file);
	p->data_dir = data_home(err);
	p->index = p->data_dir ? store_path(a->store, err) : NULL;
	if (!p->index || open_cache(&p->cache, err) < 0 ||
	    replay_unpack(&p->bundle, &p->cache, a->dir, &p->unpacked, err) < 0 ||
	    replay_load(&p->rerun, &p->bundle, &p->cache, p->unpacked, err) < 0 ||
	    choose_accel(a, &p->rerun.e, err) < 0 ||
	    rerun_schedule(&p->rerun, err) < 0)
		return -1;
	return store_open(p->index, &p->store, err);
}

static int load_ours(struct replay *p, struct strings *paths,
		     struct boot_records *boots, struct error *err)
{
	if (store_boots(p->store, p->rerun.e.run_id, paths, err) < 0)
		return -1;
	for (size_t i = 0; i < paths->n; i++) {
		struct boot_record b;

		if (boot_record_load(paths->v[i], &b, err) < 0)
			return -1;
		boot_records_add(boots, b);
	}
	return 0;
}

/* 0 when every figure is the same, 1 when not, or -1. */
static int compare_exact(const struct strings *theirs, const struct strings *ours,
			 unsigned int differ, struct error *err)
{
	cleanup_free char *what = NULL;
	size_t figures;

	if (replay_first_difference(theirs, ours, &figures, &what, err) < 0)
		return -1;
	if (!what) {
		printf("Exact: all %zu figures are the same, to the last digit.\n", figures);
		return 0;
	}
	printf("Exact mode promises the same figures, and they differ. First: %s\n", what);
	puts(differ ? "The inputs that differ are named above." :
		      "No input differs: please report this as a bug.");
	return 1;
}

/* What the figures of a measured mode can be held to, and what not. */
static int compare_measured(struct replay *p, struct boot_records *ours,
			    struct error *err)
{
	const char *here = accel_name(p->rerun.e.accel);
	const char *there = context_text(rerun_first(&p->rerun, 0), NULL, "accel");

	if (strcmp(there, here)) {
		printf("Measured under %s there and %s here: other machines, whose figures must not be compared.\n",
		       there, here);
		return 0;
	}
	printf("Measured under %s: the figures depend on the host and on what else it did, and are not expected to be the same.\n",
	       here);
	return replay_verdicts(&p->rerun.boots, ours, stdout, err);
}

/* Exit status of the comparison, or -1. */
static int compare(struct replay *p, unsigned int differ, enum verdict worst,
		   struct error *err)
{
	CLEANUP(strings_clear) struct strings paths = { 0 };
	CLEANUP(boot_records_clear) struct boot_records ours = { 0 };

	if (load_ours(p, &paths, &ours, err) < 0)
		return -1;
	replay_side_by_side(&p->rerun.boots, &ours, stdout);
	if (p->rerun.e.accel != ACCEL_EXACT) {
		if (compare_measured(p, &ours, err) < 0)
			return -1;
		return worst ? verdict_exit(worst) : 0;
	}
	return compare_exact(&p->rerun.journals, &paths, differ, err);
}

static int replay(const struct replay_args *a, struct error *err)
{
	CLEANUP(replay_free) struct replay p = { 0 };
	struct experiment *e = &p.rerun.e;
	enum verdict worst = VERDICT_OK;
	struct run_opts o = { .uri = a->uri };
	unsigned int differ;
	int status;

	if (prepare(a, &p, err) < 0)
		return cmd_fail(err);
	recover_boots(p.data_dir);
	o.parallel = boots_side_by_side(e->accel, a->parallel);
	o.data_dir = p.data_dir;
	o.store = p.store;
	o.store_path = p.index;
	if (e->accel_note)
		fprintf(stderr, "kontest: %s\n", e->accel_note);
	fprintf(stderr, "run %.8s: replays %.8s from '%s', accel %s, QEMU %s, %zu boots, %u at a time\n",
		e->run_id, p.bundle.m.run_id, p.unpacked, accel_name(e->accel),
		e->qemu.version, e->boots.n, o.parallel);
	differ = replay_inputs(&p.rerun, stdout);
	fflush(stdout);
	if (run_boots(e, &o, &worst, err) < 0)
		return cmd_fail(err);
	status = compare(&p, differ, worst, err);
	return status < 0 ? cmd_fail(err) : status;
}

static int one_option(struct replay_args *a, int opt, struct error *err)
{
	uint64_t n;

	switch (opt) {
	case 'd': a->dir = optarg; return 0;
	case 'k': a->pubkey = optarg; return 0;
	case 's': a->store = optarg; return 0;
	case 'c': a->uri = optarg; return 0;
	case 'p':
		if (!parse_u64(optarg, &n) || n < 1 || n > 1024)
			return error_set(err, 0, "--parallel %s: give a number from 1 to 1024", optarg);
		a->parallel = (unsigned int)n;
		return 0;
	default:
		if (!accel_parse(optarg, &a->accel))
			return error_set(err, 0, "--accel %s: give auto, kvm, tcg or exact", optarg);
		a->accel_set = true;
		return 0;
	}
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "pubkey", required_argument, NULL, 'k' },
		{ "store", required_argument, NULL, 's' },
		{ "connect", required_argument, NULL, 'c' },
		{ "parallel", required_argument, NULL, 'p' },
		{ "accel", required_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct replay_args a = { 0 };
	struct error err = { 0 };
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'h')
			return cmd_help(&cmd_replay);
		if (opt == '?')
			return cmd_usage(&cmd_replay, NULL);
		if (one_option(&a, opt, &err) < 0)
			return cmd_fail(&err);
	}
	if (argc - optind != 1)
		return cmd_usage(&cmd_replay, "name one bundle");
	a.file = argv[optind];
	return replay(&a, &err);
}

const struct cmd cmd_replay = {
	.name = "replay",
	.args = "FILE.kontest [OPTION...]",
	.summary = "boot somebody's bundle here, compare with what they got",
	.help =
"  FILE.kontest    a bundle, made by `kontest export`; nothing else is needed: no\n"
"                  package, no network, no images of one's own\n"
"  --pubkey KEY    public key of minisign, its file or the base64 text in it: the\n"
"                  bundle must be signed by it (FILE.kontest.minisig)\n"
"  --dir DIR       unpack there (default: in the cache)\n"
"  --parallel N    boots side by side, exact mode only (default: CPUs)\n"
"  --accel HOW     auto, kvm or tcg, for a run that was under kvm or tcg\n"
"  --connect URI   libvirt connection (default: the embedded driver)\n"
"  --store FILE    results store for the boots here (default: the user's own)\n"
"Exit status: in exact mode 0 when every figure is the same to the last digit, 1\n"
"when not; else, as figures are not expected to be the same, that of the worst\n"
"verdict here. 2 when it could not be done.\n",
	.run = run,
};
