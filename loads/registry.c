/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registry.c - the tables of loads and jobs, and what all loads share
 */
#include "loads/load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "loads/ops.h"

/* In the order of contest's own tables */
static const struct load_ops *const loads[] = {
	&no_load_ops,
	&cacherun_ops,
	&process_load_ops,
	&ctar_load_ops,
	&xtar_load_ops,
	&io_load_ops,
	&io_other_ops,
	&read_load_ops,
	&list_load_ops,
	&mem_load_ops,
	&dbench_load_ops,
};

static const struct job_ops *const jobs[] = {
	&job_quick_1_ops,
	&job_linux_ops,
	&job_command_ops,
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const struct load_ops *load_nth(size_t n)
{
	return n < COUNT(loads) ? loads[n] : NULL;
}

const struct job_ops *job_nth(size_t n)
{
	return n < COUNT(jobs) ? jobs[n] : NULL;
}

const struct load_ops *load_find(const char *name)
{
	for (size_t i = 0; i < COUNT(loads); i++)
		if (strcmp(loads[i]->name, name) == 0)
			return loads[i];
	return NULL;
}

const struct job_ops *job_find(const char *name)
{
	for (size_t i = 0; i < COUNT(jobs); i++)
		if (strcmp(jobs[i]->name, name) == 0)
			return jobs[i];
	return NULL;
}

int load_reexec(int argc, char **argv)
{
	if (argc < 1 || strcmp(argv[0], LOAD_REEXEC_NAME) != 0)
		return -1;
	if (argc == 4 && strcmp(argv[1], RING_NODE_PART) == 0)
		return ring_node_main(argv[2], argv[3]);
	return EINVAL;
}

int load_fail(struct load_shared *shared, int err, const char *fmt, ...)
{
	va_list ap;
	size_t used;

	if (atomic_load_explicit(&shared->failed, memory_order_relaxed) != 0)
		return -1;
	if (err == 0)
		err = EIO;

	va_start(ap, fmt);
	vsnprintf(shared->message, sizeof(shared->message), fmt, ap);
	va_end(ap);
	used = strlen(shared->message);
	snprintf(shared->message + used, sizeof(shared->message) - used,
		 ": %s", strerror(err));

	/* Whoever sees the errno sees the message too */
	atomic_store_explicit(&shared->failed, err, memory_order_release);
	return -1;
}
