/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apt.c - ask the host's apt what there is, and have it fetch packages
 *
 * apt is run with a configuration file of ours on top of the host's. It gives
 * apt an empty dpkg status, state and caches below DIR/apt, and takes away
 * the hooks that would touch the host. The index lists are the host's own
 * while they are young; else they are updated below DIR/apt.
 */
#include "images/apt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "images/apt_run.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define FETCH_TIMEOUT_S 1800

static void package_clear(struct package *p)
{
	free(p->name);
	free(p->version);
	free(p->arch);
	free(p->path);
	memset(p, 0, sizeof(*p));
}

void packages_clear(struct packages *p)
{
	for (size_t i = 0; i < p->n; i++)
		package_clear(&p->v[i]);
	packages_free(p);
}

static int by_name(const void *a, const void *b)
{
	const struct package *x = a, *y = b;
	int d = strcmp(x->name, y->name);

	return d ? d : strcmp(x->version, y->version);
}

/* %3a -> ':', in place; apt writes an epoch's colon so in file names */
static void percent_decode(char *s)
{
	char *to = s;
	unsigned int byte;

	for (; *s; s++) {
		if (*s == '%' && sscanf(s + 1, "%2x", &byte) == 1 &&
		    s[1] && s[2]) {
			*to++ = (char)byte;
			s += 2;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* 'URI' NAME_VERSION_ARCH.deb SIZE SHA256:HEX */
static bool parse_uri_line(char *line, struct package *p)
{
	char *save = NULL, *end, *file, *size, *hash, *version, *arch;

	end = strchr(line + 1, '\'');
	if (line[0] != '\'' || !end)
		return false;
	file = strtok_r(end + 1, " ", &save);
	size = strtok_r(NULL, " ", &save);
	hash = strtok_r(NULL, " ", &save);
	if (!hash || !str_ends(file, ".deb") || !str_starts(hash, "SHA256:") ||
	    strlen(hash + 7) != SHA256_HEX - 1 || !parse_u64(size, &p->size))
		return false;
	file[strlen(file) - 4] = '\0';
	version = strchr(file, '_');
	arch = strrchr(file, '_');
	if (!version || version == arch)
		return false;
	*version++ = *arch++ = '\0';
	percent_decode(version);
	p->name = xstrdup(file);
	p->version = xstrdup(version);
	p->arch = xstrdup(arch);
	memcpy(p->sha256, hash + 7, SHA256_HEX);
	p->path = NULL;
	return true;
}

static int parse_uris(char *text, struct packages *out, struct error *err)
{
	char *save = NULL;

	for (char *l = strtok_r(text, "\n", &save); l;
	     l = strtok_r(NULL, "\n", &save)) {
		struct package p = { 0 };

		if (l[0] != '\'')
			continue;
		if (!parse_uri_line(l, &p))
			return error_set(err, 0,
				"apt-get --print-uris gave no SHA-256 for %s; the repository is too old or too weak: use another",
				l);
		packages_add(out, p);
	}
	return 0;
}

static void add_names(struct strings *argv, const char *const names[])
{
	for (size_t i = 0; names[i]; i++)
		strings_add(argv, xstrdup(names[i]));
}

static int resolve(struct apt *a, const char *const names[], bool only,
		   struct packages *out, struct error *err)
{
	CLEANUP(strings_clear) struct strings argv = { 0 };
	CLEANUP(buf_free) struct buf text = { 0 };

	add_names(&argv, (const char *const[]){ "apt-get", "-qq", "-y",
		"--print-uris", only ? "download" : "install", NULL });
	add_names(&argv, names);
	if (apt_ask(a, &argv, &text, err))
		return -1;
	if (parse_uris(text.data ? text.data : (char[]){ "" }, out, err))
		return -1;
	if (!out->n)
		return error_set(err, 0, "apt-get named no package file for '%s'",
				 names[0]);
	qsort(out->v, out->n, sizeof(*out->v), by_name);
	return 0;
}

int apt_resolve(const struct cache *c, const char *const names[], bool only,
		struct packages *out, struct error *err)
{
	CLEANUP(apt_close) struct apt a = APT_CLOSED;
	struct packages found = { 0 };

	if (!names[0])
		return error_set(err, 0, "no package was named");
	if (apt_open(&a, c, err))
		return -1;
	if (resolve(&a, names, only, &found, err)) {
		packages_clear(&found);
		return -1;
	}
	packages_clear(out);
	*out = found;
	return 0;
}

/* Is the package in the cache, and whole? Then @p->path says where, else it is
 * NULL. A damaged file is thrown away. */
static bool cached(const struct cache *c, struct package *p)
{
	cleanup_free char *path = cache_path(c, "debs", p->sha256, ".deb");
	char hex[SHA256_HEX];
	struct stat st;

	free(steal_ptr(p->path));
	if (stat(path, &st))
		return false;
	if ((uint64_t)st.st_size != p->size || sha256_file(path, hex, NULL) ||
	    strcmp(hex, p->sha256)) {
		(void)unlink(path);
		return false;
	}
	p->path = steal_ptr(path);
	return true;
}

static int keep_deb(const struct cache *c, const char *file, struct error *err)
{
	cleanup_close int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	cleanup_free char *path = NULL;
	char hex[SHA256_HEX];

	if (fd < 0)
		return error_set(err, errno, "open '%s'", file);
	if (sha256_file(file, hex, err))
		return -1;
	path = cache_path(c, "debs", hex, ".deb");
	if (fchmod(fd, 0644))
		return error_set(err, errno, "chmod '%s'", file);
	if (fsync(fd))
		return error_set(err, errno, "write '%s'", file);
	if (rename(file, path))
		return error_set(err, errno, "rename '%s' to '%s'", file, path);
	return 0;
}

/* Take every package file out of the download directory, by its content. */
static int keep_debs(const struct cache *c, const char *dir, struct error *err)
{
	cleanup_closedir DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return error_set(err, errno, "read directory '%s'", dir);
	while ((e = readdir(d))) {
		cleanup_free char *file = xasprintf("%s/%s", dir, e->d_name);

		if (str_ends(e->d_name, ".deb") && keep_deb(c, file, err))
			return -1;
	}
	return 0;
}

static int download(struct apt *a, const struct cache *c,
		    const struct packages *p, struct error *err)
{
	CLEANUP(strings_clear) struct strings argv = { 0 };
	CLEANUP(buf_free) struct buf text = { 0 };
	/* Under apt's lock: a directory that is there was left by a killed run. */
	cleanup_free char *dir = cache_path(c, "debs", ".fetch", "");
	struct error ignored;
	int ret;

	if (remove_tree(dir, err) || make_dirs(dir, err))
		return -1;
	add_names(&argv, (const char *const[]){ "apt-get", "-qq", "download",
						NULL });
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].path)
			strings_add(&argv, xasprintf("%s=%s", p->v[i].name,
						     p->v[i].version));
	ret = apt_do(a, &argv, FETCH_TIMEOUT_S, dir, &text, err);
	/* What did arrive is kept, so that a second try has less to do. */
	if (keep_debs(c, dir, ret ? &ignored : err))
		ret = -1;
	if (remove_tree(dir, ret ? &ignored : err))
		ret = -1;
	return ret;
}

static size_t count_missing(const struct cache *c, struct packages *p)
{
	size_t missing = 0;

	for (size_t i = 0; i < p->n; i++)
		missing += !cached(c, &p->v[i]);
	return missing;
}

int apt_fetch(const struct cache *c, struct packages *p, struct error *err)
{
	CLEANUP(apt_close) struct apt a = APT_CLOSED;

	if (!count_missing(c, p))
		return 0;
	if (apt_open(&a, c, err))
		return -1;
	/* Somebody else may have fetched them while we waited for the lock. */
	if (!count_missing(c, p))
		return 0;
	if (download(&a, c, p, err))
		return -1;
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].path && !cached(c, &p->v[i]))
			return error_set(err, 0,
				"package %s %s as the mirror has it is not the one wanted (SHA-256 %s, %llu bytes): the mirror or the lock file was changed",
				p->v[i].name, p->v[i].version, p->v[i].sha256,
				(unsigned long long)p->v[i].size);
	return 0;
}

