/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/export.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/rerun.h"
#include "images/bundle.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/journal.h"

#define NOTE_MAX 4096
#define NO_OWNER SIZE_MAX

/* Is @path, or what the note beside it says of it, the SHA-256 we want? */
static bool is_wanted(const char *path, bool note, const char *sha256)
{
	CLEANUP(buf_free) struct buf b = { 0 };
	char hex[SHA256_HEX];

	if (!note)
		return !sha256_file(path, hex, NULL) && !strcmp(hex, sha256);
	return !file_read(path, NOTE_MAX, &b, NULL) && b.len >= SHA256_HEX - 1 &&
	       !strncmp(b.data, sha256, SHA256_HEX - 1);
}

/**
 * struct kind - a kind of layer in the cache
 * @dir: its directory
 * @suffix: of the files that hold or tell the digest; "/NAME": in KEY/NAME
 * @image: what stands in @suffix's place in the image's name; NULL: it is the
 *         image itself
 * @what: for the user
 */
struct kind {
	const char *dir, *suffix, *image, *what;
};

static const struct kind kinds[] = {
	{ "images", ".sha256", ".img", "system image" },
	{ "kernels", "/vmlinuz", NULL, "kernel" },
	{ "initramfs", ".cpio", NULL, "initramfs" },
	{ "work", ".sha256", ".img", "work disk" },
	{ "other", ".sha256", ".img", "second disk" },
	{ "swap", ".sha256", ".img", "swap disk" },
};
enum { SYSTEM, VMLINUZ, INITRD, WORK, OTHER, SWAP };

/* The layer with that content, whatever it is called; owned by the caller. */
static char *find_layer(const struct cache *c, const struct kind *k,
			const char *sha256)
{
	cleanup_free char *dir = xasprintf("%s/%s", c->dir, k->dir);
	cleanup_closedir DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		cleanup_free char *path = NULL, *image = NULL;
		size_t len = strlen(e->d_name);

		if (*e->d_name == '.' || (*k->suffix != '/' && !str_ends(e->d_name, k->suffix)))
			continue;
		path = xasprintf("%s/%s%s", dir, e->d_name, *k->suffix == '/' ? k->suffix : "");
		if (!path_exists(path) || !is_wanted(path, k->image, sha256))
			continue;
		if (!k->image)
			return steal_ptr(path);
		image = xasprintf("%s/%.*s%s", dir, (int)(len - strlen(k->suffix)),
				  e->d_name, k->image);
		if (path_exists(image))
			return steal_ptr(image);
	}
	return NULL;
}

static int get_layer(const struct cache *c, int kind, const char *sha256,
		     char **path, struct error *err)
{
	*path = find_layer(c, &kinds[kind], sha256);
	if (*path)
		return 0;
	return error_set(err, 0, "the %s with the SHA-256 %.12s... has left the cache '%s': run the plan again and export that run, or leave the images out with --results-only",
			 kinds[kind].what, sha256, c->dir);
}

static int find_images(struct rerun *r, struct error *err)
{
	struct experiment *e = &r->e;
	const struct cache *c = e->cache;

	for (size_t k = 0; k < e->n_candidates; k++) {
		struct candidate *a = &e->candidates[k];

		if (get_layer(c, SYSTEM, a->system.digest, &a->system.path, err) < 0 ||
		    get_layer(c, VMLINUZ, a->kernel.digest, &a->system.vmlinuz, err) < 0 ||
		    get_layer(c, INITRD, a->initramfs.digest, &a->system.initrd, err) < 0)
			return error_prefix(err, "kernel '%s'", a->kernel.label);
	}
	if (get_layer(c, WORK, e->work.digest, &e->work.path, err) < 0 ||
	    (e->profile.other.present &&
	     get_layer(c, OTHER, e->other.digest, &e->other.path, err) < 0) ||
	    (e->profile.swap.present &&
	     get_layer(c, SWAP, e->swap.digest, &e->swap.path, err) < 0))
		return -1;
	return 0;
}

/* Which kernel a file of the bundle belongs to, in the order of the files. */
DEFINE_VECTOR(owners, size_t)

struct export {
	struct rerun *r;
	struct bundle_draft draft;
	struct owners owners;
};

static void export_free(struct export *x)
{
	bundle_draft_free(&x->draft);
	owners_free(&x->owners);
}

