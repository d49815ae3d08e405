/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"

#define DEFAULT_TIMEOUT_S 600

struct pipes {
	int in[2], out[2], err[2];
};

static void pipes_close(struct pipes *p)
{
	int *all[] = { p->in, p->out, p->err };

	for (size_t i = 0; i < 3; i++) {
		cleanup_closep(&all[i][0]);
		cleanup_closep(&all[i][1]);
	}
}

static void __attribute__((noreturn))
child(const char *path, const char *const argv[], const struct proc_opts *o,
      struct pipes *p, pid_t parent)
{
	/* A helper must not outlive us, nor what it has started. */
	if ((o->family && setpgid(0, 0) < 0) ||
	    prctl(PR_SET_PDEATHSIG, o->family ? SIGTERM : SIGKILL) < 0 ||
	    getppid() != parent)
		_exit(127);
	if (dup2(p->in[0], 0) < 0 || dup2(p->out[1], 1) < 0 ||
	    dup2(p->err[1], 2) < 0)
		_exit(127);
	if (o->cwd && chdir(o->cwd) < 0) {
		dprintf(2, "cannot enter '%s': %s\n", o->cwd, strerror(errno));
		_exit(127);
	}
	setenv("LC_ALL", "C", 1);
	setenv("TZ", "UTC", 1);
	for (size_t i = 0; o->env && o->env[i]; i++)
		putenv((char *)o->env[i]);
	execv(path, (char *const *)argv);
	dprintf(2, "cannot execute '%s': %s\n", path, strerror(errno));
	_exit(127);
}

/* Feed and drain the child until it has closed its side; -1 on time-out. */
static int shuttle(struct pipes *p, const struct proc_opts *o, struct buf *log,
		   time_t deadline)
{
	const char *src = o->in ? o->in->data : NULL;
	size_t left = o->in ? o->in->len : 0;
	struct buf *sinks[] = { o->out, log };
	char chunk[65536];

	if (!left)
		close(steal_fd(&p->in[1]));
	while (p->out[0] >= 0 || p->err[0] >= 0) {
		struct pollfd fds[] = {
			{ .fd = p->out[0], .events = POLLIN },
			{ .fd = p->err[0], .events = POLLIN },
			{ .fd = p->in[1], .events = POLLOUT },
		};
		int *ends[] = { &p->out[0], &p->err[0] };
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec >= deadline)
			return -1;
		poll(fds, 3, 1000);
		for (size_t i = 0; i < 2; i++) {
			ssize_t n;

			if (*ends[i] < 0 || !fds[i].revents)
				continue;
			n = read(*ends[i], chunk, sizeof(chunk));
			if (n < 0 && (errno == EINTR || errno == EAGAIN))
				continue;
			if (n <= 0)
				close(steal_fd(ends[i]));
			else if (sinks[i])
				buf_add(sinks[i], chunk, (size_t)n);
		}
		if (p->in[1] >= 0 && fds[2].revents) {
			ssize_t n = write(p->in[1], src, left);

			if (n > 0) {
				src += n;
				left -= (size_t)n;
			}
			if (!left || (n < 0 && errno != EAGAIN && errno != EINTR))
				close(steal_fd(&p->in[1]));
		}
	}
	return 0;
}

/* The last line that says something, for one-line error texts. */
static char *last_line(struct buf *log)
{
	char *end, *start;

	if (!log->len)
		return NULL;
	end = log->data + log->len;
	while (end > log->data && (end[-1] == '\n' || end[-1] == ' '))
		end--;
	*end = '\0';
	start = strrchr(log->data, '\n');
	start = start ? start + 1 : log->data;
	return *start ? start : NULL;
}

static int judge(const char *name, int wstatus, struct buf *log,
		 const struct proc_opts *o, struct error *err)
{
	const char *said = last_line(log);

	if (WIFSIGNALED(wstatus))
		return error_set(err, 0, "%s was killed by signal %d (%s)",
				 name, WTERMSIG(wstatus),
				 strsignal(WTERMSIG(wstatus)));
	if (o->status) {
		*o->status = WEXITSTATUS(wstatus);
		return 0;
	}
	if (WEXITSTATUS(wstatus))
		return error_set(err, 0, "%s failed with status %d%s%s", name,
				 WEXITSTATUS(wstatus), said ? ": " : "",
				 said ? said : "");
	return 0;
}

int proc_run(const char *const argv[], const struct proc_opts *opts,
	     struct error *err)
{
	static const struct proc_opts none;
	const struct proc_opts *o = opts ? opts : &none;
	CLEANUP(pipes_close) struct pipes p = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	CLEANUP(buf_free) struct buf log = { 0 };
	cleanup_free char *path = proc_find(argv[0]);
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	struct timespec now;
	pid_t self = getpid(), pid;
	int wstatus, late;

	if (!path)
		return error_set(err, 0, "there is no program '%s' in PATH: install it (`make deps` installs all that kontest needs)",
				 argv[0]);
	if (pipe2(p.in, O_CLOEXEC) < 0 || pipe2(p.out, O_CLOEXEC) < 0 ||
	    pipe2(p.err, O_CLOEXEC) < 0)
		return error_set(err, errno, "make a pipe");
	pid = fork();
	if (pid < 0)
		return error_set(err, errno, "fork");
	if (!pid)
		child(path, argv, o, &p, self);
	close(steal_fd(&p.in[0]));
	close(steal_fd(&p.out[1]));
	close(steal_fd(&p.err[1]));
	fcntl(p.in[1], F_SETFL, O_NONBLOCK);
	clock_gettime(CLOCK_MONOTONIC, &now);
	sigaction(SIGPIPE, &ignore, &before);
	late = shuttle(&p, o, &log, now.tv_sec + (o->timeout_s ? o->timeout_s
							     : DEFAULT_TIMEOUT_S));
	sigaction(SIGPIPE, &before, NULL);
	if (late && o->family)
		kill(-pid, SIGKILL);
	if (late)
		kill(pid, SIGKILL);
	while (waitpid(pid, &wstatus, 0) < 0)
		if (errno != EINTR)
			return error_set(err, errno, "wait for %s", argv[0]);
	if (late)
		return error_set(err, 0, "%s did not end within %d s and was killed",
				 argv[0], o->timeout_s ? o->timeout_s
						       : DEFAULT_TIMEOUT_S);
	return judge(argv[0], wstatus, &log, o, err);
}

char *proc_find(const char *name)
{
	const char *path = getenv("PATH");
	cleanup_free char *dirs = xasprintf("%s:/usr/sbin:/sbin",
					    path ? path : "/usr/bin:/bin");
	char *save = NULL;

	if (strchr(name, '/'))
		return access(name, X_OK) ? NULL : xstrdup(name);
	for (char *d = strtok_r(dirs, ":", &save); d; d = strtok_r(NULL, ":", &save)) {
		char *file = xasprintf("%s/%s", d, name);

		if (!access(file, X_OK) && !path_is_dir(file))
			return file;
		free(file);
	}
	return NULL;
}
