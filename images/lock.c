/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock.c - lock files: read, write, compare
 */
#include "images/lock.h"

#include <string.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"

#define LOCK_MAX_BYTES (1 << 20)
#define REPLACES "# in place of lock "
#define FIELDS 5

/* Names become arguments of apt and must be nothing but names (Debian Policy,
 * 5.6.1 and 5.6.12). */
static bool is_name(const char *s)
{
	return *s && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789+-.") ==
		strlen(s) && *s != '-' && *s != '+' && *s != '.';
}

static bool is_version(const char *s)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-~:";

	return *s >= '0' && *s <= '9' && strspn(s, allowed) == strlen(s);
}

static const struct package *find(const struct packages *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->v[i].name, name))
			return &p->v[i];
	return NULL;
}

static int parse_line(char *line, const char *path, unsigned int lineno,
		      struct packages *out, struct error *err)
{
	char *field[FIELDS + 1] = { NULL }, *save = NULL;
	struct package p = { 0 };
	const char *bad = NULL;
	size_t n = 0;

	for (char *f = strtok_r(line, " \t", &save); f && n <= FIELDS;
	     f = strtok_r(NULL, " \t", &save))
		field[n++] = f;
	if (n != FIELDS)
		return error_set(err, 0,
			"%s:%u: %zu fields, not the five: name version arch sha256 size; restore the file from the sources",
			path, lineno, n);
	if (!is_name(field[0]))
		bad = field[0];
	else if (!is_version(field[1]))
		bad = field[1];
	else if (strcmp(field[2], "amd64") && strcmp(field[2], "all"))
		bad = field[2];
	else if (!sha256_is(field[3]))
		bad = field[3];
	else if (!parse_u64(field[4], &p.size) || !p.size)
		bad = field[4];
	if (bad)
		return error_set(err, 0,
			"%s:%u: '%s' is no valid name, version, arch (amd64, all), SHA-256 or size; restore the file from the sources",
			path, lineno, bad);
	if (find(out, field[0]))
		return error_set(err, 0, "%s:%u: package '%s' is named twice; remove one",
				 path, lineno, field[0]);
	p.name = xstrdup(field[0]);
	p.version = xstrdup(field[1]);
	p.arch = xstrdup(field[2]);
	memcpy(p.sha256, field[3], SHA256_HEX);
	packages_add(out, p);
	return 0;
}

static int parse(char *text, const char *path, struct lock *l,
		 struct error *err)
{
	unsigned int lineno = 0;

	for (char *line; (line = strsep(&text, "\n")); ) {
		lineno++;
		if (str_starts(line, REPLACES) &&
		    sha256_is(line + strlen(REPLACES)))
			memcpy(l->replaces, line + strlen(REPLACES), SHA256_HEX);
		if (*line && *line != '#' &&
		    parse_line(line, path, lineno, &l->packages, err))
			return -1;
	}
	if (!l->packages.n)
		return error_set(err, 0, "'%s' names no package; restore the file from the sources",
				 path);
	return 0;
}

int lock_read(const char *path, struct lock *l, struct error *err)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	CLEANUP(lock_free) struct lock read = { 0 };

	if (file_read(path, LOCK_MAX_BYTES, &text, err))
		return -1;
	if (text.len && strlen(text.data) != text.len)
		return error_set(err, 0, "'%s' is no text file; restore it from the sources",
				 path);
	if (parse(text.data ? text.data : (char[]){ "" }, path, &read, err))
		return -1;
	*l = read;
	read = (struct lock){ 0 };
	return 0;
}

void lock_free(struct lock *l)
{
	packages_clear(&l->packages);
	l->replaces[0] = '\0';
}

void lock_text(const char *recipe, const struct lock *l, struct buf *text)
{
	buf_printf(text, "# packages of recipe %s: name version arch sha256 size_bytes\n",
		   recipe);
	if (l->replaces[0])
		buf_printf(text, REPLACES "%s\n", l->replaces);
	for (size_t i = 0; i < l->packages.n; i++) {
		const struct package *p = &l->packages.v[i];

		buf_printf(text, "%s %s %s %s %llu\n", p->name, p->version,
			   p->arch, p->sha256, (unsigned long long)p->size);
	}
}

int lock_write(const char *path, const char *recipe, const struct lock *l,
	       struct error *err)
{
	CLEANUP(buf_free) struct buf text = { 0 };

	lock_text(recipe, l, &text);
	return file_write(path, text.data, text.len, err);
}

void lock_digest(const char *recipe, const struct lock *l,
		 char hex[SHA256_HEX])
{
	CLEANUP(buf_free) struct buf text = { 0 };

	lock_text(recipe, l, &text);
	sha256_of(text.data, text.len, hex);
}

char *lock_changes(const struct packages *before, const struct packages *now)
{
	struct buf text = { 0 };

	buf_adds(&text, "");
	for (size_t i = 0; i < before->n; i++) {
		const struct package *old = &before->v[i];
		const struct package *new = find(now, old->name);

		if (!new)
			buf_printf(&text, "%s %s -> not needed any more\n",
				   old->name, old->version);
		else if (strcmp(old->version, new->version))
			buf_printf(&text, "%s %s -> %s\n", old->name,
				   old->version, new->version);
		else if (strcmp(old->sha256, new->sha256))
			buf_printf(&text, "%s %s -> same version, other content\n",
				   old->name, old->version);
	}
	for (size_t i = 0; i < now->n; i++)
		if (!find(before, now->v[i].name))
			buf_printf(&text, "%s none -> %s\n", now->v[i].name,
				   now->v[i].version);
	return text.data;
}
