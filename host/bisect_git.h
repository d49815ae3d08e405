/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bisect_git.h - git, in a clone of our own
 *
 * The user's repository is only read: the clone borrows its objects (git clone --shared)
 * and has its own references, its own state of the bisect and its own work tree, which is
 * beside the git directory and not around it, so that what is built from is the commit's
 * files and no more. Hooks and settings that would change files are off.
 */
#ifndef KONTEST_BISECT_GIT_H
#define KONTEST_BISECT_GIT_H

#include "results/base/error.h"
#include "results/base/text.h"

#define GIT_ID 65	/* SHA-256 in hex and a NUL; SHA-1 is shorter */
#define GIT_LABEL 13	/* what tables show of it */

/* struct bisect_git - the clone; owned */
struct bisect_git {
	char *dir;
	char *tree;
};

/* git_resolve() - "v6.1", "HEAD~3" -> the commit's id, in the user's tree @source */
int git_resolve(const char *source, const char *name, char id[GIT_ID],
		struct error *err);

/**
 * git_open() - a new clone, in place of one that is there
 * @g: result; git_close() ends it and leaves the clone
 * @source: the user's tree
 * @dir: directory in which git and tree are made
 *
 * A clone that a killed process left may be locked or torn, and a new one costs little:
 * only references are copied, and files of the tree are written over.
 */
int git_open(struct bisect_git *g, const char *source, const char *dir,
	     struct error *err);
void git_close(struct bisect_git *g);

/**
 * struct git_next - where a bisect is
 * @found: @commit is the first bad one
 * @left: only skipped commits are left, any of these may be it; owned strings
 * @commit: else the one to try
 * @subject: of @commit; owned
 * @words: what git says about how far it is, or NULL; owned
 */
struct git_next {
	bool found;
	struct strings left;
	char commit[GIT_ID];
	char *subject;
	char *words;
};
void git_next_free(struct git_next *n);

/* git_start() - begin, with both ends known */
int git_start(const struct bisect_git *g, const char *good, const char *bad,
	      struct git_next *next, struct error *err);
/* git_mark() - @how: "good", "bad", "skip" */
int git_mark(const struct bisect_git *g, const char *how, const char *commit,
	     struct git_next *next, struct error *err);
/* git_checkout() - the tree is that of @commit, and nothing else is in it */
int git_checkout(const struct bisect_git *g, const char *commit, struct error *err);
/* git_subject() - first line of a commit's message; owned by the caller */
char *git_subject(const struct bisect_git *g, const char *commit, struct error *err);
/* git_describe_commit() - id, author, date, subject, as in git log; owned */
char *git_describe_commit(const struct bisect_git *g, const char *commit,
			  struct error *err);

#endif
