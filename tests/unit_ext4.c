/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_ext4.c - the ext4 writer: e2fsck finds nothing, debugfs finds everything,
 * and the bytes are the same under any circumstances
 */
#include "tests/fs_check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

#include "images/base.h"
#include "images/tree.h"

#define MIB (1024u * 1024)
#define TEST_TIME 1700000000u
#define MANY_FILES 5000

static const struct ext4_opts plain = {
	.label = "kontest-test",
	.uuid = { 0x3a, 1, 2, 3, 4, 5, 0x50, 7, 0x80, 9, 10, 11, 12, 13, 14, 15 },
	.size = 64 * MIB,
	.time = TEST_TIME,
	.reserve_inodes = 100,
};

/* e2fsck exits with 0 only when there is nothing to repair. */
static void assert_clean(const char *image)
{
	free(run("e2fsck", "-fn", image, NULL));
}

static char *debugfs(const char *image, const char *command)
{
	return run("debugfs", "-R", command, image);
}

static void add_text(struct tree *t, const char *path, mode_t perm,
		     const char *text)
{
	struct error err = { 0 };

	check(tree_add_file(t, path, perm, xstrdup(text), strlen(text), &err), &err);
}

static void *pattern(size_t size)
{
	uint8_t *p = xmalloc(size ? size : 1);
	uint32_t x = 12345;
	size_t i;

	for (i = 0; i < size; i++) {
		x = x * 1664525 + 1013904223;
		p[i] = (uint8_t)(x >> 24);
	}
	return p;
}

static void add_node(struct tree *t, struct node n)
{
	struct error err = { 0 };

	check(tree_add_node(t, &n, &err), &err);
}

#define LONG_TARGET "a-directory-whose-name-is-so-long/that-the-link-needs/a-block-of-its-own"

/* One of everything. */
static struct tree *make_tree(void)
{
	struct tree *t = tree_new();
	struct error err = { 0 };
	int i;

	add_text(t, "/etc/motd", 0644, "hello\n");
	add_text(t, "/usr/bin/su", 04755, "setuid");
	add_text(t, "/etc/empty", 0600, "");
	add_text(t, "/odd/\x01 \xff\xfe'\"\\*", 0644, "odd");
	check(tree_add_dir(t, "/tmp", 01777, &err), &err);
	check(tree_add_symlink(t, "/bin", "usr/bin", &err), &err);
	check(tree_add_symlink(t, "/slow", LONG_TARGET, &err), &err);
	check(tree_add_hardlink(t, "/usr/bin/also-su", "/bin/su", &err), &err);
	check(tree_add_file(t, "/big", 0644, pattern(9 * MIB + 123), 9 * MIB + 123,
			    &err), &err);
	check(tree_add_file(t, "/holes", 0644, xcalloc(1, 8 * MIB), 8 * MIB, &err),
	      &err);
	add_node(t, (struct node){ .path = "/dev/console", .mode = S_IFCHR | 0600,
				   .rdev_major = 5, .rdev_minor = 1 });
	add_node(t, (struct node){ .path = "/dev/large", .mode = S_IFBLK | 0660,
				   .rdev_major = 259, .rdev_minor = 70000 });
	add_node(t, (struct node){ .path = "/dev/fifo", .mode = S_IFIFO | 0644 });
	add_node(t, (struct node){ .path = "/owned", .mode = S_IFREG | 0640,
				   .uid = 100000, .gid = 42 });
	for (i = 0; i < MANY_FILES; i++) {
		cleanup_free char *path = xasprintf("/many/a-file-with-number-%d", i);

		add_text(t, path, 0644, path);
	}
	return t;
}

static void content(void **state)
{
	CLEANUP(tree_freep) struct tree *t = make_tree();
	cleanup_free char *image = in_dir("content.img");
	cleanup_free char *dump = in_dir("dumped");
	cleanup_free char *command = xasprintf("dump /big %s", dump);
	cleanup_free void *big = pattern(9 * MIB + 123);
	CLEANUP(buf_free) struct buf got = { 0 };
	struct error err = { 0 };
	char *out;

	(void)state;
	check(tree_write_ext4(t, image, &plain, &err), &err);
	assert_clean(image);
	out = debugfs(image, "cat /etc/motd");
	assert_string_equal(out, "hello\n");
	free(out);
	out = debugfs(image, "cat /many/a-file-with-number-4321");
	assert_string_equal(out, "/many/a-file-with-number-4321");
	free(out);
	free(debugfs(image, command));
	check(file_read(dump, 64 * MIB, &got, &err), &err);
	assert_int_equal(got.len, 9 * MIB + 123);
	assert_memory_equal(got.data, big, got.len);
	out = debugfs(image, "cat /odd/\x01\\ \xff\xfe");
	free(out);
	out = debugfs(image, "ls -p /odd");
	assert_contains(out, "/100644/0/0/\x01 \xff\xfe'\"\\*/3/");
	free(out);
}

