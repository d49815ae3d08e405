/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "images/lock.h"
#include "images/profile.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "tests/scratch_file.h"

#define SHA_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SHA_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define GCC "gcc 4:12.2.0-3 amd64 " SHA_A " 5216\n"
#define MAKE "make 4.3-4.1~x amd64 " SHA_B " 395632\n"

static void read_text(const char *text, struct lock *l)
{
	struct error err = { 0 };

	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	if (lock_read(path, l, &err))
		fail_msg("%s", err.text);
}

/* Every refusal names the file and, with @where, the line. */
static void refused(const char *text, const char *where, const char *what)
{
	struct lock l = { 0 };
	struct error err = { 0 };
	cleanup_free char *place = xasprintf("%s%s", path, where);

	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	assert_int_equal(lock_read(path, &l, &err), -1);
	if (!strstr(err.text, place) || !strstr(err.text, what))
		fail_msg("no '%s' and '%s' in '%s'", place, what, err.text);
	assert_int_equal(l.packages.n, 0);
}

static void round_trip(void **state)
{
	static const char text[] =
		"# packages of recipe base: name version arch sha256 size_bytes\n"
		"# in place of lock " SHA_B "\n" GCC MAKE;
	CLEANUP(lock_free) struct lock l = { 0 };
	CLEANUP(buf_free) struct buf back = { 0 };
	struct error err = { 0 };
	char hex[SHA256_HEX], file_hex[SHA256_HEX];

	(void)state;
	read_text(text, &l);
	assert_int_equal(l.packages.n, 2);
	assert_string_equal(l.packages.v[0].version, "4:12.2.0-3");
	assert_string_equal(l.packages.v[1].sha256, SHA_B);
	assert_true(l.packages.v[1].size == 395632);
	assert_string_equal(l.replaces, SHA_B);
	assert_int_equal(lock_write(path, "base", &l, &err), 0);
	assert_int_equal(file_read(path, 4096, &back, &err), 0);
	assert_string_equal(back.data, text);
	/* The digest in a result is what sha256sum says of the file. */
	lock_digest("base", &l, hex);
	assert_int_equal(sha256_file(path, file_hex, &err), 0);
	assert_string_equal(hex, file_hex);
}

static void comments_and_blanks(void **state)
{
	CLEANUP(lock_free) struct lock l = { 0 };

	(void)state;
	read_text("# one\n\n#two\n" GCC "\n" "make\t4.3-4.1~x  amd64 " SHA_B " 395632", &l);
	assert_int_equal(l.packages.n, 2);
	assert_string_equal(l.replaces, "");
}

static void malformed(void **state)
{
	(void)state;
	refused("# nothing\n", "", "names no package");
	refused(GCC "make 4.3 amd64 " SHA_B "\n", ":2:", "4 fields");
	refused("make 4.3 amd64 " SHA_B " 5 6\n", ":1:", "6 fields");
	refused("# c\nmake 4.3 amd64 abc 5\n", ":2:", "'abc'");
	refused("make 4.3 arm64 " SHA_B " 5\n", ":1:", "'arm64'");
	refused("make 4.3 amd64 " SHA_B " 5k\n", ":1:", "'5k'");
	refused("make 4.3 amd64 " SHA_B " 0\n", ":1:", "'0'");
	/* What would be an option or an expression to apt-get is no name. */
	refused("-oX=y 4.3 amd64 " SHA_B " 5\n", ":1:", "'-oX=y'");
	refused("ma/ke 4.3 amd64 " SHA_B " 5\n", ":1:", "'ma/ke'");
	refused("make x4.3 amd64 " SHA_B " 5\n", ":1:", "'x4.3'");
	refused(GCC MAKE GCC, ":3:", "named twice");
}

static void missing_file(void **state)
{
	struct lock l = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(lock_read("/nonexistent/x.lock", &l, &err), -1);
	assert_non_null(strstr(err.text, "/nonexistent/x.lock"));
}

static void changes(void **state)
{
	CLEANUP(lock_free) struct lock a = { 0 };
	CLEANUP(lock_free) struct lock b = { 0 };
	cleanup_free char *same = NULL, *diff = NULL;

	(void)state;
	read_text(GCC MAKE "sed 1 amd64 " SHA_A " 5\ntar 1 all " SHA_A " 5\n", &a);
	read_text("awk 7 amd64 " SHA_A " 5\n" GCC "make 4.4 amd64 " SHA_A " 5\n"
		  "sed 1 amd64 " SHA_B " 5\n", &b);
	same = lock_changes(&a.packages, &a.packages);
	assert_string_equal(same, "");
	diff = lock_changes(&a.packages, &b.packages);
	assert_string_equal(diff,
		"make 4.3-4.1~x -> 4.4\n"
		"sed 1 -> same version, other content\n"
		"tar 1 -> not needed any more\n"
		"awk none -> 7\n");
}

/* The lock that is shipped is written as lock_write() would. */
static void shipped(void **state)
{
	CLEANUP(lock_free) struct lock l = { 0 };
	cleanup_free char *file = xasprintf("%s/images/base.lock", share_dir());
	char hex[SHA256_HEX], file_hex[SHA256_HEX];
	struct error err = { 0 };

	(void)state;
	if (lock_read(file, &l, &err))
		fail_msg("%s", err.text);
	lock_digest("base", &l, hex);
	assert_int_equal(sha256_file(file, file_hex, &err), 0);
	assert_string_equal(hex, file_hex);
	assert_string_equal(l.replaces, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(comments_and_blanks),
		cmocka_unit_test(malformed),
		cmocka_unit_test(missing_file),
		cmocka_unit_test(changes),
		cmocka_unit_test(shipped),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
