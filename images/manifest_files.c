/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * manifest_files.c - the list of a root file system's files, as mtree(5) has it
 *
 *	./usr/bin/gcc-12 type=file mode=0755 uid=0 gid=0 size=1 sha256digest=HEX
 *	./usr/bin/gcc type=link mode=0777 uid=0 gid=0 link=gcc-12
 *
 * Anything but printable ASCII is a backslash and three octal digits.
 */
#include <string.h>
#include <sys/stat.h>

#include "images/manifest.h"
#include "results/base/cleanup.h"

#define LOST_FOUND "/lost+found"
#define HEADER "#mtree\n"

static const struct {
	mode_t type;
	const char *name;
} types[] = {
	{ S_IFREG, "file" }, { S_IFDIR, "dir" }, { S_IFLNK, "link" },
	{ S_IFCHR, "char" }, { S_IFBLK, "block" }, { S_IFIFO, "fifo" },
	{ S_IFSOCK, "socket" },
};

static void put_escaped(struct buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c > ' ' && c < 0x7f && c != '\\' && c != '#')
			buf_add(out, &s[i], 1);
		else
			buf_printf(out, "\\%03o", c);
	}
}

/* struct writing - manifest_files() at work */
struct writing {
	struct tree *tree;
	struct buf *out;
	struct error *err;
};

static int put_node(const struct node *n, void *data)
{
	struct writing *w = data;
	const struct node *content = n;
	const char *type = NULL;
	char hex[SHA256_HEX];

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].type == (n->mode & S_IFMT))
			type = types[i].name;
	if (n->hardlink)
		content = tree_find(w->tree, n->hardlink);
	if (!type || !content)
		return error_set(w->err, 0, "'%s' is of a type that cannot be listed",
				 n->path);
	buf_adds(w->out, ".");
	if (strcmp(n->path, "/"))
		put_escaped(w->out, n->path, strlen(n->path));
	buf_printf(w->out, " type=%s mode=%04o uid=%u gid=%u", type,
		   (unsigned int)n->mode & 07777, n->uid, n->gid);
	if (S_ISREG(n->mode)) {
		sha256_of(content->data, content->size, hex);
		buf_printf(w->out, " size=%zu sha256digest=%s", content->size, hex);
	} else if (S_ISLNK(n->mode)) {
		buf_adds(w->out, " link=");
		put_escaped(w->out, n->data, n->size);
	} else if (S_ISCHR(n->mode) || S_ISBLK(n->mode)) {
		buf_printf(w->out, " device=linux,%u,%u", n->rdev_major,
			   n->rdev_minor);
	}
	buf_adds(w->out, "\n");
	return 0;
}

int manifest_files(struct tree *t, struct buf *out, struct error *err)
{
	struct writing w = { t, out, err };

	buf_adds(out, HEADER);
	if (tree_each(t, put_node, &w))
		return -1;
	if (!tree_find(t, LOST_FOUND))
		buf_adds(out, "." LOST_FOUND " type=dir mode=0700 uid=0 gid=0\n");
	return 0;
}

/* --- reading it ---------------------------------------------------------------- */

/* In place; false when a backslash is no octal escape. */
static bool unescape(char *s)
{
	char *to = s;

	for (; *s; to++) {
		unsigned int v = 0;

		if (*s != '\\') {
			*to = *s++;
			continue;
		}
		for (int i = 1; i <= 3; i++) {
			if (s[i] < '0' || s[i] > '7')
				return false;
			v = v * 8 + (unsigned int)(s[i] - '0');
		}
		if (!v || v > 255)
			return false;
		*to = (char)v;
		s += 4;
	}
	*to = '\0';
	return true;
}

static bool octal(const char *s, mode_t *mode)
{
	unsigned int v = 0;
	size_t n = strlen(s);

	if (!n || n > 5)
		return false;
	for (; *s; s++) {
		if (*s < '0' || *s > '7')
			return false;
		v = v * 8 + (unsigned int)(*s - '0');
	}
	*mode |= v & 07777;
	return v <= 07777;
}

static bool keyword(char *word, struct listed *l)
{
	char *value = strchr(word, '=');
	uint64_t n = 0;

	if (!value)
		return false;
	*value++ = '\0';
	if (!strcmp(word, "type")) {
		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
			if (!strcmp(types[i].name, value))
				l->mode |= types[i].type;
		return (l->mode & S_IFMT) != 0;
	}
	if (!strcmp(word, "mode"))
		return octal(value, &l->mode);
	if (!strcmp(word, "link")) {
		free(l->link);
		l->link = xstrdup(value);
		return unescape(l->link);
	}
	if (!strcmp(word, "device"))
		return true;
	if (!strcmp(word, "sha256digest")) {
		if (strlen(value) != SHA256_HEX - 1)
			return false;
		memcpy(l->digest, value, SHA256_HEX);
		return true;
	}
	if (!parse_u64(value, &n))
		return false;
	if (!strcmp(word, "size"))
		l->size = n;
	else if (!strcmp(word, "uid") && n <= UINT32_MAX)
		l->uid = (uid_t)n;
	else if (!strcmp(word, "gid") && n <= UINT32_MAX)
		l->gid = (gid_t)n;
	else
		return false;
	return true;
}

static bool parse_line(char *line, struct listed *l)
{
	char *save = NULL, *word = strtok_r(line, " ", &save);

	if (!word || word[0] != '.' || (word[1] && word[1] != '/'))
		return false;
	l->path = xstrdup(word[1] ? word + 1 : "/");
	if (!unescape(l->path))
		return false;
	while ((word = strtok_r(NULL, " ", &save)))
		if (!keyword(word, l))
			return false;
	return (l->mode & S_IFMT) && S_ISREG(l->mode) == (*l->digest != '\0') &&
	       S_ISLNK(l->mode) == (l->link != NULL);
}

static void listed_free(struct listed *l)
{
	free(l->path);
	free(l->link);
}

void listing_clear(struct listing *l)
{
	for (size_t i = 0; i < l->n; i++)
		listed_free(&l->v[i]);
	listing_free(l);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct listed *)a)->path,
		      ((const struct listed *)b)->path);
}

int manifest_parse_files(const char *text, const char *what,
			 struct listing *out, struct error *err)
{
	cleanup_free char *copy = NULL;
	char *save = NULL;
	size_t lineno = 1;

	if (!str_starts(text, HEADER))
		return error_set(err, 0, "%s: no list of files, which begins with #mtree",
				 what);
	copy = xstrdup(text + strlen(HEADER));
	for (char *line = strtok_r(copy, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		struct listed l = { 0 };

		lineno++;
		if (!parse_line(line, &l)) {
			listed_free(&l);
			listing_clear(out);
			return error_set(err, 0, "%s line %zu: not a line that kontest writes: the list is damaged",
					 what, lineno);
		}
		listing_add(out, l);
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_path);
	for (size_t i = 1; i < out->n; i++)
		if (!strcmp(out->v[i].path, out->v[i - 1].path)) {
			error_set(err, 0, "%s: '%s' is listed twice: the list is damaged",
				  what, out->v[i].path);
			listing_clear(out);
			return -1;
		}
	return 0;
}
