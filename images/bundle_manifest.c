/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bundle_manifest.c - a bundle's manifest: to text, and back with every check
 */
#include "images/bundle.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "images/tar_header.h"
#include "results/base/cleanup.h"

#define FORMAT "kontest-bundle"
#define VERSION 1
#define RUN_ID_CHARS "0123456789abcdefABCDEF-"

static json_t *member_json(const struct bundle_member *m)
{
	char mode[8];

	snprintf(mode, sizeof(mode), "%04o", m->mode & 07777);
	return json_pack("{s:s, s:s, s:I, s:s, s:s}", "path", m->path, "role",
			 m->role, "size", (json_int_t)m->size, "mode", mode,
			 "sha256", m->sha256);
}

static json_t *file_json(const struct bundle_file *f)
{
	json_t *pieces = json_array();

	for (size_t i = 0; i < f->extents.n; i++)
		json_array_append_new(pieces, json_pack("[I, I]",
			(json_int_t)f->extents.v[i].off,
			(json_int_t)f->extents.v[i].member));
	return json_pack("{s:s, s:s, s:I, s:s, s:o}", "path", f->path, "role",
			 f->role, "size", (json_int_t)f->size, "sha256",
			 f->sha256, "pieces", pieces);
}

char *bundle_manifest_text(const struct bundle_manifest *m)
{
	json_t *members = json_array(), *files = json_array(), *o;
	json_t *tools = json_loads(m->tools ? m->tools : "{}", 0, NULL);
	CLEANUP(buf_free) struct buf out = { 0 };
	char *text;

	for (size_t i = 0; i < m->members.n; i++)
		json_array_append_new(members, member_json(&m->members.v[i]));
	for (size_t i = 0; i < m->files.n; i++)
		json_array_append_new(files, file_json(&m->files.v[i]));
	o = json_pack("{s:s, s:i, s:s, s:s, s:o, s:o, s:o}", "format", FORMAT,
		      "version", VERSION, "kind", m->full ? "full" : "results-only",
		      "run", m->run_id, "tools", tools ? tools : json_object(),
		      "members", members, "files", files);
	text = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
	json_decref(o);
	return text;
}

void bundle_manifest_free(struct bundle_manifest *m)
{
	for (size_t i = 0; i < m->members.n; i++) {
		free(m->members.v[i].path);
		free(m->members.v[i].role);
	}
	for (size_t i = 0; i < m->files.n; i++) {
		free(m->files.v[i].path);
		free(m->files.v[i].role);
		bundle_extents_free(&m->files.v[i].extents);
	}
	bundle_members_free(&m->members);
	bundle_files_free(&m->files);
	free(m->tools);
	*m = (struct bundle_manifest){ 0 };
}

/* A string of the manifest as it may be shown: short, and nothing that a
 * terminal obeys. */
static const char *shown(const char *s, char out[TAR_NAME_MAX + 1])
{
	size_t n = 0;

	for (; n < TAR_NAME_MAX && s[n]; n++)
		out[n] = s[n] < 0x20 || s[n] > 0x7e ? '?' : s[n];
	out[n] = '\0';
	return out;
}

/* NAME or NAME/NAME, of letters, digits and "._-", no part beginning with a
 * dot: nothing that could lead out of a directory. */
static const char *bad_path(const char *path)
{
	const char *part = path;
	unsigned int depth = 1;

	if (*path == '/')
		return "is an absolute path";
	if (!*path || strlen(path) > TAR_NAME_MAX)
		return "is empty or longer than 100 characters";
	for (const char *p = path; ; p++) {
		if (*p && *p != '/' && !strchr("._-", *p) &&
		    !((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
		      (*p >= 'A' && *p <= 'Z')))
			return "has a character that no path in a bundle has";
		if (*p && *p != '/')
			continue;
		if (p - part == 2 && part[0] == '.' && part[1] == '.')
			return "leads out of the directory by '..'";
		if (p == part || *part == '.')
			return "has an empty or a hidden part";
		if (!*p)
			return depth > 2 ? "has more than two parts" : NULL;
		depth++;
		part = p + 1;
	}
}

static int get_string(json_t *o, const char *name, const char **out,
		      struct error *err)
{
	*out = json_string_value(json_object_get(o, name));
	return *out ? 0 : error_set(err, 0, "no string '%s'", name);
}

static int get_size(json_t *o, uint64_t max, uint64_t *out, struct error *err)
{
	json_t *v = json_object_get(o, "size");
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || n < 0 || (uint64_t)n > max)
		return error_set(err, 0, "its size is not a number from 0 to %llu",
				 (unsigned long long)max);
	*out = (uint64_t)n;
	return 0;
}

