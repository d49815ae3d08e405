/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_loads_files.c - the loads that read and write files: what they count was
 * done, they stop, tidy up, and say why when they cannot
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "tests/run_load.h"

#define MIB (UINT64_C(1) << 20)
#define TMPFS_MAGIC 0x01021994
#define TREE_MAX 1100

/* A figure of /proc/PID/io: the kernel's own count of a process's bytes */
static uint64_t io_of(pid_t pid, const char *key)
{
	char path[64], line[128];
	uint64_t value = UINT64_MAX;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			value = strtoull(line + strlen(key) + 1, NULL, 10);
	fclose(f);
	assert_true(value != UINT64_MAX);
	return value;
}

/* What @r has counted, the kernel has seen; at most @block bytes are not yet */
static void check_count(struct running *r, const char *key, uint64_t block)
{
	uint64_t seen;
	int status;

	assert_int_equal(kill(r->pid, SIGSTOP), 0);
	assert_int_equal(waitpid(r->pid, &status, WUNTRACED), r->pid);
	assert_true(WIFSTOPPED(status));
	seen = io_of(r->pid, key);
	assert_true(done(r) <= seen);
	assert_true(seen - done(r) <= block);
	assert_int_equal(kill(r->pid, SIGCONT), 0);
}

static void path_in(const struct running *r, const char *name, char path[2048])
{
	snprintf(path, 2048, "%s/%s", r->dir, name);
}

static void make_file(const char *dir, const char *name, size_t size)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	assert_true(fd >= 0);
	for (size_t i = 0; i < size; i++) {
		char c = (char)(i * 31 + i / 251);

		assert_int_equal(write(fd, &c, 1), 1);
	}
	assert_int_equal(close(fd), 0);
}

/* Gives @r a tree of its own, with two files and a directory */
static void make_tree(struct running *r, char tree[TREE_MAX])
{
	char sub[1200];

	snprintf(tree, TREE_MAX, "%s.tree", r->dir);
	snprintf(sub, sizeof(sub), "%s/sub", tree);
	assert_int_equal(mkdir(tree, 0755), 0);
	assert_int_equal(mkdir(sub, 0755), 0);
	make_file(tree, "a.c", 5000);
	make_file(sub, "b.c", 20000);
	r->args.tree = tree;
}

static void drop_tree(const char *tree)
{
	char command[1200];

	snprintf(command, sizeof(command), "rm -rf '%s'", tree);
	assert_int_equal(system(command), 0);
}

/* Runs prepare() in a process of its own. Return: its exit status */
static int prepare(struct running *r, const char *name, rlim_t file_max)
{
	const struct load_ops *ops = load_find(name);
	struct rlimit lim = { file_max, file_max };

	assert_non_null(ops->prepare);
	r->pid = fork();
	assert_true(r->pid >= 0);
	if (r->pid == 0) {
		if (file_max != 0 && (signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
				      setrlimit(RLIMIT_FSIZE, &lim) != 0))
			_exit(99);
		_exit(ops->prepare(&r->args) == 0 ? 0 : 1);
	}
	return WEXITSTATUS(wait_end(r));
}

static void prepare_well(struct running *r, const char *name)
{
	assert_int_equal(prepare(r, name, 0), 0);
	assert_int_equal(atomic_load(&r->shared->failed), 0);
	assert_int_equal(done(r), 0);
}

static void prepare_badly(struct running *r, const char *name, rlim_t file_max,
			  int err, const char *say)
{
	assert_int_equal(prepare(r, name, file_max), 1);
	assert_int_equal(atomic_load(&r->shared->failed), err);
	assert_non_null(strstr(r->shared->message, say));
	assert_int_equal(done(r), 0);
}

/* --- io_load, io_other ---------------------------------------------------- */

static const char *const io_loads[] = { "io_load", "io_other" };

static void test_io(void **state)
{
	const uint64_t size = MIB + 1234;	/* not whole blocks */

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char path[2048];
		struct running r;

		setup(&r, 1, size);
		assert_int_equal(load_find(io_loads[i])->per_load(&r.args),
				 size);
		start(&r, io_loads[i], 0);
		wait_done(&r, 3 * size);
		path_in(&r, "io_load.data", path);
		assert_int_equal(access(path, F_OK), 0);
		check_count(&r, "wchar:", MIB);
		stop_well(&r);
		assert_int_equal(access(path, F_OK), -1);
		teardown(&r);
	}
}

