/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * children.h - a process's children, for unit tests of loads made of processes
 */
#ifndef KONTEST_CHILDREN_H
#define KONTEST_CHILDREN_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define CHILDREN_MAX 64

static inline pid_t parent_of(pid_t pid)
{
	char path[64], line[512];
	int parent = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f == NULL)
		return -1;
	if (fgets(line, sizeof(line), f) != NULL && strrchr(line, ')') != NULL)
		sscanf(strrchr(line, ')'), ") %*c %d", &parent);
	fclose(f);
	return parent;
}

/* Children of @pid, dead ones that nobody has waited for included */
static inline size_t children_of(pid_t pid, pid_t child[CHILDREN_MAX])
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	size_t n = 0;

	assert_non_null(proc);
	while ((e = readdir(proc)) != NULL) {
		pid_t p = atoi(e->d_name);

		if (p > 0 && parent_of(p) == pid && n < CHILDREN_MAX)
			child[n++] = p;
	}
	closedir(proc);
	return n;
}

#endif
