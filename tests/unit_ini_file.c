/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "images/ini_file.h"
#include "images/profile.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "tests/scratch_file.h"

static int note_section(void *data, const char *section, struct error *err)
{
	(void)err;
	buf_printf(data, "[%s]", section);
	return 0;
}

static int note_key(void *data, const char *section, const char *key,
		    const char *value, struct error *err)
{
	buf_printf(data, "(%s|%s|%s)", section, key, value);
	return strcmp(key, "bad") ? 0 : error_set(err, 0, "bad key");
}

static int read_bytes(const void *bytes, size_t len, bool unique,
		      struct buf *seen, struct error *err)
{
	const struct ini_format format = {
		.what = "thing", .max_bytes = 1 << 20, .unique = unique,
		.section = note_section, .key = note_key,
	};
	CLEANUP(buf_free) struct buf text = { 0 };
	int ret;

	assert_int_equal(file_write(path, bytes, len, err), 0);
	*err = (struct error){ 0 };
	buf_adds(seen, "");
	ret = ini_file_read(path, &format, seen, &text, err);
	assert_int_equal(text.len, len);
	assert_memory_equal(text.data, bytes, len);
	return ret;
}

static void is_read_as(const char *in, const char *out)
{
	CLEANUP(buf_free) struct buf seen = { 0 };
	struct error err;

	if (read_bytes(in, strlen(in), true, &seen, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(seen.data, out);
}

static void is_refused(const char *in, size_t len, const char *why)
{
	CLEANUP(buf_free) struct buf seen = { 0 };
	cleanup_free char *want = xasprintf("thing '%s' %s", path, why);
	struct error err;

	assert_int_equal(read_bytes(in, len, true, &seen, &err), -1);
	if (!strstr(err.text, want))
		fail_msg("no '%s' in '%s'", want, err.text);
}

static void syntax(void **state)
{
	(void)state;
	is_read_as("", "");
	is_read_as("a = b", "(|a|b)");
	is_read_as("\xef\xbb\xbf[s]\r\na = b c\t \r\n\r\n", "[s](s|a|b c)");
	is_read_as("[two words]\t; note\n# c\n  ; c\na=b=c;d ; e\nf =\n",
		   "[two words](two words|a|b=c;d)(two words|f|)");
	is_read_as("[s]\na = ; nothing\nb=;\n[t]\na = 1\n",
		   "[s](s|a|)(s|b|;)[t](t|a|1)");
}

static void refusals(void **state)
{
#define REFUSED(in, why) is_refused(in, sizeof(in) - 1, why)
	(void)state;
	REFUSED("a = 1\nwords\n", "line 2: neither");
	REFUSED("[s\n", "line 1: neither");
	REFUSED("[s] x\n", "line 1: neither");
	REFUSED("= 1\n", "line 1: neither");
	REFUSED("a ; = 1\n", "line 1: neither");
	REFUSED("a = 1\n b\n", "line 2: the line begins with a blank");
	REFUSED("\n\n\ta = 1\n", "line 3: the line begins with a blank");
	REFUSED("[s]\na = 1\n\n[t]\n[s]\na = 1\n", "line 6: 'a' is given twice in [s], first in line 2");
	REFUSED("x = 1\nbad = 1\nworse\n", "line 2: bad key");
	REFUSED("a = 1\0\n", "is not a text file");
	REFUSED("\x7f" "ELF\n", "is not a text file");
	REFUSED("a = \x1b[m\n", "is not a text file");
}

static void repeated_where_allowed(void **state)
{
	CLEANUP(buf_free) struct buf seen = { 0 };
	struct error err;

	(void)state;
	assert_int_equal(read_bytes("a = 1\na = 2\n", 12, false, &seen, &err), 0);
	assert_string_equal(seen.data, "(|a|1)(|a|2)");
}

/* Of any length: none may be cut, or read as two. */
static void long_lines(void **state)
{
	(void)state;
	for (size_t len = 190; len < 210; len++) {
		cleanup_free char *x = xcalloc(1, len + 1);
		cleanup_free char *in = NULL, *out = NULL;

		memset(x, 'x', len);
		in = xasprintf("k = %s=y\n", x);
		out = xasprintf("(|k|%s=y)", x);
		is_read_as(in, out);
	}
}

static void profile_says(const char *change, const char *why)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	cleanup_free char *small = xasprintf("%s/images/profiles/small.ini",
					     share_dir());
	struct error err = { 0 };
	struct profile p;

	assert_int_equal(file_read(small, 1 << 16, &text, &err), 0);
	buf_adds(&text, change);
	assert_int_equal(file_write(path, text.data, text.len, &err), 0);
	assert_int_equal(profile_load(path, &p, &err), -1);
	if (!strstr(err.text, why))
		fail_msg("no '%s' in '%s'", why, err.text);
}

static void profiles(void **state)
{
	struct error err = { 0 };
	struct profile p;

	(void)state;
	profile_says("size = 128MiB\n", "'size' is given twice in [disk swap]");
	profile_says("[disk work]\nsize = 2MiB\n", "'size' is given twice in [disk work]");
	profile_says(" read-iops = 1\n", "begins with a blank");
	/* Its source has more than 200 bytes. */
	if (profile_load("osdl-up", &p, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(str_ends(p.source, "are assumed"));
	profile_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(syntax),
		cmocka_unit_test(refusals),
		cmocka_unit_test(repeated_where_allowed),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(profiles),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
