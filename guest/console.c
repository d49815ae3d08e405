/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * console.c - the consoles
 *
 * Results of write() are not looked at here, on purpose: the console is the
 * last place where anything could be said.
 */
#include "guest/console.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest/util.h"

#define CONSOLES_MAX 4

static int consoles[CONSOLES_MAX];
static int count;

static void add(const char *path)
{
	int fd;

	if (count == CONSOLES_MAX)
		return;
	fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0)
		consoles[count++] = fd;
}

/* Lines of /proc/consoles: "ttyS0   -W- (EC p a)    4:64" */
static void add_all(void)
{
	char text[1024], path[64];
	char *save = NULL;

	if (read_text("/proc/consoles", text, sizeof(text)) <= 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *flags = strchr(line, '(');

		if (!flags || !strchr(flags, 'E'))
			continue;
		line[strcspn(line, " \t")] = '\0';
		snprintf(path, sizeof(path), "/dev/%.40s", line);
		add(path);
	}
}

void console_open(void)
{
	add_all();
	if (count == 0)
		add("/dev/console");
}

static void vprint(const char *lead, const char *fmt, va_list ap,
		   const char *tail)
{
	char text[4096];
	int used = snprintf(text, sizeof(text), "%s", lead);

	vsnprintf(text + used, sizeof(text) - (size_t)used, fmt, ap);
	used = (int)strlen(text);
	snprintf(text + used, sizeof(text) - (size_t)used, "%s", tail);
	for (int i = 0; i < count; i++)
		if (write_full(consoles[i], text, strlen(text)) != 0)
			continue;
}

void console_print(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprint("", fmt, ap, "");
	va_end(ap);
}

void console_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprint("kontest: ", fmt, ap, "\n");
	va_end(ap);
}
