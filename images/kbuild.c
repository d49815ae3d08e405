/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/kbuild.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/share.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/proc.h"

#define KIND "built"
/* Part of every key: what make is told below. */
#define KBUILD_FORMAT "kontest kernel build 1"
#define TEXT_MAX (16u << 20)
#define IMAGE "arch/x86/boot/bzImage"
/* Under emulation, with everything built in. */
#define MAKE_TIMEOUT_S (4 * 3600)

/* struct build - one build while it is made; all owned */
struct build {
	const struct kbuild_opts *o;
	struct kbuild_source source;
	struct buf base, fragment;
	char *linker;
	char *obj;
};

static void build_free(struct build *b)
{
	kbuild_source_free(&b->source);
	buf_free(&b->base);
	buf_free(&b->fragment);
	free(b->linker);
	free(b->obj);
}

void kbuild_free(struct kbuild *k)
{
	free(k->dir);
	free(k->compiler);
	strings_clear(&k->notes);
	*k = (struct kbuild){ 0 };
}

/* The first line of PROGRAM --version: two compilers make two kernels. */
static char *version_of(const char *program, struct error *err)
{
	CLEANUP(buf_free) struct buf out = { 0 };
	const char *argv[] = { program, "--version", NULL };
	const struct proc_opts opts = { .out = &out, .timeout_s = 60 };

	if (proc_run(argv, &opts, err) < 0) {
		error_prefix(err, "building a kernel needs %s", program);
		return NULL;
	}
	return xstrndup(out.data ? out.data : "",
			strcspn(out.data ? out.data : "", "\n"));
}

bool kbuild_is_target(const char *config)
{
	return !strcmp(config, "tinyconfig") || !strcmp(config, "defconfig");
}

char *kbuild_fragment(const char *config, const char *asked)
{
	if (asked)
		return strcmp(asked, "none") ? xstrdup(asked) : NULL;
	return strcmp(config, "tinyconfig") ? NULL :
	       xasprintf("%s/images/kontest.config", share_dir());
}

static int read_inputs(struct build *b, struct error *err)
{
	if (!kbuild_is_target(b->o->config) &&
	    file_read(b->o->config, TEXT_MAX, &b->base, err) < 0)
		return error_prefix(err, "--config takes tinyconfig, defconfig or a file");
	if (b->o->fragment &&
	    file_read(b->o->fragment, TEXT_MAX, &b->fragment, err) < 0)
		return error_prefix(err, "--fragment");
	for (size_t i = 0; i < b->o->sets.n; i++)
		if (kbuild_set_ok(b->o->sets.v[i], err) < 0)
			return -1;
	return 0;
}

static void make_key(const struct build *b, struct kbuild *k)
{
	struct sha256 s;

	sha256_init(&s);
	sha256_adds(&s, KBUILD_FORMAT);
	sha256_adds(&s, k->source);
	sha256_adds(&s, k->compiler);
	sha256_adds(&s, b->linker);
	sha256_adds(&s, kbuild_is_target(b->o->config) ? b->o->config : "file");
	sha256_adds(&s, b->base.data ? b->base.data : "");
	sha256_adds(&s, b->fragment.data ? b->fragment.data : "");
	for (size_t i = 0; i < b->o->sets.n; i++)
		sha256_adds(&s, b->o->sets.v[i]);
	sha256_final(&s, k->key);
}

/* make with everything said that it would take from its surroundings */
static int run_make(const struct build *b, const char *const targets[],
		    unsigned int jobs, struct error *err)
{
	static const char *const env[] = {
		"MAKEFLAGS=", "MFLAGS=", "MAKELEVEL=", "KBUILD_OUTPUT=",
		"KCPPFLAGS=", "LOCALVERSION=", "SOURCE_DATE_EPOCH=", NULL
	};
	cleanup_free char *dir = xasprintf("O=%s", b->obj);
	cleanup_free char *j = xasprintf("-j%u", jobs);
	cleanup_free char *map = xasprintf("-ffile-prefix-map=%s=. -ffile-prefix-map=%s=.",
					   b->obj, b->source.dir);
	cleanup_free char *c = xasprintf("KCFLAGS=%s", map);
	cleanup_free char *a = xasprintf("KAFLAGS=%s", map);
	const char *argv[24] = {
		"make", "-s", "-C", b->source.dir, dir, j, "ARCH=x86_64",
		"CROSS_COMPILE=", "LOCALVERSION=",
		"KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970",
		"KBUILD_BUILD_USER=kontest", "KBUILD_BUILD_HOST=kontest",
		"KBUILD_BUILD_VERSION=1", c, a,
	};
	const struct proc_opts opts = { .env = env, .timeout_s = MAKE_TIMEOUT_S,
					.family = true };
	size_t n = 15;

	while (*targets)
		argv[n++] = *targets++;
	argv[n] = NULL;
	return proc_run(argv, &opts, err);
}

