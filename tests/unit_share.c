/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_share.c - a program finds the files of its own build or installation,
 * and never those of another
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "images/share.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

static char room[] = "/tmp/kontest-share.XXXXXX";

static int setup(void **state)
{
	(void)state;
	strcpy(room + strlen(room) - 6, "XXXXXX");
	return mkdtemp(room) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return remove_tree(room, NULL);
}

static char *in_room(const char *path)
{
	return xasprintf("%s/%s", room, path);
}

static void make(const char *path)
{
	cleanup_free char *full = in_room(path);
	cleanup_free char *dir = xstrdup(full);
	struct error err = { 0 };

	*strrchr(dir, '/') = '\0';
	assert_int_equal(make_dirs(dir, &err), 0);
	assert_int_equal(file_write(full, "x", 1, &err), 0);
}

static void share_is(const char *exe, const char *want)
{
	cleanup_free char *path = in_room(exe), *tree = in_room("tree");
	cleanup_free char *installed = in_room("usr/share/kontest");
	cleanup_free char *right = in_room(want);
	cleanup_free char *got = share_find(path, tree, installed);

	assert_string_equal(got, right);
}

static void guest_is(const char *exe, const char *share, const char *want)
{
	cleanup_free char *path = in_room(exe), *dir = in_room(share);
	cleanup_free char *right = want ? in_room(want) : NULL;
	struct error err = { 0 };
	cleanup_free char *got = guest_find(path, dir, &err);

	if (want) {
		assert_non_null(got);
		assert_string_equal(got, right);
	} else {
		assert_null(got);
		assert_non_null(strstr(err.text, "there is no guest program"));
	}
}

static void built(void **state)
{
	(void)state;
	make("tree/images/profiles/small.ini");
	make("tree/build/kontest.paths");
	make("else/where/kontest.paths");
	/* An older installation beside a build directory */
	make("else/share/kontest/images/profiles/small.ini");
	share_is("tree/build/kontest", "tree");
	share_is("tree/build/tests/unit_x", "tree");
	share_is("else/where/kontest", "tree");
}

/* The tree it was built from is still there, and has changed since. */
static void installed(void **state)
{
	(void)state;
	make("tree/images/profiles/small.ini");
	make("tree/build/kontest.paths");
	share_is("usr/bin/kontest", "usr/share/kontest");
	make("moved/usr/share/kontest/images/profiles/small.ini");
	share_is("moved/usr/bin/kontest", "moved/usr/share/kontest");
	make("tree/dest/usr/share/kontest/images/profiles/small.ini");
	share_is("tree/dest/usr/bin/kontest", "tree/dest/usr/share/kontest");
}

static void tree_is_gone(void **state)
{
	(void)state;
	make("build/kontest.paths");
	share_is("build/kontest", "usr/share/kontest");
}

static void guest(void **state)
{
	(void)state;
	make("tree/build/guest/kontest-guest");
	make("tree/build/kontest.paths");
	make("other/kontest.paths");
	make("usr/share/kontest/guest/kontest-guest");
	guest_is("tree/build/kontest", "tree", "tree/build/guest/kontest-guest");
	/* make O=other without the guest: not the tree's, not the installed */
	guest_is("other/kontest", "tree", NULL);
	guest_is("other/kontest", "usr/share/kontest", NULL);
	make("other/guest/kontest-guest");
	guest_is("other/kontest", "tree", "other/guest/kontest-guest");
	guest_is("usr/bin/kontest", "usr/share/kontest",
		 "usr/share/kontest/guest/kontest-guest");
	guest_is("usr/bin/kontest", "tree", NULL);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(built),
		TEST(installed),
		TEST(tree_is_gone),
		TEST(guest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
