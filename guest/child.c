/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child.c - starts, waits for and ends processes
 */
#include "guest/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Threads that wait for swap die when they have it, one after the other */
#define REAP_MS 120000

int child_init(struct fail *f)
{
	sigset_t set;

	if (sigemptyset(&set) != 0 || sigaddset(&set, SIGCHLD) != 0 ||
	    sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return fail_set(f, errno, "block SIGCHLD");
	return 0;
}

static int redirect(const char *output, struct fail *f)
{
	auto_close int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	auto_close int out = open(output ? output : "/dev/null",
				  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
				  0600);

	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(out, 2) < 0)
		return fail_set(f, errno, "redirect output to '%s'",
				output ? output : "/dev/null");
	return 0;
}

static int settle_in(const struct child_opts *o, struct fail *f)
{
	sigset_t none;

	if (setpgid(0, 0) != 0)
		return fail_set(f, errno, "make a process group");
	/* The driver cannot be taken by the OOM killer, what it starts can */
	if (write_text("/proc/self/oom_score_adj", "0", f) != 0)
		return -1;
	if (o->cgroup && cgroup_join(o->group, f) != 0)
		return -1;
	if (redirect(o->output, f) != 0)
		return -1;
	if (chdir(o->dir) != 0)
		return fail_set(f, errno, "change to '%s'", o->dir);
	if (sigemptyset(&none) != 0 ||
	    sigprocmask(SIG_SETMASK, &none, NULL) != 0)
		return fail_set(f, errno, "unblock signals");
	return 0;
}

/* The new process: tells its parent how it went, then waits for one byte */
static _Noreturn void child_main(const struct child_opts *o, int ready,
				 int gate)
{
	struct fail f = { "" };
	char go;
	ssize_t n;

	if (settle_in(o, &f) != 0) {
		if (write_full(ready, f.text, strlen(f.text)) != 0)
			_exit(125);
		_exit(126);
	}
	if (write_full(ready, "", 1) != 0 || close(ready) != 0)
		_exit(125);
	do
		n = read(gate, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1 || close(gate) != 0)
		_exit(125);
	_exit(o->main(o->arg));
}

static int reap(pid_t pid, int *status)
{
	pid_t got;

	do
		got = waitpid(pid, status, 0);
	while (got < 0 && errno == EINTR);
	return got == pid ? 0 : -1;
}

/* 0 when it stands at the gate, else its reason to give up */
static int wait_ready(int ready, struct fail *f)
{
	struct fail why;
	ssize_t n;

	do
		n = read(ready, why.text, sizeof(why.text) - 1);
	while (n < 0 && errno == EINTR);
	if (n == 1 && why.text[0] == '\0')
		return 0;
	why.text[n > 0 ? n : 0] = '\0';
	return fail_set(f, 0, "start a process: %s",
			n > 0 ? why.text : "it died at once");
}

int child_start(const struct child_opts *o, struct child *c, struct fail *f)
{
	int ready[2], gate[2];
	int ret;

	*c = (struct child)CHILD_NONE;
	if (pipe2(ready, O_CLOEXEC) != 0)
		return fail_set(f, errno, "make a pipe");
	if (pipe2(gate, O_CLOEXEC) != 0) {
		fail_set(f, errno, "make a pipe");
		close(ready[0]);
		close(ready[1]);
		return -1;
	}
	c->pid = fork();
	if (c->pid == 0) {
		close(ready[0]);
		close(gate[1]);
		child_main(o, ready[1], gate[0]);
	}
	ret = c->pid < 0 ? fail_set(f, errno, "fork") : 0;
	close(ready[1]);
	close(gate[0]);
	if (ret == 0)
		ret = wait_ready(ready[0], f);
	close(ready[0]);
	c->gate = gate[1];
	if (ret == 0)
		return 0;
	close(c->gate);
	c->gate = -1;
	if (c->pid > 0 && kill(c->pid, SIGKILL) == 0 &&
	    reap(c->pid, &c->status) != 0)
		fail_set(f, errno, "wait for a child");
	c->pid = 0;
	return -1;
}

int child_go(struct child *c, struct fail *f)
{
	int gate = c->gate;
	int ret = write_full(gate, "g", 1);

	c->gate = -1;
	if (ret != 0)
		fail_set(f, errno, "open the gate");
	if (close(gate) != 0)
		return fail_set(f, errno, "close the gate");
	return ret;
}

/* Return: 1 when one more of them has ended */
static int look(struct child *const list[])
{
	int found = 0;

	for (int i = 0; list[i]; i++) {
		struct child *c = list[i];

		if (c->pid == 0 || c->ended)
			continue;
		if (wait4(c->pid, &c->status, WNOHANG, &c->usage) == c->pid) {
			c->ended = true;
			found = 1;
		}
	}
	return found;
}

int child_wait(struct child *const list[], uint64_t until_ns)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (;;) {
		uint64_t now;
		struct timespec ts;

		if (look(list))
			return 1;
		now = now_ns();
		if (now >= until_ns)
			return 0;
		ts.tv_sec = (time_t)((until_ns - now) / NS_PER_S);
		ts.tv_nsec = (long)((until_ns - now) % NS_PER_S);
		/* Whatever it returns, the loop looks again */
		if (sigtimedwait(&set, NULL, &ts) < 0 && errno == EINVAL)
			sleep_ms(10);
	}
}

int child_kill(struct child *c, const struct child_opts *o, struct fail *f)
{
	struct child *const list[] = { c, NULL };

	if (c->gate >= 0) {
		close(c->gate);
		c->gate = -1;
	}
	if (c->pid == 0)
		return 0;
	if (!c->ended && kill(c->pid, SIGKILL) != 0 && errno != ESRCH)
		return fail_set(f, errno, "kill process %d", (int)c->pid);
	/* The rest of its process group; there may be nobody left */
	if (kill(-c->pid, SIGKILL) != 0 && errno != ESRCH)
		return fail_set(f, errno, "kill process group %d", (int)c->pid);
	if (!c->ended &&
	    child_wait(list, now_ns() + REAP_MS * NS_PER_MS) == 0)
		return fail_set(f, 0, "process %d cannot be killed",
				(int)c->pid);
	return o->cgroup ? cgroup_kill(o->group, f) : 0;
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_usec * 1000;
}

void child_cpu(const struct child *c, bool opening, struct counters *out,
	       enum counter user, enum counter system)
{
	if (!opening && !c->ended)
		return;
	counters_set(out, user, opening ? 0 : timeval_ns(&c->usage.ru_utime));
	counters_set(out, system, opening ? 0 : timeval_ns(&c->usage.ru_stime));
}

int child_exit_code(const struct child *c)
{
	return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) :
	       WEXITSTATUS(c->status);
}