static void test_default_sizes(void **state)
{
	struct load_args a = { .cpus = 1, .mem = UINT64_C(6) << 30 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(load_find(io_loads[i])->per_load(&a), a.mem);
		assert_int_equal(load_find(io_loads[i])->size(&a), a.mem);
	}
	assert_int_equal(load_find("read_load")->per_load(&a), a.mem);
	a.size = 4711;
	assert_int_equal(load_find("read_load")->size(&a), 4711);
}

/* Told to stop in the middle of a file of 256 GiB, it does */
static void test_io_stops_within_a_file(void **state)
{
	struct running r;

	(void)state;
	setup(&r, 1, UINT64_C(1) << 38);
	start(&r, "io_load", 0);
	wait_done(&r, 0);
	stop_well(&r);
	assert_true(done(&r) < UINT64_C(1) << 38);
	teardown(&r);
}

static void test_io_no_room(void **state)
{
	struct running r;

	(void)state;
	setup(&r, 1, 4 * MIB);
	start(&r, "io_load", MIB);
	must_have_failed(&r, EFBIG, "io_load.data");
	assert_int_equal(done(&r), MIB);
	teardown(&r);
}

static void test_io_of_nothing(void **state)
{
	struct running r;

	(void)state;
	setup(&r, 1, 0);
	r.args.mem = 0;
	start(&r, "io_load", 0);
	must_have_failed(&r, EINVAL, "0 bytes");
	teardown(&r);
}

/* --- read_load ------------------------------------------------------------ */

static size_t cached_pages(const char *path, size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t n = (size + page - 1) / page;
	unsigned char *seen = calloc(n, 1);
	int fd = open(path, O_RDONLY);
	size_t count = 0;
	void *map;

	assert_non_null(seen);
	assert_true(fd >= 0);
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(mincore(map, size, seen), 0);
	for (size_t i = 0; i < n; i++)
		count += seen[i] & 1;
	assert_int_equal(munmap(map, size), 0);
	close(fd);
	free(seen);
	return count;
}

static void test_read(void **state)
{
	const uint64_t size = 2 * MIB + 777;
	struct running r;
	struct statfs fs;
	char path[2048];
	struct stat st;

	(void)state;
	setup(&r, 1, size);
	prepare_well(&r, "read_load");
	path_in(&r, "read_load.data", path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, size);
	assert_true((uint64_t)st.st_blocks * 512 >= size);	/* no holes */
	assert_int_equal(statfs(path, &fs), 0);
	if (fs.f_type == TMPFS_MAGIC)
		print_message("not looked at: what is cached (a tmpfs is all cache)\n");
	else
		assert_int_equal(cached_pages(path, size), 0);

	start(&r, "read_load", 0);
	wait_done(&r, 3 * size);
	check_count(&r, "rchar:", MIB);
	stop_well(&r);
	assert_int_equal(access(path, F_OK), -1);
	teardown(&r);
}

static void test_read_needs_its_file(void **state)
{
	struct running r;
	char path[2048];

	(void)state;
	setup(&r, 1, MIB);
	start(&r, "read_load", 0);
	must_have_failed(&r, ENOENT, "read_load.data");
	assert_int_equal(done(&r), 0);
	teardown(&r);

	/* Shorter than it should be: what is there does not make a Load */
	setup(&r, 1, MIB);
	prepare_well(&r, "read_load");
	path_in(&r, "read_load.data", path);
	assert_int_equal(truncate(path, 5000), 0);
	start(&r, "read_load", 0);
	must_have_failed(&r, EIO, "ends at 5000 of 1048576 bytes");
	assert_int_equal(done(&r), 5000);
	teardown(&r);
}

static void test_read_no_room(void **state)
{
	struct running r;
	char path[2048];

	(void)state;
	setup(&r, 1, 4 * MIB);
	prepare_badly(&r, "read_load", MIB, EFBIG, "read_load.data");
	path_in(&r, "read_load.data", path);
	assert_int_equal(unlink(path), 0);
	teardown(&r);

	setup(&r, 1, 0);
	r.args.mem = 0;
	prepare_badly(&r, "read_load", 0, EINVAL, "0 bytes");
	teardown(&r);
}

