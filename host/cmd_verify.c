/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/accel.h"
#include "host/cmd.h"
#include "host/experiment.h"
#include "host/verify_bundle.h"
#include "images/appliance.h"
#include "images/bundle.h"
#include "images/verify.h"
#include "images/verify_deep.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define DEEP_TIMEOUT_S 300

enum { OPT_KERNEL = 256, OPT_MODULES, OPT_CONFIG, OPT_DEEP, OPT_TIMEOUT,
       OPT_PUBKEY, OPT_HELP };

static const struct option options[] = {
	{ "kernel", required_argument, NULL, OPT_KERNEL },
	{ "modules", required_argument, NULL, OPT_MODULES },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "deep", no_argument, NULL, OPT_DEEP },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "pubkey", required_argument, NULL, OPT_PUBKEY },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

/* struct verify_args - the command line */
struct verify_args {
	const char *file;
	struct verify_opts opts;
	const char *pubkey;
	bool deep;
	unsigned int timeout_s;
};

/* --- an image, built anew ----------------------------------------------------------- */

static int rebuild(const struct verify_args *a, const struct cache *c,
		   struct error *err)
{
	cleanup_free char *guest = guest_program(err);
	struct verify_opts opts = a->opts;
	CLEANUP(verify_result_free) struct verify_result r = { 0 };

	if (!guest)
		return -1;
	opts.guest = guest;
	opts.plan = carried_plan();
	if (verify_image(c, a->file, &opts, &r, err) < 0)
		return -1;
	if (r.identical) {
		printf("%s: bit-identical, SHA-256 %s\n", a->file, r.digest);
	} else {
		printf("%s: differs from what its recipe, lock and kernel give\n"
		       "first difference: %s\n", a->file, r.difference);
		if (r.where)
			printf("bytes that differ: %s\n", r.where);
		printf("SHA-256 %s, built anew %s\n", r.digest, r.rebuilt);
	}
	for (size_t i = 0; i < r.notes.n; i++)
		printf("note: %s\n", r.notes.v[i]);
	return r.identical ? 0 : 1;
}

/* --- an image, looked through -------------------------------------------------------- */

static int deep(const struct verify_args *a, const struct cache *c,
		struct error *err)
{
	CLEANUP(deep_result_free) struct deep_result r = { 0 };
	cleanup_free char *kernel = NULL;
	cleanup_free char *modules = NULL;
	struct deep_opts o = { .timeout_s = a->timeout_s };
	const char *package = APPLIANCE_PACKAGE;

	o.kvm = !kvm_device_check("/dev/kvm", NULL);
	if (a->opts.kernel && !str_starts(a->opts.kernel, "debian:"))
		return error_set(err, 0, "--deep takes a kernel for libguestfs from a package: --kernel debian:PACKAGE");
	if (a->opts.kernel)
		package = a->opts.kernel + strlen("debian:");
	if (a->opts.kernel || appliance_wanted()) {
		if (appliance_kernel(c, package, &kernel, &modules, err) < 0)
			return error_prefix(err, "libguestfs needs a kernel: there is none in /boot that this user can read with its modules (sudo chmod 0644 /boot/vmlinuz-* may help), and package %s cannot be had",
					    package);
		o.kernel = kernel;
		o.modules = modules;
	}
	if (verify_deep(a->file, &o, &r, err) < 0)
		return -1;
	if (o.kvm && r.emulated)
		fprintf(stderr, "kontest: note: KVM did not do: libguestfs was emulated, which is slower\n");
	for (size_t i = 0; i < r.lines.n; i++)
		printf("%s\n", r.lines.v[i]);
	if (r.differences > r.lines.n)
		printf("... and %zu more\n", r.differences - r.lines.n);
	if (!r.differences)
		printf("%s: %zu files, all as its manifest says\n", a->file, r.files);
	else
		printf("%s: %zu differences from its manifest in %zu files\n",
		       a->file, r.differences, r.files);
	return r.differences ? 1 : 0;
}

static int image(const struct verify_args *a, struct error *err)
{
	struct cache c = { 0 };
	int ret;

	if (open_cache(&c, err) < 0)
		return -1;
	ret = a->deep ? deep(a, &c, err) : rebuild(a, &c, err);
	close_cache(&c);
	return ret;
}

