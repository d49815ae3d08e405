/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_job.c - trees of jobs: configuration, manifest, a user's directory; and
 * what the jobs linux-6.1 and command run
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "images/job.h"
#include "loads/load.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

static char dir[1024];

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(dir, sizeof(dir), "%s/kontest-job-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	struct error err;

	(void)state;
	return remove_tree(dir, &err);
}

static char *put(const char *name, const char *text, mode_t perm)
{
	struct error err = { 0 };
	char *path = xasprintf("%s/%s", dir, name);
	cleanup_free char *parent = xstrdup(path);

	*strrchr(parent, '/') = '\0';
	assert_int_equal(make_dirs(parent, &err), 0);
	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	assert_int_equal(chmod(path, perm), 0);
	return path;
}

static bool there(const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);

	return path_exists(path);
}

static void test_config(void **state)
{
	static const char config[] =
		"#\n# Automatically generated\n#\nCONFIG_A=y\n"
		"# CONFIG_B is not set\nCONFIG_C=\"a \\\"b\\\"\"\nCONFIG_D=0xC0\n"
		"CONFIG_E=m\nCONFIG_F=\"\"";
	CLEANUP(buf_free) struct buf make = { 0 };
	CLEANUP(buf_free) struct buf c = { 0 };

	(void)state;
	linux_auto_conf(config, &make);
	assert_string_equal(make.data, "CONFIG_A=y\nCONFIG_C=a \"b\"\n"
			    "CONFIG_D=0xC0\nCONFIG_E=m\nCONFIG_F=\n");
	linux_autoconf_h(config, &c);
	assert_string_equal(c.data, "#define CONFIG_A 1\n"
			    "#define CONFIG_C \"a \\\"b\\\"\"\n"
			    "#define CONFIG_D 0xC0\n#define CONFIG_E_MODULE 1\n"
			    "#define CONFIG_F \"\"\n");
}

static void test_shipped_list(void **state)
{
	CLEANUP(buf_free) struct buf files = { 0 };
	struct error err = { 0 };
	char *rest, *line, *before = NULL;
	size_t n = 0;

	(void)state;
	assert_int_equal(file_read("images/linux-6.1.files", 1 << 20, &files, &err), 0);
	rest = files.data;
	while ((line = strsep(&rest, "\n")) && *line) {
		assert_true(!before || strcmp(before, line) < 0);
		assert_null(strstr(line, ".."));
		assert_true(*line != '/');
		before = line;
		n++;
	}
	assert_true(n > 2000 && n < 4000);
}

static void test_user_tree(void **state)
{
	CLEANUP(tree_freep) struct tree *t = tree_new(), *again = tree_new();
	cleanup_free char *top = xasprintf("%s/src", dir);
	cleanup_free char *file = put("src/a/run.sh", "echo\n", 0751);
	cleanup_free char *link = xasprintf("%s/src/link", dir);
	cleanup_free char *fifo = xasprintf("%s/src/fifo", dir);
	char one[SHA256_HEX], two[SHA256_HEX];
	struct error err = { 0 };
	const struct node *n;

	(void)state;
	assert_int_equal(symlink("a/run.sh", link), 0);
	assert_int_equal(dir_tree(t, top, &err), 0);
	n = tree_find(t, "/command/a/run.sh");
	assert_non_null(n);
	assert_int_equal(n->mode, S_IFREG | 0751);
	assert_int_equal(n->uid, 0);
	assert_int_equal(n->size, 5);
	n = tree_find(t, "/command/link");
	assert_non_null(n);
	assert_true(S_ISLNK(n->mode));
	assert_int_equal(n->size, strlen("a/run.sh"));

	assert_int_equal(dir_tree(again, top, &err), 0);
	tree_digest(t, one);
	tree_digest(again, two);
	assert_string_equal(one, two);

	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(dir_tree(again, top, &err), -1);
	assert_non_null(strstr(err.text, "fifo"));
	assert_int_equal(dir_tree(again, "/nonexistent/tree", &err), -1);
	assert_non_null(strstr(err.text, "/nonexistent/tree"));
}

