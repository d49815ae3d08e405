/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_tree.c - paths, links and Debian packages of the tree in memory
 */
#include "tests/fs_check.h"

#include <fcntl.h>
#include <unistd.h>

#include "images/tree.h"

static void add_text(struct tree *t, const char *path, const char *text)
{
	struct error err = { 0 };

	check(tree_add_file(t, path, 0644, xstrdup(text), strlen(text), &err), &err);
}

/* What a path leads to has this content. */
static void assert_text(const struct tree *t, const char *path, const char *text)
{
	const struct node *n = tree_find(t, path);

	assert_non_null(n);
	assert_int_equal(n->size, strlen(text));
	assert_memory_equal(n->data, text, n->size);
}

static int collect(const struct node *n, void *data)
{
	buf_printf(data, "%s ", n->path);
	return 0;
}

static void assert_paths(struct tree *t, const char *paths)
{
	CLEANUP(buf_free) struct buf b = { 0 };

	assert_int_equal(tree_each(t, collect, &b), 0);
	assert_string_equal(b.data, paths);
}

static void parents_and_order(void **state)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	const struct node *n;

	(void)state;
	add_text(t, "/b/c/d", "d");
	add_text(t, "/b.x", "x");
	add_text(t, "//a/./e/", "e");
	assert_paths(t, "/ /a /a/e /b /b.x /b/c /b/c/d ");
	n = tree_find(t, "/b/c");
	assert_int_equal(n->mode, S_IFDIR | 0755);
	assert_null(tree_find(t, "/b/d"));
	assert_null(tree_find(t, "/b.x/y"));
}

static int stop_at_b(const struct node *n, void *data)
{
	++*(int *)data;
	return strcmp(n->path, "/b") ? 0 : 7;
}

static void each_stops(void **state)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	int seen = 0;

	(void)state;
	add_text(t, "/a", "");
	add_text(t, "/b", "");
	add_text(t, "/c", "");
	assert_int_equal(tree_each(t, stop_at_b, &seen), 7);
	assert_int_equal(seen, 3);
}

static void through_links(void **state)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	struct error err = { 0 };

	(void)state;
	check(tree_add_symlink(t, "/bin", "usr/bin", &err), &err);
	check(tree_add_symlink(t, "/a/b", "../x/./y", &err), &err);
	check(tree_add_symlink(t, "/x/y", "/z", &err), &err);
	add_text(t, "/bin/sh", "dash");
	check(tree_add_dir(t, "/bin/", 0700, &err), &err);
	add_text(t, "/a/b/c", "far");
	assert_paths(t, "/ /a /a/b /bin /usr /usr/bin /usr/bin/sh /x /x/y /z /z/c ");
	assert_text(t, "/bin/sh", "dash");
	assert_text(t, "/a/b/c", "far");
	assert_text(t, "/bin", "usr/bin");
	assert_int_equal(tree_find(t, "/usr/bin")->mode, S_IFDIR | 0700);
}

static void refusals(void **state)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	cleanup_free char *longest = xasprintf("/%0255d", 1);
	cleanup_free char *longer = xasprintf("/%0256d", 1);
	struct error err = { 0 };

	(void)state;
	add_text(t, "/file", "x");
	add_text(t, longest, "x");
	check(tree_add_dir(t, "/dir/sub", 0755, &err), &err);
	check(tree_add_symlink(t, "/l1", "l2", &err), &err);
	check(tree_add_symlink(t, "/l2", "l1", &err), &err);
	assert_int_equal(tree_add_dir(t, "/file/x", 0755, &err), -1);
	assert_contains(err.text, "'/file' is no directory");
	assert_int_equal(tree_add_dir(t, "/file", 0755, &err), -1);
	assert_contains(err.text, "'/file'");
	assert_int_equal(tree_add_symlink(t, "/dir", "x", &err), -1);
	assert_contains(err.text, "'/dir'");
	assert_int_equal(tree_add_dir(t, "/a/../b", 0755, &err), -1);
	assert_contains(err.text, "'..'");
	assert_int_equal(tree_add_dir(t, "/l1/x", 0755, &err), -1);
	assert_contains(err.text, "circle");
	assert_int_equal(tree_add_dir(t, longer, 0755, &err), -1);
	assert_contains(err.text, "255");
	assert_int_equal(tree_add_symlink(t, "/empty", "", &err), -1);
	assert_int_equal(tree_add_hardlink(t, "/h", "/nothing", &err), -1);
	assert_int_equal(tree_add_hardlink(t, "/h", "/dir", &err), -1);
	assert_null(tree_find(t, "/h"));
	check(tree_add_dir(t, "/a..b/..c", 0755, &err), &err);
}

