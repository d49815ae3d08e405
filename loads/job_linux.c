/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_linux.c - the job "linux-6.1": a tinyconfig build of the kernel, or of a
 * target of it
 *
 * The first preparation has the kernel's own makefiles make what every target
 * needs (`make prepare`: their tools, the generated headers) and writes down
 * what there is then. Every later one takes away what came to be since, so
 * that each window has the same work to do.
 */
#include "loads/ops.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_LIST ".kontest-start"

/**
 * struct names - paths of a tree, in the order of strcmp() once sorted
 * @v: each owned
 * @failed: errno of the first failure, 0 for none
 * @known: when set, paths that are not in it are removed, none is added
 */
struct names {
	char **v;
	size_t n, cap;
	int failed;
	const struct names *known;
};

/* What nftw() works on: it hands nothing through to its function */
static struct names *walked;

static void names_free(struct names *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct names){ 0 };
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* GCC 12 loses sight of what has been put into the array */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
static int names_add(struct names *s, const char *path)
{
	char *copy = strdup(path);

	if (copy && s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 4096;
		char **more = realloc(s->v, cap * sizeof(*more));

		if (!more) {
			free(copy);
			return -1;
		}
		s->v = more;
		s->cap = cap;
	}
	if (!copy)
		return -1;
	s->v[s->n++] = copy;
	return 0;
}
#pragma GCC diagnostic pop

static int visit(const char *path, const struct stat *st, int type,
		 struct FTW *at)
{
	const struct names *k = walked->known;
	int ret;

	(void)st;
	if (at->level == 0)
		return 0;
	if (!k)
		ret = names_add(walked, path);
	else if (bsearch(&path, k->v, k->n, sizeof(*k->v), by_name))
		ret = 0;
	else
		ret = type == FTW_DP ? rmdir(path) : unlink(path);
	if (ret != 0)
		walked->failed = errno;
	return ret;
}

/* The tree's paths into @s; or, with @s->known, the others removed */
static int walk(struct names *s)
{
	walked = s;
	if (nftw(".", visit, 32, FTW_DEPTH | FTW_PHYS) == 0)
		return 0;
	errno = s->failed ? s->failed : errno;
	return -1;
}

static int write_list(const struct names *s)
{
	FILE *f = fopen(START_LIST ".new", "we");
	bool bad = !f;

	for (size_t i = 0; !bad && i < s->n; i++)
		bad = fprintf(f, "%s\n", s->v[i]) < 0;
	if (f && fclose(f) != 0)
		bad = true;
	return bad ? -1 : rename(START_LIST ".new", START_LIST);
}

/* Return: 1 when there is a list, 0 when there is none yet, -1 */
static int read_list(struct names *s)
{
	FILE *f = fopen(START_LIST, "re");
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int ret = 1;

	if (!f)
		return errno == ENOENT ? 0 : -1;
	while (ret == 1 && (len = getline(&line, &size, f)) > 0) {
		line[len - 1] = '\0';
		if (names_add(s, line) != 0)
			ret = -1;
	}
	if (ferror(f))
		ret = -1;
	free(line);
	if (fclose(f) != 0)
		ret = -1;
	return ret;
}

static int make_start(const struct job_args *a, struct names *s, char *message,
		      size_t message_len)
{
	char jobs[16];
	const char *const argv[] = { "make", "-s", jobs, "prepare", NULL };

	snprintf(jobs, sizeof(jobs), "-j%u", a->jobs);
	if (job_run(a->tree, argv, "make prepare", message, message_len) != 0)
		return -1;
	if (walk(s) == 0 && names_add(s, "./" START_LIST) == 0) {
		qsort(s->v, s->n, sizeof(*s->v), by_name);
		if (write_list(s) == 0)
			return 0;
	}
	snprintf(message, message_len, "list what is in '%s': %s", a->tree,
		 strerror(errno));
	return -1;
}

static int prepare(const struct job_args *a, char *message, size_t message_len)
{
	struct names start = { 0 }, rest = { .known = &start };
	int found, ret = -1;

	if (chdir(a->tree) != 0) {
		snprintf(message, message_len, "enter '%s': %s", a->tree,
			 strerror(errno));
		return -1;
	}
	found = read_list(&start);
	if (found < 0)
		snprintf(message, message_len, "read '%s/%s': %s", a->tree,
			 START_LIST, strerror(errno));
	else if (found == 0)
		ret = make_start(a, &start, message, message_len);
	else if (walk(&rest) != 0)
		snprintf(message, message_len, "remove objects in '%s': %s",
			 a->tree, strerror(errno));
	else
		ret = 0;
	names_free(&start);
	return ret;
}

/* What would else be of the machine and the day that it was built on */
static const char *const environment[] = {
	"KBUILD_BUILD_TIMESTAMP=Wed Jan  1 00:00:00 UTC 2003",
	"KBUILD_BUILD_USER=kontest",
	"KBUILD_BUILD_HOST=kontest",
	"KBUILD_BUILD_VERSION=1",
	NULL
};

const struct job_ops job_linux_ops = {
	.name = "linux-6.1",
	.environment = environment,
	.takes_target = true,
	.prepare = prepare,
	.argv = job_make_argv,
};