static void test_command(void **state)
{
	const struct job_ops *job = job_find("command");
	struct job_args a = { .tree = dir, .jobs = 7, .target = "",
			      .command = "make -j{jobs} X={jobs}", .prepare = "" };
	const char *argv[5];
	char store[64], message[256] = "";

	(void)state;
	assert_true(job->takes_command);
	assert_int_equal(job->argv(&a, argv, 5, store, sizeof(store)), 0);
	assert_string_equal(argv[0], "/bin/sh");
	assert_string_equal(argv[1], "-c");
	assert_string_equal(argv[2], "make -j7 X=7");
	assert_null(argv[3]);
	assert_int_equal(job->argv(&a, argv, 3, store, sizeof(store)), -1);
	assert_int_equal(job->argv(&a, argv, 5, store, 12), -1);

	assert_int_equal(job->prepare(&a, message, sizeof(message)), 0);
	free(put("left.o", "x", 0644));
	a.prepare = "rm -f *.o";
	assert_int_equal(job->prepare(&a, message, sizeof(message)), 0);
	assert_false(there("left.o"));
	a.prepare = "echo no luck >&2; exit 3";
	assert_int_equal(job->prepare(&a, message, sizeof(message)), -1);
	assert_non_null(strstr(message, "no luck"));
}

static void test_linux(void **state)
{
	const struct job_ops *job = job_find("linux-6.1");
	cleanup_free char *tree = xasprintf("%s/linux", dir);
	struct job_args a = { .tree = tree, .jobs = 3, .target = "kernel/sched/",
			      .command = "", .prepare = "" };
	cleanup_free char *makefile = put("linux/Makefile",
		"prepare:\n\tmkdir -p gen; echo >gen/tool; echo x >>count\n", 0644);
	CLEANUP(buf_free) struct buf count = { 0 };
	cleanup_free char *counted = xasprintf("%s/count", tree);
	const char *argv[5];
	char store[64], message[256] = "";
	struct error err = { 0 };

	(void)state;
	assert_int_equal(job->argv(&a, argv, 5, store, sizeof(store)), 0);
	assert_string_equal(argv[0], "make");
	assert_string_equal(argv[1], "-j3");
	assert_string_equal(argv[2], "kernel/sched/");
	assert_null(argv[3]);
	a.target = "";
	assert_int_equal(job->argv(&a, argv, 3, store, sizeof(store)), 0);
	assert_null(argv[2]);

	/* What the first preparation made stays, what came later goes */
	assert_int_equal(job->prepare(&a, message, sizeof(message)), 0);
	assert_true(there("linux/gen/tool"));
	free(put("linux/kernel/new/core.o", "x", 0644));
	free(put("linux/gen/.core.o.cmd", "x", 0644));
	assert_int_equal(job->prepare(&a, message, sizeof(message)), 0);
	assert_false(there("linux/kernel"));
	assert_false(there("linux/gen/.core.o.cmd"));
	assert_true(there("linux/gen/tool") && there("linux/Makefile"));
	assert_int_equal(file_read(counted, 100, &count, &err), 0);
	assert_string_equal(count.data, "x\n");
	assert_int_equal(chdir("/"), 0);
}

static void test_linux_without_tree(void **state)
{
	const struct job_args a = { .tree = "/nonexistent", .jobs = 1, .target = "" };
	char message[256] = "";

	(void)state;
	assert_int_equal(job_find("linux-6.1")->prepare(&a, message, sizeof(message)), -1);
	assert_non_null(strstr(message, "/nonexistent"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_shipped_list),
		cmocka_unit_test(test_user_tree),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_linux),
		cmocka_unit_test(test_linux_without_tree),
	};
	int part = load_reexec(argc, argv);

	if (part != -1)
		return part;
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