/* --- a bundle -------------------------------------------------------------------------- */

static int bundle(const struct verify_args *a, struct error *err)
{
	struct error why = { 0 };

	if (a->deep || a->opts.kernel)
		return error_set(err, 0, "'%s' is a bundle: --deep and --kernel are for system images",
				 a->file);
	if (verify_bundle(a->file, a->pubkey, stdout, &why) == 0)
		return 0;
	cmd_fail(&why);
	return 1;
}

static bool is_image(const char *path, int fd)
{
	(void)path;
	return verify_is_image(fd);
}

/* By its name, too: then what is wrong with it is said */
static bool is_bundle(const char *path, int fd)
{
	(void)fd;
	return bundle_is(path) || str_ends(path, ".kontest");
}

/* --- what is it? ----------------------------------------------------------------------- */

/* Told by their first bytes; @verify returns 0 as it should be, 1 not, -1 error */
static const struct {
	bool (*is)(const char *path, int fd);
	int (*verify)(const struct verify_args *a, struct error *err);
} kinds[] = {
	{ is_bundle, bundle },
	{ is_image, image },
};

static int verify(const struct verify_args *a, struct error *err)
{
	cleanup_close int fd = open(a->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return error_set(err, errno, "open '%s'", a->file);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].is(a->file, fd))
			return kinds[i].verify(a, err);
	return error_set(err, 0, "'%s' is no bundle (it has no member manifest.json in front) and no raw system image (it has no GPT); `kontest build IMAGE -o FILE` makes one, qemu-img convert -O raw turns a qcow2 into one",
			 a->file);
}

static int run(int argc, char **argv)
{
	struct verify_args a = { .timeout_s = DEEP_TIMEOUT_S };
	struct error err = { 0 };
	uint64_t n;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case OPT_KERNEL:
			a.opts.kernel = optarg;
			break;
		case OPT_MODULES:
			a.opts.kernel_opts.modules = optarg;
			break;
		case OPT_CONFIG:
			a.opts.kernel_opts.config = optarg;
			break;
		case OPT_DEEP:
			a.deep = true;
			break;
		case OPT_TIMEOUT:
			if (!parse_u64(optarg, &n) || n < 1 || n > 86400)
				return cmd_usage(&cmd_verify, "--timeout %s: give seconds, from 1 to 86400",
						 optarg);
			a.timeout_s = (unsigned int)n;
			break;
		case OPT_PUBKEY:
			a.pubkey = optarg;
			break;
		case OPT_HELP:
			return cmd_help(&cmd_verify);
		default:
			return cmd_usage(&cmd_verify, NULL);
		}
	}
	if (optind + 1 != argc)
		return cmd_usage(&cmd_verify, "name one file");
	a.file = argv[optind];
	ret = verify(&a, &err);
	return ret < 0 ? cmd_fail(&err) : ret;
}

const struct cmd cmd_verify = {
	.name = "verify",
	.args = "IMAGE|FILE.kontest [OPTION...]",
	.summary = "is an image, or a bundle, what it says it is?",
	.help =
"Of a system image: builds it anew from the recipe, lock and kernel that it names,\n"
"and says \"bit-identical\" or what the first difference is. Of a bundle: checks its\n"
"signature and the digests of every member and of the disks that they make (of up\n"
"to 64 GiB). Exit status 0, or 1 where it is not so.\n\n"
"  --kernel IMAGE     take the kernel from here (default: the Debian package\n"
"                     that the image names)\n"
"  --modules DIR      modules of a bzImage\n"
"  --config FILE      configuration of a bzImage\n"
"  --deep             build nothing: look into the image with libguestfs, read\n"
"                     only, and compare every file with the list it carries\n"
"                     (--kernel debian:PACKAGE is then a kernel for libguestfs)\n"
"  --timeout SECONDS  give --deep up after that long (default: 300)\n"
"  --pubkey KEY       public key of minisign, its file or the base64 text in it: the\n"
"                     bundle must be signed by it (FILE.kontest.minisig)\n\n"
KERNEL_SPEC_HELP,
	.run = run,
};
