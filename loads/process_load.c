/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_load.c - a ring of processes that hand small chunks round
 *
 *	load's own process -> node 0 -> node 1 -> ... -> node N-1 -> back to it
 *
 * N = 4 x CPUs nodes, each made by fork and exec, joined by pipes in one
 * direction. M = N/4 chunks (one a CPU) go round, so most nodes sleep and each
 * hop is a wake-up and a context switch with next to no work in between. The
 * load's own process closes the ring, puts the chunks in and counts: the shared
 * counter does not survive an exec, and so there is exactly one writer of it.
 *
 * One Load is TURNS_PER_LOAD turns of a chunk, as in contest 0.50.
 */
#include "loads/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NODES_PER_CPU 4
#define NODES_MAX 4096
#define CHUNK_BYTES 128		/* below PIPE_BUF: a write is whole or not at all */
#define TURNS_PER_LOAD 10000
#define STOP_POLL_MS 100	/* how long a stuck ring can hide the stop flag */
#define REAP_STEP_MS 5
#define REAP_MS 2000		/* then a node that does not end is killed */

struct ring {
	unsigned int nodes;	/* started so far */
	pid_t *pid;
	int out;		/* to node 0 */
	int in;			/* from the last node */
};

static uint64_t ring_size(const struct load_args *a)
{
	return a->size != 0 ? a->size : (uint64_t)NODES_PER_CPU * a->cpus;
}