/* stat_has() - debugfs's stat of a path has these two parts */
static void stat_has(const char *image, const char *path, const char *a,
		     const char *b)
{
	cleanup_free char *command = xasprintf("stat %s", path);
	cleanup_free char *out = debugfs(image, command);

	assert_contains(out, a);
	assert_contains(out, b);
	assert_contains(out, "Generation: 0 ");
	assert_contains(out, "crtime: 0x6553f100:00000000");
	assert_contains(out, " mtime: 0x6553f100:00000000");
	assert_contains(out, " atime: 0x6553f100:00000000");
	assert_contains(out, " ctime: 0x6553f100:00000000");
}

static void attributes(void **state)
{
	CLEANUP(tree_freep) struct tree *t = make_tree();
	cleanup_free char *image = in_dir("attributes.img");
	struct error err = { 0 };

	(void)state;
	check(tree_write_ext4(t, image, &plain, &err), &err);
	stat_has(image, "/usr/bin/su", "Mode:  04755", "Links: 2");
	stat_has(image, "/usr/bin/also-su", "Mode:  04755", "Links: 2");
	stat_has(image, "/tmp", "Type: directory", "Mode:  01777");
	stat_has(image, "/etc/empty", "Size: 0", "Blockcount: 0");
	stat_has(image, "/bin", "Type: symlink", "Fast link dest: \"usr/bin\"");
	stat_has(image, "/slow", "Type: symlink", "Blockcount: 8");
	stat_has(image, "/dev/console", "Type: character special",
		 "Device major/minor number: 05:01");
	stat_has(image, "/dev/large", "Type: block special",
		 "Device major/minor number: 259:70000");
	stat_has(image, "/dev/fifo", "Type: FIFO", "Mode:  0644");
	stat_has(image, "/owned", "User: 100000   Group:    42", "Mode:  0640");
	stat_has(image, "/big", "EXTENTS:\n(0-2304):", "Size: 9437307");
	stat_has(image, "/lost+found", "Inode: 11 ", "Mode:  0700");
	stat_has(image, "/", "Inode: 2 ", "Links: 9");
}

static void superblock(void **state)
{
	CLEANUP(tree_freep) struct tree *t = make_tree();
	cleanup_free char *image = in_dir("superblock.img");
	struct ext4_opts o = plain;
	struct error err = { 0 };
	char *out;

	(void)state;
	o.journal = true;
	o.size = 384 * MIB;
	check(tree_write_ext4(t, image, &o, &err), &err);
	assert_clean(image);
	out = run("dumpe2fs", image, NULL, NULL);
	assert_contains(out, "volume name:   kontest-test\n");
	assert_contains(out, "UUID:          3a010203-0405-5007-8009-0a0b0c0d0e0f\n");
	assert_contains(out, "features:      has_journal ");
	assert_contains(out, "state:         clean\n");
	assert_contains(out, "Reserved block count:     0\n");
	assert_contains(out, "Block size:               4096\n");
	assert_contains(out, "Inode size:\t          256\n");
	assert_contains(out, "Total journal blocks:     4096\n");
	assert_contains(out, "Last mount time:          n/a\n");
	/* Nothing for a kernel to initialise while it is measured. */
	assert_lacks(out, "UNINIT");
	assert_lacks(out, "uninit_bg");
	assert_lacks(out, "metadata_csum");
	free(out);
	out = run("dumpe2fs", "-h", image, NULL);
	assert_contains(out, "Filesystem created:       Tue Nov 14 22:13:20 2023\n");
	assert_contains(out, "Last write time:          Tue Nov 14 22:13:20 2023\n");
	assert_contains(out, "Last checked:             Tue Nov 14 22:13:20 2023\n");
	free(out);
}