static int add_file(struct export *x, const char *role, size_t kernel,
		    const char *suffix, const char *path, const char *sha256,
		    bool embedded, struct error *err)
{
	cleanup_free char *name = kernel == NO_OWNER ? xasprintf("%s%s", role, suffix) :
				  xasprintf("%s-%zu%s", role, kernel + 1, suffix);

	owners_add(&x->owners, kernel);
	return bundle_add_file(&x->draft, name, role, path, sha256, embedded, NULL, err);
}

static int add_images(struct export *x, struct error *err)
{
	struct experiment *e = &x->r->e;

	for (size_t k = 0; k < e->n_candidates; k++) {
		struct candidate *c = &e->candidates[k];

		if (add_file(x, BUNDLE_VMLINUZ, k, "", c->system.vmlinuz,
			     c->kernel.digest, true, err) < 0 ||
		    add_file(x, BUNDLE_INITRD, k, "", c->system.initrd,
			     c->initramfs.digest, true, err) < 0)
			return -1;
	}
	for (size_t k = 0; k < e->n_candidates; k++) {
		struct candidate *c = &e->candidates[k];

		if (add_file(x, BUNDLE_SYSTEM, k, ".img", c->system.path,
			     c->system.digest, false, err) < 0)
			return -1;
	}
	if (add_file(x, BUNDLE_WORK, NO_OWNER, ".img", e->work.path, e->work.digest, false, err) < 0 ||
	    (e->other.path && add_file(x, BUNDLE_OTHER, NO_OWNER, ".img", e->other.path,
				       e->other.digest, false, err) < 0) ||
	    (e->swap.path && add_file(x, BUNDLE_SWAP, NO_OWNER, ".img", e->swap.path,
				      e->swap.digest, false, err) < 0))
		return -1;
	return 0;
}

/* Put @with for every @what. */
static void replace_all(char **text, const char *what, const char *with)
{
	struct buf out = { 0 };
	const char *at = *text, *hit;

	while (what && (hit = strstr(at, what))) {
		buf_add(&out, at, (size_t)(hit - at));
		buf_adds(&out, with);
		at = hit + strlen(what);
	}
	buf_adds(&out, at);
	free(*text);
	*text = out.data;
}

/* The domain as it was booted, with the bundle's names for the files: where they
 * were on the author's machine is nobody's business. */
static int add_domain(struct export *x, size_t k, struct error *err)
{
	const struct candidate *c = &x->r->e.candidates[k];
	cleanup_free char *system = xasprintf(BUNDLE_SYSTEM "-%zu.img", k + 1);
	cleanup_free char *vmlinuz = xasprintf(BUNDLE_VMLINUZ "-%zu", k + 1);
	cleanup_free char *initrd = xasprintf(BUNDLE_INITRD "-%zu", k + 1);
	cleanup_free char *name = xasprintf("kontest-%.8s-%zu", x->r->boots.v[0].run_id, k + 1);
	cleanup_free char *path = xasprintf("domain-%zu.xml", k + 1);
	cleanup_free char *xml = NULL;
	cleanup_close int fd = memfd_create("results", MFD_CLOEXEC);
	struct boot_config cfg;
	char results[64];

	/* Exact mode counts its bytes among the machine's. */
	if (fd < 0 || ftruncate(fd, JOURNAL_DISK_BYTES) < 0)
		return error_set(err, errno, "make a file in memory");
	snprintf(results, sizeof(results), "/proc/self/fd/%d", fd);
	experiment_boot(&x->r->e, k, &cfg);
	cfg.name = name;
	cfg.dir = ".";
	cfg.results.path = results;
	xml = domain_xml(&cfg, err);
	if (!xml)
		return -1;
	replace_all(&xml, c->system.path, system);
	replace_all(&xml, c->system.vmlinuz, vmlinuz);
	replace_all(&xml, c->system.initrd, initrd);
	replace_all(&xml, cfg.work.path, BUNDLE_WORK ".img");
	replace_all(&xml, cfg.other.path, BUNDLE_OTHER ".img");
	replace_all(&xml, cfg.swap.path, BUNDLE_SWAP ".img");
	replace_all(&xml, results, "results.img");
	bundle_add_text(&x->draft, path, BUNDLE_DOMAIN, xml, strlen(xml));
	return 0;
}

static char *tools_json(const struct boot_record *b)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s}", "kontest",
			      context_text(b, NULL, "kontest"), "qemu",
			      context_text(b, "qemu", "version"), "qemu_package",
			      context_text(b, "qemu", "package"), "libvirt",
			      context_text(b, "host", "libvirt"), "accel",
			      context_text(b, NULL, "accel"));
	char *text = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);

	json_decref(o);
	return text;
}

