/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_base.c - the floor: errors, text, files, digests, processes
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "results/base/cleanup.h"
#include "results/base/digest.h"
#include "results/base/file.h"
#include "results/base/proc.h"
#include "results/base/text.h"
#include "tests/make_journal.h"

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static int setup(void **state)
{
	*state = scratch_dir();
	return 0;
}

static int teardown(void **state)
{
	struct error err = { 0 };

	must(remove_tree(*state, &err), &err);
	assert_false(path_exists(*state));
	free(*state);
	return 0;
}

static void errors(void **state)
{
	struct error err = { 0 };
	char *big = xcalloc(1, 2 * ERROR_TEXT_MAX);

	(void)state;
	assert_int_equal(error_set(&err, ENOENT, "open '%s'", "x"), -1);
	assert_string_equal(err.text, "open 'x': No such file or directory");
	assert_int_equal(err.errnum, ENOENT);
	assert_int_equal(error_prefix(&err, "plan '%s'", "p"), -1);
	assert_string_equal(err.text,
			    "plan 'p': open 'x': No such file or directory");
	assert_int_equal(error_set(NULL, 0, "nobody listens"), -1);
	assert_int_equal(error_prefix(NULL, "nobody listens"), -1);
	memset(big, 'x', 2 * ERROR_TEXT_MAX - 1);
	error_set(&err, ENOENT, "%s", big);
	error_prefix(&err, "%s", big);
	assert_int_equal(strlen(err.text), ERROR_TEXT_MAX - 1);
	free(big);
}

static void buffers(void **state)
{
	struct buf b = { 0 };
	struct strings s = { 0 };

	(void)state;
	buf_adds(&b, "a");
	buf_printf(&b, "%d", 12);
	buf_add(&b, "\0z", 2);
	assert_int_equal(b.len, 5);
	assert_memory_equal(b.data, "a12\0z", 6);
	for (int i = 0; i < 5000; i++)
		buf_printf(&b, "%s", "0123456789");
	assert_int_equal(b.len, 50005);
	assert_int_equal(b.data[b.len], 0);
	buf_free(&b);
	for (int i = 0; i < 100; i++)
		strings_add(&s, xasprintf("%d", i));
	assert_string_equal(s.v[99], "99");
	strings_clear(&s);
	assert_int_equal(s.n, 0);
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t value;
	} sizes[] = {
		{ "0", true, 0 }, { "256MiB", true, 256 << 20 },
		{ "4K", true, 4096 }, { "4KiB", true, 4096 },
		{ "2G", true, UINT64_C(2) << 30 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "17179869184G", false, 0 }, { "", false, 0 },
		{ "MiB", false, 0 }, { "-1", false, 0 }, { "+1", false, 0 },
		{ " 1", false, 0 }, { "1 ", false, 0 }, { "1.5G", false, 0 },
		{ "1MB", false, 0 }, { "1Kib", false, 0 }, { "0x10", false, 0 },
		{ "1iB", false, 0 }, { "1T", false, 0 },
	};
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bool ok = parse_size(sizes[i].text, &v);

		if (ok != sizes[i].ok || (ok && v != sizes[i].value))
			fail_msg("parse_size(\"%s\")", sizes[i].text);
	}
	assert_true(parse_u64("18446744073709551615", &v));
	assert_true(v == UINT64_MAX);
	assert_false(parse_u64("18446744073709551616", &v));
	assert_false(parse_u64("", &v));
	assert_false(parse_u64("-1", &v));
	assert_false(parse_u64("1K", &v));
	assert_true(str_starts("kontest", "kon") && str_ends("kontest", "test"));
	assert_false(str_starts("k", "kon") || str_ends("t", "test"));
}

static int count_files(const char *dir)
{
	cleanup_closedir DIR *d = opendir(dir);
	int n = 0;

	for (const struct dirent *de; d && (de = readdir(d));)
		n += strcmp(de->d_name, ".") && strcmp(de->d_name, "..");
	return n;
}