static void hard_links(void **state)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	struct error err = { 0 };

	(void)state;
	add_text(t, "/m", "old");
	check(tree_add_hardlink(t, "/n", "/m", &err), &err);
	check(tree_add_hardlink(t, "/a", "/n", &err), &err);
	check(tree_add_hardlink(t, "/m", "/a", &err), &err);
	assert_string_equal(tree_find(t, "/a")->hardlink, "/m");
	assert_string_equal(tree_find(t, "/n")->hardlink, "/m");
	/* The old file lives on under its other names. */
	add_text(t, "/m", "new");
	assert_text(t, "/m", "new");
	assert_text(t, "/a", "old");
	assert_string_equal(tree_find(t, "/n")->hardlink, "/a");
	add_text(t, "/n", "other");
	add_text(t, "/a", "last");
	assert_text(t, "/n", "other");
	assert_text(t, "/a", "last");
	assert_null(tree_find(t, "/n")->hardlink);
}

static void digests(void **state)
{
	CLEANUP(tree_freep) struct tree *a = tree_new();
	CLEANUP(tree_freep) struct tree *b = tree_new();
	char one[SHA256_HEX], two[SHA256_HEX];
	struct error err = { 0 };

	(void)state;
	add_text(a, "/x", "1");
	add_text(a, "/y", "2");
	add_text(b, "/y", "2");
	add_text(b, "/x", "1");
	tree_digest(a, one);
	tree_digest(b, two);
	assert_string_equal(one, two);
	check(tree_add_file(b, "/x", 0600, xstrdup("1"), 1, &err), &err);
	tree_digest(b, two);
	assert_string_not_equal(one, two);
}

static void write_host(const char *name, const char *text, mode_t mode)
{
	cleanup_free char *path = in_dir(name);
	struct error err = { 0 };

	check(file_write(path, text, strlen(text), &err), &err);
	assert_int_equal(chmod(path, mode), 0);
}

static void make_host_dir(const char *name)
{
	cleanup_free char *path = in_dir(name);
	struct error err = { 0 };

	check(make_dirs(path, &err), &err);
}

static void host_directory(void **state)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	cleanup_free char *dir = in_dir("host");
	cleanup_free char *none = in_dir("none");
	cleanup_free char *link = in_dir("host/link");
	struct error err = { 0 };

	(void)state;
	make_host_dir("host/sub/deeper");
	write_host("host/Makefile", "all:\n", 0600);
	write_host("host/sub/deeper/run", "#!", 0710);
	assert_int_equal(symlink("Makefile", link), 0);
	check(tree_add_host(t, "/job", dir, &err), &err);
	assert_paths(t, "/ /job /job/Makefile /job/sub /job/sub/deeper /job/sub/deeper/run ");
	assert_int_equal(tree_find(t, "/job/Makefile")->mode, S_IFREG | 0644);
	assert_int_equal(tree_find(t, "/job/sub/deeper/run")->mode, S_IFREG | 0755);
	assert_text(t, "/job/Makefile", "all:\n");
	assert_int_equal(tree_add_host(t, "/job", none, &err), -1);
	assert_contains(err.text, none);
}

/* A package with a bit of everything; its path is to be freed. */
static char *make_deb(const char *compression)
{
	cleanup_free char *dir = in_dir("pkg");
	cleanup_free char *hard = in_dir("pkg/usr/bin/two");
	cleanup_free char *one = in_dir("pkg/usr/bin/one");
	cleanup_free char *soft = in_dir("pkg/usr/bin/soft");
	cleanup_free char *doc = in_dir("pkg/usr/share/doc/p/copyright");
	cleanup_free char *kept = in_dir("pkg/usr/share/p-copyright");
	cleanup_free char *sticky = in_dir("pkg/var/spot");
	cleanup_free char *option = xasprintf("-Z%s", compression);
	cleanup_free char *deb = xasprintf("%s/p-%s.deb", test_dir, compression);
	const char *const argv[] = { "dpkg-deb", "--root-owner-group", option,
				     "-b", dir, deb, NULL };
	CLEANUP(buf_free) struct buf noise = { 0 };
	struct error err = { 0 };
	uint32_t x = 1;
	int i;

	for (i = 0; i < 40000; i++) {
		x = x * 1664525 + 1013904223;
		buf_printf(&noise, "%08x\n", x);
	}
	check(remove_tree(dir, NULL) && path_exists(dir), &err);
	make_host_dir("pkg/DEBIAN");
	make_host_dir("pkg/usr/bin");
	make_host_dir("pkg/usr/share/doc/p");
	make_host_dir("pkg/var/spot");
	write_host("pkg/DEBIAN/control",
		   "Package: p\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b>\nDescription: p\n",
		   0644);
	write_host("pkg/usr/bin/one", noise.data, 04755);
	write_host("pkg/usr/share/doc/p/copyright", "free\n", 0644);
	assert_int_equal(link(one, hard), 0);
	assert_int_equal(link(doc, kept), 0);
	assert_int_equal(symlink("one", soft), 0);
	assert_int_equal(chmod(sticky, 01777), 0);
	check(proc_run(argv, NULL, &err), &err);
	return steal_ptr(deb);
}

