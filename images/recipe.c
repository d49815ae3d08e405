/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recipe.c - read a recipe
 */
#include "images/recipe.h"

#include <string.h>

#include "images/ini_file.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define RECIPE_MAX_BYTES (1 << 20)
#define LABEL_MAX 16
#define SECTIONS "[base] [packages] [exclude] [layout] [directory] [link] [file] [tree]"

/* struct reader - the recipe being read, and the reason why it cannot be */
struct reader {
	struct recipe *recipe;
	struct error *err;
};

#define fail(rd, ...) error_set((rd)->err, 0, __VA_ARGS__)

/* A path that an image can have: absolute, no empty, "." or ".." part */
static bool good_path(const char *p)
{
	if (*p != '/')
		return false;
	while (*p) {
		size_t len = strcspn(++p, "/");

		if (!len || (len == 1 && *p == '.') ||
		    (len == 2 && !strncmp(p, "..", 2)))
			return false;
		p += len;
	}
	return true;
}

static int add_words(struct strings *list, const char *value)
{
	cleanup_free char *copy = xstrdup(value);
	char *save = NULL;

	for (char *w = strtok_r(copy, " \t,", &save); w;
	     w = strtok_r(NULL, " \t,", &save))
		strings_add(list, xstrdup(w));
	return 0;
}

static int set_once(struct reader *rd, char **to, const char *key,
		    const char *value)
{
	if (*to)
		return fail(rd, "'%s' is given twice; remove one", key);
	if (!*value)
		return fail(rd, "'%s' is empty; give it a value", key);
	*to = xstrdup(value);
	return 0;
}

static int in_base(struct reader *rd, const char *key, const char *value)
{
	struct recipe *r = rd->recipe;
	uint64_t n;

	if (!strcmp(key, "name")) {
		if (strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-") !=
		    strlen(value))
			return fail(rd, "name '%s' has other characters than a-z, 0-9 and -",
				    value);
		return set_once(rd, &r->name, key, value);
	}
	if (!strcmp(key, "label")) {
		if (strlen(value) > LABEL_MAX)
			return fail(rd, "label '%s' is longer than %d bytes",
				    value, LABEL_MAX);
		return set_once(rd, &r->label, key, value);
	}
	if (strcmp(key, "epoch"))
		return fail(rd, "unknown key '%s' in [base]; it has name, label, epoch",
			    key);
	if (!parse_u64(value, &n) || !n || n > INT32_MAX)
		return fail(rd, "epoch '%s' is no time in seconds since 1970 before 2038",
			    value);
	r->epoch = (uint32_t)n;
	return 0;
}

static int in_packages(struct reader *rd, const char *key, const char *value)
{
	if (!strcmp(key, "install"))
		return add_words(&rd->recipe->install, value);
	if (!strcmp(key, "without"))
		return add_words(&rd->recipe->without, value);
	return fail(rd, "unknown key '%s' in [packages]; it has install, without",
		    key);
}

static int in_exclude(struct reader *rd, const char *key, const char *value)
{
	if (strcmp(key, "path"))
		return fail(rd, "unknown key '%s' in [exclude]; it has path", key);
	if (*value != '/')
		return fail(rd, "pattern '%s' does not begin with /", value);
	strings_add(&rd->recipe->exclude, xstrdup(value));
	return 0;
}

static int add_item(struct reader *rd, struct recipe_items *items,
		    const char *path, const char *value, mode_t perm)
{
	struct recipe_item item = { .perm = perm };

	if (!good_path(path))
		return fail(rd, "'%s' is no absolute path without . and ..",
			    path);
	for (size_t i = 0; i < items->n; i++)
		if (!strcmp(items->v[i].path, path))
			return fail(rd, "'%s' is given twice; remove one", path);
	if (value && !*value)
		return fail(rd, "'%s' has no value", path);
	item.path = xstrdup(path);
	item.value = value ? xstrdup(value) : NULL;
	recipe_items_add(items, item);
	return 0;
}

static int in_layout(struct reader *rd, const char *key, const char *value)
{
	return add_item(rd, &rd->recipe->layout, key, value, 0);
}