/* --- ctar_load, xtar_load ------------------------------------------------- */

static void test_ctar(void **state)
{
	struct running r;
	char path[2048], tree[TREE_MAX];

	(void)state;
	setup(&r, 1, 0);
	make_tree(&r, tree);
	assert_int_equal(load_find("ctar_load")->per_load(&r.args), 0);
	prepare_well(&r, "ctar_load");
	/* 4 headers, 5000 and 20000 bytes, the end, in records of 10240 bytes */
	assert_int_equal(load_find("ctar_load")->per_load(&r.args), 30720);
	start(&r, "ctar_load", 0);
	wait_done(&r, 10 * 30720);
	path_in(&r, "ctar.tar", path);
	assert_int_equal(access(path, F_OK), 0);
	check_count(&r, "wchar:", 10240);
	stop_well(&r);
	assert_int_equal(access(path, F_OK), -1);
	teardown(&r);
	drop_tree(tree);
}

static void test_xtar(void **state)
{
	struct running r;
	char path[2048], tree[TREE_MAX];
	struct stat st;

	(void)state;
	setup(&r, 1, 0);
	make_tree(&r, tree);
	prepare_well(&r, "xtar_load");
	path_in(&r, "xtar.tar", path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 30720);
	assert_int_equal(load_find("xtar_load")->per_load(&r.args), 30720);
	/* From now on it needs the archive alone */
	drop_tree(tree);
	start(&r, "xtar_load", 0);
	wait_done(&r, 10 * 30720);
	stop_well(&r);
	teardown(&r);
}

static void test_tar_of_nothing(void **state)
{
	static const char *const names[] = { "ctar_load", "xtar_load" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char path[2048];
		struct running r;

		setup(&r, 1, 0);
		r.args.tree = "/nonexistent/tree";
		prepare_badly(&r, names[i], 0, ENOENT, "/nonexistent/tree");
		path_in(&r, "xtar.tar", path);
		assert_int_equal(unlink(path), i == 0 ? -1 : 0);
		teardown(&r);
	}
}

static void test_tar_no_room(void **state)
{
	struct running r;
	char path[2048], tree[TREE_MAX];

	(void)state;
	setup(&r, 1, 0);
	make_tree(&r, tree);
	prepare_badly(&r, "xtar_load", 15000, EFBIG, "xtar.tar");
	path_in(&r, "xtar.tar", path);
	assert_int_equal(unlink(path), 0);
	teardown(&r);

	setup(&r, 1, 0);
	r.args.tree = tree;
	start(&r, "ctar_load", 15000);
	must_have_failed(&r, EFBIG, "ctar.tar");
	assert_int_equal(done(&r), 15000);
	teardown(&r);

	setup(&r, 1, 0);
	r.args.tree = tree;
	prepare_well(&r, "xtar_load");
	start(&r, "xtar_load", 15000);
	must_have_failed(&r, EFBIG, "sub/b.c");
	assert_true(done(&r) < 30720);
	teardown(&r);
	drop_tree(tree);
}

static void test_xtar_needs_its_archive(void **state)
{
	struct running r;
	char path[2048];

	(void)state;
	setup(&r, 1, 0);
	start(&r, "xtar_load", 0);
	must_have_failed(&r, ENOENT, "xtar.tar");
	assert_int_equal(done(&r), 0);
	teardown(&r);

	setup(&r, 1, 0);
	make_file(r.dir, "xtar.tar", 10240);
	start(&r, "xtar_load", 0);
	must_have_failed(&r, EINVAL, "checksum");
	assert_int_equal(done(&r), 0);
	path_in(&r, "xtar.tar", path);
	assert_int_equal(access(path, F_OK), -1);
	teardown(&r);
}

/* --- list_load ------------------------------------------------------------ */

/* This machine's whole file system may be large: it is stopped in the middle */
static void test_list_stops(void **state)
{
	struct running r;

	(void)state;
	setup(&r, 1, 0);
	assert_int_equal(load_find("list_load")->per_load(&r.args), 0);
	start(&r, "list_load", 0);
	wait_done(&r, 50);
	stop_well(&r);
	teardown(&r);
}

