/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job.c - prepares and starts the job
 *
 * Its output goes to a file in RAM: a pipe would wake the driver in the middle
 * of what it measures.
 */
#include "guest/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT "/run/job.log"
#define PREPARE_OUTPUT "/run/prepare.log"
#define TAIL_BYTES 4096
#define ARGV_MAX 64

void job_init(struct job *job, struct guest *g, const struct job_ops *ops,
	      const char *tree)
{
	*job = (struct job){ .g = g, .ops = ops, .tree = tree,
			     .child = CHILD_NONE };
}

static struct job_args args_of(const struct job *job)
{
	const struct plan *p = &job->g->plan;

	return (struct job_args){
		.tree = job->tree, .jobs = p->jobs, .target = p->job_target,
		.command = p->job_command, .prepare = p->job_prepare,
	};
}

static int set_environment(const struct job_ops *ops, char *why, size_t size)
{
	for (const char *const *e = ops->environment; e && *e; e++) {
		/* putenv() keeps the string and changes nothing in it */
		if (putenv((char *)*e) != 0) {
			snprintf(why, size, "set %s: %s", *e, strerror(errno));
			return -1;
		}
	}
	return 0;
}

static int prepare_main(void *arg)
{
	const struct job *job = arg;
	struct guest_shared *s = job->g->shared;
	struct job_args a = args_of(job);

	if (set_environment(job->ops, s->prepare_message,
			    sizeof(s->prepare_message)) != 0)
		return 1;
	return job->ops->prepare(&a, s->prepare_message,
				 sizeof(s->prepare_message)) == 0 ? 0 : 1;
}

int job_prepare(struct job *job, struct fail *f)
{
	struct child_opts o = {
		.cgroup = job->g->cgroup2, .group = GROUP_JOB,
		.output = PREPARE_OUTPUT, .dir = job->tree,
		.main = prepare_main, .arg = job,
	};
	struct child c = CHILD_NONE;
	struct child *const list[] = { &c, NULL };
	struct guest_shared *s = job->g->shared;

	s->prepare_message[0] = '\0';
	if (child_start(&o, &c, f) != 0 || child_go(&c, f) != 0)
		return -1;
	child_wait(list, now_ns() + JOB_PREPARE_S * NS_PER_S);
	if (!c.ended) {
		if (child_kill(&c, &o, f) != 0)
			return -1;
		return fail_set(f, 0, "not done in %d s", JOB_PREPARE_S);
	}
	if (child_exit_code(&c) == 0)
		return 0;
	return fail_set(f, 0, "%s", s->prepare_message[0] ?
			s->prepare_message : "it crashed");
}

static int job_main(void *arg)
{
	const struct job *job = arg;
	const char *argv[ARGV_MAX];
	struct job_args a = args_of(job);
	char store[4096];

	if (set_environment(job->ops, store, sizeof(store)) != 0) {
		fprintf(stderr, "%s\n", store);
		return 126;
	}
	if (job->ops->argv(&a, argv, ARGV_MAX, store, sizeof(store)) != 0) {
		fprintf(stderr, "job %s: no command for %u jobs\n",
			job->ops->name, job->g->plan.jobs);
		return 126;
	}
	/* exec() changes nothing in the strings, it only lacks the const */
	execvp(argv[0], (char *const *)argv);
	fprintf(stderr, "start '%s': %s\n", argv[0], strerror(errno));
	return 127;
}

int job_start(struct job *job, struct fail *f)
{
	job->opts = (struct child_opts){
		.cgroup = job->g->cgroup2, .group = GROUP_JOB,
		.output = OUTPUT, .dir = job->tree,
		.main = job_main, .arg = job,
	};
	return child_start(&job->opts, &job->child, f);
}

int job_kill(struct job *job, struct fail *f)
{
	return child_kill(&job->child, &job->opts, f);
}

/* The end of the output, from the start of a line */
static void read_tail(char tail[TAIL_BYTES])
{
	auto_close int fd = open(OUTPUT, O_RDONLY | O_CLOEXEC);
	char *line;
	off_t end;
	ssize_t n;

	tail[0] = '\0';
	if (fd < 0)
		return;
	end = lseek(fd, 0, SEEK_END);
	n = pread(fd, tail, TAIL_BYTES - 1,
		  end > TAIL_BYTES - 1 ? end - (TAIL_BYTES - 1) : 0);
	tail[n > 0 ? n : 0] = '\0';
	/* A NUL in the middle would hide what follows */
	for (ssize_t i = 0; i < n; i++)
		if (tail[i] == '\0')
			tail[i] = ' ';
	line = strchr(tail, '\n');
	if (end > TAIL_BYTES - 1 && line)
		memmove(tail, line + 1, strlen(line + 1) + 1);
	while (n > 0 && tail[0] && tail[strlen(tail) - 1] == '\n')
		tail[strlen(tail) - 1] = '\0';
}

void job_last_line(char *line, size_t size)
{
	char tail[TAIL_BYTES];
	const char *last;

	read_tail(tail);
	last = strrchr(tail, '\n');
	snprintf(line, size, "%s", last ? last + 1 : tail);
}

bool job_said_no_space(void)
{
	char tail[TAIL_BYTES];

	read_tail(tail);
	return strstr(tail, strerror(ENOSPC)) != NULL;
}

int job_log(struct jw *j, struct fail *f)
{
	char tail[TAIL_BYTES];

	read_tail(tail);
	return jw_log(j, f, "the job's last lines:\n%s", tail);
}
