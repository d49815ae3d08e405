/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dbench_load.c - N clients of a file server, without the network
 *
 * Each client is a process with a directory of its own and performs its script
 * (dbench_script.c) again and again, beginning and ending with an empty
 * directory. Nobody waits for anybody: there is no moment between two rounds in
 * which the load is lighter. Progress is counted in operations.
 */
#include "loads/dbench_load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loads/files.h"
#include "loads/ops.h"

#define CLIENTS_PER_CPU 16
#define CLIENTS_DIR "dbench_load"
#define NAME_MAX_LEN 16

/**
 * struct clients - the load's own process's view
 * @n: how many there shall be
 * @started: how many have been started
 * @pid: of each; 0: not started, or seen to end
 * @report: of each, in shared memory
 */
struct clients {
	unsigned int n;
	unsigned int started;
	pid_t *pid;
	struct dbench_report *report;
	size_t report_bytes;
};

static uint64_t clients(const struct load_args *a)
{
	return a->size != 0 ? a->size : (uint64_t)CLIENTS_PER_CPU * a->cpus;
}

static uint64_t per_load(const struct load_args *a)
{
	return dbench_total() * clients(a);
}

/* --- a client ------------------------------------------------------------- */

/**
 * struct client - a script being performed
 * @fd: of the files in the script's slots, -1: none
 * @buffer: what is written, and where what is read goes
 */
struct client {
	int dir;
	struct dbench_report *report;
	int fd[DBENCH_FILES_MAX];
	char *buffer;
};

static int give_up(struct dbench_report *r, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int give_up(struct dbench_report *r, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->what, sizeof(r->what), fmt, ap);
	va_end(ap);
	r->error = err != 0 ? err : EIO;
	return -1;
}

static void file_name(char name[NAME_MAX_LEN], uint32_t number)
{
	snprintf(name, NAME_MAX_LEN, "f%" PRIu32, number);
}