/* What is zero takes no room on the host: 8 MiB of zeros, the journal, the rest. */
static void sparse(void **state)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	cleanup_free char *image = in_dir("sparse.img");
	struct ext4_opts o = plain;
	struct error err = { 0 };
	struct stat st;

	(void)state;
	o.journal = true;
	o.size = 384 * MIB;
	check(tree_add_file(t, "/zeros", 0644, xcalloc(1, 8 * MIB), 8 * MIB, &err),
	      &err);
	check(tree_write_ext4(t, image, &o, &err), &err);
	assert_clean(image);
	assert_int_equal(stat(image, &st), 0);
	assert_int_equal(st.st_size, 384 * MIB);
	assert_true(st.st_blocks * 512 < 1 * (off_t)MIB);
}

/* In a child: other circumstances, same tree. */
static int write_elsewhere(const char *image, const struct ext4_opts *o)
{
	CLEANUP(tree_freep) struct tree *t = NULL;
	struct error err = { 0 };

	umask(0077);
	if (chdir("/") || setenv("TZ", "Pacific/Kiritimati", 1) ||
	    setenv("LANG", "tr_TR.UTF-8", 1) || setenv("LC_ALL", "tr_TR.UTF-8", 1) ||
	    setenv("HOME", "/nowhere", 1) ||
	    setenv("SOURCE_DATE_EPOCH", "1234567", 1) ||
	    setenv("E2FSPROGS_FAKE_TIME", "7654321", 1))
		return -1;
	tzset();
	t = make_tree();
	if (tree_write_ext4(t, image, o, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	return 0;
}

static void same_bytes(void **state)
{
	const struct timespec pause = { .tv_sec = 1, .tv_nsec = 100000000 };
	CLEANUP(tree_freep) struct tree *t = make_tree();
	cleanup_free char *here = in_dir("here.img");
	cleanup_free char *there = in_dir("another-name.img");
	char a[SHA256_HEX], b[SHA256_HEX];
	struct ext4_opts o = plain;
	struct error err = { 0 };
	int status = -1;
	pid_t pid;

	(void)state;
	o.journal = true;
	check(tree_write_ext4(t, here, &o, &err), &err);
	nanosleep(&pause, NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(write_elsewhere(there, &o) ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	check(sha256_file(here, a, &err), &err);
	check(sha256_file(there, b, &err), &err);
	assert_string_equal(a, b);
	/* And they do depend on what was asked for. */
	o.time++;
	check(tree_write_ext4(t, there, &o, &err), &err);
	check(sha256_file(there, b, &err), &err);
	assert_string_not_equal(a, b);
}

/* The block of the image that has block @n of a file. */
static off_t block_of(const char *image, const char *path, size_t n)
{
	cleanup_free char *command = xasprintf("bmap %s %zu", path, n);
	cleanup_free char *out = debugfs(image, command);

	return atoll(out);
}

/* A file over many groups: more pieces than fit the inode. */
static void many_extents(void **state)
{
	const size_t size = 900 * (size_t)MIB, step = 50 * MIB + 4096;
	CLEANUP(tree_freep) struct tree *t = tree_new();
	cleanup_free char *image = in_dir("extents.img");
	cleanup_close int fd = -1;
	char *data = xcalloc(1, size), got[sizeof(size_t)];
	struct ext4_opts o = plain;
	struct error err = { 0 };
	size_t off;

	(void)state;
	o.size = 1024 * (uint64_t)MIB;
	for (off = 4096; off < size; off += step)
		memcpy(data + off, &off, sizeof(off));
	check(tree_add_file(t, "/file", 0644, data, size, &err), &err);
	check(tree_write_ext4(t, image, &o, &err), &err);
	assert_clean(image);
	stat_has(image, "/file", "(ETB0):", "Size: 943718400");
	fd = open(image, O_RDONLY);
	assert_true(fd >= 0);
	for (off = 4096; off < size; off += step) {
		off_t at = block_of(image, "/file", off / 4096) * 4096;

		assert_int_equal(pread(fd, got, sizeof(got), at), sizeof(got));
		assert_memory_equal(got, &off, sizeof(off));
	}
}

/* The size that tree_ext4_size() names is enough, for trees of all sorts. */
static void size_fits(void **state)
{
	static const struct {
		int files, name;
		size_t bytes;
		uint32_t reserve;
		bool journal;
	} cases[] = {
		{ 0, 8, 0, 0, false },
		{ 0, 8, 0, 0, true },
		{ 3000, 250, 0, 0, false },
		{ 3000, 10, 1, 0, false },
		{ 10, 10, 12 * MIB, 0, false },
		{ 10, 10, 13 * MIB + 1, 50000, true },
		{ 1, 10, 126 * MIB, 0, false },
		{ 2, 10, 127 * MIB, 10, true },
	};
	size_t i;
	int j;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(tree_freep) struct tree *t = tree_new();
		cleanup_free char *image = in_dir("fits.img");
		struct ext4_opts o = plain;
		struct error err = { 0 };

		for (j = 0; j < cases[i].files; j++) {
			cleanup_free char *path = xasprintf("/dir/%0*d",
							    cases[i].name, j);

			check(tree_add_file(t, path, 0644,
					    xcalloc(1, cases[i].bytes + 1),
					    cases[i].bytes, &err), &err);
		}
		o.journal = cases[i].journal;
		o.reserve_inodes = cases[i].reserve;
		o.size = tree_ext4_size(t, &o, 0);
		check(tree_write_ext4(t, image, &o, &err), &err);
		assert_clean(image);
	}
}

static int count_files(const char *dir)
{
	cleanup_closedir DIR *d = opendir(dir);
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	return n - 2;
}

static void too_small(void **state)
{
	CLEANUP(tree_freep) struct tree *t = make_tree();
	cleanup_free char *dir = in_dir("small");
	cleanup_free char *image = in_dir("small/a.img");
	struct ext4_opts o = plain;
	struct error err = { 0 };

	(void)state;
	check(make_dirs(dir, &err), &err);
	for (o.size = 4096; o.size < 32 * MIB; o.size *= 2) {
		assert_int_equal(tree_write_ext4(t, image, &o, &err), -1);
		assert_contains(err.text, "too small");
		assert_contains(err.text, "larger size");
	}
	assert_int_equal(count_files(dir), 0);
}

static void wrong_options(void **state)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	cleanup_free char *image = in_dir("wrong.img");
	struct ext4_opts o = plain;
	struct error err = { 0 };

	(void)state;
	o.label = "seventeen-letters";
	assert_int_equal(tree_write_ext4(t, image, &o, &err), -1);
	assert_contains(err.text, "seventeen-letters");
	o = plain;
	o.size = 64 * MIB + 1;
	assert_int_equal(tree_write_ext4(t, image, &o, &err), -1);
	assert_contains(err.text, "67108865");
	o = plain;
	o.time = 0;
	assert_int_equal(tree_write_ext4(t, image, &o, &err), -1);
	assert_false(path_exists(image));
}

static int put(const char *path, const char *text)
{
	cleanup_close int fd = open(path, O_WRONLY);

	return fd >= 0 && write(fd, text, strlen(text)) > 0 ? 0 : -1;
}

/* Mount a file system of 4 MiB that only this process and its children see. */
static int mount_small(const char *dir)
{
	cleanup_free char *uids = xasprintf("0 %u 1", getuid());
	cleanup_free char *gids = xasprintf("0 %u 1", getgid());

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) ||
	    put("/proc/self/setgroups", "deny") ||
	    put("/proc/self/uid_map", uids) || put("/proc/self/gid_map", gids))
		return -1;
	return mount("none", dir, "tmpfs", 0, "size=4m");
}