int apt_gone(const struct cache *c, struct packages *p, struct strings *gone,
	     struct error *err)
{
	CLEANUP(apt_close) struct apt a = APT_CLOSED;
	CLEANUP(strings_clear) struct strings argv = { 0 };
	CLEANUP(buf_free) struct buf text = { 0 };
	bool again = false;

	if (!count_missing(c, p))
		return 0;
	if (apt_open(&a, c, err))
		return -1;
	add_names(&argv, (const char *const[]){ "apt-cache", "-q", "show",
						NULL });
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].path)
			strings_add(&argv, xstrdup(p->v[i].name));
	do {
		strings_clear(gone);
		text.len = 0;
		if (apt_show(&a, &argv, &text, err))
			return -1;
		/* Its SHA-256 in the lists is what makes a version this one. */
		for (size_t i = 0; i < p->n; i++)
			if (!p->v[i].path &&
			    (!text.len || !strstr(text.data, p->v[i].sha256)))
				strings_add(gone, xasprintf("%s %s",
					p->v[i].name, p->v[i].version));
		/* Old lists may not know a new version yet. */
		again = gone->n && apt_refresh(&a);
	} while (again);
	return 0;
}

/* The first name with @prefix in a Depends field's value, or NULL. */
static char *pick_depends(const char *value, const char *end,
			  const char *prefix, const char *not_this)
{
	const char *p = value;

	while (p < end) {
		size_t len;

		p += strspn(p, " ,|");
		len = strcspn(p, " ,|:(\n");
		if (len >= strlen(prefix) && !strncmp(p, prefix, strlen(prefix)) &&
		    (len != strlen(not_this) || strncmp(p, not_this, len)))
			return xstrndup(p, len);
		p += len + strcspn(p + len, ",|\n");
		if (p < end && *p == '\n')
			break;
	}
	return NULL;
}

int apt_meta(const struct cache *c, const char *name, const char *prefix,
	     char **real, struct error *err)
{
	CLEANUP(apt_close) struct apt a = APT_CLOSED;
	CLEANUP(strings_clear) struct strings argv = { 0 };
	CLEANUP(buf_free) struct buf text = { 0 };
	const char *field;

	*real = NULL;
	if (apt_open(&a, c, err))
		return -1;
	add_names(&argv, (const char *const[]){ "apt-cache", "-q", "show",
		"--no-all-versions", name, NULL });
	if (apt_ask(&a, &argv, &text, err))
		return -1;
	field = text.len ? strstr(text.data, "\nDepends:") : NULL;
	if (field) {
		field += strlen("\nDepends:");
		*real = pick_depends(field, field + strcspn(field, "\n"), prefix,
				     name);
	}
	if (!*real)
		return error_set(err, 0,
			"package %s depends on no package %s*: it is no meta-package; name the package itself",
			name, prefix);
	return 0;
}