/* In a root of its own, with 3 + 3 + 4 + 4 entries */
static void test_list(void **state)
{
	struct running r;
	char tree[TREE_MAX], path[1200];
	pid_t pid;
	int status;

	(void)state;
	setup(&r, 1, 0);
	make_tree(&r, tree);
	snprintf(path, sizeof(path), "%s/dev", tree);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/dev/null", tree);
	if (mknod(path, S_IFCHR | 0666, makedev(1, 3)) != 0) {
		print_message("skipped: a device node: %s\n", strerror(errno));
		drop_tree(tree);
		teardown(&r);
		skip();
	}
	/* ., .., a.c, dev, sub; ., .., null; ., .., b.c */
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		const struct load_ops *ops = load_find("list_load");

		if (chroot(tree) != 0 || chdir("/") != 0)
			_exit(errno == EPERM ? 77 : 99);
		if (open("/dev/null", O_WRONLY) < 0)
			_exit(77);	/* mounted without devices */
		if (ops->prepare(&r.args) != 0)
			_exit(1);
		_exit(ops->run(&r.args) == 0 ? 0 : 1);
	}
	r.pid = pid;
	for (int ms = 0; done(&r) < 10 * 11 && ms < PATIENCE_MS; ms += 2) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			drop_tree(tree);
			assert_int_equal(WEXITSTATUS(status), 77);
			print_message("skipped: no root of its own is allowed\n");
			teardown(&r);
			skip();
		}
		nap();
	}
	assert_true(done(&r) >= 10 * 11);
	assert_int_equal(load_find("list_load")->per_load(&r.args), 11);
	stop_well(&r);
	teardown(&r);
	drop_tree(tree);
}

/* --- all ------------------------------------------------------------------ */

static void test_no_directory(void **state)
{
	static const char *const runs[] = { "io_load", "io_other", "read_load",
					    "ctar_load", "xtar_load" };
	char tree[TREE_MAX];
	struct running r;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		setup(&r, 1, MIB);
		r.args.dir = "/nonexistent/place";
		start(&r, runs[i], 0);
		must_have_failed(&r, ENOENT, "open '/nonexistent/place");
		assert_int_equal(done(&r), 0);
		teardown(&r);
	}
	setup(&r, 1, MIB);
	make_tree(&r, tree);
	r.args.dir = "/nonexistent/place";
	prepare_badly(&r, "read_load", 0, ENOENT, "/nonexistent/place");
	atomic_store(&r.shared->failed, 0);
	prepare_badly(&r, "xtar_load", 0, ENOENT, "/nonexistent/place");
	teardown(&r);
	drop_tree(tree);
}

/* A disk of 64 KiB: every load's failure is ENOSPC, which voids the run */
static void test_full_disk(void **state)
{
	static const struct {
		const char *name;
		bool prepare;
	} loads[] = {
		{ "io_load", false }, { "io_other", false },
		{ "read_load", true }, { "ctar_load", false },
		{ "xtar_load", true },
	};
	char tree[TREE_MAX];
	struct running r;

	(void)state;
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		setup(&r, 1, MIB);
		if (mount("tmpfs", r.dir, "tmpfs", 0, "size=64k") != 0) {
			print_message("skipped: mount a tmpfs: %s\n",
				      strerror(errno));
			teardown(&r);
			skip();
		}
		make_tree(&r, tree);
		make_file(tree, "large", 100000);
		if (loads[i].prepare) {
			prepare_badly(&r, loads[i].name, 0, ENOSPC, "write");
		} else {
			start(&r, loads[i].name, 0);
			must_have_failed(&r, ENOSPC, "write");
			assert_true(done(&r) <= 64 << 10);
		}
		assert_int_equal(umount(r.dir), 0);
		drop_tree(tree);
		teardown(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_io),
		cmocka_unit_test(test_default_sizes),
		cmocka_unit_test(test_io_stops_within_a_file),
		cmocka_unit_test(test_io_no_room),
		cmocka_unit_test(test_io_of_nothing),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_read_needs_its_file),
		cmocka_unit_test(test_read_no_room),
		cmocka_unit_test(test_ctar),
		cmocka_unit_test(test_xtar),
		cmocka_unit_test(test_tar_of_nothing),
		cmocka_unit_test(test_tar_no_room),
		cmocka_unit_test(test_xtar_needs_its_archive),
		cmocka_unit_test(test_list_stops),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_no_directory),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