/* A whole chunk from @fd. Return: 1, 0 at the end, -1 with errno */
static int read_chunk(int fd, char chunk[CHUNK_BYTES])
{
	size_t have = 0;

	while (have < CHUNK_BYTES) {
		ssize_t n = read(fd, chunk + have, CHUNK_BYTES - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			return 0;
		have += (size_t)n;
	}
	return 1;
}

static int write_chunk(int fd, const char chunk[CHUNK_BYTES])
{
	size_t done = 0;

	while (done < CHUNK_BYTES) {
		ssize_t n = write(fd, chunk + done, CHUNK_BYTES - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

static int parse_fd(const char *text)
{
	char *end;
	long fd;

	errno = 0;
	fd = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || fd < 0 || fd > INT_MAX)
		return -1;
	return (int)fd;
}

int ring_node_main(const char *in, const char *out)
{
	int from = parse_fd(in);
	int to = parse_fd(out);
	char chunk[CHUNK_BYTES];
	int got;

	if (from < 0 || to < 0)
		return EINVAL;
	/* A neighbour's death is an errno here, not a silent one of our own */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return errno;
	while ((got = read_chunk(from, chunk)) == 1)
		if (write_chunk(to, chunk) != 0)
			return errno;
	return got == 0 ? 0 : errno;
}

/* In the child. The exit status of a failure is its errno */
static _Noreturn void become_node(int in, int out, pid_t parent)
{
	char in_text[16], out_text[16];
	char name[] = LOAD_REEXEC_NAME, part[] = RING_NODE_PART;
	char *argv[] = { name, part, in_text, out_text, NULL };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		_exit(errno);
	/* The parent may have gone before it was asked for */
	if (getppid() != parent)
		_exit(ESRCH);
	/* Every other pipe end of the ring is closed by the exec */
	if (fcntl(in, F_SETFD, 0) != 0 || fcntl(out, F_SETFD, 0) != 0)
		_exit(errno);
	snprintf(in_text, sizeof(in_text), "%d", in);
	snprintf(out_text, sizeof(out_text), "%d", out);
	execv("/proc/self/exe", argv);
	_exit(errno);
}

/* Starts one more node that reads from r->in; r->in is then its other side */
static int add_node(const struct load_args *a, struct ring *r)
{
	pid_t parent = getpid();
	int p[2];
	pid_t pid;
	int failed = 0;

	if (pipe2(p, O_CLOEXEC) != 0)
		return load_fail(a->shared, errno, "pipe of ring node %u",
				 r->nodes);
	pid = fork();
	if (pid == 0)
		become_node(r->in, p[1], parent);
	if (pid < 0)
		failed = errno;
	else
		r->pid[r->nodes] = pid;

	if (close(r->in) != 0 && failed == 0)
		failed = errno;
	if (close(p[1]) != 0 && failed == 0)
		failed = errno;
	r->in = p[0];
	if (pid > 0)
		r->nodes++;
	if (failed != 0)
		return load_fail(a->shared, failed, "start ring node %u",
				 r->nodes);
	return 0;
}

static int start_ring(const struct load_args *a, struct ring *r, unsigned int n)
{
	int p[2];

	r->pid = calloc(n, sizeof(*r->pid));
	if (r->pid == NULL)
		return load_fail(a->shared, errno, "a ring of %u nodes", n);
	if (pipe2(p, O_CLOEXEC) != 0)
		return load_fail(a->shared, errno, "pipe of the ring");
	r->in = p[0];
	r->out = p[1];
	while (r->nodes < n)
		if (add_node(a, r) != 0)
			return -1;
	return 0;
}

/* Return: 1 turn over, 0 time to stop, -1 the ring is broken, with errno */
static int wait_turn(const struct load_args *a, const struct ring *r,
		     char chunk[CHUNK_BYTES])
{
	struct pollfd p = { .fd = r->in, .events = POLLIN };
	int n;

	/* The poll is there so that a ring that stands still can be stopped */
	do {
		if (load_stopped(a))
			return 0;
		n = poll(&p, 1, STOP_POLL_MS);
	} while (n == 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		return -1;
	n = read_chunk(r->in, chunk);
	if (n == 0)
		errno = EPIPE;
	return n == 1 ? 1 : -1;
}

static int turn_ring(const struct load_args *a, const struct ring *r)
{
	unsigned int chunks = (r->nodes + NODES_PER_CPU - 1) / NODES_PER_CPU;
	char chunk[CHUNK_BYTES];
	int got;

	memset(chunk, 'k', sizeof(chunk));
	for (unsigned int i = 0; i < chunks; i++)
		if (write_chunk(r->out, chunk) != 0)
			return -1;
	while ((got = wait_turn(a, r, chunk)) == 1) {
		load_progress(a, 1);
		if (write_chunk(r->out, chunk) != 0)
			return -1;
	}
	return got;
}

/*
 * Both ends closed, every node ends by itself, and how it ended tells whose
 * fault a broken ring is: killed by a signal, or an errno other than EPIPE
 * (which only says that a neighbour was gone).
 */
static int reap(struct ring *r, unsigned int i, int *waited_ms)
{
	const struct timespec step = { .tv_nsec = REAP_STEP_MS * 1000000L };
	int status;

	for (;;) {
		pid_t got = waitpid(r->pid[i], &status, WNOHANG);

		if (got == r->pid[i])
			return status;
		if (got < 0 && errno != EINTR)
			return -1;
		if (*waited_ms >= REAP_MS) {
			kill(r->pid[i], SIGKILL);
			while (waitpid(r->pid[i], &status, 0) < 0)
				if (errno != EINTR)
					return -1;
			return 0;	/* our kill, not its own end */
		}
		nanosleep(&step, NULL);
		*waited_ms += REAP_STEP_MS;
	}
}

/* After a broken ring: names the node that broke it, or just @err */
static int end_broken(const struct load_args *a, struct ring *r, int err)
{
	int waited_ms = 0;

	for (unsigned int i = 0; i < r->nodes; i++) {
		int status = reap(r, i, &waited_ms);

		r->pid[i] = 0;
		if (status == -1)
			continue;
		if (WIFSIGNALED(status))
			load_fail(a->shared, EPIPE,
				  "ring node %u of %u was killed by signal %d",
				  i, r->nodes, WTERMSIG(status));
		else if (WEXITSTATUS(status) != 0 &&
			 WEXITSTATUS(status) != EPIPE)
			load_fail(a->shared, WEXITSTATUS(status),
				  "ring node %u of %u", i, r->nodes);
	}
	return load_fail(a->shared, err, "the ring of %u nodes is broken",
			 r->nodes);
}

/* Nodes own nothing that would have to be tidied up: a kill is enough */
static void end_nodes(const struct ring *r)
{
	for (unsigned int i = 0; i < r->nodes; i++)
		if (r->pid[i] > 0)
			kill(r->pid[i], SIGKILL);
	for (unsigned int i = 0; i < r->nodes; i++)
		while (r->pid[i] > 0 && waitpid(r->pid[i], NULL, 0) < 0 &&
		       errno == EINTR)
			;
}

static int close_ends(const struct load_args *a, struct ring *r)
{
	int ret = 0;

	if (r->out >= 0 && close(r->out) != 0)
		ret = load_fail(a->shared, errno, "close the ring's pipe");
	if (r->in >= 0 && close(r->in) != 0)
		ret = load_fail(a->shared, errno, "close the ring's pipe");
	r->out = r->in = -1;
	return ret;
}

static int run(const struct load_args *a)
{
	struct ring r = { .in = -1, .out = -1 };
	uint64_t n = ring_size(a);
	int ret;

	if (n == 0 || n > NODES_MAX)
		return load_fail(a->shared, EINVAL,
				 "a ring of 1 to %d nodes is possible",
				 NODES_MAX);
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return load_fail(a->shared, errno, "ignore SIGPIPE");

	ret = start_ring(a, &r, (unsigned int)n);
	if (ret == 0 && turn_ring(a, &r) != 0) {
		int err = errno;

		ret = -1;
		if (close_ends(a, &r) == 0)
			end_broken(a, &r, err);
	}
	if (close_ends(a, &r) != 0)
		ret = -1;
	end_nodes(&r);
	free(r.pid);
	return ret;
}

static uint64_t per_load(const struct load_args *a)
{
	(void)a;
	return TURNS_PER_LOAD;
}

const struct load_ops process_load_ops = {
	.name = "process_load",
	.unit = "10000 turns of a chunk round the ring",
	.size_unit = "processes",
	.size = ring_size,
	.per_load = per_load,
	.run = run,
};