static void package(void **state)
{
	static const char *const compressions[] = { "none", "gzip", "xz", "zstd" };
	static const char *const exclude[] = { "/usr/share/doc/*", NULL };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(compressions) / sizeof(*compressions); i++) {
		CLEANUP(tree_freep) struct tree *t = tree_new();
		cleanup_free char *deb = make_deb(compressions[i]);
		struct error err = { 0 };

		check(tree_add_symlink(t, "/bin", "usr/bin", &err), &err);
		check(tree_add_deb(t, deb, exclude, &err), &err);
		assert_paths(t, "/ /bin /usr /usr/bin /usr/bin/one /usr/bin/soft /usr/bin/two "
				"/usr/share /usr/share/doc /usr/share/p-copyright /var /var/spot ");
		assert_int_equal(tree_find(t, "/bin/one")->mode, S_IFREG | 04755);
		assert_int_equal(tree_find(t, "/bin/one")->size, 40000 * 9);
		assert_string_equal(tree_find(t, "/bin/two")->hardlink, "/usr/bin/one");
		assert_text(t, "/bin/soft", "one");
		/* Its first name was excluded, the file is still there. */
		assert_text(t, "/usr/share/p-copyright", "free\n");
		assert_int_equal(tree_find(t, "/var/spot")->mode, S_IFDIR | 01777);
	}
}

/* dpkg's rule: what is a directory stays one, with what is special about it. */
static void package_directories(void **state)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	cleanup_free char *deb = make_deb("gzip");
	struct error err = { 0 };

	(void)state;
	check(tree_add_dir(t, "/usr/bin/soft", 0755, &err), &err);
	check(tree_add_dir(t, "/usr/share", 0700, &err), &err);
	check(tree_add_deb(t, deb, NULL, &err), &err);
	assert_int_equal(tree_find(t, "/usr/bin/soft")->mode, S_IFDIR | 0755);
	assert_int_equal(tree_find(t, "/usr/share")->mode, S_IFDIR | 0700);
	assert_int_equal(tree_find(t, "/var/spot")->mode, S_IFDIR | 01777);
}

/* These bytes are refused as a package, by its name and with a remedy. */
static void assert_refused(const char *data, size_t len, const char *what)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	cleanup_free char *bad = in_dir("bad.deb");
	struct error err = { 0 };

	check(file_write(bad, data, len, &err), &err);
	if (!tree_add_deb(t, bad, NULL, &err))
		fail_msg("%s at byte %zu was not noticed", what, len);
	assert_contains(err.text, bad);
	assert_contains(err.text, "fetch it again");
	assert_null(strchr(err.text, '\n'));
}

static void damaged_package(void **state)
{
	static const char *const compressions[] = { "none", "gzip", "xz", "zstd" };
	size_t i, at;

	(void)state;
	for (i = 0; i < sizeof(compressions) / sizeof(*compressions); i++) {
		cleanup_free char *deb = make_deb(compressions[i]);
		CLEANUP(buf_free) struct buf b = { 0 };
		struct error err = { 0 };

		check(file_read(deb, SIZE_MAX, &b, &err), &err);
		for (at = 0; at < b.len - 1; at += b.len / 23)
			assert_refused(b.data, at, "a cut");
		assert_refused(b.data, b.len - 2, "a cut");
	}
	assert_refused("hello\n", 6, "no package");
}

/* xz streams carry checksums of everything: no changed byte gets through. */
static void damaged_byte(void **state)
{
	cleanup_free char *deb = make_deb("xz");
	CLEANUP(buf_free) struct buf b = { 0 };
	struct error err = { 0 };
	size_t at, start;
	char *member;

	(void)state;
	check(file_read(deb, SIZE_MAX, &b, &err), &err);
	member = memmem(b.data, b.len, "data.tar.xz", 11);
	assert_non_null(member);
	start = (size_t)(member - b.data) + 60;
	for (at = start; at < b.len - 16; at += (b.len - start) / 29) {
		b.data[at] ^= 0x10;
		assert_refused(b.data, b.len, "a changed byte");
		b.data[at] ^= 0x10;
	}
}

static void missing_package(void **state)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	struct error err = { 0 };

	(void)state;
	assert_int_equal(tree_add_deb(t, "/nowhere/x.deb", NULL, &err), -1);
	assert_contains(err.text, "/nowhere/x.deb");
	assert_contains(err.text, "No such file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parents_and_order),
		cmocka_unit_test(each_stops),
		cmocka_unit_test(through_links),
		cmocka_unit_test(refusals),
		cmocka_unit_test(hard_links),
		cmocka_unit_test(digests),
		cmocka_unit_test(host_directory),
		cmocka_unit_test(package),
		cmocka_unit_test(package_directories),
		cmocka_unit_test(damaged_package),
		cmocka_unit_test(damaged_byte),
		cmocka_unit_test(missing_package),
	};

	return cmocka_run_group_tests(tests, make_test_dir, drop_test_dir);
}
