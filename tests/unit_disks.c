/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_disks.c - the work, other and swap disks, and what the cache keeps of them
 */
#include "tests/fs_check.h"

#include "images/base.h"

#define MIB (1024u * 1024)

/* struct seen - what the build reported */
struct seen {
	int made, cached;
};

static void step(void *data, const char *name, const char *detail,
		 double seconds, bool cached)
{
	struct seen *s = data;

	assert_true(strlen(name) > 0 && strlen(detail) > 0 && seconds >= 0);
	*(cached ? &s->cached : &s->made) += 1;
}

static struct seen seen;
static struct cache cache = { .step = step, .step_data = &seen };

static int set_up(void **state)
{
	struct error err = { 0 };
	cleanup_free char *job = NULL, *makefile = NULL;

	if (make_test_dir(state))
		return -1;
	cache.dir = in_dir("cache");
	job = in_dir("loads/jobs/tiny-1/src");
	makefile = in_dir("loads/jobs/tiny-1/src/Makefile");
	return setenv("KONTEST_SHARE", test_dir, 1) || make_dirs(job, &err) ||
	       file_write(makefile, "all:\n", 5, &err);
}

static int tear_down(void **state)
{
	free((char *)cache.dir);
	return drop_test_dir(state);
}

static void work(void **state)
{
	CLEANUP(disk_image_free) struct disk_image a = { 0 }, b = { 0 }, c = { 0 };
	struct error err = { 0 };
	char digest[SHA256_HEX];
	char *out;

	(void)state;
	seen = (struct seen){ 0 };
	check(work_build(&cache, "tiny-1", 384 * MIB, &a, &err), &err);
	assert_int_equal(a.size, 384 * MIB);
	check(sha256_file(a.path, digest, &err), &err);
	assert_string_equal(a.digest, digest);
	free(run("e2fsck", "-fn", a.path, NULL));
	out = run("debugfs", "-R", "cat /tiny-1/src/Makefile", a.path);
	assert_string_equal(out, "all:\n");
	free(out);
	out = run("debugfs", "-R", "stat /tmp", a.path);
	assert_contains(out, "Mode:  01777");
	free(out);
	out = run("dumpe2fs", "-h", a.path, NULL);
	assert_contains(out, "volume name:   kontest-work\n");
	assert_contains(out, "has_journal");
	free(out);
	check(work_build(&cache, "tiny-1", 384 * MIB, &b, &err), &err);
	assert_string_equal(a.path, b.path);
	assert_string_equal(a.digest, b.digest);
	assert_int_equal(b.size, a.size);
	assert_int_equal(seen.made, 1);
	assert_int_equal(seen.cached, 1);
	check(work_build(&cache, NULL, 384 * MIB, &c, &err), &err);
	assert_string_not_equal(a.path, c.path);
	assert_string_not_equal(a.digest, c.digest);
}

static void other(void **state)
{
	CLEANUP(disk_image_free) struct disk_image d = { 0 };
	struct error err = { 0 };
	char *out;

	(void)state;
	check(other_build(&cache, 64 * MIB, &d, &err), &err);
	free(run("e2fsck", "-fn", d.path, NULL));
	out = run("dumpe2fs", "-h", d.path, NULL);
	assert_contains(out, "volume name:   kontest-other\n");
	free(out);
}

static void swap(void **state)
{
	CLEANUP(disk_image_free) struct disk_image d = { 0 };
	struct error err = { 0 };
	struct stat st;
	char *out;

	(void)state;
	check(swap_build(&cache, 256 * MIB, &d, &err), &err);
	assert_int_equal(stat(d.path, &st), 0);
	assert_int_equal(st.st_size, 256 * MIB);
	assert_true(st.st_blocks * 512 <= 16384);
	out = run("swaplabel", d.path, NULL, NULL);
	assert_contains(out, "LABEL: kontest-swap\n");
	free(out);
	out = run("blkid", "-p", d.path, NULL);
	assert_contains(out, "LABEL=\"kontest-swap\"");
	assert_contains(out, "VERSION=\"1\"");
	assert_contains(out, "TYPE=\"swap\"");
	free(out);
}

/* The kernel's own view is mkswap's: everything but label and id must agree. */
static void swap_as_mkswap(void **state)
{
	CLEANUP(disk_image_free) struct disk_image d = { 0 };
	CLEANUP(buf_free) struct buf ours = { 0 }, theirs = { 0 };
	cleanup_free char *path = in_dir("mkswap.img");
	cleanup_free char *zeros = xcalloc(1, MIB);
	struct error err = { 0 };

	(void)state;
	check(swap_build(&cache, MIB, &d, &err), &err);
	check(file_write(path, zeros, MIB, &err), &err);
	free(run("mkswap", "-Lkontest-swap", path, NULL));
	check(file_read(d.path, MIB, &ours, &err), &err);
	check(file_read(path, MIB, &theirs, &err), &err);
	assert_int_equal(ours.len, MIB);
	memcpy(theirs.data + 1036, ours.data + 1036, 16);
	assert_memory_equal(ours.data, theirs.data, MIB);
}

/* Killed while it made this disk, a kontest left its file. */
static void leftover_of_a_killed_build(void **state)
{
	CLEANUP(disk_image_free) struct disk_image d = { 0 }, again = { 0 };
	cleanup_free char *left = NULL;
	struct error err = { 0 };
	const char *name;

	(void)state;
	check(swap_build(&cache, 2 * MIB, &d, &err), &err);
	name = strrchr(d.path, '/') + 1;
	left = xasprintf("%.*s.%s.abcdef", (int)(name - d.path), d.path, name);
	check(file_write(left, "x", 1, &err), &err);
	assert_int_equal(remove(d.path), 0);
	check(swap_build(&cache, 2 * MIB, &again, &err), &err);
	assert_string_equal(d.digest, again.digest);
	assert_true(path_exists(d.path));
	assert_false(path_exists(left));
}

static void refusals(void **state)
{
	struct disk_image d = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(work_build(&cache, "none-9", 64 * MIB, &d, &err), -1);
	assert_contains(err.text, "no job 'none-9'");
	assert_int_equal(work_build(&cache, "../jobs", 64 * MIB, &d, &err), -1);
	assert_int_equal(work_build(&cache, "tiny-1", MIB, &d, &err), -1);
	assert_contains(err.text, "too small");
	assert_int_equal(swap_build(&cache, 4096, &d, &err), -1);
	assert_contains(err.text, "4096");
	assert_null(d.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work),
		cmocka_unit_test(other),
		cmocka_unit_test(swap),
		cmocka_unit_test(swap_as_mkswap),
		cmocka_unit_test(leftover_of_a_killed_build),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