static void files_are_whole_or_absent(void **state)
{
	const char *dir = *state;
	cleanup_free char *path = xasprintf("%s/a", dir);
	struct error err = { 0 };
	struct newfile f;
	char *text;

	must(newfile_open(&f, path, 0644, &err), &err);
	must(full_pwrite(f.fd, "half", 4, 0, path, &err), &err);
	assert_false(path_exists(path));
	newfile_abort(&f);
	assert_int_equal(count_files(dir), 0);
	newfile_abort(&(struct newfile){ .fd = -1 });

	must(file_write(path, "one", 3, &err), &err);
	must(newfile_open(&f, path, 0644, &err), &err);
	must(full_pwrite(f.fd, "two!", 4, 0, path, &err), &err);
	text = slurp(path);
	assert_string_equal(text, "one");
	free(text);
	must(newfile_commit(&f, &err), &err);
	text = slurp(path);
	assert_string_equal(text, "two!");
	free(text);
	assert_int_equal(count_files(dir), 1);

	assert_int_equal(file_write("/nonexistent/x", "", 0, &err), -1);
	assert_non_null(strstr(err.text, "/nonexistent"));
	assert_int_equal(file_write("/dev/full/x", "", 0, &err), -1);
}

static void reading(void **state)
{
	cleanup_free char *path = xasprintf("%s/a", (char *)*state);
	CLEANUP(buf_free) struct buf b = { 0 };
	struct error err = { 0 };
	char data[8];
	int fd;

	must(file_write(path, "0123456789", 10, &err), &err);
	buf_adds(&b, ">");
	must(file_read(path, 10, &b, &err), &err);
	assert_string_equal(b.data, ">0123456789");
	assert_int_equal(file_read(path, 9, &b, &err), -1);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(file_read("/nonexistent/y", 9, &b, &err), -1);
	assert_non_null(strstr(err.text, "/nonexistent/y"));

	fd = open(path, O_RDONLY);
	must(full_pread(fd, data, 8, 2, path, &err), &err);
	assert_memory_equal(data, "23456789", 8);
	assert_int_equal(full_pread(fd, data, 8, 3, path, &err), -1);
	assert_non_null(strstr(err.text, path));
	close(fd);
	fd = open("/dev/full", O_WRONLY);
	assert_int_equal(full_pwrite(fd, data, 8, 0, "/dev/full", &err), -1);
	assert_non_null(strstr(err.text, "No space left"));
	close(fd);
}

static void sparse_copies(void **state)
{
	cleanup_free char *a = xasprintf("%s/a", (char *)*state);
	cleanup_free char *b = xasprintf("%s/b", (char *)*state);
	cleanup_free char *c = xasprintf("%s/c", (char *)*state);
	struct error err = { 0 };
	char da[SHA256_HEX], db[SHA256_HEX];
	int in = open(a, O_RDWR | O_CREAT, 0600);
	int out = open(b, O_RDWR | O_CREAT, 0600);
	const off_t size = 64 << 20;
	struct stat st;

	assert_int_equal(ftruncate(in, size), 0);
	must(full_pwrite(in, "begin", 5, 0, a, &err), &err);
	must(full_pwrite(in, "middle", 6, (32 << 20) + 3, a, &err), &err);
	must(full_pwrite(in, "end", 3, size - 3, a, &err), &err);
	assert_int_equal(ftruncate(out, size), 0);
	must(file_copy_range(in, 0, out, 0, (uint64_t)size, b, &err), &err);
	close(in);
	close(out);
	must(sha256_file(a, da, &err), &err);
	must(sha256_file(b, db, &err), &err);
	assert_string_equal(da, db);
	assert_int_equal(stat(b, &st), 0);
	assert_true(st.st_blocks * 512 < 1 << 20);
	/* Whole, with a hole at its end, and never over another */
	assert_int_equal(truncate(a, size + 4096), 0);
	must(sha256_file(a, da, &err), &err);
	must(file_put_copy(a, c, &err), &err);
	must(sha256_file(c, db, &err), &err);
	assert_string_equal(da, db);
	assert_int_equal(file_put_copy(a, c, &err), -1);
	assert_non_null(strstr(err.text, "create '"));
}

