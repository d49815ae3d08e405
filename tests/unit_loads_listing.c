/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_loads_listing.c - the listing is, byte for byte, that of ls -lRa
 */
#include <ftw.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>

#include "loads/listing.h"
#include "tests/odd_tree.h"

static uint64_t nodes, dirs;

static int count(const char *path, const struct stat *st, int type,
		 struct FTW *ftw)
{
	(void)path;
	(void)st;
	(void)ftw;
	nodes++;
	dirs += type == FTW_D || type == FTW_DP || type == FTW_DNR;
	return 0;
}

/* Return: entries of a listing, "." and ".." of each directory with them */
static uint64_t count_entries(const char *top)
{
	nodes = dirs = 0;
	assert_int_equal(nftw(top, count, 64, FTW_PHYS), 0);
	return nodes - 1 + 2 * dirs;
}

static uint64_t list(struct running *r, const char *top, const char *to)
{
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	uint64_t entries = 0;

	assert_true(out >= 0);
	if (listing_write(&r->args, top, out, true, &entries) != 0)
		fail_msg("%s", r->shared->message);
	assert_int_equal(close(out), 0);
	return entries;
}

/* Both listings of the tree that setup_tree() has made */
struct lists {
	struct running r;
	char tree[1100], ours[1100], theirs[1100];
};

static void setup_lists(struct lists *l)
{
	setup(&l->r, 1, 0);
	snprintf(l->tree, sizeof(l->tree), "%s/tree", l->r.dir);
	snprintf(l->ours, sizeof(l->ours), "%s/ours", l->r.dir);
	snprintf(l->theirs, sizeof(l->theirs), "%s/theirs", l->r.dir);
	odd_tree(l->tree);
	/* What is written into a directory moves the one above: not "..", too */
	odd_file(l->r.dir, "ours", 0);
	odd_file(l->r.dir, "theirs", 0);
}

static void teardown_lists(struct lists *l)
{
	sh("rm -rf '%s'/*", l->r.dir);
	teardown(&l->r);
}

static void same_lists(struct lists *l)
{
	uint64_t entries;

	atomic_store(&l->r.shared->done, 0);
	entries = list(&l->r, l->tree, l->ours);
	sh("LC_ALL=C TZ=UTC0 ls -lRa '%s' >'%s'", l->tree, l->theirs);
	sh("diff '%s' '%s' >&2", l->theirs, l->ours);
	assert_int_equal(entries, count_entries(l->tree));
	assert_int_equal(done(&l->r), entries);
	assert_true(entries > 100);
}

static void test_same_as_ls(void **state)
{
	struct lists l;

	(void)state;
	setup_lists(&l);
	same_lists(&l);
	/* With owners that have no name, and with a large file */
	if (geteuid() == 0)
		sh("cd '%s' && chown 54321:65432 size-1 && "
		   "chown daemon:games only && chown -h nobody link-99", l.tree);
	else
		print_message("not tried: other owners (not root)\n");
	sh("truncate -s 5T '%s/large' || truncate -s 1G '%s/large'", l.tree,
	   l.tree);
	same_lists(&l);
	teardown_lists(&l);
}

static void test_devices(void **state)
{
	struct lists l;
	char path[1200];

	(void)state;
	setup_lists(&l);
	snprintf(path, sizeof(path), "%s/char", l.tree);
	if (mknod(path, S_IFCHR | 0620, makedev(4, 64)) != 0) {
		print_message("skipped: a device node: %s\n", strerror(errno));
		teardown_lists(&l);
		skip();
	}
	sh("mknod '%s/block' b 259 100000", l.tree);
	same_lists(&l);
	sh("mkdir '%s/devs' && mknod '%s/devs/a' c 1 3 && "
	   "mknod '%s/devs/b' b 8 16 && echo text >'%s/devs/file'", l.tree,
	   l.tree, l.tree, l.tree);
	same_lists(&l);
	teardown_lists(&l);
}

/* A tmpfs is named, but what is in it is not: it is on no disk */
static void test_other_file_systems(void **state)
{
	struct lists l;
	uint64_t before;
	char dir[1200];

	(void)state;
	setup_lists(&l);
	snprintf(dir, sizeof(dir), "%s/empty", l.tree);
	before = list(&l.r, l.tree, l.ours);
	if (mount("tmpfs", dir, "tmpfs", 0, "size=64k") != 0) {
		print_message("skipped: mount a tmpfs: %s\n", strerror(errno));
		teardown_lists(&l);
		skip();
	}
	odd_file(dir, "file-in-memory", 1);
	/* "." and ".." of it are gone */
	assert_int_equal(list(&l.r, l.tree, l.ours), before - 2);
	sh("grep -q ' empty$' '%s' && ! grep -q file-in-memory '%s'", l.ours,
	   l.ours);
	/* Asked for by name, it is listed */
	assert_int_equal(list(&l.r, dir, l.ours), 3);
	assert_int_equal(umount(dir), 0);
	teardown_lists(&l);
}

/* A tree that is made and removed all the time is no reason to fail */
static void test_tree_changes(void **state)
{
	struct lists l;
	pid_t pid;

	(void)state;
	setup_lists(&l);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char a[1200], b[1300], c[1300];

		snprintf(a, sizeof(a), "%s/only/x", l.tree);
		snprintf(b, sizeof(b), "%s/y", a);
		snprintf(c, sizeof(c), "%s/z", a);
		for (;;) {
			int fd;

			mkdir(a, 0755);
			mkdir(b, 0755);
			fd = open(c, O_CREAT | O_WRONLY, 0600);
			close(fd);
			unlink(c);
			rmdir(b);
			rmdir(a);
		}
	}
	for (int i = 0; i < 300; i++)
		list(&l.r, l.tree, l.ours);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	teardown_lists(&l);
}

static void test_failures(void **state)
{
	struct running r;
	int full;

	(void)state;
	setup(&r, 1, 0);
	assert_int_equal(listing_write(&r.args, "/nonexistent/top", 1, true,
				       NULL), -1);
	assert_int_equal(atomic_load(&r.shared->failed), ENOENT);
	assert_int_equal(done(&r), 0);

	atomic_store(&r.shared->failed, 0);
	full = open("/dev/full", O_WRONLY);
	assert_true(full >= 0);
	assert_int_equal(listing_write(&r.args, r.dir, full, true, NULL), -1);
	assert_int_equal(atomic_load(&r.shared->failed), ENOSPC);
	close(full);
	teardown(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_as_ls),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_other_file_systems),
		cmocka_unit_test(test_tree_changes),
		cmocka_unit_test(test_failures),
	};

	if (setenv("TZ", "UTC0", 1) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
