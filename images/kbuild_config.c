/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kbuild_config.c - what was set, what came of it, and why not
 */
#include "images/kbuild.h"

#include <ctype.h>
#include <errno.h>
#include <fts.h>
#include <string.h>

#include "images/kconfig.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define PREFIX "CONFIG_"
#define KCONFIG_MAX (4u << 20)

/* "CONFIG_HZ_1000=y" -> "HZ_1000", and the value */
static char *split(const char *set, const char **value)
{
	const char *name = str_starts(set, PREFIX) ? set + strlen(PREFIX) : set;
	const char *eq = strchr(name, '=');

	*value = eq ? eq + 1 : NULL;
	return eq ? xstrndup(name, (size_t)(eq - name)) : xstrdup(name);
}

static bool is_number(const char *s)
{
	if (str_starts(s, "0x"))
		return s[2] && strspn(s + 2, "0123456789abcdefABCDEF") == strlen(s + 2);
	s += *s == '-';
	return *s && strspn(s, "0123456789") == strlen(s);
}

int kbuild_set_ok(const char *set, struct error *err)
{
	const char *value;
	cleanup_free char *name = split(set, &value);

	if (!*name || strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name) ||
	    !value || !*value || strpbrk(value, "\n\r"))
		return error_set(err, 0, "--set %s: give NAME=VALUE, such as HZ_1000=y, SMP=n or NR_CPUS=8",
				 set);
	if (strcmp(value, "y") && strcmp(value, "m") && strcmp(value, "n") &&
	    !is_number(value) && *value != '"')
		return error_set(err, 0, "--set %s: a value is y, m, n, a number, or a string in double quotes",
				 set);
	return 0;
}

void kbuild_set_text(const char *set, struct buf *out)
{
	const char *value;
	cleanup_free char *name = split(set, &value);

	if (!strcmp(value, "n"))
		buf_printf(out, "# " PREFIX "%s is not set\n", name);
	else
		buf_printf(out, PREFIX "%s=%s\n", name, value);
}

static bool same(const char *wanted, const char *got)
{
	return got ? !strcmp(wanted, got) : !strcmp(wanted, "n");
}

/* Does the line begin with this word? */
static bool is_word(const char *line, size_t len, const char *word)
{
	size_t n = strlen(word);

	return len >= n && !strncmp(line, word, n) &&
	       (len == n || isspace((unsigned char)line[n]));
}

/* A line that ends the entry before it: entries may be indented (in a choice) as
 * their own lines are */
static bool is_entry(const char *line, size_t len)
{
	static const char *const words[] = {
		"config", "menuconfig", "choice", "endchoice", "menu", "endmenu",
		"if", "endif", "comment", "source", "mainmenu",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is_word(line, len, words[i]))
			return true;
	return false;
}

/* Is it the head of @name's entry, "config NAME" or "menuconfig NAME"? */
static bool is_head(const char *line, size_t len, const char *name)
{
	size_t w = is_word(line, len, "config") ? strlen("config") :
		   is_word(line, len, "menuconfig") ? strlen("menuconfig") : len;

	while (w < len && isspace((unsigned char)line[w]))
		w++;
	return w < len && is_word(line + w, len - w, name);
}

/* The "depends on" lines of @name's entries in one Kconfig; true: it has one */
static bool find_entry(const char *text, const char *name, struct buf *deps)
{
	bool inside = false, found = false;

	for (const char *l = text; *l; l += strcspn(l, "\n"), l += *l == '\n') {
		const char *word = l + strspn(l, " \t");
		size_t len = strcspn(word, "\n");

		if (is_entry(word, len)) {
			inside = is_head(word, len, name);
			found = found || inside;
			continue;
		}
		if (!inside || strncmp(word, "depends on ", 11))
			continue;
		len -= 11;
		if (deps->len)
			buf_adds(deps, " && ");
		buf_add(deps, word + 11, len);
	}
	return found;
}

/* Looks through the source's Kconfig files; false: no such option at all, or
 * nothing could be read. Other architectures have options of the same name. */
static bool look_up(const char *source, const char *name, struct buf *deps)
{
	char *const roots[] = { (char *)source, NULL };
	cleanup_fts FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR |
						FTS_NOSTAT, NULL);
	bool found = false;
	FTSENT *f;

	while (fts && (f = fts_read(fts))) {
		CLEANUP(buf_free) struct buf text = { 0 };

		if (f->fts_info == FTS_D && f->fts_level == 2 &&
		    !strcmp(f->fts_parent->fts_name, "arch") &&
		    strcmp(f->fts_name, "x86"))
			fts_set(fts, f, FTS_SKIP);
		if ((f->fts_info != FTS_F && f->fts_info != FTS_NSOK) ||
		    !str_starts(f->fts_name, "Kconfig") ||
		    file_read(f->fts_path, KCONFIG_MAX, &text, NULL) < 0 || !text.data)
			continue;
		if (find_entry(text.data, name, deps))
			found = true;
	}
	return found;
}

static int refuse(const char *set, const char *name, const char *got,
		  const char *source, struct error *err)
{
	CLEANUP(buf_free) struct buf deps = { 0 };

	if (source && !look_up(source, name, &deps))
		return error_set(err, 0, "--set %s: the source has no option " PREFIX "%s; check its spelling",
				 set, name);
	return error_set(err, 0, "--set %s did not survive olddefconfig: " PREFIX "%s is %s%s%s%s",
			 set, name, got ? got : "not there",
			 deps.len ? "; it depends on " : "; something else decides it (select, a choice, or no prompt)",
			 deps.len ? deps.data : "", deps.len ? ": set these, too" : "");
}

int kbuild_verify(const char *config, const struct strings *sets,
		  const char *source, struct error *err)
{
	CLEANUP(kconfig_free) struct kconfig kc = { 0 };

	if (kconfig_parse(config, ".config", &kc, err) < 0)
		return -1;
	for (size_t i = 0; i < sets->n; i++) {
		const char *wanted;
		cleanup_free char *name = split(sets->v[i], &wanted);
		const char *got = kconfig_get(&kc, name);

		if (wanted && !same(wanted, got))
			return refuse(sets->v[i], name, got, source, err);
	}
	return 0;
}

int kbuild_lost(const char *config, const char *fragment, const char *name,
		struct strings *notes, struct error *err)
{
	CLEANUP(kconfig_free) struct kconfig kc = { 0 };

	if (kconfig_parse(config, ".config", &kc, err) < 0)
		return -1;
	for (const char *l = fragment; *l; l += strcspn(l, "\n"), l += *l == '\n') {
		cleanup_free char *line = xstrndup(l, strcspn(l, "\n"));
		cleanup_free char *option = NULL;
		const char *wanted, *got;

		line[strcspn(line, "\r")] = '\0';
		if (!str_starts(line, PREFIX))
			continue;
		option = split(line, &wanted);
		got = kconfig_get(&kc, option);
		if (wanted && !same(wanted, got))
			strings_add(notes, xasprintf("%s: %s is %s in the end",
						     name, line, got ? got : "not there"));
	}
	return 0;
}
