/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/bisect_git.h"

#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/proc.h"

#define GIT_ARGS_MAX 32
#define GIT_TIMEOUT_S 3600
#define LOG_MAX (16u << 20)
#define FOUND "# first bad commit: ["
#define POSSIBLE "# possible first bad commit: ["

/* Set by whoever runs us from a hook or an alias, they name another repository. */
static void forget_surroundings(void)
{
	static const char *const names[] = {
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR",
		"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"GIT_PREFIX", "GIT_NAMESPACE", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

/* git with @args, NULL-terminated, in directory @cwd; its output in @out */
static int run_git(const char *cwd, const char *const *args, struct buf *out,
		   struct error *err)
{
	static const char *const env[] = { "GIT_TERMINAL_PROMPT=0", NULL };
	const char *argv[GIT_ARGS_MAX] = {
		"git", "-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false",
		"-c", "core.fsmonitor=false", "-c", "gc.auto=0",
		"-c", "advice.detachedHead=false", "-c", "log.showSignature=false",
		"-c", "core.quotePath=false",
	};
	const struct proc_opts o = {
		.env = env, .cwd = cwd, .out = out, .timeout_s = GIT_TIMEOUT_S,
	};
	size_t n = 15;

	forget_surroundings();
	while (*args && n < GIT_ARGS_MAX - 1)
		argv[n++] = *args++;
	argv[n] = NULL;
	return proc_run(argv, &o, err);
}

static void cut_line(struct buf *b)
{
	if (b->data)
		b->data[strcspn(b->data, "\n")] = '\0';
}

static bool is_id(const char *s, size_t len)
{
	return (len == 40 || len == 64) && strspn(s, "0123456789abcdef") >= len;
}

int git_resolve(const char *source, const char *name, char id[GIT_ID],
		struct error *err)
{
	cleanup_free char *commit = xasprintf("%s^{commit}", name);
	const char *args[] = { "rev-parse", "--verify", "--end-of-options", commit, NULL };
	CLEANUP(buf_free) struct buf out = { 0 };

	if (!path_is_dir(source))
		return error_set(err, 0, "--source %s: no such directory; give a git tree of kernel source",
				 source);
	if (run_git(source, args, &out, err) < 0)
		return error_prefix(err, "'%s' in '%s'", name, source);
	cut_line(&out);
	if (!out.data || !is_id(out.data, strlen(out.data)))
		return error_set(err, 0, "git names no commit for '%s' in '%s'", name,
				 source);
	memcpy(id, out.data, strlen(out.data) + 1);
	return 0;
}

int git_open(struct bisect_git *g, const char *source, const char *dir,
	     struct error *err)
{
	const char *where[] = { "rev-parse", "--path-format=absolute",
				"--git-common-dir", NULL };
	CLEANUP(buf_free) struct buf theirs = { 0 };
	const char *clone[] = { "clone", "--quiet", "--bare", "--shared",
				"--template=", NULL, NULL, NULL };

	*g = (struct bisect_git){
		.dir = xasprintf("%s/git", dir), .tree = xasprintf("%s/tree", dir),
	};
	if (!path_is_dir(source))
		return error_set(err, 0, "the git tree '%s' is not there any more; put it back, its commits are needed",
				 source);
	if (run_git(source, where, &theirs, err) < 0)
		return error_prefix(err, "'%s'", source);
	cut_line(&theirs);
	clone[5] = theirs.data;
	clone[6] = g->dir;
	if (path_exists(g->dir) && remove_tree(g->dir, err) < 0)
		return -1;
	if (run_git(dir, clone, NULL, err) < 0)
		return error_prefix(err, "clone '%s'", source);
	return make_dirs(g->tree, err);
}

void git_close(struct bisect_git *g)
{
	free(steal_ptr(g->dir));
	free(steal_ptr(g->tree));
}

void git_next_free(struct git_next *n)
{
	strings_clear(&n->left);
	free(n->subject);
	free(n->words);
	*n = (struct git_next){ 0 };
}

/* git with the clone's git directory and work tree */
static int in_clone(const struct bisect_git *g, const char *const *args,
		    struct buf *out, struct error *err)
{
	cleanup_free char *dir = xasprintf("--git-dir=%s", g->dir);
	cleanup_free char *tree = xasprintf("--work-tree=%s", g->tree);
	const char *all[GIT_ARGS_MAX] = { "-c", "core.bare=false", dir, tree };
	size_t n = 4;

	while (*args && n < GIT_ARGS_MAX - 1)
		all[n++] = *args++;
	all[n] = NULL;
	return run_git(g->tree, all, out, err);
}

/* The id between [ and ] behind @mark in a line of the log; NULL: not such a line */
static char *logged_id(const char *line, const char *mark)
{
	const char *id = line + strlen(mark);
	size_t len;

	if (!str_starts(line, mark))
		return NULL;
	len = strcspn(id, "]\n");
	return is_id(id, len) ? xstrndup(id, len) : NULL;
}

/* Whether it has ended is told by the log that git keeps (git bisect log prints it), not
 * by what it says on the way. */
static int read_log(const struct bisect_git *g, struct git_next *next,
		    struct error *err)
{
	cleanup_free char *path = xasprintf("%s/BISECT_LOG", g->dir);
	CLEANUP(buf_free) struct buf log = { 0 };

	if (file_read(path, LOG_MAX, &log, err) < 0)
		return -1;
	for (const char *l = log.data; l && *l; l += strcspn(l, "\n"), l += *l == '\n') {
		char *possible = logged_id(l, POSSIBLE);
		cleanup_free char *found = logged_id(l, FOUND);

		if (possible)
			strings_add(&next->left, possible);
		if (found) {
			next->found = true;
			memcpy(next->commit, found, strlen(found) + 1);
		}
	}
	return 0;
}

/* The commit to try next, or the one that was found, and its subject */
static int read_next(const struct bisect_git *g, struct git_next *next,
		     struct error *err)
{
	const char *args[] = { "log", "--no-walk", "--format=%H%n%s",
			       next->found ? next->commit : "BISECT_HEAD", "--", NULL };
	CLEANUP(buf_free) struct buf out = { 0 };
	size_t len;

	if (next->left.n)
		return 0;
	if (in_clone(g, args, &out, err) < 0)
		return -1;
	len = strcspn(out.data ? out.data : "", "\n");
	if (!out.data || !is_id(out.data, len) || out.data[len] != '\n')
		return error_set(err, 0, "git bisect names no commit to try next");
	memcpy(next->commit, out.data, len);
	next->commit[len] = '\0';
	next->subject = xstrndup(out.data + len + 1, strcspn(out.data + len + 1, "\n"));
	return 0;
}

static int bisect(const struct bisect_git *g, const char *const *args,
		  struct git_next *next, struct error *err)
{
	CLEANUP(buf_free) struct buf out = { 0 };
	int failed = in_clone(g, args, &out, err);

	*next = (struct git_next){ 0 };
	/* It fails, too, when only skipped commits are left. */
	if (read_log(g, next, failed ? NULL : err) < 0 || (failed && !next->left.n)) {
		git_next_free(next);
		return -1;
	}
	if (str_starts(out.data ? out.data : "", "Bisecting: "))
		next->words = xstrndup(out.data, strcspn(out.data, "\n"));
	if (read_next(g, next, err) < 0) {
		git_next_free(next);
		return -1;
	}
	return 0;
}

int git_start(const struct bisect_git *g, const char *good, const char *bad,
	      struct git_next *next, struct error *err)
{
	const char *args[] = { "bisect", "start", "--no-checkout", bad, good, "--",
			       NULL };

	return bisect(g, args, next, err);
}

int git_mark(const struct bisect_git *g, const char *how, const char *commit,
	     struct git_next *next, struct error *err)
{
	const char *args[] = { "bisect", how, commit, NULL };

	return bisect(g, args, next, err);
}

int git_checkout(const struct bisect_git *g, const char *commit, struct error *err)
{
	const char *checkout[] = { "checkout", "--quiet", "--force", "--detach", commit,
				   "--", NULL };
	const char *clean[] = { "clean", "--quiet", "-ffdx", NULL };

	if (in_clone(g, checkout, NULL, err) < 0 || in_clone(g, clean, NULL, err) < 0)
		return error_prefix(err, "check out %.12s in '%s'", commit, g->tree);
	return 0;
}

static char *show(const struct bisect_git *g, const char *format, const char *commit,
		  struct error *err)
{
	const char *args[] = { "show", "--no-patch", format, commit, "--", NULL };
	CLEANUP(buf_free) struct buf out = { 0 };

	if (in_clone(g, args, &out, err) < 0)
		return NULL;
	while (out.len && out.data[out.len - 1] == '\n')
		out.data[--out.len] = '\0';
	return xstrdup(out.data ? out.data : "");
}

char *git_subject(const struct bisect_git *g, const char *commit, struct error *err)
{
	return show(g, "--format=%s", commit, err);
}

char *git_describe_commit(const struct bisect_git *g, const char *commit,
			  struct error *err)
{
	return show(g, "--format=commit %H%nAuthor: %an <%ae>%nDate:   %ad%n%n    %s",
		    commit, err);
}
