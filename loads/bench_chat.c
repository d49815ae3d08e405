/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_chat.c - VolanoMark's workload: chat rooms over loopback TCP
 *
 * Two processes, as its two Java machines: a server and all the users. A user
 * has one connection, and each side two threads for it.
 */
#include "loads/chat.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FDS_BESIDE 64
#define THREADS_BESIDE 500	/* the system's own */

enum { SET_ROOMS, SET_USERS, SET_MESSAGES, SET_HEAP };

static const struct bench_setting settings[] = {
	[SET_ROOMS] = { .name = "rooms", .min = 1, .max = 1000 },
	[SET_USERS] = { .name = "users", .min = 2, .max = 100 },
	[SET_MESSAGES] = { .name = "messages", .min = 1, .max = 10000000 },
	[SET_HEAP] = { .name = "heap", .min = 0, .max = (uint64_t)1 << 40,
		       .size = true },
	{ .name = NULL }
};

enum { F_CONNECTIONS, F_THREADS, F_SENT, F_RECEIVED, F_ELAPSED, FIGURES };

static const char *const figures[] = {
	[F_CONNECTIONS] = "connections", [F_THREADS] = "threads",
	[F_SENT] = "sent", [F_RECEIVED] = "received",
	[F_ELAPSED] = "elapsed_ns", [FIGURES] = NULL
};

static struct chat_plan plan_of(const struct bench_args *a)
{
	return (struct chat_plan){
		.shared = a->shared,
		.rooms = (uint32_t)bench_value(a->set, SET_ROOMS),
		.users = (uint32_t)bench_value(a->set, SET_USERS),
		.messages = (uint32_t)bench_value(a->set, SET_MESSAGES),
		.heap_bytes = bench_value(a->set, SET_HEAP),
	};
}

/* Each process has a descriptor for every user */
static int allow_descriptors(const struct chat_plan *p)
{
	rlim_t want = (rlim_t)p->rooms * p->users + FDS_BESIDE;
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return bench_fail(p->shared, errno, "chat: getrlimit");
	if (r.rlim_cur >= want)
		return 0;
	r.rlim_cur = want;
	r.rlim_max = r.rlim_max < want ? want : r.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &r) != 0)
		return bench_fail(p->shared, errno, "chat: allow %llu open files",
				  (unsigned long long)want);
	return 0;
}

/* Return: the number in a file, 0 when it cannot be read */
static unsigned long long read_number(const char *path)
{
	unsigned long long n = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	if (fscanf(f, "%llu", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

static int write_number(const char *path, unsigned long long n)
{
	FILE *f = fopen(path, "we");
	int put;

	if (!f)
		return -1;
	put = fprintf(f, "%llu\n", n);
	return fclose(f) != 0 || put < 0 ? -1 : 0;
}

/* A kernel allows threads for an eighth of its memory: in 160 MiB some 800, as
 * many as ten rooms have */
static int allow_threads(const struct bench_args *a, const struct chat_plan *p)
{
	unsigned long long want = 4ull * p->rooms * p->users + THREADS_BESIDE;

	if (!a->threads_max || read_number(a->threads_max) >= want)
		return 0;
	if (write_number(a->threads_max, want) == 0)
		return 0;
	return bench_fail(p->shared, errno, "chat: allow %llu threads in '%s'",
			  want, a->threads_max);
}

/* Any free port: two of these may run on one host */
static int make_listener(struct chat_plan *p)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return bench_fail(p->shared, errno, "chat: make a socket");
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) != 0 ||
	    listen(fd, SOMAXCONN) != 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &len) != 0) {
		bench_fail(p->shared, errno, "chat: listen on loopback");
		close(fd);
		return -1;
	}
	p->port = ntohs(at.sin_port);
	return fd;
}

static pid_t start_server(const struct chat_plan *p, int listener)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return bench_fail(p->shared, errno, "chat: fork");
	if (pid > 0)
		return pid;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(1);
	_exit(chat_server(p, listener));
}

static int end_server(const struct chat_plan *p, pid_t pid, bool at_once)
{
	int status;
	pid_t got;

	if (at_once && kill(pid, SIGKILL) != 0)
		return bench_fail(p->shared, errno, "chat: end the server");
	do
		got = waitpid(pid, &status, 0);
	while (got < 0 && errno == EINTR);
	if (got != pid)
		return bench_fail(p->shared, errno, "chat: wait for the server");
	if (!at_once && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
		return bench_fail(p->shared, 0, "chat: the server ended with status %d",
				  status);
	return 0;
}

static void fill_row(const struct chat_plan *p, uint64_t sent,
		     uint64_t received, uint64_t elapsed_ns)
{
	struct bench_row *row = bench_add_row(p->shared, 0);

	row->v[F_CONNECTIONS] = (uint64_t)p->rooms * p->users;
	row->v[F_THREADS] = 4 * row->v[F_CONNECTIONS];
	row->v[F_SENT] = sent;
	row->v[F_RECEIVED] = received;
	row->v[F_ELAPSED] = elapsed_ns;
}

static int run(const struct bench_args *a)
{
	struct chat_plan p = plan_of(a);
	uint64_t sent, received, elapsed_ns;
	int listener, ret;
	pid_t server;

	if (allow_descriptors(&p) != 0 || allow_threads(a, &p) != 0)
		return -1;
	listener = make_listener(&p);
	if (listener < 0)
		return -1;
	server = start_server(&p, listener);
	if (close(listener) != 0 && server > 0)
		bench_fail(p.shared, errno, "chat: close");
	if (server < 0)
		return -1;
	ret = chat_clients(&p, &sent, &received, &elapsed_ns);
	if (end_server(&p, server, ret != 0) != 0 || ret != 0)
		return -1;
	fill_row(&p, sent, received, elapsed_ns);
	return 0;
}

/* --- settings ------------------------------------------------------------- */

#define MESSAGES 20	/* a profile that says nothing: 80000 in all */

static void defaults(const struct bench_machine *m, struct bench_settings *s)
{
	bench_default(s, SET_ROOMS, 10);
	bench_default(s, SET_USERS, 20);
	bench_default(s, SET_MESSAGES, m->chat_messages ? m->chat_messages :
						       MESSAGES);
	bench_default(s, SET_HEAP, m->chat_heap_bytes);
}

/* Messages are counted in 32 bits, and two heaps must fit somewhere */
static int check(const struct bench_machine *m, const struct bench_settings *s,
		 char *why, size_t why_len)
{
	uint64_t heap = bench_value(s, SET_HEAP);

	if (bench_value(s, SET_MESSAGES) * bench_value(s, SET_USERS) >=
	    UINT32_MAX) {
		snprintf(why, why_len, "messages x users must be below 2^32: give fewer messages");
		return -1;
	}
	if (2 * heap > m->mem + m->swap_bytes) {
		snprintf(why, why_len, "server and users have a heap of %llu MiB each, more than the profile's RAM and swap together: give a smaller heap",
			 (unsigned long long)(heap >> 20));
		return -1;
	}
	return 0;
}

const struct bench_ops chat_ops = {
	.name = "chat",
	.settings = settings,
	.figures = figures,
	.defaults = defaults,
	.check = check,
	.run = run,
	.network = true,
};
