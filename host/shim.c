/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shim.c - what libvirt starts in QEMU's place; see embed.h
 *
 * Runs before main(), in whatever program has this file linked in, and only
 * when that was started through a root's "emulator" link.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/text.h"

#define NAME "/emulator"

static void __attribute__((noreturn, format(printf, 1, 2)))
shim_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vdprintf(2, fmt, ap);
	va_end(ap);
	dprintf(2, "\n");
	_exit(127);
}

static int open_pid(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void kill_pidfd(int fd)
{
	/* The only other outcome is that it has ended by itself. */
	(void)!syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}

static pid_t read_pid(const char *path)
{
	cleanup_fclose FILE *f = fopen(path, "re");
	int pid = 0;

	return f && fscanf(f, "%d", &pid) == 1 && pid > 1 ? pid : 0;
}

/* The process that made the root, as a pidfd; fails when it is dead: then its
 * lock is free. In this order a pid that was used again cannot fool us. */
static int open_owner(const char *root)
{
	cleanup_free char *path = xasprintf("%s/lock", root);
	cleanup_close int lock = open(path, O_RDWR | O_CLOEXEC);
	pid_t pid = read_pid(path);
	int fd;

	if (lock < 0 || !pid)
		shim_fail("kontest: '%s' is gone", path);
	fd = open_pid(pid);
	if (fd < 0)
		shim_fail("kontest: pidfd_open %d: %s", (int)pid,
			  strerror(errno));
	if (flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		shim_fail("kontest: process %d is gone", (int)pid);
	return fd;
}

/*
 * A QEMU that puts itself into the background (libvirt starts one so, to ask
 * it what it can do) is known by its pid file alone, which comes later.
 */
static int wait_pidfile(const char *pidfile, int owner)
{
	struct pollfd p = { .fd = owner, .events = POLLIN };

	for (int i = 0; i < 600; i++) {
		pid_t pid = read_pid(pidfile);
		int fd = pid ? open_pid(pid) : -1;

		if (fd >= 0)
			return fd;
		/* When the owner dies meanwhile, QEMU may still be on its way
		 * to write the file: wait on, but not for long. */
		if (poll(&p, p.fd >= 0, 50) > 0) {
			p.fd = -1;
			i = i < 560 ? 560 : i;
		}
	}
	return -1;
}

/* The owner died without removing its root. Of several guards one gets the
 * lock; the next boot sweeps up what could not be removed. */
static void bury(const char *root)
{
	cleanup_free char *path = xasprintf("%s/lock", root);
	cleanup_close int lock = open(path, O_RDWR | O_CLOEXEC);

	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
		(void)!remove_tree(root, NULL);
}

static void __attribute__((noreturn))
guard(const char *root, int owner, int qemu, const char *pidfile)
{
	struct pollfd p[2] = {
		{ .fd = owner, .events = POLLIN },
		{ .fd = qemu, .events = POLLIN },
	};

	if (pidfile)
		p[1].fd = wait_pidfile(pidfile, owner);
	while (poll(p, 2, -1) < 0 && errno == EINTR)
		;
	if (!p[0].revents)
		_exit(0);
	if (p[1].fd >= 0) {
		kill_pidfd(p[1].fd);
		(void)!poll(&p[1], 1, 5000);
	}
	bury(root);
	_exit(0);
}

/* Nothing of libvirt's may stay open in the guard: libvirt waits for the end of
 * some of these files. */
static void detach(int *owner, int *qemu)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    dup2(null, 2) < 0)
		_exit(1);
	*owner = fcntl(*owner, F_DUPFD_CLOEXEC, 5);
	*qemu = fcntl(*qemu, F_DUPFD_CLOEXEC, 5);
	if (*owner < 0 || *qemu < 0 || dup2(*owner, 3) < 0 ||
	    dup2(*qemu, 4) < 0 || close_range(5, ~0U, 0) < 0 ||
	    chdir("/") < 0 || setsid() < 0)
		_exit(1);
	*owner = 3;
	*qemu = 4;
}

static void start_guard(const char *root, int owner, int qemu,
			const char *pidfile)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		shim_fail("kontest: fork: %s", strerror(errno));
	if (pid == 0) {
		/* Signals meant for us or for QEMU are no reason to go. */
		signal(SIGHUP, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		detach(&owner, &qemu);
		/* Not a child of QEMU, which would have to wait for it. */
		pid = fork();
		if (pid == 0)
			guard(root, owner, qemu, pidfile);
		_exit(pid < 0 ? 1 : 0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			shim_fail("kontest: wait: %s", strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		shim_fail("kontest: QEMU's guard could not be started");
}

static void __attribute__((noreturn)) become_qemu(const char *root, char **argv)
{
	cleanup_free char *link = xasprintf("%s/qemu", root);
	cleanup_free char *real = realpath(link, NULL);
	const char *pidfile = NULL;
	bool background = false;
	int owner, self;

	if (!real)
		shim_fail("kontest: '%s': %s", link, strerror(errno));
	for (char **a = argv; *a; a++) {
		if (!strcmp(*a, "-daemonize"))
			background = true;
		if (!strcmp(*a, "-pidfile") && a[1])
			pidfile = a[1];
	}
	owner = open_owner(root);
	self = open_pid(getpid());
	if (self < 0)
		shim_fail("kontest: pidfd_open: %s", strerror(errno));
	start_guard(root, owner, self, background ? pidfile : NULL);
	close(owner);
	close(self);
	argv[0] = real;
	execv(real, argv);
	shim_fail("kontest: cannot execute '%s': %s", real, strerror(errno));
}

__attribute__((constructor)) static void shim(int argc, char **argv)
{
	cleanup_free char *root = NULL, *lock = NULL;
	struct stat st;

	if (argc < 1 || *argv[0] != '/' || !str_ends(argv[0], NAME))
		return;
	root = xstrndup(argv[0], strlen(argv[0]) - strlen(NAME));
	lock = xasprintf("%s/lock", root);
	if (stat(lock, &st) == 0)
		become_qemu(root, argv);
}