static int make_one(const struct build *b, const char *target, unsigned int jobs,
		    struct error *err)
{
	const char *targets[] = { target, NULL };

	return run_make(b, targets, jobs, err);
}

/* By the tree's own tools: base, fragment and sets on top, olddefconfig */
static int merge(const struct build *b, struct error *err)
{
	cleanup_free char *tool = xasprintf("%s/scripts/kconfig/merge_config.sh",
					    b->source.dir);
	cleanup_free char *config = xasprintf("%s/.config", b->obj);
	cleanup_free char *sets = xasprintf("%s/.sets", b->obj);
	cleanup_free char *fragment = xasprintf("%s/.fragment", b->obj);
	CLEANUP(buf_free) struct buf text = { 0 };
	const char *argv[] = { "sh", tool, "-m", "-O", b->obj, config, fragment,
			       sets, NULL };
	const struct proc_opts opts = { .cwd = b->obj };

	for (size_t i = 0; i < b->o->sets.n; i++)
		kbuild_set_text(b->o->sets.v[i], &text);
	if (file_put(fragment, b->fragment.data, b->fragment.len, err) < 0 ||
	    file_put(sets, text.data, text.len, err) < 0)
		return -1;
	return proc_run(argv, &opts, err);
}

static int configure(const struct build *b, struct buf *config,
		     struct kbuild *k, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/.config", b->obj);

	if (kbuild_is_target(b->o->config) ? make_one(b, b->o->config, 1, err) < 0
				    : file_put(path, b->base.data, b->base.len, err) < 0)
		return -1;
	if (merge(b, err) < 0 || make_one(b, "olddefconfig", 1, err) < 0 ||
	    file_read(path, TEXT_MAX, config, err) < 0)
		return -1;
	if (kbuild_verify(config->data ? config->data : "", &b->o->sets,
			  b->source.dir, err) < 0)
		return -1;
	return kbuild_lost(config->data ? config->data : "",
			   b->fragment.data ? b->fragment.data : "",
			   b->o->fragment ? b->o->fragment : "", &k->notes, err);
}

static int keep(const char *from, const char *to, const char *name, bool needed,
		struct error *err)
{
	cleanup_free char *in = xasprintf("%s/%s", from, name);
	cleanup_free char *out = xasprintf("%s/%s", to, name);
	cleanup_free char *dir = NULL;

	if (!needed && !path_exists(in))
		return 0;
	dir = xstrdup(out);
	*strrchr(dir, '/') = '\0';
	return make_dirs(dir, err) < 0 ? -1 : file_put_copy(in, out, err);
}

/* A line of modules.order is a path, with .o for .ko since 6.2 and kernel/
 * before it until 5.14: kernel_tree.c reads them so, too. */
static int keep_modules(const char *from, const char *to, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/modules.order", from);
	CLEANUP(buf_free) struct buf order = { 0 };

	if (!path_exists(path))
		return 0;
	if (file_read(path, TEXT_MAX, &order, err) < 0)
		return -1;
	for (const char *l = order.data; l && *l; l += strcspn(l, "\n"), l += *l == '\n') {
		cleanup_free char *line = xstrndup(l, strcspn(l, "\n"));
		cleanup_free char *ko = str_ends(line, ".o") ?
			xasprintf("%.*s.ko", (int)strlen(line) - 2, line) : xstrdup(line);

		if (keep(from, to, ko, false, err) < 0 ||
		    (str_starts(ko, "kernel/") && keep(from, to, ko + 7, false, err) < 0))
			return -1;
	}
	return 0;
}