/* What is small comes first: a reader that wants results only need not go on. */
static int add_texts(struct export *x, struct error *err)
{
	struct rerun *r = x->r;
	const struct boot_record *b = &r->boots.v[0];
	const char *profile = context_text(b, "profile", "text");
	const char *plan = context_text(b, "plan", "text");

	memcpy(x->draft.m.run_id, b->run_id, sizeof(b->run_id));
	x->draft.m.tools = tools_json(b);
	bundle_add_text(&x->draft, "profile.ini", BUNDLE_PROFILE, profile, strlen(profile));
	bundle_add_text(&x->draft, "plan.ini", BUNDLE_PLAN, plan, strlen(plan));
	for (size_t k = 0; x->draft.m.full && k < r->e.n_candidates; k++)
		if (add_domain(x, k, err) < 0)
			return -1;
	for (size_t i = 0; i < r->boots.n; i++) {
		cleanup_free char *path = xasprintf("journals/%s", r->boots.v[i].id);

		if (bundle_add_member(&x->draft, path, BUNDLE_JOURNAL, r->journals.v[i], err) < 0)
			return -1;
	}
	return 0;
}

/* To whom each member's bytes belong: a kernel alone, or several. */
static void sum_up(const struct export *x, const double *packed, double *kernel,
		   double *shared)
{
	const struct bundle_manifest *m = &x->draft.m;
	size_t none = x->r->e.n_candidates, many = none + 1;
	cleanup_free size_t *owner = xcalloc(m->members.n + 1, sizeof(*owner));

	for (size_t i = 0; i < m->members.n; i++)
		owner[i] = none;
	for (size_t f = 0; f < m->files.n; f++) {
		const struct bundle_extents *e = &m->files.v[f].extents;
		size_t k = x->owners.v[f] == NO_OWNER ? many : x->owners.v[f];

		for (size_t i = 0; i < e->n; i++) {
			size_t *o = &owner[e->v[i].member];

			*o = *o == none || *o == k ? k : many;
		}
	}
	for (size_t i = 0; i < m->members.n; i++) {
		if (owner[i] < none)
			kernel[owner[i]] += packed[i];
		else
			*shared += packed[i];
	}
}

static void say(const struct export *x, const char *path, const double *packed,
		uint64_t size, FILE *out)
{
	const struct experiment *e = &x->r->e;
	cleanup_free double *kernel = xcalloc(e->n_candidates + 1, sizeof(*kernel));
	double shared = 0;

	sum_up(x, packed, kernel, &shared);
	fprintf(out, "%s: run %s, %s, %zu boots of %zu kernels\n", path,
		x->draft.m.run_id, x->draft.m.full ? "with its images" : "results only",
		x->r->boots.n, e->n_candidates);
	for (size_t k = 0; x->draft.m.full && k < e->n_candidates; k++)
		fprintf(out, "  %8.2f MB  kernel %s alone\n", kernel[k] / 1e6,
			e->candidates[k].kernel.label);
	fprintf(out, "  %8.2f MB  %s\n", shared / 1e6, x->draft.m.full ?
		"once for all: what several kernels share, disks, journals" :
		"journals, plan, profile");
	fprintf(out, "  %8.2f MB  in all\n", (double)size / 1e6);
}

int export_run(struct store *s, const char *run_id, const struct cache *cache,
	       bool results_only, const char *path, FILE *out,
	       struct error *err)
{
	CLEANUP(strings_clear) struct strings journals = { 0 };
	CLEANUP(rerun_free) struct rerun r = { 0 };
	CLEANUP(export_free) struct export x = { .r = &r };
	cleanup_free double *packed = NULL;
	uint64_t size;

	if (store_boots(s, run_id, &journals, err) < 0)
		return -1;
	if (rerun_load(&r, cache, &journals, err) < 0)
		return error_prefix(err, "run '%s'", run_id);
	x.draft.m.full = !results_only;
	if ((!results_only && find_images(&r, err) < 0) || add_texts(&x, err) < 0 ||
	    (!results_only && add_images(&x, err) < 0))
		return -1;
	packed = xcalloc(x.draft.m.members.n + 1, sizeof(*packed));
	if (bundle_write(&x.draft, path, packed, &size, err) < 0)
		return -1;
	say(&x, path, packed, size, out);
	return 0;
}
