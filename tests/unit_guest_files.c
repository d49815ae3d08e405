/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_guest_files.c - disks by content, trees, children at their gate, table
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/child.h"
#include "guest/disks.h"
#include "guest/table.h"
#include "results/journal_file.h"

static char dir[256];

static int make_temp(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(dir, sizeof(dir), "%s/unit_guest.XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(dir) ? 0 : -1;
}

static int drop_temp(void **state)
{
	struct fail f;

	(void)state;
	return delete_tree(dir, &f);
}

static const char *in_dir(const char *name)
{
	static char path[2][512];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[0]), "%s/%s", dir, name);
	return path[turn];
}

static void put_file(const char *name, const char *text, mode_t mode)
{
	int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write_full(fd, text, strlen(text)), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(close(fd), 0);
}

static void run(const char *fmt, const char *path)
{
	char command[1024];

	snprintf(command, sizeof(command), fmt, path);
	if (system(command) != 0)
		fail_msg("%s", command);
}

static bool recognise(const char *path, enum disk_role *role)
{
	auto_close int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	return disk_recognise(fd, role);
}

static void test_disks(void **state)
{
	static const struct {
		const char *command;
		bool known;
		enum disk_role role;
	} cases[] = {
		{ "/sbin/mke2fs -q -t ext4 -L kontest-root %s", true,
		  DISK_SYSTEM },
		{ "/sbin/mke2fs -q -F -t ext4 -L kontest-work %s", true,
		  DISK_WORK },
		{ "/sbin/mke2fs -q -F -t ext4 -L kontest-other %s", true,
		  DISK_OTHER },
		{ "/sbin/mkswap -q -L kontest-swap %s 2>/dev/null", true,
		  DISK_SWAP },
		{ "/sbin/mke2fs -q -F -t ext4 -L kontest-work2 %s", false, 0 },
		{ "/sbin/mke2fs -q -F -t ext4 -L kontest-wor %s", false, 0 },
		{ "/sbin/mkswap -q -L swap %s 2>/dev/null", false, 0 },
		{ "tr '\\0' x < /dev/zero | head -c 65536 > %s", false, 0 },
	};
	const char *path = in_dir("disk");
	struct error err = { 0 };
	enum disk_role role;

	(void)state;
	put_file("disk", "", 0600);
	assert_false(recognise(path, &role));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(truncate(path, 0), 0);
		assert_int_equal(truncate(path, 4 << 20), 0);
		run(cases[i].command, path);
		if (recognise(path, &role) != cases[i].known)
			fail_msg("%s", cases[i].command);
		if (cases[i].known)
			assert_int_equal(role, cases[i].role);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(journal_create(path, "id", "format=1\n", "{}", &err),
			 0);
	assert_true(recognise(path, &role));
	assert_int_equal(role, DISK_RESULTS);
}

