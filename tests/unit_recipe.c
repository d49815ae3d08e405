/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "images/profile.h"
#include "images/recipe.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "tests/scratch_file.h"

#define BASE "[base]\nname = b\nlabel = kontest-root\nepoch = 86400\n"
#define WHOLE BASE "[packages]\ninstall = gcc\n"

static void load(const char *text, struct recipe *r)
{
	struct error err = { 0 };

	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	if (recipe_load(path, r, &err))
		fail_msg("%s", err.text);
}

static void refused(const char *text, const char *where, const char *what)
{
	struct recipe r = { 0 };
	struct error err = { 0 };
	cleanup_free char *place = *where ? xasprintf("'%s' line %s: ", path, where)
					  : xasprintf("%s:", path);

	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	if (!recipe_load(path, &r, &err))
		fail_msg("taken: %s", text);
	if (!strstr(err.text, place) || !strstr(err.text, what))
		fail_msg("no '%s' and '%s' in '%s'", place, what, err.text);
	assert_null(strchr(err.text, '\n'));
}

static void whole(void **state)
{
	static const char text[] = "# a comment\n" BASE
		"[packages]\n"
		"install = gcc make ; both\n"
		"install = dash\n"
		"without = dpkg\n"
		"[exclude]\n"
		"path = /usr/share/doc/*[!t]\n"
		"[layout]\n/bin = usr/bin\n"
		"[directory]\n/tmp = 1777\n"
		"[link]\n/bin/sh = dash\n"
		"[file]\n/etc/passwd = root:x:0:0:root:/root:/bin/sh\n"
		"/etc/group = root:x:0:\n"
		"/etc/passwd = nobody:x:1:1::/:/bin/false\n"
		"[tree]\n/usr/share/jobs = loads/jobs\n";
	CLEANUP(recipe_free) struct recipe r = { 0 };

	(void)state;
	load(text, &r);
	assert_string_equal(r.text, text);
	assert_string_equal(r.name, "b");
	assert_string_equal(r.label, "kontest-root");
	assert_int_equal(r.epoch, 86400);
	assert_int_equal(r.install.n, 3);
	assert_string_equal(r.install.v[1], "make");
	assert_string_equal(r.install.v[2], "dash");
	assert_null(r.install.v[3]);
	assert_int_equal(r.without.n, 1);
	assert_string_equal(r.exclude.v[0], "/usr/share/doc/*[!t]");
	assert_null(r.exclude.v[1]);
	assert_string_equal(r.layout.v[0].value, "usr/bin");
	assert_int_equal(r.directories.v[0].perm, 01777);
	assert_string_equal(r.links.v[0].path, "/bin/sh");
	assert_int_equal(r.files.n, 2);
	assert_string_equal(r.files.v[0].value,
			    "root:x:0:0:root:/root:/bin/sh\n"
			    "nobody:x:1:1::/:/bin/false\n");
	assert_string_equal(r.trees.v[0].value, "loads/jobs");
}

static void unknown(void **state)
{
	(void)state;
	refused(WHOLE "[linkz]\n/bin/sh = dash\n", "7", "[linkz]");
	refused(WHOLE "\n[empty]\n", "8", "[empty]");
	refused("name = b\n", "1", "in no section");
	refused(WHOLE "[link]\nnonsense\n", "8", "neither");
	refused(BASE "colour = red\n", "5", "'colour'");
	refused(WHOLE "recommends = yes\n", "7", "'recommends'");
	refused(WHOLE "[exclude]\npaths = /x\n", "8", "'paths'");
}

static void bad_values(void **state)
{
	(void)state;
	refused("[base]\nname = B/..\n", "2", "B/..");
	refused("[base]\nname = b\nname = c\n", "3", "twice");
	refused("[base]\nlabel = seventeen-letters\n", "2", "16");
	refused("[base]\nepoch = 0\n", "2", "epoch");
	refused("[base]\nepoch = 4294967296\n", "2", "epoch");
	refused("[base]\nepoch = today\n", "2", "today");
	refused(WHOLE "[link]\nbin/sh = dash\n", "8", "bin/sh");
	refused(WHOLE "[link]\n/bin/../sh = dash\n", "8", "/bin/../sh");
	refused(WHOLE "[link]\n/a = b\n/a = c\n", "9", "twice");
	refused(WHOLE "[directory]\n/tmp = 1888\n", "8", "1888");
	refused(WHOLE "[directory]\n/tmp = 17777\n", "8", "17777");
	refused(WHOLE "[tree]\n/jobs = ../etc\n", "8", "../etc");
	refused(WHOLE "[exclude]\npath = usr\n", "8", "usr");
}

static void incomplete(void **state)
{
	(void)state;
	refused("", "", "no name");
	refused("[base]\nname = b\nepoch = 1\n", "", "no label");
	refused("[base]\nname = b\nlabel = c\n", "", "no epoch");
	refused(BASE, "", "no install");
}

/* What is shipped can be read and promises what a compile job needs. */
static void shipped(void **state)
{
	static const char *const need[] = { "gcc", "make", "binutils",
		"libc6-dev", "dash", "coreutils", "tar" };
	CLEANUP(recipe_free) struct recipe r = { 0 };
	cleanup_free char *file = xasprintf("%s/images/base.recipe",
					    share_dir());
	struct error err = { 0 };

	(void)state;
	if (recipe_load(file, &r, &err))
		fail_msg("%s", err.text);
	assert_string_equal(r.name, "base");
	for (size_t i = 0; i < sizeof(need) / sizeof(need[0]); i++) {
		bool there = false;

		for (size_t k = 0; k < r.install.n; k++)
			there |= !strcmp(r.install.v[k], need[i]);
		if (!there)
			fail_msg("%s installs no %s", file, need[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(unknown),
		cmocka_unit_test(bad_values),
		cmocka_unit_test(incomplete),
		cmocka_unit_test(shipped),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
