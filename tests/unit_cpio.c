/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_cpio.c - the newc writer, read back by libarchive and byte by byte
 */
#include "tests/fs_check.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/sysmacros.h>

#include "images/tree.h"

static void add_text(struct tree *t, const char *path, mode_t perm,
		     const char *text)
{
	struct error err = { 0 };

	check(tree_add_file(t, path, perm, xstrdup(text), strlen(text), &err), &err);
}

static struct tree *make_tree(void)
{
	struct tree *t = tree_new();
	const struct node console = {
		.path = (char *)"/dev/console",
		.mode = S_IFCHR | 0600,
		.rdev_major = 5,
		.rdev_minor = 1,
	};
	struct error err = { 0 };

	add_text(t, "/init", 0755, "#!/bin/sh\n");
	add_text(t, "/etc/empty", 0644, "");
	add_text(t, "/link-b", 0640, "shared");
	check(tree_add_symlink(t, "/bin", "usr/bin", &err), &err);
	check(tree_add_hardlink(t, "/link-a", "/link-b", &err), &err);
	check(tree_add_hardlink(t, "/link-c", "/link-b", &err), &err);
	check(tree_add_dir(t, "/root", 0700, &err), &err);
	check(tree_add_node(t, &console, &err), &err);
	return t;
}

/* One line a member: what a reader makes of it. */
static void list(const char *path, struct buf *out)
{
	struct archive *a = archive_read_new();
	struct archive_entry *e;
	int ret;

	assert_non_null(a);
	archive_read_support_format_cpio(a);
	assert_int_equal(archive_read_open_filename(a, path, 65536), ARCHIVE_OK);
	while ((ret = archive_read_next_header(a, &e)) == ARCHIVE_OK) {
		char data[64] = "";
		la_ssize_t n = archive_read_data(a, data, sizeof(data) - 1);

		assert_true(n >= 0);
		buf_printf(out, "%s %o ino=%lld nlink=%u mtime=%lld rdev=%u:%u %s%s\n",
			   archive_entry_pathname(e), archive_entry_mode(e),
			   (long long)archive_entry_ino64(e),
			   archive_entry_nlink(e),
			   (long long)archive_entry_mtime(e),
			   (unsigned int)archive_entry_rdevmajor(e),
			   (unsigned int)archive_entry_rdevminor(e),
			   archive_entry_symlink(e) ? archive_entry_symlink(e) : "",
			   data);
	}
	assert_int_equal(ret, ARCHIVE_EOF);
	archive_read_free(a);
}

static void content(void **state)
{
	CLEANUP(tree_freep) struct tree *t = make_tree();
	cleanup_free char *path = in_dir("a.cpio");
	CLEANUP(buf_free) struct buf got = { 0 };
	struct error err = { 0 };

	(void)state;
	check(tree_write_cpio(t, path, &err), &err);
	list(path, &got);
	assert_string_equal(got.data,
		"bin 120777 ino=1 nlink=1 mtime=0 rdev=0:0 usr/bin\n"
		"dev 40755 ino=2 nlink=2 mtime=0 rdev=0:0 \n"
		"dev/console 20600 ino=3 nlink=1 mtime=0 rdev=5:1 \n"
		"etc 40755 ino=4 nlink=2 mtime=0 rdev=0:0 \n"
		"etc/empty 100644 ino=5 nlink=1 mtime=0 rdev=0:0 \n"
		"init 100755 ino=6 nlink=1 mtime=0 rdev=0:0 #!/bin/sh\n\n"
		"link-a 100640 ino=8 nlink=3 mtime=0 rdev=0:0 \n"
		"link-b 100640 ino=8 nlink=3 mtime=0 rdev=0:0 \n"
		"link-c 100640 ino=8 nlink=3 mtime=0 rdev=0:0 shared\n"
		"root 40700 ino=10 nlink=2 mtime=0 rdev=0:0 \n");
}

/* The format, digit for digit, of the smallest archive with one file. */
static void bytes(void **state)
{
	static const char want[] =
		/* ino, mode, uid, gid; nlink, mtime, size; devices; name, check */
		"070701" "00000001" "000081a4" "00000000" "00000000"
		"00000001" "00000000" "00000005"
		"00000000" "00000000" "00000000" "00000000"
		"00000002" "00000000"
		"x\0hello\0\0\0"
		"070701" "00000000" "00000000" "00000000" "00000000"
		"00000001" "00000000" "00000000"
		"00000000" "00000000" "00000000" "00000000"
		"0000000b" "00000000"
		"TRAILER!!!\0\0\0\0";
	CLEANUP(tree_freep) struct tree *t = tree_new();
	cleanup_free char *path = in_dir("b.cpio");
	CLEANUP(buf_free) struct buf got = { 0 };
	struct error err = { 0 };
	size_t i;

	(void)state;
	add_text(t, "/x", 0644, "hello");
	check(tree_write_cpio(t, path, &err), &err);
	check(file_read(path, SIZE_MAX, &got, &err), &err);
	assert_int_equal(got.len, 512);
	assert_memory_equal(got.data, want, sizeof(want) - 1);
	for (i = sizeof(want); i < got.len; i++)
		assert_int_equal(got.data[i], 0);
}

static void same_bytes(void **state)
{
	CLEANUP(tree_freep) struct tree *a = make_tree();
	CLEANUP(tree_freep) struct tree *b = make_tree();
	cleanup_free char *one = in_dir("1.cpio");
	cleanup_free char *two = in_dir("2.cpio");
	char x[SHA256_HEX], y[SHA256_HEX];
	struct error err = { 0 };

	(void)state;
	check(tree_write_cpio(a, one, &err), &err);
	umask(077);
	check(tree_write_cpio(b, two, &err), &err);
	check(sha256_file(one, x, &err), &err);
	check(sha256_file(two, y, &err), &err);
	assert_string_equal(x, y);
}

static void no_directory(void **state)
{
	CLEANUP(tree_freep) struct tree *t = make_tree();
	struct error err = { 0 };

	(void)state;
	assert_int_equal(tree_write_cpio(t, "/nowhere/at/all.cpio", &err), -1);
	assert_contains(err.text, "/nowhere/at");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(content),
		cmocka_unit_test(bytes),
		cmocka_unit_test(same_bytes),
		cmocka_unit_test(no_directory),
	};

	return cmocka_run_group_tests(tests, make_test_dir, drop_test_dir);
}
