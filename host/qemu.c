/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/boot.h"
#include "results/base/cleanup.h"
#include "results/base/proc.h"

#define WHAT "QEMU emulator version "

void qemu_info_free(struct qemu_info *q)
{
	free(q->path);
	free(q->version);
	free(q->package);
	*q = (struct qemu_info){ 0 };
}

static char *find_qemu(struct error *err)
{
	const char *named = getenv("KONTEST_QEMU");
	char *path;

	if (named && *named) {
		path = strchr(named, '/') ? realpath(named, NULL)
					  : proc_find(named);
		if (path && access(path, X_OK) == 0)
			return path;
		free(path);
		error_set(err, errno,
			  "KONTEST_QEMU names '%s', which cannot be run", named);
		return NULL;
	}
	path = proc_find("qemu-system-x86_64");
	if (!path)
		error_set(err, 0,
			  "no qemu-system-x86_64 in PATH: install the Debian package qemu-system-x86 (make deps does), or name another by KONTEST_QEMU");
	return path;
}

/* "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)": the part in
 * brackets is the packager's and may be missing. */
static int parse_version(struct qemu_info *q, const char *text,
			 struct error *err)
{
	const char *v = strstr(text, WHAT);
	size_t len, pkg;

	if (!v)
		return error_set(err, 0,
			"'%s --version' does not say '%s...': not a QEMU",
			q->path, WHAT);
	v += strlen(WHAT);
	len = strcspn(v, " \n");
	q->version = xstrndup(v, len);
	v += len;
	if (str_starts(v, " (")) {
		v += 2;
		pkg = strcspn(v, ")\n");
		q->package = xstrndup(v, pkg);
	} else {
		q->package = xstrdup("");
	}
	return 0;
}

int qemu_probe(struct qemu_info *q, struct error *err)
{
	struct buf out CLEANUP(buf_free) = { 0 };
	struct proc_opts opts = { .out = &out, .timeout_s = 20 };
	const char *argv[] = { NULL, "--version", NULL };

	*q = (struct qemu_info){ 0 };
	q->path = find_qemu(err);
	if (!q->path)
		return -1;
	argv[0] = q->path;
	if (proc_run(argv, &opts, err) < 0 ||
	    parse_version(q, out.data ? out.data : "", err) < 0) {
		qemu_info_free(q);
		return -1;
	}
	return 0;
}
