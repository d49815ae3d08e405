/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/base/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "results/base/cleanup.h"
#include "results/base/clock.h"

#define GRACE_S 5
#define POLL_MS 20
#define WHY_BYTES 1024

bool worker_readable(int fd, double deadline_s)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (;;) {
		double left = deadline_s - clock_now_s();
		int n;

		if (left <= 0)
			return false;
		n = poll(&p, 1, left > 1000 ? 1000000 : (int)(left * 1000) + 1);
		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
	}
}

static void __attribute__((noreturn))
child_main(int why, pid_t parent, int (*work)(void *data, struct error *err), void *data)
{
	struct error err = { 0 };

	setpgid(0, 0);
	signal(SIGPIPE, SIG_IGN);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		_exit(2);
	if (work(data, &err) == 0)
		_exit(0);
	_exit(write(why, err.text, strlen(err.text)) < 0 ? 2 : 1);
}

int worker_start(struct worker *c, int (*work)(void *data, struct error *err),
		void *data, struct error *err)
{
	cleanup_close int rd = -1, wr = -1;
	pid_t parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_set(err, errno, "make a pipe");
	rd = fds[0];
	wr = fds[1];
	fflush(NULL);
	c->pid = fork();
	if (c->pid < 0) {
		c->pid = 0;
		return error_set(err, errno, "start a process");
	}
	if (!c->pid)
		child_main(wr, parent, work, data);
	/* both do it: whoever comes first */
	setpgid(c->pid, c->pid);
	c->why = steal_fd(&rd);
	return 0;
}

/* Waits for the child's end; false: the deadline has come. */
static bool reap(struct worker *c, double deadline_s, int *status)
{
	const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };

	for (;;) {
		pid_t got = waitpid(c->pid, status, WNOHANG);

		if (got == c->pid || (got < 0 && errno != EINTR)) {
			/* What it has started, and did not end */
			kill(-c->pid, SIGKILL);
			c->pid = 0;
			return true;
		}
		if (clock_now_s() >= deadline_s)
			return false;
		nanosleep(&pause, NULL);
	}
}

/* Its last words, until it has closed the pipe; false: the deadline has come. */
static bool listen_to(const struct worker *c, double deadline_s, char text[WHY_BYTES])
{
	size_t len = 0;

	for (;;) {
		char more[WHY_BYTES];
		ssize_t n;

		if (!worker_readable(c->why, deadline_s))
			return false;
		n = read(c->why, more, sizeof(more));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if ((size_t)n > WHY_BYTES - 1 - len)
			n = (ssize_t)(WHY_BYTES - 1 - len);
		memcpy(text + len, more, (size_t)n);
		len += (size_t)n;
	}
	text[len] = '\0';
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	return true;
}

int worker_wait(struct worker *c, const char *what, double deadline_s,
	       struct error *err)
{
	char text[WHY_BYTES];
	int status = 0;

	if (!listen_to(c, deadline_s, text) || !reap(c, deadline_s, &status)) {
		error_set(err, 0, "%s was not done in time", what);
		return 1;
	}
	if (*text)
		return error_set(err, 0, "%s", text);
	if (WIFSIGNALED(status))
		return error_set(err, 0, "%s was killed by signal %d (%s)", what,
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
	return WEXITSTATUS(status) ?
	       error_set(err, 0, "%s ended with status %d", what,
			 WEXITSTATUS(status)) : 0;
}

void worker_end(struct worker *c)
{
	int status;

	cleanup_closep(&c->why);
	c->why = -1;
	if (c->pid <= 0)
		return;
	/* Ask first: libguestfs then removes what it made. */
	kill(c->pid, SIGTERM);
	if (reap(c, clock_now_s() + GRACE_S, &status))
		return;
	kill(-c->pid, SIGKILL);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
}
