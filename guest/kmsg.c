/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg.c - looks for oopses in the kernel's log
 */
#include "guest/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FACILITY_SHIFT 3	/* syslog: priority = facility * 8 + level */

static int kmsg_fd = -1;

bool kmsg_line_is_bad(const char *line)
{
	static const char *const bad[] = {
		"Oops", "BUG:", "kernel BUG at", "general protection fault",
		"Internal error:", "KASAN:", "Unable to handle kernel",
	};
	static const char *const fine[] = { "soft lockup", "workqueue lockup" };
	unsigned long priority = strtoul(line, NULL, 10);
	const char *text = strchr(line, ';');

	if (!text || priority >> FACILITY_SHIFT != 0)
		return false;
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		if (strstr(text, fine[i]))
			return false;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (strstr(text, bad[i]))
			return true;
	return false;
}

bool kmsg_scan(char *found, size_t size)
{
	char line[8192];
	bool bad = false;

	if (kmsg_fd < 0)
		kmsg_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	while (kmsg_fd >= 0) {
		ssize_t n = read(kmsg_fd, line, sizeof(line) - 1);

		/* EPIPE: lines were lost, go on with the next that is there */
		if (n < 0 && (errno == EINTR || errno == EPIPE))
			continue;
		if (n <= 0)
			break;
		line[n] = '\0';
		if (bad || !kmsg_line_is_bad(line))
			continue;
		bad = true;
		line[strcspn(line, "\n")] = '\0';
		snprintf(found, size, "%s", strchr(line, ';') + 1);
	}
	return bad;
}
