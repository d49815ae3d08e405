/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/manifest.h"

#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

#include "results/base/cleanup.h"

#define FORMAT "kontest-image 1"

void manifest_write(const struct base *b, const struct kernel *k,
		    const struct initramfs *i, const char *grub,
		    const char *stub, const char *cmdline, struct buf *out)
{
	json_t *o = json_pack(
		"{s:s, s:s, s:{s:s, s:s?, s:s?, s:s}, s:{s:s, s:s, s:s, s:s, s:I}, s:{s:s, s:s, s:s}, s:{s:s, s:s}, s:s}",
		"format", FORMAT, "kontest", KONTEST_VERSION,
		"kernel", "release", k->release ? k->release : "",
		"package", k->package, "version", k->package_version,
		"digest", k->digest,
		"base", "recipe", b->recipe_digest, "lock", b->lock_digest,
		"image", b->digest, "files", b->files_digest,
		"epoch", (json_int_t)b->epoch,
		"initramfs", "digest", i->digest, "guest", i->guest_digest,
		"plan", i->plan_digest,
		"boot", "grub", grub, "stub", stub,
		"cmdline", cmdline);
	char *text = o ? json_dumps(o, JSON_INDENT(1) | JSON_PRESERVE_ORDER) : NULL;

	/* jansson fails here only for want of memory, or a release that is no
	 * UTF-8, which bzimage_parse() does not let through */
	if (!text)
		abort();
	buf_adds(out, text);
	buf_adds(out, "\n");
	free(text);
	json_decref(o);
}

/* --- reading it ---------------------------------------------------------------- */

/* What goes to apt and to a terminal must be nothing but a name. */
static bool is_plain(const char *s)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-~:_";

	return *s && *s != '-' && strlen(s) < 256 && strspn(s, allowed) == strlen(s);
}

static const json_t *group_of(const json_t *o, const char *group)
{
	return *group ? json_object_get(o, group) : o;
}

static int take_digests(const json_t *o, const char *what, struct manifest *m,
			struct error *err)
{
	const struct {
		const char *group, *member;
		char *to;
	} wanted[] = {
		{ "kernel", "digest", m->kernel },
		{ "base", "recipe", m->recipe },
		{ "base", "lock", m->lock },
		{ "base", "image", m->root },
		{ "base", "files", m->files },
		{ "initramfs", "digest", m->initramfs },
		{ "initramfs", "guest", m->guest },
		{ "initramfs", "plan", m->plan },
		{ "boot", "grub", m->grub },
		{ "boot", "stub", m->stub },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const char *s = json_string_value(json_object_get(
			group_of(o, wanted[i].group), wanted[i].member));

		if (!sha256_is(s))
			return error_set(err, 0, "%s: %s.%s is no SHA-256 digest: the manifest is damaged",
					 what, wanted[i].group, wanted[i].member);
		memcpy(wanted[i].to, s, SHA256_HEX);
	}
	return 0;
}

static int take_names(const json_t *o, const char *what, struct manifest *m,
		      struct error *err)
{
	const struct {
		const char *group, *member;
		char **to;
		bool optional, plain;
	} wanted[] = {
		{ "", "kontest", &m->kontest, false, true },
		{ "", "cmdline", &m->cmdline, false, false },
		{ "kernel", "release", &m->release, false, true },
		{ "kernel", "package", &m->package, true, true },
		{ "kernel", "version", &m->version, true, true },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const json_t *v = json_object_get(group_of(o, wanted[i].group),
						  wanted[i].member);
		const char *s = json_string_value(v);

		if (wanted[i].optional && json_is_null(v))
			continue;
		if (!s || (wanted[i].plain && !is_plain(s)))
			return error_set(err, 0, "%s: %s%s%s is missing or no name: the manifest is damaged",
					 what, wanted[i].group,
					 *wanted[i].group ? "." : "",
					 wanted[i].member);
		*wanted[i].to = xstrdup(s);
	}
	if (!m->package != !m->version)
		return error_set(err, 0, "%s: a package without a version, or the reverse: the manifest is damaged",
				 what);
	return 0;
}

int manifest_parse(const void *data, size_t len, const char *what,
		   struct manifest *m, struct error *err)
{
	json_error_t why;
	json_t *o;
	const char *format;
	int ret = -1;

	*m = (struct manifest){ 0 };
	if (len > MANIFEST_MAX_BYTES)
		return error_set(err, 0, "%s: larger than %zu bytes, so no manifest",
				 what, MANIFEST_MAX_BYTES);
	o = json_loadb(data, len, JSON_REJECT_DUPLICATES, &why);
	format = json_string_value(json_object_get(o, "format"));
	if (!o)
		error_set(err, 0, "%s line %d: %s: the manifest is damaged", what,
			  why.line, why.text);
	else if (!format || strcmp(format, FORMAT))
		error_set(err, 0, "%s: no manifest of format '" FORMAT "': a newer kontest may have made it",
			  what);
	else if (!take_digests(o, what, m, err) && !take_names(o, what, m, err))
		ret = 0;
	json_decref(o);
	if (ret < 0)
		manifest_free(m);
	return ret;
}

void manifest_free(struct manifest *m)
{
	free(m->kontest);
	free(m->release);
	free(m->package);
	free(m->version);
	free(m->cmdline);
	*m = (struct manifest){ 0 };
}
