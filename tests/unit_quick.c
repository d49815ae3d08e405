/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_quick.c - the job quick-1 prepares a tree and says what to run
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "loads/load.h"

static char dir[1024];

static void put(const char *name, const char *text)
{
	char path[1100];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int there(const char *name)
{
	char path[1100];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

static void drop(const char *name)
{
	char path[1100];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(unlink(path), 0);
}

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(dir, sizeof(dir), "%s/kontest-quick-XXXXXX",
		 tmp != NULL ? tmp : "/tmp");
	return mkdtemp(dir) == NULL ? -1 : 0;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static int prepare(const char *tree, char *message, size_t message_len)
{
	const struct job_args a = { .tree = tree, .jobs = 16, .target = "" };

	return job_find("quick-1")->prepare(&a, message, message_len);
}

static void test_argv(void **state)
{
	const struct job_ops *job = job_find("quick-1");
	const char *argv[4] = { "", "", "", "" };
	char store[32];
	struct job_args a = { .tree = "/", .jobs = 16, .target = "" };

	(void)state;
	assert_int_equal(job->argv(&a, argv, 4, store, sizeof(store)), 0);
	assert_string_equal(argv[0], "make");
	assert_string_equal(argv[1], "-j16");
	assert_null(argv[2]);
	assert_int_equal(job->argv(&a, argv, 2, store, sizeof(store)), -1);
	assert_int_equal(job->argv(&a, argv, 4, store, 4), -1);
}

static void test_prepare_cleans(void **state)
{
	char message[2048] = "";

	(void)state;
	/* A make around the test must not reach the one within */
	assert_int_equal(setenv("MAKEFLAGS", "n", 1), 0);
	put("Makefile", "clean:\n\t@echo out; rm -f left.o\n");
	put("left.o", "");
	assert_int_equal(prepare(dir, message, sizeof(message)), 0);
	assert_false(there("left.o"));
	assert_int_equal(unsetenv("MAKEFLAGS"), 0);
	drop("Makefile");
}

static void test_prepare_says_why(void **state)
{
	char message[2048] = "";

	(void)state;
	put("Makefile", "clean:\n\t@echo this is broken >&2; exit 3\n");
	assert_int_equal(prepare(dir, message, sizeof(message)), -1);
	assert_non_null(strstr(message, dir));
	assert_non_null(strstr(message, "this is broken"));
	assert_null(strchr(message, '\n'));
	drop("Makefile");

	assert_int_equal(prepare(dir, message, sizeof(message)), -1);
	assert_non_null(strstr(message, "clean"));

	assert_int_equal(prepare("/nonexistent", message, sizeof(message)),
			 -1);
	assert_non_null(strstr(message, "/nonexistent"));
	assert_non_null(strstr(message, strerror(ENOENT)));
}

static void test_prepare_without_make(void **state)
{
	char message[2048] = "", path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s", getenv("PATH"));
	assert_int_equal(setenv("PATH", "/nonexistent", 1), 0);
	assert_int_equal(prepare(dir, message, sizeof(message)), -1);
	assert_int_equal(setenv("PATH", path, 1), 0);
	assert_non_null(strstr(message, "start 'make'"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_argv),
		cmocka_unit_test(test_prepare_cleans),
		cmocka_unit_test(test_prepare_says_why),
		cmocka_unit_test(test_prepare_without_make),
	};
	int part = load_reexec(argc, argv);

	if (part != -1)
		return part;
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
