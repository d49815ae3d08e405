/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_run.c - what jobs have in common: a preparation that is a program of its
 * own, and make's command line
 */
#include "loads/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET_MS 1500000	/* silence of this length means that it hangs */

/* In the child: its standard error goes to @out, the rest nowhere */
static _Noreturn void start(const char *tree, const char *const argv[], int out)
{
	/* A make around us must not lend this one its flags or job server */
	if (unsetenv("MAKEFLAGS") != 0 || unsetenv("MFLAGS") != 0 ||
	    unsetenv("MAKELEVEL") != 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || dup2(out, 2) < 0)
		_exit(126);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0) {
		dprintf(2, "open '/dev/null': %s\n", strerror(errno));
		_exit(126);
	}
	if (chdir(tree) != 0)
		dprintf(2, "enter '%s': %s\n", tree, strerror(errno));
	else
		/* exec() changes nothing in the strings, it only lacks the const */
		execvp(argv[0], (char *const *)argv);
	dprintf(2, "start '%s': %s\n", argv[0], strerror(errno));
	_exit(126);
}

/* The first line of what comes from @fd; the rest is read and dropped */
static int first_line(int fd, char *line, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t have = 0;
	char buf[512];

	for (;;) {
		int ready = poll(&p, 1, QUIET_MS);
		ssize_t n;

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0) {
			errno = ready == 0 ? ETIMEDOUT : errno;
			return -1;
		}
		n = read(fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		for (ssize_t i = 0; i < n && have + 1 < len; i++)
			line[have++] = buf[i];
	}
	line[have] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

int job_run(const char *tree, const char *const argv[], const char *what,
	    char *message, size_t message_len)
{
	char line[200] = "";
	int p[2];
	int status, failed = 0;
	pid_t pid, got;

	if (pipe2(p, O_CLOEXEC) != 0) {
		snprintf(message, message_len, "pipe for '%s': %s",
			 what, strerror(errno));
		return -1;
	}
	pid = fork();
	if (pid == 0)
		start(tree, argv, p[1]);
	if (pid < 0)
		failed = errno;
	if (close(p[1]) != 0 && failed == 0)
		failed = errno;
	if (failed == 0 && first_line(p[0], line, sizeof(line)) != 0) {
		failed = errno;
		kill(pid, SIGKILL);
	}
	if (close(p[0]) != 0 && failed == 0)
		failed = errno;
	do
		got = pid > 0 ? waitpid(pid, &status, 0) : pid;
	while (pid > 0 && got < 0 && errno == EINTR);

	if (failed == 0 && got == pid && WIFEXITED(status) &&
	    WEXITSTATUS(status) == 0)
		return 0;
	if (failed == 0 && line[0] == '\0')
		snprintf(line, sizeof(line), got != pid ? "no exit status" :
			 WIFSIGNALED(status) ? "killed by a signal" :
			 "it gave no reason");
	snprintf(message, message_len, "'%s' in '%s': %s", what, tree,
		 failed != 0 ? strerror(failed) : line);
	return -1;
}

int job_make_argv(const struct job_args *a, const char *argv[], size_t max,
		  char *store, size_t store_len)
{
	bool target = a->target && *a->target;
	int n = snprintf(store, store_len, "-j%u", a->jobs);

	if (max < (target ? 4 : 3) || n < 0 || (size_t)n >= store_len)
		return -1;
	argv[0] = "make";
	argv[1] = store;
	argv[2] = target ? a->target : NULL;
	if (target)
		argv[3] = NULL;
	return 0;
}

int job_expand(const char *text, unsigned int jobs, char *out, size_t size)
{
	static const char mark[] = "{jobs}";
	size_t used = 0;

	while (*text) {
		bool found = strncmp(text, mark, strlen(mark)) == 0;
		int n = found ? snprintf(out + used, size - used, "%u", jobs)
			      : snprintf(out + used, size - used, "%c", *text);

		if (n < 0 || (size_t)n >= size - used)
			return -1;
		used += (size_t)n;
		text += found ? strlen(mark) : 1;
	}
	if (used >= size)
		return -1;
	out[used] = '\0';
	return 0;
}