/* In a child with a file system of 4 MiB; 77 when it may not have one. */
static int write_to_full_disk(void)
{
	CLEANUP(tree_freep) struct tree *t = make_tree();
	cleanup_free char *dir = in_dir("full");
	cleanup_free char *image = in_dir("full/a.img");
	struct error err = { 0 };

	if (mount_small(dir))
		return 77;
	if (!tree_write_ext4(t, image, &plain, &err))
		return 1;
	if (err.errnum != ENOSPC || !strstr(err.text, image) ||
	    !strstr(err.text, "free some space") || count_files(dir)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return 0;
}

static void full_disk(void **state)
{
	cleanup_free char *dir = in_dir("full");
	struct error err = { 0 };
	int status = -1;
	pid_t pid;

	(void)state;
	check(make_dirs(dir, &err), &err);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(write_to_full_disk());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("no user name space here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(content),
		cmocka_unit_test(attributes),
		cmocka_unit_test(superblock),
		cmocka_unit_test(sparse),
		cmocka_unit_test(same_bytes),
		cmocka_unit_test(many_extents),
		cmocka_unit_test(size_fits),
		cmocka_unit_test(too_small),
		cmocka_unit_test(wrong_options),
		cmocka_unit_test(full_disk),
	};

	return cmocka_run_group_tests(tests, make_test_dir, drop_test_dir);
}
