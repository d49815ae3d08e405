/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_loads_dbench.c - dbench_load's script is what its table says, the same
 * every time, and is what the file system gets to see; its clients are as many
 * as they should be, and none fails unseen
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "tests/run_load.h"
#include "tests/children.h"

#include "loads/dbench_load.h"

#define LOAD "dbench_load"
#define OPS_MAX 10000

static const struct load_ops *ops;

static void wait_children(const struct running *r, pid_t child[CHILDREN_MAX],
			  size_t n)
{
	for (int ms = 0; children_of(r->pid, child) != n; ms += 2) {
		assert_true(ms < PATIENCE_MS);
		nap();
	}
}

/* --- the script ----------------------------------------------------------- */

static size_t whole_script(unsigned int client, struct dbench_op op[OPS_MAX])
{
	struct dbench_script s;
	size_t n = 0;

	dbench_begin(&s, client);
	while (n < OPS_MAX && dbench_next(&s, &op[n]))
		n++;
	assert_int_equal(s.live, 0);
	return n;
}

static void test_mix(void **state)
{
	static const struct {
		enum dbench_kind kind;
		uint32_t count;
	} want[] = {
		{ DBENCH_CREATE, 60 }, { DBENCH_OPEN, 169 },
		{ DBENCH_WRITE, 116 }, { DBENCH_READ, 360 },
		{ DBENCH_STAT, 209 }, { DBENCH_RENAME, 10 },
		{ DBENCH_DELETE, 60 }, { DBENCH_FLUSH, 16 },
	};
	static struct dbench_op op[OPS_MAX];

	(void)state;
	assert_int_equal(dbench_total(), 1000);
	for (unsigned int client = 0; client < 200; client++) {
		uint32_t count[DBENCH_KINDS] = { 0 };

		assert_int_equal(whole_script(client, op), 1000);
		for (size_t i = 0; i < 1000; i++)
			count[op[i].kind]++;
		for (size_t i = 0; i < DBENCH_KINDS; i++)
			assert_int_equal(count[want[i].kind], want[i].count);
	}
}

static void test_same_every_time(void **state)
{
	static struct dbench_op a[OPS_MAX], b[OPS_MAX];
	size_t n, alike = 0;

	(void)state;
	n = whole_script(3, a);
	assert_int_equal(whole_script(3, b), n);
	assert_memory_equal(a, b, n * sizeof(a[0]));

	assert_int_equal(whole_script(4, b), n);
	for (size_t i = 0; i < n; i++)
		alike += a[i].kind == b[i].kind;
	assert_true(alike < n / 2);
}

/* The model that the script is held against: names and lengths, no more */
struct model {
	uint32_t name[DBENCH_FILES_MAX];
	uint32_t length[DBENCH_FILES_MAX];
	unsigned int live;
	uint64_t bytes;
};

static void check_op(struct model *m, const struct dbench_op *op)
{
	uint32_t *name = &m->name[op->slot], *length = &m->length[op->slot];

	assert_true(op->slot < DBENCH_FILES_MAX);
	assert_int_not_equal(op->name, 0);
	assert_true(op->bytes <= DBENCH_IO_MAX);
	if (op->kind == DBENCH_CREATE) {
		assert_int_equal(*name, 0);
		*name = op->name;
		m->live++;
		return;
	}
	assert_int_equal(op->name, *name);
	if (op->kind == DBENCH_READ) {
		assert_true(op->offset + op->bytes <= *length);
		assert_true((op->bytes == 0) == (*length == 0));
	} else if (op->kind == DBENCH_WRITE) {
		assert_true(op->bytes > 0);
		assert_true(op->offset <= *length);
		assert_true(op->offset + op->bytes <= DBENCH_FILE_MAX);
		if (op->offset + op->bytes > *length) {
			m->bytes += op->offset + op->bytes - *length;
			*length = op->offset + op->bytes;
		}
	} else if (op->kind == DBENCH_RENAME) {
		*name = op->new_name;
	} else if (op->kind == DBENCH_DELETE) {
		m->bytes -= *length;
		*name = *length = 0;
		m->live--;
	}
}

