/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/built.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/paths.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define RECORD "kontest-build"
#define TEXT_MAX (1u << 20)
#define LABEL_CHARS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+"

int built_label_ok(const char *label, struct error *err)
{
	size_t len = strlen(label);

	if (!len || len > 64 || *label == '.' ||
	    strspn(label, LABEL_CHARS) != len)
		return error_set(err, 0, "label '%s': give 1 to 64 letters, digits and _-.+, with no dot at the front",
				 label);
	return 0;
}

static char *built_home(struct error *err)
{
	cleanup_free char *home = data_home(err);

	return home ? xasprintf("%s/kernels", home) : NULL;
}

char *built_dir(const char *label, struct error *err)
{
	cleanup_free char *home = NULL;

	if (built_label_ok(label, err) < 0)
		return NULL;
	home = built_home(err);
	return home ? xasprintf("%s/%s", home, label) : NULL;
}

static bool is_built(const char *dir)
{
	cleanup_free char *record = xasprintf("%s/" RECORD, dir);

	return path_exists(record);
}

static int copy_one(const FTSENT *f, const char *to, struct error *err)
{
	char target[PATH_MAX];
	ssize_t len;

	switch (f->fts_info) {
	case FTS_D:
		return make_dirs(to, err);
	case FTS_F:
		return file_put_copy(f->fts_accpath, to, err);
	case FTS_SL:
	case FTS_SLNONE:
		len = readlink(f->fts_accpath, target, sizeof(target) - 1);
		if (len < 0)
			return error_set(err, errno, "read link '%s'", f->fts_path);
		target[len] = '\0';
		if (symlink(target, to) < 0)
			return error_set(err, errno, "link '%s'", to);
		return 0;
	case FTS_DP:
		return 0;
	default:
		return error_set(err, f->fts_errno, "read '%s'", f->fts_path);
	}
}

static int copy_dir(const char *from, const char *to, struct error *err)
{
	char *const roots[] = { (char *)from, NULL };
	cleanup_fts FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR,
						NULL);
	FTSENT *f;

	if (!fts)
		return error_set(err, errno, "open directory '%s'", from);
	while ((errno = 0, f = fts_read(fts))) {
		cleanup_free char *path = xasprintf("%s%s", to,
						    f->fts_path + strlen(from));

		if (copy_one(f, path, err) < 0)
			return -1;
	}
	return errno ? error_set(err, errno, "read directory '%s'", from) : 0;
}

static int add_label(const char *dir, const char *label, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/" RECORD, dir);
	CLEANUP(buf_free) struct buf text = { 0 };

	buf_printf(&text, "label = %s\n", label);
	if (file_read(path, TEXT_MAX, &text, err) < 0)
		return -1;
	if (unlink(path) < 0)
		return error_set(err, errno, "remove '%s'", path);
	return file_put(path, text.data, text.len, err);
}

int built_publish(const struct kbuild *k, const char *label, const char *dir,
		  struct error *err)
{
	cleanup_free char *plain = xstrdup(dir);
	cleanup_free char *new = NULL, *old = NULL;

	for (size_t n = strlen(plain); n > 1 && plain[n - 1] == '/'; n--)
		plain[n - 1] = '\0';
	new = xasprintf("%s.new.%d", plain, (int)getpid());
	old = xasprintf("%s.old.%d", plain, (int)getpid());
	if (path_exists(plain) && !is_built(plain))
		return error_set(err, 0, "'%s' is there and was not made by `kontest kernel build`: remove it, or name another directory with -o",
				 plain);
	if (strrchr(plain, '/') && strrchr(plain, '/') != plain) {
		cleanup_free char *parent = xstrndup(plain, (size_t)(strrchr(plain, '/') - plain));

		if (make_dirs(parent, err) < 0)
			return -1;
	}
	if (copy_dir(k->dir, new, err) < 0 || add_label(new, label, err) < 0 ||
	    put_sync(new, err) < 0) {
		(void)remove_tree(new, NULL);
		return -1;
	}
	if (rename(plain, old) < 0 && errno != ENOENT)
		return error_set(err, errno, "rename '%s'", plain);
	if (rename(new, plain) < 0)
		return error_set(err, errno, "rename '%s'", new);
	return path_exists(old) ? remove_tree(old, err) : 0;
}

char *built_find(const char *image, struct error *err)
{
	const char *label = image + strlen(BUILT_PREFIX);
	char *dir;

	if (!str_starts(image, BUILT_PREFIX))
		return xstrdup(image);
	dir = built_dir(label, err);
	if (!dir || is_built(dir))
		return dir;
	free(dir);
	error_set(err, 0, "kernel '%s': none was built so; kontest kernel build --label %s ... makes it, kontest kernel list lists those that are there",
		  image, label);
	return NULL;
}

/* The value of "KEY = VALUE" in a record; "" when it has none; owned */
static char *field(const char *text, const char *key)
{
	for (const char *l = text; *l; l += strcspn(l, "\n"), l += *l == '\n') {
		size_t len = strlen(key);

		if (!strncmp(l, key, len) && !strncmp(l + len, " = ", 3))
			return xstrndup(l + len + 3, strcspn(l + len + 3, "\n"));
	}
	return xstrdup("");
}

static int show(FILE *out, const char *home, const char *name, struct error *err)
{
	cleanup_free char *record = xasprintf("%s/%s/" RECORD, home, name);
	cleanup_free char *release = xasprintf("%s/%s/include/config/kernel.release",
					       home, name);
	CLEANUP(buf_free) struct buf text = { 0 }, version = { 0 };
	cleanup_free char *source = NULL, *config = NULL;

	if (file_read(record, TEXT_MAX, &text, err) < 0 ||
	    file_read(release, TEXT_MAX, &version, err) < 0)
		return -1;
	source = field(text.data, "source");
	config = field(text.data, "config");
	fprintf(out, BUILT_PREFIX "%-16s %.*s  %s, %s", name,
		(int)strcspn(version.data, "\n"), version.data, source, config);
	for (const char *l = text.data; *l; l += strcspn(l, "\n"), l += *l == '\n')
		if (str_starts(l, "set = "))
			fprintf(out, ", %.*s", (int)strcspn(l + 6, "\n"), l + 6);
	fputs("\n", out);
	return 0;
}

int built_list(FILE *out, struct error *err)
{
	cleanup_free char *home = built_home(err);
	struct dirent **list;
	int n, ret = 0;

	if (!home)
		return -1;
	n = scandir(home, &list, dirent_visible, alphasort);
	if (n < 0 && errno != ENOENT)
		return error_set(err, errno, "read directory '%s'", home);
	for (int i = 0; i < n; i++) {
		cleanup_free char *dir = xasprintf("%s/%s", home, list[i]->d_name);

		if (!ret && is_built(dir) && built_label_ok(list[i]->d_name, NULL) == 0)
			ret = show(out, home, list[i]->d_name, err);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return ret;
}