static int in_directory(struct reader *rd, const char *key, const char *value)
{
	unsigned int perm;
	char end;

	if (strspn(value, "01234567") != strlen(value) ||
	    sscanf(value, "%o%c", &perm, &end) != 1 || perm > 07777)
		return fail(rd, "'%s' are no permissions in octal, as 0755",
			    value);
	return add_item(rd, &rd->recipe->directories, key, NULL, perm);
}

static int in_link(struct reader *rd, const char *key, const char *value)
{
	return add_item(rd, &rd->recipe->links, key, value, 0);
}

static int in_tree(struct reader *rd, const char *key, const char *value)
{
	cleanup_free char *absolute = xasprintf("/%s", value);

	if (!good_path(absolute))
		return fail(rd, "'%s' is no relative path without . and ..",
			    value);
	return add_item(rd, &rd->recipe->trees, key, value, 0);
}

static int in_file(struct reader *rd, const char *key, const char *value)
{
	struct recipe_items *files = &rd->recipe->files;
	cleanup_free char *line = xasprintf("%s\n", value);

	for (size_t i = 0; i < files->n; i++) {
		char *before = files->v[i].value;

		if (strcmp(files->v[i].path, key))
			continue;
		files->v[i].value = xasprintf("%s%s", before, line);
		free(before);
		return 0;
	}
	return add_item(rd, files, key, line, 0);
}

static const struct section {
	const char *name;
	int (*key)(struct reader *rd, const char *key, const char *value);
} sections[] = {
	{ "base", in_base },	   { "packages", in_packages },
	{ "exclude", in_exclude }, { "layout", in_layout },
	{ "directory", in_directory }, { "link", in_link },
	{ "file", in_file },	   { "tree", in_tree },
};

static const struct section *find_section(const char *name)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (!strcmp(sections[i].name, name))
			return &sections[i];
	return NULL;
}

static int recipe_section(void *data, const char *section, struct error *err)
{
	(void)data;
	if (find_section(section))
		return 0;
	return error_set(err, 0, "unknown section [%s]; there are " SECTIONS,
			 section);
}

static int recipe_key(void *data, const char *section, const char *key,
		      const char *value, struct error *err)
{
	struct reader rd = { .recipe = data, .err = err };
	const struct section *s = find_section(section);

	if (!s)
		return error_set(err, 0, "'%s' stands in no section; put it below one of " SECTIONS,
				 key);
	return s->key(&rd, key, value);
}

static int check_whole(const char *path, struct recipe *r, struct error *err)
{
	const char *missing = NULL;

	if (!r->name)
		missing = "name in [base]";
	else if (!r->label)
		missing = "label in [base]";
	else if (!r->epoch)
		missing = "epoch in [base]";
	else if (!r->install.n)
		missing = "install in [packages]";
	if (missing)
		return error_set(err, 0, "%s: there is no %s; add it", path,
				 missing);
	strings_add(&r->install, NULL);
	r->install.n--;
	strings_add(&r->exclude, NULL);
	r->exclude.n--;
	return 0;
}

int recipe_load(const char *path, struct recipe *r, struct error *err)
{
	CLEANUP(recipe_free) struct recipe read = { 0 };
	CLEANUP(buf_free) struct buf text = { 0 };
	const struct ini_format format = {
		.what = "recipe", .max_bytes = RECIPE_MAX_BYTES,
		.section = recipe_section, .key = recipe_key,
	};

	if (ini_file_read(path, &format, &read, &text, err) < 0)
		return -1;
	read.text = xstrdup(text.data);
	if (check_whole(path, &read, err))
		return -1;
	*r = read;
	read = (struct recipe){ 0 };
	return 0;
}

static void items_free(struct recipe_items *items)
{
	for (size_t i = 0; i < items->n; i++) {
		free(items->v[i].path);
		free(items->v[i].value);
	}
	recipe_items_free(items);
}

void recipe_free(struct recipe *r)
{
	free(r->text);
	free(r->name);
	free(r->label);
	strings_clear(&r->install);
	strings_clear(&r->without);
	strings_clear(&r->exclude);
	items_free(&r->layout);
	items_free(&r->directories);
	items_free(&r->links);
	items_free(&r->files);
	items_free(&r->trees);
	memset(r, 0, sizeof(*r));
}