/* Nothing is done to a file that is not there; 16 clients need below 64 MiB */
static void test_consistent_and_bounded(void **state)
{
	static struct dbench_op op[OPS_MAX];

	(void)state;
	assert_true(16ull * DBENCH_FILES_MAX * DBENCH_FILE_MAX < 64u << 20);
	for (unsigned int client = 0; client < 200; client++) {
		struct model m = { .live = 0 };
		size_t n = whole_script(client, op);

		for (size_t i = 0; i < n; i++) {
			check_op(&m, &op[i]);
			assert_true(m.live <= DBENCH_FILES_MAX);
			assert_true(m.live > 0 || i == n - 1);
			assert_true(m.bytes <= (uint64_t)DBENCH_FILES_MAX *
					       DBENCH_FILE_MAX);
		}
	}
}

/* What is flushed has mostly just been written, so that there is work to do */
static void test_flushes_write(void **state)
{
	static struct dbench_op op[OPS_MAX];
	size_t n = whole_script(0, op), dirty = 0;
	bool is_dirty[DBENCH_FILES_MAX] = { false };

	(void)state;
	for (size_t i = 0; i < n; i++) {
		if (op[i].kind == DBENCH_FLUSH)
			dirty += is_dirty[op[i].slot];
		if (op[i].kind == DBENCH_WRITE)
			is_dirty[op[i].slot] = true;
		if (op[i].kind == DBENCH_FLUSH || op[i].kind == DBENCH_DELETE)
			is_dirty[op[i].slot] = false;
	}
	assert_true(dirty >= 10);
}

/* --- one client ----------------------------------------------------------- */

/* struct seen - what inotify says was done in a directory */
struct seen {
	uint32_t created, deleted, moved;
};

static void take_events(int fd, struct seen *seen)
{
	_Alignas(struct inotify_event) char buf[65536];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *e =
				(const struct inotify_event *)(const void *)
				(buf + at);

			assert_int_equal(e->mask & IN_Q_OVERFLOW, 0);
			seen->created += (e->mask & IN_CREATE) != 0;
			seen->deleted += (e->mask & IN_DELETE) != 0;
			seen->moved += (e->mask & IN_MOVED_TO) != 0;
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
}

/* Names come and go as often as the table has it, says the kernel */
static void test_performs_the_table(void **state)
{
	struct dbench_report report = { .error = 0 };
	struct seen seen = { 0 };
	struct running r;
	int dir, notify;

	(void)state;
	setup(&r, 1, 1);
	notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(notify >= 0);
	assert_true(inotify_add_watch(notify, r.dir, IN_CREATE | IN_DELETE |
				      IN_MOVED_TO) >= 0);
	dir = open(r.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir >= 0);
	assert_int_equal(dbench_perform(&r.args, dir, 0, &report), 0);
	assert_int_equal(report.error, 0);
	take_events(notify, &seen);
	assert_int_equal(seen.created, dbench_count(DBENCH_CREATE));
	assert_int_equal(seen.deleted, dbench_count(DBENCH_DELETE));
	assert_int_equal(seen.moved, dbench_count(DBENCH_RENAME));
	assert_int_equal(done(&r), dbench_total());
	assert_int_equal(close(notify), 0);
	assert_int_equal(close(dir), 0);
	teardown(&r);
}

