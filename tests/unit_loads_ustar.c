/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_loads_ustar.c - GNU tar takes our archives and we take its; a tree that
 * changes while it is read still makes an archive; a bad one harms nothing
 */
#include <inttypes.h>

#include "loads/ustar.h"
#include "tests/odd_tree.h"

/* What runs in this process, not beside it */
struct bench {
	struct running r;
	char tree[1100];	/* its last component is "tree" */
	char tar[1100];
	char out[1100];
};

static void setup_bench(struct bench *b)
{
	setup(&b->r, 1, 0);
	snprintf(b->tree, sizeof(b->tree), "%s/tree", b->r.dir);
	snprintf(b->tar, sizeof(b->tar), "%s/archive.tar", b->r.dir);
	snprintf(b->out, sizeof(b->out), "%s/out", b->r.dir);
	assert_int_equal(mkdir(b->out, 0755), 0);
}

static void teardown_bench(struct bench *b)
{
	sh("rm -rf '%s'/*", b->r.dir);
	teardown(&b->r);
}

static uint64_t archive(struct bench *b)
{
	uint64_t size = 0, reckoned = 0;
	struct stat st;
	int fd = open(b->tar, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(ustar_write(&b->r.args, b->tree, -1, "", false,
				     &reckoned), 0);
	assert_int_equal(done(&b->r), 0);
	assert_int_equal(ustar_write(&b->r.args, b->tree, fd, b->tar, true,
				     &size), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(st.st_size, size);
	assert_int_equal(reckoned, size);
	assert_int_equal(done(&b->r), size);
	assert_int_equal(size % USTAR_RECORD, 0);
	return size;
}

static int extract(struct bench *b)
{
	int in = open(b->tar, O_RDONLY);
	int dir = open(b->out, O_RDONLY | O_DIRECTORY);
	int ret;

	assert_true(in >= 0 && dir >= 0);
	atomic_store(&b->r.shared->done, 0);
	ret = ustar_extract(&b->r.args, in, b->tar, dir);
	assert_int_equal(close(in), 0);
	assert_int_equal(close(dir), 0);
	if (ret != 0)
		assert_int_not_equal(atomic_load(&b->r.shared->failed), 0);
	else if (atomic_load(&b->r.shared->failed) != 0)
		fail_msg("%s", b->r.shared->message);
	return ret;
}

static void test_gnu_tar_reads_ours(void **state)
{
	struct bench b;
	char copy[1200];

	(void)state;
	setup_bench(&b);
	odd_tree(b.tree);
	archive(&b);
	/* It has a word to say of everything that is not as it should be */
	sh("cd '%s' && tar --warning=no-timestamp -xpf '%s' "
	   "2>tar.said && test ! -s tar.said", b.out,
	   b.tar);
	sh("rm '%s/pipe' '%s/tar.said'", b.tree, b.out);
	sh("touch -r '%s/tree' '%s'", b.out, b.tree);	/* rm moved it */
	snprintf(copy, sizeof(copy), "%s/tree", b.out);
	same_trees(b.tree, copy, true);
	teardown_bench(&b);
}

static void test_we_read_ours(void **state)
{
	struct bench b;
	uint64_t size;
	char copy[1200];

	(void)state;
	setup_bench(&b);
	odd_tree(b.tree);
	size = archive(&b);
	assert_int_equal(extract(&b), 0);
	assert_int_equal(done(&b.r), size);
	sh("rm '%s/pipe'", b.tree);
	snprintf(copy, sizeof(copy), "%s/tree", b.out);
	same_trees(b.tree, copy, false);
	teardown_bench(&b);
}

static void test_we_read_gnu_tars(void **state)
{
	struct bench b;
	char copy[1200];

	(void)state;
	setup_bench(&b);
	odd_tree(b.tree);
	sh("rm '%s/pipe'", b.tree);
	sh("tar cf '%s' --format=pax --hard-dereference -C '%s' tree", b.tar,
	   b.r.dir);
	assert_int_equal(extract(&b), 0);
	snprintf(copy, sizeof(copy), "%s/tree", b.out);
	same_trees(b.tree, copy, false);
	teardown_bench(&b);
}

/* Numbers that no octal field holds */
static void test_large_numbers(void **state)
{
	struct bench b;
	char path[1200];

	(void)state;
	setup_bench(&b);
	assert_int_equal(mkdir(b.tree, 0755), 0);
	odd_file(b.tree, "old", 3);
	sh("touch -d '1965-04-03 02:01:00 UTC' '%s/old'", b.tree);
	snprintf(path, sizeof(path), "%s/old", b.tree);
	if (chown(path, 3000000, 4000000) != 0)
		print_message("not tried: large owner numbers: %s\n",
			      strerror(errno));
	archive(&b);
	sh("TZ=UTC0 tar --numeric-owner -tvf '%s' >'%s/said'", b.tar, b.out);
	sh("grep -q '%s.* 3 1965-04-03 02:01 tree/old$' '%s/said'",
	   geteuid() == 0 ? "3000000/4000000" : "", b.out);
	sh("rm '%s/said'", b.out);
	assert_int_equal(extract(&b), 0);
	sh("test $(stat -c %%Y '%s/tree/old') = -149810340", b.out);
	teardown_bench(&b);
}

/* 9 GiB of nothing: the header is right, though this test reads no 9 GiB */
static void test_large_file(void **state)
{
	const uint64_t large = UINT64_C(9) << 30;
	uint64_t size = 0;
	struct bench b;
	int p[2];
	pid_t pid;

	(void)state;
	setup_bench(&b);
	assert_int_equal(mkdir(b.tree, 0755), 0);
	odd_file(b.tree, "large", 0);
	sh("truncate -s 9G '%s/large'", b.tree);
	assert_int_equal(ustar_write(&b.r.args, b.tree, -1, "", false, &size),
			 0);
	/* Directory, extended header and its text, header, content, end */
	assert_int_equal(size, (large + 6 * 512 + 10239) / 10240 * 10240);
	assert_int_equal(pipe(p), 0);
	pid = fork();
	if (pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		close(p[0]);
		ustar_write(&b.r.args, b.tree, p[1], "pipe", false, NULL);
		_exit(1);
	}
	close(p[1]);
	sh("head -c 20480 <&%d >'%s'", p[0], b.tar);
	close(p[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	sh("tar tvf '%s' 2>/dev/null | grep -q ' 9663676416 .* tree/large$'",
	   b.tar);
	teardown_bench(&b);
}

/*
 * The writer stands still in the middle of the file "m", because its pipe is
 * full, while the tree changes.
 */
static void test_tree_changes(void **state)
{
	char buf[65536];
	struct bench b;
	ssize_t n;
	int p[2], fd, status;
	pid_t pid;

	(void)state;
	setup_bench(&b);
	assert_int_equal(mkdir(b.tree, 0755), 0);
	odd_file(b.tree, "m", 1000000);
	odd_file(b.tree, "n-grows", 100);
	odd_file(b.tree, "o-vanishes", 5000);
	sh("mkdir '%s/p-vanishes' '%s/q-is-replaced'", b.tree, b.tree);
	odd_file(b.tree, "z", 77);
	assert_int_equal(pipe(p), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(p[0]);
		_exit(ustar_write(&b.r.args, b.tree, p[1], "pipe", true,
				  NULL) == 0 ? 0 : 1);
	}
	close(p[1]);
	wait_done(&b.r, 20480);
	sh("cd '%s' && truncate -s 500 m && echo more >>n-grows && "
	   "rm o-vanishes && rmdir p-vanishes q-is-replaced && "
	   "ln -s z q-is-replaced", b.tree);
	fd = open(b.tar, O_WRONLY | O_CREAT, 0644);
	assert_true(fd >= 0);
	while ((n = read(p[0], buf, sizeof(buf))) > 0)
		assert_int_equal(write(fd, buf, (size_t)n), n);
	assert_int_equal(n, 0);
	close(fd);
	close(p[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);

	sh("cd '%s' && tar xf '%s' 2>said && test ! -s said", b.out, b.tar);
	sh("cd '%s/tree' && test \"$(ls | tr '\\n' ' ')\" = "
	   "'m n-grows q-is-replaced z ' && "
	   "test $(stat -c %%s m) = 1000000 && tail -c 800000 m | "
	   "cmp -n 800000 - /dev/zero && test $(stat -c %%s n-grows) = 105 && "
	   "test $(readlink q-is-replaced) = z && test $(stat -c %%s z) = 77",
	   b.out);
	teardown_bench(&b);
}

/* A file that is grown while it is read is cut at what its header says */
static void test_file_grows(void **state)
{
	char buf[65536];
	struct bench b;
	ssize_t n;
	int p[2], fd, status;
	pid_t pid;

	(void)state;
	setup_bench(&b);
	assert_int_equal(mkdir(b.tree, 0755), 0);
	odd_file(b.tree, "m", 300000);
	assert_int_equal(pipe(p), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(p[0]);
		_exit(ustar_write(&b.r.args, b.tree, p[1], "pipe", true,
				  NULL) == 0 ? 0 : 1);
	}
	close(p[1]);
	wait_done(&b.r, 20480);
	sh("head -c 100000 /dev/zero >>'%s/m'", b.tree);
	fd = open(b.tar, O_WRONLY | O_CREAT, 0644);
	assert_true(fd >= 0);
	while ((n = read(p[0], buf, sizeof(buf))) > 0)
		assert_int_equal(write(fd, buf, (size_t)n), n);
	close(fd);
	close(p[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	sh("cd '%s' && tar xf '%s' && test $(stat -c %%s tree/m) = 300000 && "
	   "cmp -n 300000 tree/m '%s/m'", b.out, b.tar, b.tree);
	teardown_bench(&b);
}

/* --- bad archives --------------------------------------------------------- */

static void put_octal(char *field, size_t width, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%0*" PRIo64, (int)width - 1, value);
	memcpy(field, text, width);
}

static struct ustar_header header(const char *name, char type, uint64_t size)
{
	struct ustar_header h = { .typeflag = type };

	memcpy(h.name, name, strlen(name));
	put_octal(h.mode, sizeof(h.mode), 0644);
	put_octal(h.size, sizeof(h.size), size);
	put_octal(h.mtime, sizeof(h.mtime), 0);
	memcpy(h.magic, "ustar", 6);
	memcpy(h.version, "00", 2);
	return h;
}

static void put(int fd, struct ustar_header h)
{
	put_octal(h.chksum, sizeof(h.chksum), ustar_checksum(&h));
	assert_int_equal(write(fd, &h, sizeof(h)), sizeof(h));
}

static void put_text(int fd, const char *text)
{
	char block[USTAR_BLOCK] = { 0 };

	memcpy(block, text, strlen(text));
	assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
}

/* The archive in @b->tar is refused, nothing is made outside, nothing counted */
static void refused(struct bench *b, int err, const char *say)
{
	assert_int_equal(extract(b), -1);
	if (strstr(b->r.shared->message, say) == NULL)
		fail_msg("said was: %s", b->r.shared->message);
	assert_int_equal(atomic_load(&b->r.shared->failed), err);
	atomic_store(&b->r.shared->failed, 0);
	sh("test \"$(ls -A '%s')\" = \"$(printf 'archive.tar\\nout')\"",
	   b->r.dir);
	sh("rm -rf '%s' && mkdir '%s'", b->out, b->out);
}

static int new_tar(const struct bench *b)
{
	int fd = open(b->tar, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	return fd;
}

static void test_names_that_lead_elsewhere(void **state)
{
	static const char *const names[] = {
		"../evil", "/tmp/evil", "a/../../evil", "..", ".", "./evil",
		"", "/", "a//b",
	};
	struct bench b;

	(void)state;
	setup_bench(&b);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int fd = new_tar(&b);

		put(fd, header("a", '5', 0));
		put(fd, header(names[i], '0', 0));
		put_text(fd, "");
		put_text(fd, "");
		close(fd);
		refused(&b, EINVAL, "a name that leads elsewhere");
		assert_int_equal(done(&b.r), USTAR_BLOCK);
	}
	teardown_bench(&b);
}

static void test_links_that_lead_elsewhere(void **state)
{
	struct ustar_header h = header("a", '2', 0);
	struct bench b;
	int fd;

	(void)state;
	setup_bench(&b);
	fd = new_tar(&b);
	memcpy(h.linkname, "..", 2);
	put(fd, h);
	put(fd, header("a/evil", '0', 0));
	close(fd);
	refused(&b, ENOTDIR, "open 'a'");

	/* Nor is a link written through, or anything written over */
	memcpy(h.linkname, "../evil", 7);
	fd = new_tar(&b);
	put(fd, h);
	put(fd, header("a", '0', 0));
	close(fd);
	refused(&b, EEXIST, "make 'a'");
	teardown_bench(&b);
}

static void test_bad_headers(void **state)
{
	struct ustar_header h;
	struct bench b;
	int fd;

	(void)state;
	setup_bench(&b);

	h = header("a", '0', 0);
	put_octal(h.chksum, sizeof(h.chksum), ustar_checksum(&h) + 1);
	fd = new_tar(&b);
	assert_int_equal(write(fd, &h, sizeof(h)), sizeof(h));
	close(fd);
	refused(&b, EINVAL, "a wrong checksum");
	assert_int_equal(done(&b.r), 0);

	h = header("a", '0', 0);
	memcpy(h.size, "-0000000001", 11);
	fd = new_tar(&b);
	put(fd, h);
	close(fd);
	refused(&b, EINVAL, "a bad number");

	h = header("a", '0', 0);
	memcpy(h.magic, "USTAR", 6);
	fd = new_tar(&b);
	put(fd, h);
	close(fd);
	refused(&b, EINVAL, "no ustar header");

	for (const char *type = "13467L"; *type != '\0'; type++) {
		fd = new_tar(&b);
		put(fd, header("a", *type, 0));
		close(fd);
		refused(&b, EINVAL, "no file, directory or symbolic link");
	}
	fd = new_tar(&b);
	put(fd, header("a", '5', 10));
	close(fd);
	refused(&b, EINVAL, "content where none belongs");
	teardown_bench(&b);
}

static void test_cut_short(void **state)
{
	struct bench b;
	int fd;

	(void)state;
	setup_bench(&b);
	close(new_tar(&b));
	refused(&b, EINVAL, "it ends too early");

	fd = new_tar(&b);
	put(fd, header("a", '0', 600));
	put_text(fd, "only 512 bytes");
	close(fd);
	refused(&b, EINVAL, "it ends too early");

	fd = new_tar(&b);
	put(fd, header("a", '0', 5));
	put_text(fd, "hello");
	close(fd);
	refused(&b, EINVAL, "it ends too early");	/* no zeros at the end */

	fd = new_tar(&b);
	put(fd, header("a", '0', UINT64_C(077777777777)));
	put_text(fd, "");
	close(fd);
	refused(&b, EINVAL, "it ends too early");
	teardown_bench(&b);
}

static void test_bad_extended_headers(void **state)
{
	static const char *const texts[] = {
		"xx path=a\n", "9999 path=a\n", "0 path=a\n", "2 path=a\n",
		"9 path=ab", "8 patha\n", "10 path=ab\n", "-5 path=a\n",
		"12 size=-10\n", "12 size=1x0\n", "99999999999999999999 a=b\n",
	};
	struct bench b;
	int fd;

	(void)state;
	setup_bench(&b);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fd = new_tar(&b);
		put(fd, header("x", 'x', strlen(texts[i])));
		put_text(fd, texts[i]);
		put(fd, header("a", '0', 0));
		put_text(fd, "");
		close(fd);
		refused(&b, EINVAL, "extended header");
		assert_int_equal(done(&b.r), 0);
	}
	fd = new_tar(&b);
	put(fd, header("x", 'x', 1 << 20));
	close(fd);
	refused(&b, EINVAL, "too large");

	fd = new_tar(&b);
	put(fd, header("x", 'x', 16));
	put_text(fd, "16 path=../evil\n");
	put(fd, header("a", '0', 0));
	close(fd);
	refused(&b, EINVAL, "a name that leads elsewhere");

	fd = new_tar(&b);
	put(fd, header("x", 'x', 10));
	put_text(fd, "10 path=a\n");
	put_text(fd, "");
	close(fd);
	refused(&b, EINVAL, "for no file");
	teardown_bench(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gnu_tar_reads_ours),
		cmocka_unit_test(test_we_read_ours),
		cmocka_unit_test(test_we_read_gnu_tars),
		cmocka_unit_test(test_large_numbers),
		cmocka_unit_test(test_large_file),
		cmocka_unit_test(test_tree_changes),
		cmocka_unit_test(test_file_grows),
		cmocka_unit_test(test_names_that_lead_elsewhere),
		cmocka_unit_test(test_links_that_lead_elsewhere),
		cmocka_unit_test(test_bad_headers),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_bad_extended_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