/* What others can look at: what it was made from */
static int write_record(const struct build *b, const struct kbuild *k,
			const char *dir, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/kontest-build", dir);
	CLEANUP(buf_free) struct buf t = { 0 };

	buf_printf(&t, "source = %s\nsource-sha256 = %s\nconfig = %s\n",
		   b->o->source, k->source, b->o->config);
	if (b->o->fragment) {
		char hex[SHA256_HEX];

		sha256_of(b->fragment.data ? b->fragment.data : "",
			  b->fragment.len, hex);
		buf_printf(&t, "fragment = %s\nfragment-sha256 = %s\n",
			   b->o->fragment, hex);
	}
	for (size_t i = 0; i < b->o->sets.n; i++)
		buf_printf(&t, "set = %s\n", b->o->sets.v[i]);
	buf_printf(&t, "compiler = %s\nlinker = %s\nkey = %s\n", k->compiler,
		   b->linker, k->key);
	return file_put(path, t.data, t.len, err);
}

static int collect(const struct build *b, const struct kbuild *k,
		   const char *dir, struct error *err)
{
	static const struct {
		const char *name;
		bool needed;
	} files[] = {
		{ IMAGE, true },
		{ ".config", true },
		{ "include/config/kernel.release", true },
		/* For who debugs it, and for the kernel's own modules_install */
		{ "vmlinux", false },
		{ "System.map", false },
		{ "modules.order", false },
		{ "modules.builtin", false },
		{ "modules.builtin.modinfo", false },
	};
	cleanup_free char *link = xasprintf("%s/bzImage", dir);

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (keep(b->obj, dir, files[i].name, files[i].needed, err) < 0)
			return -1;
	if (keep_modules(b->obj, dir, err) < 0 || write_record(b, k, dir, err) < 0)
		return -1;
	if (symlink(IMAGE, link) < 0)
		return error_set(err, errno, "link '%s'", link);
	return put_sync(dir, err);
}

static int build(const struct cache *c, struct build *b, struct kbuild *k,
		 struct error *err)
{
	cleanup_free char *making = cache_making(c, KIND, k->key);
	cleanup_free char *done = xasprintf("%s/done", making);
	CLEANUP(buf_free) struct buf config = { 0 };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int jobs = b->o->jobs ? b->o->jobs : cpus > 0 ? (unsigned int)cpus : 1;
	const char *targets[] = { "bzImage", NULL, NULL };

	if (kbuild_source_get(c, b->o->source, &b->source, err) < 0)
		return -1;
	b->obj = xasprintf("%s/obj", making);
	if (make_dirs(b->obj, err) < 0 || configure(b, &config, k, err) < 0)
		return -1;
	if (strstr(config.data, "\nCONFIG_MODULES=y\n"))
		targets[1] = "modules";
	if (run_make(b, targets, jobs, err) < 0 || make_dirs(done, err) < 0 ||
	    collect(b, k, done, err) < 0)
		return -1;
	if (rename(done, k->dir) < 0)
		return error_set(err, errno, "rename '%s'", done);
	return remove_tree(making, err);
}

int kbuild(const struct cache *c, const struct kbuild_opts *o,
	   struct kbuild *out, struct error *err)
{
	CLEANUP(build_free) struct build b = { .o = o };
	cleanup_close int lock = -1;
	struct step step;
	bool have;

	*out = (struct kbuild){ 0 };
	if (read_inputs(&b, err) < 0 ||
	    kbuild_source_find(c, o->source, &b.source, err) < 0)
		return -1;
	memcpy(out->source, b.source.digest, sizeof(out->source));
	out->compiler = version_of("gcc", err);
	b.linker = out->compiler ? version_of("ld", err) : NULL;
	if (!b.linker)
		return -1;
	make_key(&b, out);
	out->dir = cache_path(c, KIND, out->key, NULL);
	lock = cache_lock(c, KIND, out->key, err);
	if (lock < 0)
		return -1;
	step_begin(&step, c, "kernel");
	have = path_is_dir(out->dir);
	if (!have && build(c, &b, out, err) < 0) {
		cleanup_free char *left = cache_making(c, KIND, out->key);

		/* Nothing would use it, and objects are large */
		remove_tree(left, NULL);
		return error_prefix(err, "build of '%s'", o->source);
	}
	step_end(&step, have, "%s, %s", o->source, o->config);
	return 0;
}
