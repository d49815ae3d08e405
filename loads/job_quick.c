/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_quick.c - the job "quick-1": a compile of the frozen tree jobs/quick-1
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

#define CLEAN_QUIET_MS 120000	/* silence of this length means that it hangs */

/* In the child: its standard error goes to @out, the rest nowhere */
static _Noreturn void make_clean(const char *tree, int out)
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
	else if (execlp("make", "make", "clean", (char *)NULL) != 0)
		dprintf(2, "start 'make': %s\n", strerror(errno));
	_exit(126);
}

/* The first line of what comes from @fd; the rest is read and dropped */
static int first_line(int fd, char *line, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t have = 0;
	char buf[512];

	for (;;) {
		int ready = poll(&p, 1, CLEAN_QUIET_MS);
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

static int prepare(const char *tree, char *message, size_t message_len)
{
	char line[200] = "";
	int p[2];
	int status, failed = 0;
	pid_t pid, got;

	if (pipe2(p, O_CLOEXEC) != 0) {
		snprintf(message, message_len, "pipe for 'make clean': %s",
			 strerror(errno));
		return -1;
	}
	pid = fork();
	if (pid == 0)
		make_clean(tree, p[1]);
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
	snprintf(message, message_len, "'make clean' in '%s': %s", tree,
		 failed != 0 ? strerror(failed) : line);
	return -1;
}

static int argv_of(unsigned int jobs, const char *argv[], size_t max,
		   char *store, size_t store_len)
{
	int n = snprintf(store, store_len, "-j%u", jobs);

	if (max < 3 || n < 0 || (size_t)n >= store_len)
		return -1;
	argv[0] = "make";
	argv[1] = store;
	argv[2] = NULL;
	return 0;
}

const struct job_ops job_quick_1_ops = {
	.name = "quick-1",
	.prepare = prepare,
	.argv = argv_of,
};
