/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job.h - the foreground job as processes, and what it printed
 */
#ifndef KONTEST_GUEST_JOB_H
#define KONTEST_GUEST_JOB_H

#include "guest/child.h"
#include "guest/guest.h"

#define JOB_PREPARE_S 1800	/* a kernel's tools, compiled under emulation */

/**
 * struct job - a job
 * @tree: its working directory
 * @child: while it runs
 */
struct job {
	struct guest *g;
	const struct job_ops *ops;
	const char *tree;
	struct child child;
	struct child_opts opts;
};

/* job_init() - @tree must live as long as @job */
void job_init(struct job *job, struct guest *g, const struct job_ops *ops,
	      const char *tree);
/* job_prepare() - its tree to the starting state, in at most JOB_PREPARE_S */
int job_prepare(struct job *job, struct fail *f);
/* job_start() - it stands at the gate (child.h) */
int job_start(struct job *job, struct fail *f);
/* job_kill() - end what is left of it */
int job_kill(struct job *job, struct fail *f);

/* job_last_line() - the last line that the last job printed, "" for none */
void job_last_line(char *line, size_t size);
/* job_said_no_space() - is a full disk among its last lines? */
bool job_said_no_space(void);
/* job_log() - its last lines as a LOG record */
int job_log(struct jw *j, struct fail *f);

#endif