static uint64_t written_bytes(void)
{
	unsigned long long n = 0;
	char line[128];
	FILE *f = fopen("/proc/self/io", "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "wchar: %llu", &n) == 1)
			break;
	fclose(f);
	return n;
}

/* As many bytes as the script has it really are written */
static void test_writes_what_the_script_says(void **state)
{
	static struct dbench_op op[OPS_MAX];
	struct dbench_report report = { .error = 0 };
	size_t n = whole_script(5, op);
	uint64_t want = 0, before;
	struct running r;
	int dir;

	(void)state;
	for (size_t i = 0; i < n; i++)
		if (op[i].kind == DBENCH_WRITE)
			want += op[i].bytes;
	setup(&r, 1, 1);
	dir = open(r.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir >= 0);
	before = written_bytes();
	assert_int_equal(dbench_perform(&r.args, dir, 5, &report), 0);
	assert_int_equal(written_bytes() - before, want);
	assert_int_equal(close(dir), 0);
	teardown(&r);
}

/* --- the load ------------------------------------------------------------- */

static void test_units(void **state)
{
	struct load_args a = { .cpus = 2, .mem = 256 << 20 };

	(void)state;
	assert_int_equal(ops->size(&a), 32);
	assert_int_equal(ops->per_load(&a), 32 * 1000);
	a.size = 5;
	assert_int_equal(ops->size(&a), 5);
	assert_int_equal(ops->per_load(&a), 5 * 1000);
	assert_string_equal(ops->size_unit, "clients");
	assert_true(ops->work_disk);
}

static void run_clients(unsigned int cpus, uint64_t size, size_t clients)
{
	pid_t child[CHILDREN_MAX];
	char path[1200];
	struct running r;

	setup(&r, cpus, size);
	start(&r, LOAD, 0);
	wait_done(&r, 100 * clients);
	wait_children(&r, child, clients);
	for (size_t i = 0; i < clients; i++) {
		snprintf(path, sizeof(path), "%s/dbench_load/client-%zu", r.dir,
			 i);
		assert_int_equal(access(path, F_OK), 0);
	}
	/* Over the end of the script, and on */
	wait_done(&r, 1100 * clients);
	stop_well(&r);
	/* As this process is their reaper, one left over would be our child */
	assert_int_equal(children_of(getpid(), child), 0);
	teardown(&r);
}

static void test_16_clients_a_cpu(void **state)
{
	(void)state;
	run_clients(1, 0, 16);
}

static void test_clients_from_the_plan(void **state)
{
	(void)state;
	run_clients(4, 1, 1);
	run_clients(1, 5, 5);
}

static void test_too_many_clients(void **state)
{
	struct running r;

	(void)state;
	setup(&r, 1, DBENCH_CLIENTS_MAX + 1);
	start(&r, LOAD, 0);
	must_have_failed(&r, EINVAL, "1 to 1024 clients");
	teardown(&r);
}

/* Every client has to be at work, not only the first */
static void test_each_client_works(void **state)
{
	pid_t child[CHILDREN_MAX];
	struct running r;

	(void)state;
	setup(&r, 1, 4);
	start(&r, LOAD, 0);
	wait_done(&r, 400);
	wait_children(&r, child, 4);
	for (size_t only = 0; only < 4; only++) {
		for (size_t i = 0; i < 4; i++)
			kill(child[i], i == only ? SIGCONT : SIGSTOP);
		wait_done(&r, done(&r) + 50);
	}
	for (size_t i = 0; i < 4; i++)
		kill(child[i], SIGCONT);
	stop_well(&r);
	teardown(&r);
}

static void test_killed_client(void **state)
{
	(void)state;
	for (size_t victim = 0; victim < 4; victim++) {
		pid_t child[CHILDREN_MAX];
		struct running r;

		setup(&r, 1, 4);
		start(&r, LOAD, 0);
		wait_done(&r, 100);
		wait_children(&r, child, 4);
		assert_int_equal(kill(child[victim], SIGKILL), 0);
		must_have_failed(&r, ESRCH, "of 4 was killed by signal 9");
		assert_int_equal(children_of(getpid(), child), 0);
		teardown(&r);
	}
}

static void test_clients_die_with_their_load(void **state)
{
	pid_t child[CHILDREN_MAX];
	char command[1200];
	struct running r;
	int status;

	(void)state;
	setup(&r, 1, 6);
	start(&r, LOAD, 0);
	wait_done(&r, 100);
	wait_children(&r, child, 6);
	assert_int_equal(kill(r.pid, SIGKILL), 0);
	assert_int_equal(waitpid(r.pid, &status, 0), r.pid);
	/* They are ours to reap now; all of them must come */
	for (int ms = 0, left = 6; left > 0; ms += 2) {
		assert_true(ms < PATIENCE_MS);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			left--;
		nap();
	}
	snprintf(command, sizeof(command), "rm -r '%s/dbench_load'", r.dir);
	assert_int_equal(system(command), 0);
	teardown(&r);
}

/* A write that does not fit is the failure of the load, with its reason */
static void test_write_fails(void **state)
{
	struct running r;

	(void)state;
	setup(&r, 1, 3);
	start(&r, LOAD, 20 << 10);
	must_have_failed(&r, EFBIG, "of 3: write 'f");
	teardown(&r);
}

static bool write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	bool ok;

	if (f == NULL)
		return false;
	ok = fputs(text, f) >= 0;
	return fclose(f) == 0 && ok;
}