static void test_copy_and_remove(void **state)
{
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000,
				   .tv_nsec = 5 } };
	char to[512], text[64];
	struct stat st;
	struct fail f;

	(void)state;
	assert_int_equal(mkdir(in_dir("a"), 0755), 0);
	assert_int_equal(mkdir(in_dir("a/sub"), 0700), 0);
	put_file("a/sub/tool", "#!/bin/sh\n", 0755);
	put_file("a/readonly", "text", 0444);
	assert_int_equal(symlink("sub/tool", in_dir("a/link")), 0);
	assert_int_equal(utimensat(AT_FDCWD, in_dir("a/readonly"), old, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, in_dir("a/sub"), old, 0), 0);
	strcpy(to, in_dir("b"));
	if (copy_tree(in_dir("a"), to, &f) != 0)
		fail_msg("%s", f.text);

	assert_int_equal(stat(in_dir("b/sub/tool"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(stat(in_dir("b/sub"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(st.st_mtim.tv_sec, 1000);
	assert_int_equal(stat(in_dir("b/readonly"), &st), 0);
	assert_int_equal(st.st_mtim.tv_sec, 1000);
	assert_int_equal(st.st_mtim.tv_nsec, 5);
	assert_int_equal(st.st_mode & 07777, 0444);
	assert_true(read_text(in_dir("b/link"), text, sizeof(text)) > 0);
	assert_string_equal(text, "#!/bin/sh");
	assert_int_equal(lstat(in_dir("b/link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));

	assert_int_equal(copy_tree(in_dir("a"), to, &f), -1);
	assert_int_equal(empty_dir(to, &f), 0);
	assert_int_equal(rmdir(to), 0);
	assert_int_equal(delete_tree(to, &f), 0);
	assert_int_equal(copy_tree(in_dir("none"), to, &f), -1);
	assert_non_null(strstr(f.text, "none"));
}

static int say_and_end(void *arg)
{
	printf("hello\n");
	fflush(stdout);
	return *(int *)arg;
}

static int sleep_long(void *arg)
{
	(void)arg;
	sleep(60);
	return 0;
}

static void test_children(void **state)
{
	int code = 42;
	struct child_opts say = { .output = in_dir("out"), .dir = "/",
				  .main = say_and_end, .arg = &code };
	struct child_opts lazy = { .dir = "/", .main = sleep_long };
	struct child a, b;
	struct child *const both[] = { &a, &b, NULL };
	char text[64];
	struct fail f = { "" };

	(void)state;
	if (access("/proc/self/oom_score_adj", W_OK) != 0)
		skip();
	assert_int_equal(child_init(&f), 0);
	if (child_start(&say, &a, &f) != 0 || child_start(&lazy, &b, &f) != 0)
		fail_msg("%s", f.text);
	/* the gate is shut: nothing can have happened */
	assert_int_equal(child_wait(both, now_ns() + 50 * NS_PER_MS), 0);
	assert_int_equal(read_text(in_dir("out"), text, sizeof(text)), 0);
	assert_int_equal(child_go(&a, &f), 0);
	assert_int_equal(child_go(&b, &f), 0);
	assert_int_equal(child_wait(both, now_ns() + 30 * NS_PER_S), 1);
	assert_true(a.ended);
	assert_false(b.ended);
	assert_int_equal(child_exit_code(&a), 42);
	assert_true(read_text(in_dir("out"), text, sizeof(text)) > 0);
	assert_string_equal(text, "hello");
	assert_int_equal(child_kill(&b, &lazy, &f), 0);
	assert_true(b.ended);
	assert_int_equal(child_exit_code(&b), 128 + SIGKILL);
	assert_int_equal(child_kill(&a, &say, &f), 0);

	lazy.dir = "/no/such/directory";
	assert_int_equal(child_start(&lazy, &b, &f), -1);
	assert_non_null(strstr(f.text, "/no/such/directory"));
}

static char printed[4096];

static void print_to_buffer(const char *fmt, ...)
{
	size_t used = strlen(printed);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(printed + used, sizeof(printed) - used, fmt, ap);
	va_end(ap);
}

static struct table_row row(const char *load, const char *verdict,
			    double wall_s, double job_s, double load_s,
			    uint64_t done)
{
	struct table_row r = { .load = load_find(load) };

	assert_non_null(r.load);
	r.result.verdict = verdict;
	r.result.per_load = 10000;
	counters_set(&r.result.diff, C_WALL, (uint64_t)(wall_s * 1e9));
	counters_set(&r.result.diff, C_JOB_USER, (uint64_t)(job_s * 1e9));
	counters_set(&r.result.diff, C_LOAD_SYSTEM, (uint64_t)(load_s * 1e9));
	counters_set(&r.result.diff, C_DONE, done);
	return r;
}

/* Figures that give the lines of contest-100hz-v-1000hz.txt for 2.5.70-mm3 */
static void test_table(void **state)
{
	struct table_row rows[] = {
		row("no_load", "ok", 79.9, 75.2, 0, 0),
		row("process_load", "ok", 108, 74, 31, 640000),
		row("process_load", "ok", 109.9, 74, 31.9, 650000),
		row("process_load", "timed-out", 999, 1, 1, 1),
	};

	(void)state;
	strcpy(rows[3].result.message, "the job has not ended in 9 s");
	printed[0] = '\0';
	console_table("2.5.70-mm31", rows, 4, print_to_buffer);
	assert_string_equal(printed,
"no_load:\n"
"Kernel         [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
"2.5.70-mm31         1   79      94.9    0.0     0.0     1.00\n"
"process_load:\n"
"Kernel         [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
"2.5.70-mm31         2   108     68.5    64.5    28.7    1.37\n"
"  the job has not ended in 9 s\n");
}

static void test_table_of_nothing(void **state)
{
	struct table_row rows[] = {
		row("no_load", "job-failed", 5, 1, 0, 0),
		row("io_load", "ok", 0.5, 0.4, 0, 0),
	};

	(void)state;
	printed[0] = '\0';
	console_table("6.1.0-57-cloud-amd64", rows, 2, print_to_buffer);
	assert_string_equal(printed,
"no_load:\n"
"Kernel                 [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
"6.1.0-57-cloud-amd64        0   -       -       -       -       -\n"
"io_load:\n"
"Kernel                 [runs]   Time    CPU%    Loads   LCPU%   Ratio\n"
"6.1.0-57-cloud-amd64        1   0       -       0.0     -       -\n");
}

#define WITH_DIR(test) \
	cmocka_unit_test_setup_teardown(test, make_temp, drop_temp)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DIR(test_disks),
		WITH_DIR(test_copy_and_remove),
		WITH_DIR(test_children),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_table_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
