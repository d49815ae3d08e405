/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fs_check.h - what the unit tests of the file-system writers share: a directory
 * of their own, and the usual tools looking at what was written
 */
#ifndef KONTEST_TESTS_FS_CHECK_H
#define KONTEST_TESTS_FS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/proc.h"
#include "results/base/text.h"

/* check() - a call that must work; shows the reason when it does not */
#define check(call, err) do {				\
	if (call)					\
		fail_msg("%s: %s", #call, (err)->text);	\
} while (0)

static char test_dir[256];

__attribute__((unused))
static int make_test_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(test_dir, sizeof(test_dir), "%s/kontest-fs.XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	return mkdtemp(test_dir) ? 0 : -1;
}

__attribute__((unused))
static int drop_test_dir(void **state)
{
	struct error err = { 0 };

	(void)state;
	return remove_tree(test_dir, &err);
}

/* A name in the test's directory; owned by the caller. */
__attribute__((unused))
static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", test_dir, name);
}

/* run() - what a program printed, to be freed; it must exit with 0. The program
 * may be one of the administrator's, which are not in every user's PATH. */
__attribute__((unused))
static char *run(const char *program, const char *a, const char *b, const char *c)
{
	cleanup_free char *path = proc_find(program);
	const char *const argv[] = { path, a, b, c, NULL };
	struct buf out = { 0 };
	const struct proc_opts opts = { .out = &out, .timeout_s = 60 };
	struct error err = { 0 };

	if (!path)
		fail_msg("these tests need the program %s", program);
	check(proc_run(argv, &opts, &err), &err);
	return out.data ? out.data : xstrdup("");
}

__attribute__((unused))
static void assert_contains(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text ? text : "nothing");
}

__attribute__((unused))
static void assert_lacks(const char *text, const char *part)
{
	if (!text || strstr(text, part))
		fail_msg("'%s' in:\n%s", part, text ? text : "nothing");
}

#endif