/* For this process alone, which need not be root's */
static bool mount_tmpfs(const char *dir, const char *options)
{
	char uid_map[32], gid_map[32];

	snprintf(uid_map, sizeof(uid_map), "0 %u 1", getuid());
	snprintf(gid_map, sizeof(gid_map), "0 %u 1", getgid());
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
	       write_text("/proc/self/setgroups", "deny") &&
	       write_text("/proc/self/uid_map", uid_map) &&
	       write_text("/proc/self/gid_map", gid_map) &&
	       mount("tmpfs", dir, "tmpfs", 0, options) == 0;
}

/* On a file system that is full, if one may be mounted here */
static void test_no_space(void **state)
{
	struct running r;
	int status;

	(void)state;
	setup(&r, 1, 4);
	r.pid = fork();
	assert_true(r.pid >= 0);
	if (r.pid == 0) {
		if (!mount_tmpfs(r.dir, "size=64k"))
			_exit(77);
		_exit(ops->run(&r.args) == 0 ? 0 : 1);
	}
	status = wait_end(&r);
	assert_true(WIFEXITED(status));
	status = WEXITSTATUS(status);
	if (status == 77) {
		teardown(&r);
		print_message("no tmpfs may be mounted here\n");
		skip();
	}
	assert_int_equal(status, 1);
	assert_int_equal(atomic_load(&r.shared->failed), ENOSPC);
	assert_non_null(strstr(r.shared->message, strerror(ENOSPC)));
	teardown(&r);
}

static void test_no_directory(void **state)
{
	struct running r;

	(void)state;
	setup(&r, 1, 2);
	r.args.dir = "/nonexistent/place";
	start(&r, LOAD, 0);
	must_have_failed(&r, ENOENT, "'/nonexistent/place/dbench_load'");
	teardown(&r);
}

/* Nobody may write there, not even root */
static void test_directory_not_writable(void **state)
{
	struct running r;

	(void)state;
	setup(&r, 1, 2);
	r.args.dir = "/proc/self";
	start(&r, LOAD, 0);
	must_have_failed(&r, ENOENT, "make directory '/proc/self/dbench_load'");
	assert_int_equal(done(&r), 0);
	teardown(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mix),
		cmocka_unit_test(test_same_every_time),
		cmocka_unit_test(test_consistent_and_bounded),
		cmocka_unit_test(test_flushes_write),
		cmocka_unit_test(test_performs_the_table),
		cmocka_unit_test(test_writes_what_the_script_says),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_16_clients_a_cpu),
		cmocka_unit_test(test_clients_from_the_plan),
		cmocka_unit_test(test_too_many_clients),
		cmocka_unit_test(test_each_client_works),
		cmocka_unit_test(test_killed_client),
		cmocka_unit_test(test_clients_die_with_their_load),
		cmocka_unit_test(test_write_fails),
		cmocka_unit_test(test_no_space),
		cmocka_unit_test(test_no_directory),
		cmocka_unit_test(test_directory_not_writable),
	};

	ops = load_find(LOAD);
	if (ops == NULL)
		return 1;
	/* Orphans of a load become our children, so that we see them */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
		perror("PR_SET_CHILD_SUBREAPER");
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