static int get_sha256(json_t *o, char out[SHA256_HEX], struct error *err)
{
	const char *s;

	if (get_string(o, "sha256", &s, err) < 0)
		return -1;
	if (!sha256_is(s))
		return error_set(err, 0, "its sha256 is not 64 hexadecimal digits");
	memcpy(out, s, SHA256_HEX);
	return 0;
}

/* What members and files have alike. @path and @role are owned by @o. */
static int get_entry(json_t *o, uint64_t max, const char **path,
		     const char **role, uint64_t *size, char sha256[SHA256_HEX],
		     struct error *err)
{
	char name[TAR_NAME_MAX + 1];
	const char *bad;

	if (get_string(o, "path", path, err) < 0)
		return -1;
	bad = bad_path(*path);
	if (bad)
		return error_set(err, 0, "member '%s' %s", shown(*path, name), bad);
	if (get_string(o, "role", role, err) < 0 ||
	    get_size(o, max, size, err) < 0 || get_sha256(o, sha256, err) < 0)
		return error_prefix(err, "member '%s'", *path);
	return 0;
}

static int get_mode(json_t *o, unsigned int *mode, struct error *err)
{
	const char *s;

	if (get_string(o, "mode", &s, err) < 0)
		return -1;
	if (strlen(s) != 4 || strspn(s, "01234567") != 4)
		return error_set(err, 0, "its mode is not four octal digits");
	*mode = (unsigned int)strtoul(s, NULL, 8);
	if (*mode & ~0755u)
		return error_set(err, 0, "its mode %s lets others write it, or more", s);
	return 0;
}

static int parse_members(json_t *list, struct bundle_manifest *m,
			 struct error *err)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *o = json_array_get(list, i);
		struct bundle_member b = { 0 };
		const char *path, *role;
		bool piece;

		if (get_entry(o, BUNDLE_MEMBER_MAX, &path, &role, &b.size, b.sha256, err) < 0)
			return -1;
		if (get_mode(o, &b.mode, err) < 0)
			return error_prefix(err, "member '%s'", path);
		piece = !strcmp(role, BUNDLE_PIECE);
		if (piece && (!b.size || b.size > BUNDLE_PIECE_BYTES))
			return error_set(err, 0, "member '%s': no piece is empty or larger than %u bytes",
					 path, BUNDLE_PIECE_BYTES);
		if (piece && !m->full)
			return error_set(err, 0, "member '%s': a bundle of results only has no pieces", path);
		b.path = xstrdup(path);
		b.role = xstrdup(role);
		bundle_members_add(&m->members, b);
	}
	return 0;
}

static int parse_extent(json_t *o, const struct bundle_manifest *m,
			struct bundle_file *f, uint64_t *end, struct error *err)
{
	json_int_t off = json_integer_value(json_array_get(o, 0));
	json_int_t n = json_integer_value(json_array_get(o, 1));
	const struct bundle_member *piece;

	if (json_array_size(o) != 2 || !json_is_integer(json_array_get(o, 0)) ||
	    !json_is_integer(json_array_get(o, 1)) || off < 0 || n < 0 ||
	    (size_t)n >= m->members.n)
		return error_set(err, 0, "a piece of it is not [offset, number of a member]");
	piece = &m->members.v[n];
	if (strcmp(piece->role, BUNDLE_PIECE))
		return error_set(err, 0, "'%s', which should be a piece of it, is none", piece->path);
	if ((uint64_t)off < *end)
		return error_set(err, 0, "its pieces overlap at byte %lld", (long long)off);
	if ((uint64_t)off > f->size || piece->size > f->size - (uint64_t)off)
		return error_set(err, 0, "the piece at byte %lld lies behind its end", (long long)off);
	*end = (uint64_t)off + piece->size;
	bundle_extents_add(&f->extents, (struct bundle_extent){ (uint64_t)off, (size_t)n });
	return 0;
}