static int do_open(const struct client *c, const char *name)
{
	int fd = openat(c->dir, name, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -1 : close(fd);
}

static int do_create(struct client *c, const struct dbench_op *op,
		     const char *name)
{
	int fd = openat(c->dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
			0600);

	c->fd[op->slot] = fd;
	return fd < 0 ? -1 : 0;
}

static int do_delete(struct client *c, const struct dbench_op *op,
		     const char *name)
{
	int fd = c->fd[op->slot];

	c->fd[op->slot] = -1;
	if (close(fd) != 0)
		return -1;
	return unlinkat(c->dir, name, 0);
}

static int do_rename(const struct client *c, const struct dbench_op *op,
		     const char *name)
{
	char to[NAME_MAX_LEN];

	file_name(to, op->new_name);
	return renameat(c->dir, name, c->dir, to);
}

static int do_stat(const struct client *c, const char *name)
{
	struct stat st;

	return fstatat(c->dir, name, &st, AT_SYMLINK_NOFOLLOW);
}

/* Short, on a file that has the bytes or a disk that has the room: an error */
static int do_io(const struct client *c, const struct dbench_op *op)
{
	int fd = c->fd[op->slot];
	uint32_t done = 0;

	do {
		char *at = c->buffer + done;
		off_t offset = (off_t)op->offset + done;
		ssize_t n = op->kind == DBENCH_WRITE ?
			    pwrite(fd, at, op->bytes - done, offset) :
			    pread(fd, at, op->bytes - done, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0 && op->bytes != 0) {
			errno = EIO;
			return -1;
		}
		done += (uint32_t)n;
	} while (done < op->bytes);
	return 0;
}

static int do_op(struct client *c, const struct dbench_op *op)
{
	char name[NAME_MAX_LEN];

	file_name(name, op->name);
	switch (op->kind) {
	case DBENCH_CREATE:
		return do_create(c, op, name);
	case DBENCH_OPEN:
		return do_open(c, name);
	case DBENCH_WRITE:
	case DBENCH_READ:
		return do_io(c, op);
	case DBENCH_STAT:
		return do_stat(c, name);
	case DBENCH_RENAME:
		return do_rename(c, op, name);
	case DBENCH_DELETE:
		return do_delete(c, op, name);
	case DBENCH_FLUSH:
		return fsync(c->fd[op->slot]);
	default:
		errno = EINVAL;
		return -1;
	}
}

/* Nothing in it that a file system or a disk could make smaller */
static char *make_buffer(void)
{
	char *buffer = malloc(DBENCH_IO_MAX);
	uint32_t x = 1;

	for (size_t i = 0; buffer != NULL && i < DBENCH_IO_MAX; i++) {
		x = x * 1664525u + 1013904223u;
		buffer[i] = (char)(x >> 24);
	}
	return buffer;
}

static int perform(const struct load_args *a, struct client *c,
		   unsigned int client)
{
	struct dbench_script s;
	struct dbench_op op;

	dbench_begin(&s, client);
	while (!load_stopped(a) && dbench_next(&s, &op)) {
		if (do_op(c, &op) != 0)
			return give_up(c->report, errno, "%s 'f%" PRIu32 "'",
				       dbench_name(op.kind), op.name);
		load_progress(a, 1);
	}
	return 0;
}

int dbench_perform(const struct load_args *a, int dir, unsigned int client,
		   struct dbench_report *report)
{
	struct client c = { .dir = dir, .report = report };
	int ret;

	c.buffer = make_buffer();
	if (c.buffer == NULL)
		return give_up(report, errno, "get %u bytes", DBENCH_IO_MAX);
	for (int i = 0; i < DBENCH_FILES_MAX; i++)
		c.fd[i] = -1;
	ret = perform(a, &c, client);
	for (int i = 0; i < DBENCH_FILES_MAX; i++)
		if (c.fd[i] >= 0 && close(c.fd[i]) != 0 && ret == 0)
			ret = give_up(report, errno, "close a file");
	free(c.buffer);
	return ret;
}

/* --- the load ------------------------------------------------------------- */

static int client_dir(const struct load_args *a, unsigned int client,
		      char path[PATH_MAX])
{
	char name[64];

	snprintf(name, sizeof(name), CLIENTS_DIR "/client-%u", client);
	return load_path(a, name, path);
}

/* Return: exit status; the reason of a failure is in @report */
static int client_main(const struct load_args *a, unsigned int client,
		       pid_t parent, struct dbench_report *report)
{
	char path[PATH_MAX];
	int dir, ret = 0;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		return give_up(report, errno, "PR_SET_PDEATHSIG"), 1;
	/* The parent may have gone before it was asked for */
	if (getppid() != parent)
		return 1;
	if (client_dir(a, client, path) != 0)
		return 1;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return give_up(report, errno, "open its directory"), 1;
	while (ret == 0 && !load_stopped(a))
		ret = dbench_perform(a, dir, client, report);
	if (close(dir) != 0 && ret == 0)
		ret = give_up(report, errno, "close its directory");
	return ret == 0 ? 0 : 1;
}

static int make_dirs(const struct load_args *a, unsigned int n)
{
	char path[PATH_MAX];

	if (load_path(a, CLIENTS_DIR, path) != 0)
		return -1;
	if (mkdir(path, 0700) != 0)
		return load_fail(a->shared, errno, "make directory '%s'", path);
	for (unsigned int i = 0; i < n; i++) {
		if (client_dir(a, i, path) != 0)
			return -1;
		if (mkdir(path, 0700) != 0)
			return load_fail(a->shared, errno, "make directory '%s'",
					 path);
	}
	return 0;
}

static int start_clients(const struct load_args *a, struct clients *c)
{
	pid_t parent = getpid();

	for (; c->started < c->n; c->started++) {
		unsigned int i = c->started;
		pid_t pid = fork();

		if (pid == 0)
			_exit(client_main(a, i, parent, &c->report[i]));
		if (pid < 0)
			return load_fail(a->shared, errno, "start client %u of %u",
					 i, c->n);
		c->pid[i] = pid;
	}
	return 0;
}

static int judge_client(const struct load_args *a, const struct clients *c,
			unsigned int i, int status)
{
	const struct dbench_report *r = &c->report[i];

	if (WIFSIGNALED(status))
		return load_fail(a->shared, ESRCH,
				 "client %u of %u was killed by signal %d", i,
				 c->n, WTERMSIG(status));
	if (r->error != 0)
		return load_fail(a->shared, r->error, "client %u of %u: %s", i,
				 c->n, r->what);
	if (WEXITSTATUS(status) != 0 || !load_stopped(a))
		return load_fail(a->shared, EIO,
				 "client %u of %u ended by itself, status %d", i,
				 c->n, WEXITSTATUS(status));
	return 0;
}

/* Until all have ended, which they do when told to, or one has failed */
static int wait_clients(const struct load_args *a, struct clients *c)
{
	unsigned int left = c->started;

	while (left > 0) {
		int status;
		pid_t pid = waitpid(-1, &status, 0);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			return load_fail(a->shared, errno, "wait for clients");
		for (unsigned int i = 0; i < c->n; i++) {
			if (c->pid[i] != pid)
				continue;
			c->pid[i] = 0;
			left--;
			if (judge_client(a, c, i, status) != 0)
				return -1;
		}
	}
	return 0;
}

static void end_clients(const struct clients *c)
{
	for (unsigned int i = 0; i < c->started; i++)
		if (c->pid[i] > 0)
			kill(c->pid[i], SIGKILL);
	for (unsigned int i = 0; i < c->started; i++)
		while (c->pid[i] > 0 && waitpid(c->pid[i], NULL, 0) < 0 &&
		       errno == EINTR)
			;
}

static int get_clients(const struct load_args *a, struct clients *c)
{
	c->report_bytes = c->n * sizeof(*c->report);
	c->pid = calloc(c->n, sizeof(*c->pid));
	if (c->pid == NULL) {
		load_fail(a->shared, errno, "%u clients", c->n);
		return -1;
	}
	c->report = mmap(NULL, c->report_bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->report == MAP_FAILED) {
		load_fail(a->shared, errno, "map %zu bytes", c->report_bytes);
		free(c->pid);
		return -1;
	}
	return 0;
}

static int run(const struct load_args *a)
{
	struct clients c = { 0 };
	uint64_t n = clients(a);
	int ret;

	if (n == 0 || n > DBENCH_CLIENTS_MAX)
		return load_fail(a->shared, EINVAL, "1 to %d clients are possible",
				 DBENCH_CLIENTS_MAX);
	c.n = (unsigned int)n;
	if (get_clients(a, &c) != 0)
		return -1;
	ret = make_dirs(a, c.n);
	if (ret == 0)
		ret = start_clients(a, &c);
	if (ret == 0)
		ret = wait_clients(a, &c);
	end_clients(&c);
	if (tidy_up(a, CLIENTS_DIR) != 0)
		ret = -1;
	free(c.pid);
	if (munmap(c.report, c.report_bytes) != 0)
		ret = load_fail(a->shared, errno, "unmap the reports");
	return ret;
}

const struct load_ops dbench_load_ops = {
	.name = "dbench_load",
	.unit = "script of 1000 operations, performed by every client",
	.size_unit = "clients",
	.size = clients,
	.per_load = per_load,
	.run = run,
	.work_disk = true,
};
