/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_embed.c - where the root of libvirt's embedded driver is made
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/embed.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

static char dir[] = "/tmp/ku.XXXXXX";

static int setup(void **state)
{
	(void)state;
	/* What libvirt knows of QEMU is kept; not where the user's own is. */
	return mkdtemp(dir) && !setenv("XDG_CACHE_HOME", dir, 1) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return remove_tree(dir, NULL);
}

/* Is the root made in @runtime when that is XDG_RUNTIME_DIR? */
static bool made_in(const char *runtime)
{
	cleanup_free char *prefix = xasprintf("%s/kontest-vm-", runtime);
	struct error err = { 0 };
	struct embed e;
	bool in;

	assert_int_equal(setenv("XDG_RUNTIME_DIR", runtime, 1), 0);
	if (embed_open(&e, "/bin/sh", &err) < 0)
		fail_msg("%s", err.text);
	assert_true(path_is_dir(e.root));
	/* 108 bytes with the NUL, whatever was asked for */
	assert_true(strlen(e.root) + strlen("/lib/qemu/domain-1-kontest/monitor.sock") < 108);
	in = str_starts(e.root, prefix);
	embed_close(&e);
	return in;
}

static void runtime_dir_is_used(void **state)
{
	cleanup_free char *run = xasprintf("%s/run", dir);
	cleanup_free char *stale = xasprintf("%s/kontest-vm-stale0", run);
	cleanup_free char *lock = xasprintf("%s/lock", stale);
	struct error err = { 0 };

	(void)state;
	assert_int_equal(make_dirs(stale, &err), 0);
	assert_int_equal(file_write(lock, "1\n", 2, &err), 0);
	assert_true(made_in(run));
	/* Roots of dead processes are removed there too. */
	assert_false(path_exists(stale));
}

static void unfit_runtime_dir_is_not(void **state)
{
	cleanup_free char *deep = xasprintf("%s/a-directory-of-forty-bytes-and-a-few-more", dir);
	cleanup_free char *none = xasprintf("%s/none", dir);
	cleanup_free char *file = xasprintf("%s/file", dir);
	cleanup_free char *theirs = xasprintf("%s/theirs", dir);
	cleanup_free char *cwd = getcwd(NULL, 0);
	struct error err = { 0 };

	(void)state;
	assert_int_equal(make_dirs(deep, &err), 0);
	assert_int_equal(file_write(file, "x", 1, &err), 0);
	assert_false(made_in(deep));
	assert_false(made_in(none));
	assert_false(made_in(file));
	assert_false(made_in(""));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(make_dirs("run", &err), 0);
	assert_false(made_in("run"));
	assert_int_equal(chdir(cwd), 0);
	if (geteuid() == 0) {
		assert_int_equal(make_dirs(theirs, &err), 0);
		assert_int_equal(chown(theirs, 12345, 12345), 0);
		assert_false(made_in(theirs));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runtime_dir_is_used),
		cmocka_unit_test(unfit_runtime_dir_is_not),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