static int parse_file(json_t *o, struct bundle_manifest *m, struct error *err)
{
	struct bundle_file file = { 0 }, *f;
	const char *path, *role;
	json_t *pieces = json_object_get(o, "pieces");
	uint64_t end = 0;

	if (get_entry(o, BUNDLE_FILE_MAX, &path, &role, &file.size, file.sha256, err) < 0)
		return -1;
	if (strchr(path, '/'))
		return error_set(err, 0, "member '%s': a file of pieces lies in no directory", path);
	file.path = xstrdup(path);
	file.role = xstrdup(role);
	f = bundle_files_add(&m->files, file);
	if (!json_is_array(pieces))
		return error_set(err, 0, "member '%s': no list 'pieces'", path);
	for (size_t i = 0; i < json_array_size(pieces); i++)
		if (parse_extent(json_array_get(pieces, i), m, f, &end, err) < 0)
			return error_prefix(err, "member '%s'", path);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* No name twice, and none that is the directory of another. */
static int check_names(const struct bundle_manifest *m, struct error *err)
{
	size_t n = m->members.n + m->files.n + 1, used = 0;
	cleanup_free const char **names = xcalloc(n, sizeof(*names));

	names[used++] = BUNDLE_MANIFEST;
	for (size_t i = 0; i < m->members.n; i++)
		names[used++] = m->members.v[i].path;
	for (size_t i = 0; i < m->files.n; i++)
		names[used++] = m->files.v[i].path;
	qsort(names, n, sizeof(*names), by_text);
	for (size_t i = 1; i < n; i++)
		if (!strcmp(names[i - 1], names[i]))
			return error_set(err, 0, "member '%s' is in the manifest twice", names[i]);
	for (size_t i = 0; i < n; i++) {
		const char *slash = strchr(names[i], '/');
		cleanup_free char *dir = slash ? xstrndup(names[i], (size_t)(slash - names[i])) : NULL;

		if (dir && bsearch(&dir, names, n, sizeof(*names), by_text))
			return error_set(err, 0, "member '%s' is in a directory that is a file, too", names[i]);
	}
	return 0;
}

static int check_head(json_t *o, struct bundle_manifest *m, struct error *err)
{
	json_t *version = json_object_get(o, "version");
	const char *format, *kind, *run;

	if (get_string(o, "format", &format, err) < 0 ||
	    get_string(o, "kind", &kind, err) < 0 ||
	    get_string(o, "run", &run, err) < 0)
		return -1;
	if (strcmp(format, FORMAT))
		return error_set(err, 0, "its format is not '" FORMAT "'");
	if (json_integer_value(version) != VERSION)
		return error_set(err, 0, "its version is %lld, and this kontest knows %d: use a newer kontest",
				 (long long)json_integer_value(version), VERSION);
	m->full = !strcmp(kind, "full");
	if (!m->full && strcmp(kind, "results-only"))
		return error_set(err, 0, "its kind is neither 'full' nor 'results-only'");
	if (strlen(run) != UUID_TEXT - 1 || strspn(run, RUN_ID_CHARS) != UUID_TEXT - 1)
		return error_set(err, 0, "its run is no UUID");
	memcpy(m->run_id, run, UUID_TEXT);
	m->tools = json_dumps(json_object_get(o, "tools"), JSON_COMPACT | JSON_PRESERVE_ORDER);
	return 0;
}

static int parse(json_t *o, struct bundle_manifest *m, struct error *err)
{
	json_t *members = json_object_get(o, "members");
	json_t *files = json_object_get(o, "files");
	uint64_t total = 0;

	if (check_head(o, m, err) < 0)
		return -1;
	if (!json_is_array(members) || !json_is_array(files))
		return error_set(err, 0, "no lists 'members' and 'files'");
	if (parse_members(members, m, err) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(files); i++) {
		if (parse_file(json_array_get(files, i), m, err) < 0)
			return -1;
		total += m->files.v[i].size;
		if (total > BUNDLE_FILE_MAX)
			return error_set(err, 0, "member '%s': all files together would be larger than %llu GiB",
					 m->files.v[i].path, BUNDLE_FILE_MAX >> 30);
	}
	return check_names(m, err);
}

int bundle_manifest_parse(const char *text, size_t len,
			  struct bundle_manifest *m, struct error *err)
{
	json_error_t why;
	json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	char message[TAR_NAME_MAX + 1];
	int ret;

	*m = (struct bundle_manifest){ 0 };
	if (!o)
		return error_set(err, 0, "member '" BUNDLE_MANIFEST "' is no JSON: %s (line %d)",
				 shown(why.text, message), why.line);
	ret = parse(o, m, err);
	json_decref(o);
	if (ret < 0) {
		bundle_manifest_free(m);
		return error_prefix(err, BUNDLE_MANIFEST);
	}
	return 0;
}
