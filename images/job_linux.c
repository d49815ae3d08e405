/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_linux.c - the kernel's source, trimmed and configured, from its package
 *
 * Nothing is compiled or run here: the tree is a function of package, manifest
 * and configuration. The kernel's conf, which wants bison and flex, is not
 * needed: a complete .config says all that auto.conf and autoconf.h do.
 */
#include "images/job.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>
#include <sys/stat.h>

#include "images/archive_cleanup.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define SOURCE_IN_DEB "/usr/src/linux-source-6.1.tar.xz"
#define SOURCE_TOP "linux-source-6.1/"
#define READ_BYTES (1u << 20)
#define TEXT_MAX (4u << 20)

/* For each NAME=VALUE of a .config: "CONFIG_NAME", VALUE without its end */
static void each_set(const char *config,
		     void (*fn)(const char *name, const char *value,
				struct buf *out), struct buf *out)
{
	while (*config) {
		size_t len = strcspn(config, "\n");
		cleanup_free char *line = xstrndup(config, len);
		char *eq = strchr(line, '=');

		if (str_starts(line, "CONFIG_") && eq) {
			*eq = '\0';
			fn(line, eq + 1, out);
		}
		config += len + (config[len] == '\n');
	}
}

/* A string without its quotes, which make would take for part of it */
static void auto_conf_line(const char *name, const char *value, struct buf *out)
{
	buf_printf(out, "%s=", name);
	if (*value != '"') {
		buf_printf(out, "%s\n", value);
		return;
	}
	for (const char *p = value + 1; *p && *p != '"'; p++) {
		if (*p == '\\' && p[1])
			p++;
		buf_add(out, p, 1);
	}
	buf_adds(out, "\n");
}

static void autoconf_h_line(const char *name, const char *value, struct buf *out)
{
	if (!strcmp(value, "m"))
		buf_printf(out, "#define %s_MODULE 1\n", name);
	else
		buf_printf(out, "#define %s %s\n", name,
			   strcmp(value, "y") ? value : "1");
}

void linux_auto_conf(const char *config, struct buf *out)
{
	each_set(config, auto_conf_line, out);
}

void linux_autoconf_h(const char *config, struct buf *out)
{
	each_set(config, autoconf_h_line, out);
}

static int add_text(struct tree *t, const char *path, struct buf *text,
		    struct error *err)
{
	size_t len = text->len;

	buf_adds(text, "");
	return tree_add_file(t, path, 0644, steal_ptr(text->data), len, err);
}

static int add_config(struct tree *t, const char *path, struct error *err)
{
	CLEANUP(buf_free) struct buf config = { 0 };
	CLEANUP(buf_free) struct buf make = { 0 };
	CLEANUP(buf_free) struct buf c = { 0 };
	CLEANUP(buf_free) struct buf none = { 0 };

	if (file_read(path, TEXT_MAX, &config, err))
		return -1;
	linux_auto_conf(config.data ? config.data : "", &make);
	linux_autoconf_h(config.data ? config.data : "", &c);
	if (!make.len)
		return error_set(err, 0, "'%s' sets nothing; restore it from the sources",
				 path);
	/* Without auto.conf.cmd make would start conf to have it. */
	if (add_text(t, "/" JOB_LINUX "/.config", &config, err) ||
	    add_text(t, "/" JOB_LINUX "/include/config/auto.conf", &make, err) ||
	    add_text(t, "/" JOB_LINUX "/include/config/auto.conf.cmd", &none, err) ||
	    add_text(t, "/" JOB_LINUX "/include/generated/autoconf.h", &c, err))
		return -1;
	return 0;
}

/**
 * struct manifest - the paths to unpack
 * @text: the file, NULs in place of its newlines
 * @paths: in it, sorted
 * @seen: which of them the package had
 */
struct manifest {
	struct buf text;
	const char **paths;
	bool *seen;
	size_t n;
};

static void manifest_free(struct manifest *m)
{
	buf_free(&m->text);
	free(m->paths);
	free(m->seen);
}