static void directories(void **state)
{
	const char *dir = *state;
	cleanup_free char *deep = xasprintf("%s/a/b//c/", dir);
	cleanup_free char *link = xasprintf("%s/a/link", dir);
	cleanup_free char *kept = xasprintf("%s/kept", dir);
	cleanup_free char *file = xasprintf("%s/kept/file", dir);
	cleanup_free char *top = xasprintf("%s/a", dir);
	struct error err = { 0 };

	must(make_dirs(deep, &err), &err);
	must(make_dirs(deep, &err), &err);
	assert_true(path_is_dir(deep));
	must(make_dirs(kept, &err), &err);
	must(file_write(file, "x", 1, &err), &err);
	assert_false(path_is_dir(file));
	assert_int_equal(make_dirs(file, &err), -1);
	assert_int_equal(symlink(kept, link), 0);
	must(remove_tree(top, &err), &err);
	assert_false(path_exists(top));
	assert_true(path_exists(file));
}

static void digests(void **state)
{
	cleanup_free char *path = xasprintf("%s/a", (char *)*state);
	struct error err = { 0 };
	struct sha256 s;
	char hex[SHA256_HEX], other[SHA256_HEX];

	/* FIPS 180-4 examples */
	sha256_of("abc", 3, hex);
	assert_string_equal(hex, ABC);
	sha256_of("", 0, hex);
	assert_string_equal(hex, EMPTY);
	sha256_init(&s);
	sha256_add(&s, "a", 1);
	sha256_add(&s, "bc", 2);
	sha256_final(&s, hex);
	assert_string_equal(hex, ABC);
	must(file_write(path, "abc", 3, &err), &err);
	must(sha256_file(path, hex, &err), &err);
	assert_string_equal(hex, ABC);
	assert_int_equal(sha256_file("/nonexistent/z", hex, &err), -1);

	/* fields do not run together */
	sha256_init(&s);
	sha256_adds(&s, "ab");
	sha256_adds(&s, "c");
	sha256_final(&s, hex);
	sha256_init(&s);
	sha256_adds(&s, "a");
	sha256_adds(&s, "bc");
	sha256_final(&s, other);
	assert_string_not_equal(hex, other);
}

static void tree_digest(void **state)
{
	const char *dir = *state;
	cleanup_free char *a = xasprintf("%s/1", dir);
	cleanup_free char *b = xasprintf("%s/2", dir);
	cleanup_free char *fa = xasprintf("%s/sub/x", a);
	cleanup_free char *ga = xasprintf("%s/y", a);
	cleanup_free char *fb = xasprintf("%s/sub/x", b);
	cleanup_free char *gb = xasprintf("%s/y", b);
	cleanup_free char *sa = xasprintf("%s/sub", a);
	cleanup_free char *sb = xasprintf("%s/sub", b);
	struct error err = { 0 };
	char da[SHA256_HEX], db[SHA256_HEX];

	must(make_dirs(sa, &err), &err);
	must(make_dirs(sb, &err), &err);
	/* the other order, other modes and other times */
	must(file_write(fa, "1", 1, &err), &err);
	must(file_write(ga, "2", 1, &err), &err);
	must(file_write(gb, "2", 1, &err), &err);
	must(file_write(fb, "1", 1, &err), &err);
	assert_int_equal(chmod(fb, 0400), 0);
	assert_int_equal(utimensat(AT_FDCWD, fb, (struct timespec[]){ { 1, 0 },
				   { 1, 0 } }, 0), 0);
	must(sha256_tree(a, da, &err), &err);
	must(sha256_tree(b, db, &err), &err);
	assert_string_equal(da, db);
	must(file_write(gb, "3", 1, &err), &err);
	must(sha256_tree(b, db, &err), &err);
	assert_string_not_equal(da, db);
	assert_int_equal(sha256_tree("/nonexistent", da, &err), -1);
}

