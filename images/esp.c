/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/esp.h"

#include <string.h>

#include "results/base/cleanup.h"
#include "results/base/proc.h"

#define MIB (1ull << 20)
#define SECTOR 512u
#define ROOT_ENTRIES 512u
#define RESERVED_SECTORS 1u
/* Below and above these numbers of clusters it would be FAT12 and FAT32. A few
 * are left out on both ends, where implementations are known to disagree. */
#define CLUSTERS_MIN (4085u + 16u)
#define CLUSTERS_MAX (65525u - 32u)
#define CLUSTER_MIN 2048u
#define CLUSTER_MAX 32768u
#define LABEL "KONTEST"

static const struct {
	const char *program, *package;
} tools[] = {
	{ "mkfs.fat", "dosfstools" },
	{ "mcopy", "mtools" },
	{ "mmd", "mtools" },
};

int esp_inputs(struct sha256 *s, struct error *err)
{
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		cleanup_free char *path = proc_find(tools[i].program);
		char hex[SHA256_HEX];

		if (!path)
			return error_set(err, 0, "there is no program '%s', which makes the EFI system partition; install the Debian package %s (`make deps` installs all that kontest needs)",
					 tools[i].program, tools[i].package);
		if (sha256_file(path, hex, err) < 0)
			return -1;
		sha256_adds(s, hex);
	}
	return 0;
}

/* Bytes of a FAT16 with so many clusters; both FATs in whole sectors. */
static uint64_t fat_bytes(uint64_t clusters, uint32_t cluster)
{
	uint64_t fat = ((clusters + 2) * 2 + SECTOR - 1) / SECTOR;

	return (RESERVED_SECTORS + 2 * fat + ROOT_ENTRIES * 32 / SECTOR) * SECTOR +
	       clusters * cluster;
}

static bool is_dir_of(const char *name, size_t len, const char *other)
{
	return !strncmp(name, other, len) && other[len] == '/';
}

/* Call @fn for every directory that the files need, parents first, once. */
static int each_dir(const struct esp_file *files, size_t n,
		    int (*fn)(const char *dir, void *data, struct error *err),
		    void *data, struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = files[i].name, *slash = name;

		while ((slash = strchr(slash, '/'))) {
			size_t len = (size_t)(slash - name);
			bool seen = false;

			for (size_t j = 0; j < i && !seen; j++)
				seen = is_dir_of(name, len, files[j].name);
			if (!seen) {
				cleanup_free char *dir = xstrndup(name, len);

				if (fn(dir, data, err) < 0)
					return -1;
			}
			slash++;
		}
	}
	return 0;
}

static int count_dir(const char *dir, void *data, struct error *err)
{
	uint64_t *clusters = data;

	(void)dir;
	(void)err;
	(*clusters)++;
	return 0;
}

int esp_plan(const struct esp_file *files, size_t n, struct esp_layout *l,
	     struct error *err)
{
	for (uint32_t cluster = CLUSTER_MIN; cluster <= CLUSTER_MAX; cluster *= 2) {
		uint64_t need = 0, size, clusters;

		for (size_t i = 0; i < n; i++)
			need += (files[i].size + cluster - 1) / cluster;
		if (each_dir(files, n, count_dir, &need, err) < 0)
			return -1;
		if (need < CLUSTERS_MIN)
			need = CLUSTERS_MIN;
		size = (fat_bytes(need, cluster) + MIB - 1) / MIB * MIB;
		/* as many as mkfs.fat could make of that size */
		clusters = size / cluster;
		if (clusters <= CLUSTERS_MAX) {
			*l = (struct esp_layout){ size, cluster };
			return 0;
		}
	}
	return error_set(err, 0, "kernel and initramfs are too large for the EFI system partition (2 GiB): strip the modules of their debugging information");
}

DEFINE_VECTOR(argv, const char *)

/**
 * struct writer - what every run of mtools needs
 * @target: "IMAGE@@OFFSET"
 * @env: environment
 */
struct writer {
	char *target;
	const char *env[16];
};

static int add_name(const char *dir, void *data, struct error *err)
{
	(void)err;
	strings_add(data, xasprintf("::/%s", dir));
	return 0;
}

static int make_dirs_in(const struct writer *w, const struct esp_file *files,
			size_t n, struct error *err)
{
	CLEANUP(strings_clear) struct strings names = { 0 };
	CLEANUP(argv_free) struct argv argv = { 0 };
	struct proc_opts opts = { .env = w->env };

	if (each_dir(files, n, add_name, &names, err) < 0)
		return -1;
	if (!names.n)
		return 0;
	argv_add(&argv, "mmd");
	argv_add(&argv, "-i");
	argv_add(&argv, w->target);
	for (size_t i = 0; i < names.n; i++)
		argv_add(&argv, names.v[i]);
	argv_add(&argv, NULL);
	return proc_run(argv.v, &opts, err);
}

static int copy_file(const struct writer *w, const struct esp_file *f,
		     struct error *err)
{
	cleanup_free char *name = xasprintf("::/%s", f->name);
	const char *const argv[] = {
		"mcopy", "-i", w->target, f->path ? f->path : "-", name, NULL
	};
	struct proc_opts opts = { .env = w->env, .in = f->path ? NULL : f->data };

	return proc_run(argv, &opts, err);
}

static int make_fat(const char *image, uint64_t off,
		    const struct esp_layout *l, uint32_t volume_id,
		    const char *const *env, struct error *err)
{
	cleanup_free char *id = xasprintf("%08x", volume_id);
	cleanup_free char *offset = xasprintf("%llu", (unsigned long long)(off / SECTOR));
	cleanup_free char *per = xasprintf("%u", l->cluster / SECTOR);
	cleanup_free char *kib = xasprintf("%llu", (unsigned long long)(l->size / 1024));
	/* -a: no alignment, which would only make it larger; --invariant first,
	 * because it sets an id of its own */
	const char *const argv[] = {
		"mkfs.fat", "--invariant", "-F", "16", "-S", "512", "-s", per, "-R", "1",
		"-r", "512", "-a", "-g", "255/63", "-D", "0x80", "-M", "0xf8",
		"-h", offset, "-i", id, "-n", LABEL, "--mbr=n",
		"--offset", offset, image, kib, NULL
	};
	struct proc_opts opts = { .env = env };

	return proc_run(argv, &opts, err);
}

int esp_write(const char *image, uint64_t off, const struct esp_layout *l,
	      uint32_t volume_id, uint32_t epoch, const struct esp_file *files,
	      size_t n, struct error *err)
{
	cleanup_free char *target = xasprintf("%s@@%llu", image,
					      (unsigned long long)off);
	cleanup_free char *clock = xasprintf("SOURCE_DATE_EPOCH=%u", epoch);
	struct writer w = { target, {
		clock,
		/* mtools reads these from the user's files and environment */
		"MTOOLSRC=/dev/null", "HOME=/dev/null", "MTOOLS_NO_VFAT=0",
		"MTOOLS_FAT_COMPATIBILITY=0", "MTOOLS_LOWER_CASE=0",
		"MTOOLS_DOTTED_DIR=0", "MTOOLS_NAME_NUMERIC_TAIL=1",
		/* the size need not be whole tracks of whatever geometry */
		"MTOOLS_SKIP_CHECK=1", "MTOOLS_LOCK_TIMEOUT=30", NULL } };

	if (make_fat(image, off, l, volume_id, w.env, err) < 0 ||
	    make_dirs_in(&w, files, n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (copy_file(&w, &files[i], err) < 0)
			return error_prefix(err, "put '%s' on the EFI system partition",
					    files[i].name);
	return 0;
}
