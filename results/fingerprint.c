/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/fingerprint.h"

#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/record.h"
#include "results/report.h"

#define FINGERPRINT_MAX_BYTES (256 * 1024)

static int table_digest(struct store *s, const char *run_id,
			char hex[SHA256_HEX], struct error *err)
{
	static const char *const formats[] = { "contest-0.61", "wide" };
	struct sha256 sum;
	int ret = 0;

	sha256_init(&sum);
	for (size_t i = 0; i < 2 && !ret; i++) {
		char *text = NULL;
		size_t len = 0;
		FILE *f = open_memstream(&text, &len);

		if (!f) {
			ret = error_set(err, 0, "out of memory");
			break;
		}
		ret = report_print(s, run_id, formats[i], f, err);
		fclose(f);
		sha256_add(&sum, text, len);
		free(text);
	}
	sha256_final(&sum, hex);
	return ret;
}

static const char *member(json_t *o, const char *group, const char *name)
{
	json_t *from = group ? json_object_get(o, group) : o;
	const char *s = json_string_value(json_object_get(from, name));

	return s ? s : "-";
}

static void common_lines(json_t *c, struct buf *out)
{
	buf_printf(out, "kontest = %s\n", member(c, NULL, "kontest"));
	buf_printf(out, "accel = %s\n", member(c, NULL, "accel"));
	buf_printf(out, "qemu = %s %s\n", member(c, "qemu", "version"),
		   member(c, "qemu", "package"));
	buf_printf(out, "machine = %s %s\n", member(c, "qemu", "machine"),
		   member(c, "qemu", "cpu"));
	buf_printf(out, "plan = %s\n", member(c, "plan", "digest"));
	buf_printf(out, "profile = %s\n", member(c, "profile", "digest"));
	buf_printf(out, "job = %s %s\n", member(c, "job", "name"),
		   member(c, "job", "digest"));
	buf_printf(out, "guest program = %s\n", member(c, "image", "guest"));
	buf_printf(out, "package lock = %s\n", member(c, "image", "lock"));
	buf_printf(out, "base image = %s\n", member(c, "image", "base"));
	buf_printf(out, "work disk = %s\n", member(c, "image", "work"));
	buf_printf(out, "swap disk = %s\n", member(c, "image", "swap"));
	buf_printf(out, "other disk = %s\n", member(c, "image", "other"));
}

static void kernel_lines(const struct boot_record *b, struct buf *out)
{
	json_t *c = b->context;

	buf_printf(out, "kernel %s = %s %s\n", b->label,
		   member(c, "kernel", "release"), member(c, "kernel", "digest"));
	buf_printf(out, "initramfs %s = %s\n", b->label,
		   member(c, "image", "initramfs"));
	buf_printf(out, "system image %s = %s\n", b->label,
		   member(c, "image", "system"));
	buf_printf(out, "command line %s = %s\n", b->label,
		   member(c, "image", "cmdline"));
}

/* What went wrong decides the table as well. */
static void verdict_lines(const struct boot_record *b, struct buf *out)
{
	for (size_t i = 0; i < b->runs.n; i++) {
		const struct run_record *r = &b->runs.v[i];
		cleanup_free char *why = NULL;

		if (run_good(b, r))
			continue;
		why = run_failure(b, r);
		buf_printf(out, "%s, boot %lld, %s, run %lld = %s\n", b->label,
			   (long long)b->number, r->load, (long long)r->index,
			   why);
	}
}

int fingerprint_text(struct store *s, const char *run_id, struct buf *out,
		     struct error *err)
{
	CLEANUP(strings_clear) struct strings paths = { 0 };
	char table[SHA256_HEX];
	cleanup_free char *last = NULL;

	if (table_digest(s, run_id, table, err) < 0 ||
	    store_boots(s, run_id, &paths, err) < 0)
		return -1;
	buf_printf(out, "table = %s\n", table);
	for (size_t i = 0; i < paths.n; i++) {
		struct boot_record b = { 0 };

		if (store_load(paths.v[i], &b) < 0)
			return error_set(err, 0, "a journal of the run is damaged: its fingerprint cannot be told");
		if (!i)
			common_lines(b.context, out);
		if (!last || strcmp(last, b.label)) {
			kernel_lines(&b, out);
			free(last);
			last = xstrdup(b.label);
		}
		verdict_lines(&b, out);
		boot_record_free(&b);
	}
	return 0;
}

/* The value of @name in a fingerprint, owned by the caller; NULL: no such line. */
static char *value_of(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = text; p && *p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (!strncmp(p, name, len) && str_starts(p + len, " = "))
			return xstrndup(p + len + 3, strcspn(p + len + 3, "\n"));
	}
	return NULL;
}

/* Say what differs of the inputs; returns how many do. */
static unsigned int name_differences(const char *ours, const char *theirs,
				     FILE *out)
{
	cleanup_free char *copy = xstrdup(ours);
	unsigned int n = 0;
	char *save = NULL;

	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		char *eq = strstr(l, " = ");
		cleanup_free char *other = NULL;

		if (!eq)
			continue;
		*eq = '\0';
		if (!strcmp(l, "table"))
			continue;
		other = value_of(theirs, l);
		if (other && !strcmp(other, eq + 3))
			continue;
		n++;
		fprintf(out, "  %s: here %s, there %s\n", l, eq + 3,
			other ? other : "(not stated)");
	}
	return n;
}

static int no_fingerprint(const char *path, struct error *err)
{
	return error_set(err, 0, "'%s' is no fingerprint: it has no line 'table = ...'; `kontest report --format fingerprint` makes one",
			 path);
}

int fingerprint_check(const char *path, struct error *err)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	cleanup_free char *table = NULL;

	if (file_read(path, FINGERPRINT_MAX_BYTES, &text, err) < 0)
		return -1;
	table = value_of(text.data, "table");
	return table ? 0 : no_fingerprint(path, err);
}

int fingerprint_compare(struct store *s, const char *run_id, const char *path,
			FILE *out, struct error *err)
{
	CLEANUP(buf_free) struct buf ours = { 0 }, theirs = { 0 };
	cleanup_free char *here = NULL, *there = NULL;
	unsigned int n;

	if (file_read(path, FINGERPRINT_MAX_BYTES, &theirs, err) < 0 ||
	    fingerprint_text(s, run_id, &ours, err) < 0)
		return -1;
	here = value_of(ours.data, "table");
	there = value_of(theirs.data, "table");
	if (!there)
		return no_fingerprint(path, err);
	if (here && !strcmp(here, there)) {
		fprintf(out, "The tables are the same, digit for digit, as those of %s.\n",
			path);
		return 0;
	}
	fprintf(out, "The tables differ from those of %s. Inputs that differ:\n", path);
	n = name_differences(ours.data, theirs.data, out);
	if (!n)
		fputs("  none. Exact mode promises equal tables then: please report this as a bug.\n",
		      out);
	return 1;
}