static void uuids(void **state)
{
	uint8_t u[16];
	char text[UUID_TEXT];

	(void)state;
	/* RFC 4122 by another implementation: Python's
	 * uuid.uuid5(UUID("6b0d8e7a-521c-4f3d-9a4e-d35821f670b9"), "base/root") */
	uuid5("base", "root", u);
	uuid_text(u, text);
	assert_string_equal(text, "048d14d3-cc33-5623-aca6-37d86608bf3a");
	uuid5("base", "esp", u);
	uuid_text(u, text);
	assert_string_not_equal(text, "048d14d3-cc33-5623-aca6-37d86608bf3a");
	assert_int_equal(text[14], '5');
	assert_int_equal(u[8] >> 6, 2);
}

static void processes(void **state)
{
	CLEANUP(buf_free) struct buf in = { 0 }, out = { 0 };
	struct error err = { 0 };
	int status = -1;
	const char *const env[] = { "KONTEST_UNIT=seen", NULL };

	(void)state;
	/* more than a pipe holds, both ways at once */
	for (int i = 0; i < 40000; i++)
		buf_adds(&in, "0123456789");
	must(proc_run((const char *[]){ "cat", NULL },
		      &(struct proc_opts){ .in = &in, .out = &out }, &err), &err);
	assert_int_equal(out.len, in.len);
	assert_memory_equal(out.data, in.data, in.len);

	out.len = 0;
	must(proc_run((const char *[]){ "sh", "-c",
		      "echo $KONTEST_UNIT $LC_ALL $TZ; pwd", NULL },
		      &(struct proc_opts){ .env = env, .cwd = "/", .out = &out },
		      &err), &err);
	assert_string_equal(out.data, "seen C UTC\n/\n");

	assert_int_equal(proc_run((const char *[]){ "sh", "-c",
				  "echo so it goes >&2; exit 3", NULL }, NULL,
				  &err), -1);
	assert_non_null(strstr(err.text, "sh"));
	assert_non_null(strstr(err.text, "3"));
	assert_non_null(strstr(err.text, "so it goes"));
	must(proc_run((const char *[]){ "sh", "-c", "exit 3", NULL },
		      &(struct proc_opts){ .status = &status }, &err), &err);
	assert_int_equal(status, 3);
	assert_int_equal(proc_run((const char *[]){ "no-such-program-here", NULL },
				  NULL, &err), -1);
	assert_non_null(strstr(err.text, "no-such-program-here"));
}

static void processes_end_in_time(void **state)
{
	struct error err = { 0 };
	struct timespec t0, t1;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &t0);
	assert_int_equal(proc_run((const char *[]){ "sleep", "60", NULL },
				  &(struct proc_opts){ .timeout_s = 1 }, &err),
			 -1);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	assert_true(t1.tv_sec - t0.tv_sec < 30);
	assert_non_null(strstr(err.text, "sleep"));
}

/* With a family goes what it has started. */
static void families_end_in_time(void **state)
{
	CLEANUP(buf_free) struct buf out = { 0 };
	struct error err = { 0 };
	pid_t pid;
	int i;

	(void)state;
	assert_int_equal(proc_run((const char *[]){ "sh", "-c",
				  "sleep 60 >/dev/null 2>&1 & echo $!; wait", NULL },
				  &(struct proc_opts){ .timeout_s = 1, .family = true,
						       .out = &out }, &err), -1);
	pid = (pid_t)strtol(out.data ? out.data : "", NULL, 10);
	assert_true(pid > 1);
	/* It is reaped by whoever has taken it over. */
	for (i = 0; i < 1000 && !kill(pid, 0); i++)
		usleep(10000);
	assert_int_equal(kill(pid, 0), -1);
}

static void finding(void **state)
{
	char *sh = proc_find("sh");

	(void)state;
	assert_non_null(sh);
	assert_int_equal(access(sh, X_OK), 0);
	free(sh);
	assert_null(proc_find("no-such-program-here"));
	assert_null(proc_find("/etc/passwd"));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors), cmocka_unit_test(buffers),
		cmocka_unit_test(numbers), T(files_are_whole_or_absent),
		T(reading), T(sparse_copies), T(directories), T(digests),
		T(tree_digest), cmocka_unit_test(uuids),
		cmocka_unit_test(processes),
		cmocka_unit_test(processes_end_in_time),
		cmocka_unit_test(families_end_in_time),
		cmocka_unit_test(finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