static int manifest_read(struct manifest *m, const char *path, struct error *err)
{
	size_t lines = 0;
	char *rest;

	if (file_read(path, TEXT_MAX, &m->text, err))
		return -1;
	if (!m->text.len || strlen(m->text.data) != m->text.len)
		return error_set(err, 0, "'%s' is no list of paths; restore it from the sources",
				 path);
	for (const char *p = m->text.data; *p; p++)
		lines += *p == '\n';
	m->paths = xcalloc(lines + 1, sizeof(*m->paths));
	m->seen = xcalloc(lines + 1, sizeof(*m->seen));
	rest = m->text.data;
	for (char *line; (line = strsep(&rest, "\n")); ) {
		if (!*line)
			continue;
		if (m->n && strcmp(m->paths[m->n - 1], line) >= 0)
			return error_set(err, 0, "'%s': '%s' is out of order; restore it from the sources",
					 path, line);
		m->paths[m->n++] = line;
	}
	return 0;
}

static int by_path(const void *key, const void *elem)
{
	return strcmp(key, *(const char *const *)elem);
}

static bool *manifest_find(struct manifest *m, const char *path)
{
	const char **p = m->n ? bsearch(path, m->paths, m->n, sizeof(*m->paths),
					by_path) : NULL;

	return p ? &m->seen[p - m->paths] : NULL;
}

static int damaged(const char *deb, struct archive *a, struct error *err)
{
	const char *why = archive_error_string(a);

	return error_set(err, 0, "'%s': '" SOURCE_IN_DEB "' in it is damaged: %s; remove the file, it is fetched again",
			 deb, why ? why : "cut short");
}

static int add_entry(struct tree *t, struct archive *a, struct archive_entry *e,
		     const char *name, const char *deb, struct error *err)
{
	cleanup_free char *path = xasprintf("/" JOB_LINUX "/%s", name);
	int64_t size = archive_entry_size(e);
	cleanup_free char *data = NULL;

	if (archive_entry_filetype(e) != AE_IFREG || archive_entry_hardlink(e) ||
	    size < 0 || size > TEXT_MAX)
		return error_set(err, 0, "'%s': '%s' in it is no plain file of at most 4 MiB",
				 deb, name);
	data = xmalloc((size_t)size + 1);
	if (archive_read_data(a, data, (size_t)size) != size)
		return damaged(deb, a, err);
	return tree_add_file(t, path, archive_entry_perm(e) & 0100 ? 0755 : 0644,
			     steal_ptr(data), (size_t)size, err);
}

static int add_source(struct tree *t, const struct node *source,
		      struct manifest *m, const char *deb, struct error *err)
{
	cleanup_reader struct archive *a = archive_read_new();
	struct archive_entry *e;
	int ret;

	if (!a)
		return error_set(err, 0, "out of memory");
	archive_read_support_filter_xz(a);
	archive_read_support_format_tar(a);
	if (archive_read_open_memory(a, source->data, source->size) != ARCHIVE_OK)
		return damaged(deb, a, err);
	while ((ret = archive_read_next_header(a, &e)) == ARCHIVE_OK ||
	       ret == ARCHIVE_WARN) {
		const char *name = archive_entry_pathname(e);
		bool *seen = NULL;

		if (name && str_starts(name, SOURCE_TOP)) {
			name += strlen(SOURCE_TOP);
			seen = manifest_find(m, name);
		}
		if (!seen)
			continue;
		*seen = true;
		if (add_entry(t, a, e, name, deb, err))
			return -1;
	}
	return ret == ARCHIVE_EOF ? 0 : damaged(deb, a, err);
}

int linux_tree(struct tree *t, const char *deb, const char *files,
	       const char *config, struct error *err)
{
	/* Of the package, the source alone is of interest. */
	static const char *const exclude[] = { "/usr/share/*", NULL };
	CLEANUP(manifest_free) struct manifest m = { 0 };
	CLEANUP(tree_freep) struct tree *package = tree_new();
	const struct node *source;

	if (manifest_read(&m, files, err) ||
	    tree_add_deb(package, deb, exclude, err))
		return -1;
	source = tree_find(package, SOURCE_IN_DEB);
	if (!source || !S_ISREG(source->mode))
		return error_set(err, 0, "package '%s' has no '" SOURCE_IN_DEB "'", deb);
	if (add_source(t, source, &m, deb, err))
		return -1;
	for (size_t i = 0; i < m.n; i++)
		if (!m.seen[i])
			return error_set(err, 0, "the source in '%s' has no '%s', which '%s' names: it is another version than the list is for; use the locked one",
					 deb, m.paths[i], files);
	return add_config(t, config, err);
}
