/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_bisect.c - git driven over a real repository, measured by a table in this test:
 * what is tried, how often, what is skipped, and what an interruption costs
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host/bisect.h"
#include "results/base/cleanup.h"
#include "results/base/proc.h"
#include "tests/scratch_dir.h"

#define COMMITS 12
#define STEPS_MAX 32

/**
 * struct lab - stands for compiler, VMs and store
 * @value: of each commit, by the number in its subject, from 1
 * @no_build, @no_boot: of a commit
 * @spread: a boot's figure is value * (1 + spread * chance[boot])
 * @boots: that the store has, by step
 * @done: boots in all; @last: of them, then kontest is killed; 0: never
 * @built: kernels
 */
struct lab {
	double value[COMMITS + 1];
	bool no_build[COMMITS + 1], no_boot[COMMITS + 1];
	double spread;
	unsigned int boots[STEPS_MAX];
	unsigned int done, last, built;
};

/* Standard deviation about 1, mean 0 over any two, four, eight or sixteen of them */
static const double chance[] = {
	1.1, -1.1, 0.9, -0.9, 1.3, -1.3, 0.5, -0.5, 1.2, -1.2, 0.8, -0.8, 1, -1, 0.7, -0.7,
};

static char *source;

static void sh(const char *script)
{
	cleanup_free char *all = xasprintf("set -e; cd '%s'; export GIT_CONFIG_GLOBAL=/dev/null\n%s",
					   dir, script);
	const char *argv[] = { "sh", "-c", all, NULL };
	struct error err = { 0 };

	if (proc_run(argv, NULL, &err) < 0)
		fail_msg("%s", err.text);
}

/* COMMITS commits, "commit 1" to "commit 12", each with its number in the file n */
static int make_repository(void **state)
{
	if (setup(state) < 0)
		return -1;
	source = xasprintf("%s/src", dir);
	/* Of one process: there are many tests, and the machine may be busy. */
	sh("git init -q src; cd src\n"
	   "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do\n"
	   "  printf 'commit refs/heads/main\\nmark :%d\\ncommitter A. Hacker <h@example.org> %d +0000\\ndata %d\\n' $i $((1000000000 + i)) $((7 + ${#i}))\n"
	   "  printf 'commit %d\\nM 644 inline n\\ndata %d\\n%d\\n' $i $((1 + ${#i})) $i\n"
	   "  printf 'reset refs/tags/c%d\\nfrom :%d\\n\\n' $i $i\n"
	   "done | git fast-import --quiet\n"
	   "git symbolic-ref HEAD refs/heads/main; git reset -q --hard\n"
	   "echo 'not committed' >n; echo 'mine' >untracked");
	return 0;
}

static int remove_repository(void **state)
{
	free(source);
	return teardown(state);
}

/* --- the fake ------------------------------------------------------------------------ */

static int number_of(const struct bisect *b, size_t step)
{
	int n = 0;

	assert_int_equal(sscanf(b->steps.v[step].subject, "commit %d", &n), 1);
	assert_in_range(n, 1, COMMITS);
	return n;
}

static int fake_prepare(void *data, struct bisect *b, size_t step, char **skip,
			struct error *err)
{
	struct lab *l = data;
	cleanup_free char *path = xasprintf("%s/tree/n", b->dir);
	cleanup_free char *git = xasprintf("%s/tree/.git", b->dir);
	CLEANUP(buf_free) struct buf text = { 0 };
	int order = 0;

	/* What is checked out is that commit, and nothing of git is in it. */
	assert_int_equal(file_read(path, 100, &text, err), 0);
	assert_int_equal(atoi(text.data), number_of(b, step));
	assert_false(path_exists(git));
	if (l->no_build[number_of(b, step)]) {
		*skip = xstrdup("does not build: no such luck");
		return 0;
	}
	l->built++;
	for (size_t i = 0; i < b->steps.n; i++)
		if (b->steps.v[i].order >= order)
			order = b->steps.v[i].order + 1;
	if (b->steps.v[step].order < 0)
		b->steps.v[step].order = order;
	return 0;
}

static int fake_measure(void *data, struct bisect *b, const size_t *steps, size_t n,
			unsigned int boots, struct error *err)
{
	struct lab *l = data;

	for (unsigned int k = 1; k <= boots; k++) {
		for (size_t i = 0; i < n; i++) {
			assert_true(b->steps.v[steps[i]].order >= 0);
			if (l->boots[steps[i]] >= k)
				continue;
			if (l->last && l->done == l->last)
				return error_set(err, 0, "killed");
			l->boots[steps[i]]++;
			l->done++;
		}
	}
	return 0;
}

static int fake_figures(void *data, const struct bisect *b, size_t step,
			struct nested *out, char **skip, struct error *err)
{
	const struct lab *l = data;
	int number = number_of(b, step);

	(void)err;
	if (l->no_boot[number] && l->boots[step]) {
		*skip = xstrdup("boot 1: panic");
		return 0;
	}
	for (unsigned int k = 0; k < l->boots[step]; k++)
		nested_add(out, l->value[number] * (1 + l->spread * chance[k % 16]), true);
	return 0;
}

static struct bisect_ops fake_ops(struct lab *l)
{
	return (struct bisect_ops){
		.prepare = fake_prepare, .measure = fake_measure,
		.figures = fake_figures, .data = l,
	};
}

/* lab() - @from on, commits are worth @after, before that @before */
static struct lab lab(int from, double before, double after)
{
	struct lab l = { .spread = 0 };

	for (int i = 1; i <= COMMITS; i++)
		l.value[i] = i < from ? before : after;
	return l;
}

/* new_bisect() - of commits @good and @bad */
static void new_bisect(struct bisect *b, int good, int bad, unsigned int boots,
		       unsigned int max_boots, int *lock)
{
	const int ends[] = { good, bad };
	struct error err = { 0 };

	*b = (struct bisect){
		.source = xstrdup(source), .good_name = xasprintf("c%d", good),
		.bad_name = xasprintf("c%d", bad), .load = xstrdup("no_load"),
		.metric = xstrdup("time"), .threshold_pct = 1, .boots = boots,
		.max_boots = max_boots, .resolution_pct = boots == 1 ? 0.5 : 0, .store = xstrdup("/nowhere/results.db"),
		.kbuild = { .config = xstrdup("tinyconfig") },
	};
	for (size_t i = 0; i < BISECT_ENDS; i++) {
		cleanup_free char *name = xasprintf("c%d", ends[i]);
		char id[GIT_ID];

		if (git_resolve(source, name, id, &err) < 0)
			fail_msg("%s", err.text);
		bisect_step(b, id, "");
	}
	if (bisect_new(b, dir, lock, &err) < 0 || bisect_save(b, &err) < 0)
		fail_msg("%s", err.text);
}

/* go() - from the state in the file to the end, as a kontest of its own does */
static int go(const char *where, struct lab *l, struct bisect *b, struct error *err)
{
	const struct bisect_ops ops = fake_ops(l);
	cleanup_close int lock = bisect_lock(where, err);
	int ret;

	assert_true(lock >= 0);
	if (bisect_load(b, where, err) < 0)
		fail_msg("%s", err->text);
	ret = bisect_drive(b, &ops, err);
	return ret;
}

/* run() - a new one, with kontest killed after every @each boots; 0: never */
static void run(struct lab *l, int good, int bad, unsigned int boots,
		unsigned int max_boots, unsigned int each, struct bisect *b)
{
	cleanup_free char *where = NULL;
	struct error err = { 0 };
	int lock = -1, tries = 0;

	new_bisect(b, good, bad, boots, max_boots, &lock);
	where = xstrdup(b->dir);
	bisect_free(b);
	close(lock);
	l->last = each;
	while (go(where, l, b, &err) < 0) {
		if (!each || strcmp(err.text, "killed"))
			fail_msg("%s", err.text);
		l->last += each;
		bisect_free(b);
		assert_true(++tries < 1000);
	}
}

static const struct bisect_step *tried(const struct bisect *b, int number)
{
	cleanup_free char *subject = xasprintf("commit %d", number);

	for (size_t i = 0; i < b->steps.n; i++)
		if (!strcmp(b->steps.v[i].subject, subject))
			return &b->steps.v[i];
	return NULL;
}

static void assert_found(const struct bisect *b, int number)
{
	cleanup_free char *subject = xasprintf("\n    commit %d", number);
	cleanup_free char *id = NULL;

	assert_int_equal(b->status, BISECT_FOUND);
	assert_non_null(strstr(b->first_bad, subject));
	assert_non_null(strstr(b->first_bad, "Author: A. Hacker <h@example.org>"));
	assert_non_null(strstr(b->first_bad, "Date:   "));
	assert_non_null(tried(b, number));
	id = xasprintf("commit %s\n", tried(b, number)->commit);
	assert_true(str_starts(b->first_bad, id));
}

/* --- tests -------------------------------------------------------------------------- */

static void every_planted_commit_is_found(void **state)
{
	(void)state;
	for (int planted = 2; planted <= COMMITS; planted += 5) {
		CLEANUP(bisect_free) struct bisect b = { 0 };
		struct lab l = lab(planted, 10, 12);

		run(&l, 1, COMMITS, 1, 16, 0, &b);
		assert_found(&b, planted);
		/* One boot each, log2 of 11 steps beside the ends */
		assert_true(l.done <= 2 + 4);
		assert_int_equal(l.done, b.steps.n);
	}
}

static void an_improvement_is_found_as_well(void **state)
{
	CLEANUP(bisect_free) struct bisect b = { 0 };
	struct lab l = lab(5, 12, 10);

	(void)state;
	run(&l, 2, 11, 1, 16, 0, &b);
	assert_found(&b, 5);
	assert_int_equal(tried(&b, 2)->verdict, BISECT_GOOD);
}

/* Whatever is killed when: the same boots, no more, and the same state in the end */
static void an_interruption_costs_nothing_that_was_measured(void **state)
{
	CLEANUP(bisect_free) struct bisect whole = { 0 };
	struct lab once = lab(8, 10, 10.6);

	(void)state;
	once.spread = 0.01;
	once.no_build[6] = true;
	run(&once, 1, COMMITS, 4, 16, 0, &whole);
	assert_found(&whole, 8);
	for (unsigned int each = 1; each <= 9; each += 4) {
		CLEANUP(bisect_free) struct bisect b = { 0 };
		struct lab l = once;

		memset(l.boots, 0, sizeof(l.boots));
		l.done = 0;
		run(&l, 1, COMMITS, 4, 16, each, &b);
		assert_int_equal(l.done, once.done);
		assert_memory_equal(l.boots, once.boots, sizeof(l.boots));
		assert_int_equal(b.steps.n, whole.steps.n);
		for (size_t i = 0; i < b.steps.n; i++) {
			assert_string_equal(b.steps.v[i].commit, whole.steps.v[i].commit);
			assert_int_equal(b.steps.v[i].verdict, whole.steps.v[i].verdict);
			assert_true(b.steps.v[i].call.mean == whole.steps.v[i].call.mean ||
				    !whole.steps.v[i].call.boots);
		}
		assert_string_equal(b.first_bad, whole.first_bad);
	}
}

static void what_does_not_build_or_boot_is_skipped(void **state)
{
	CLEANUP(bisect_free) struct bisect b = { 0 };
	struct lab l = lab(10, 10, 12);

	(void)state;
	l.no_build[6] = l.no_boot[7] = true;
	run(&l, 1, COMMITS, 1, 16, 0, &b);
	assert_found(&b, 10);
	assert_non_null(tried(&b, 6));
	assert_int_equal(tried(&b, 6)->verdict, BISECT_SKIP);
	assert_string_equal(tried(&b, 6)->reason, "does not build: no such luck");
	if (tried(&b, 7))
		assert_int_equal(tried(&b, 7)->verdict, BISECT_SKIP);
}

static void skipped_neighbours_leave_several(void **state)
{
	CLEANUP(bisect_free) struct bisect b = { 0 };
	struct lab l = lab(7, 10, 12);

	(void)state;
	l.no_build[6] = l.no_boot[7] = true;
	run(&l, 1, COMMITS, 1, 16, 0, &b);
	assert_int_equal(b.status, BISECT_SEVERAL);
	assert_null(b.first_bad);
	/* 6, 7 and the first that is surely bad */
	assert_int_equal(b.left.n, 3);
	assert_string_equal(tried(&b, 7)->reason, "boot 1: panic");
}

static void what_cannot_be_told_gets_more_boots_then_is_skipped(void **state)
{
	CLEANUP(bisect_free) struct bisect b = { 0 };
	struct lab l = lab(6, 10, 12);

	(void)state;
	l.spread = 0.01;
	l.value[6] = sqrt(10 * 12);
	run(&l, 1, COMMITS, 4, 16, 0, &b);
	assert_int_equal(b.status, BISECT_SEVERAL);
	assert_int_equal(tried(&b, 6)->verdict, BISECT_SKIP);
	assert_int_equal(tried(&b, 6)->call.boots, 16);
	assert_non_null(strstr(tried(&b, 6)->reason, "16 boots cannot tell"));
	/* So are the ends, for their part in it; who can be told with 4 has no more */
	assert_int_equal(tried(&b, 1)->call.boots, 16);
	assert_int_equal(b.left.n, 2);
}

static void more_boots_tell_smaller_differences(void **state)
{
	CLEANUP(bisect_free) struct bisect b = { 0 };
	struct lab l = lab(4, 10, 10.4);

	(void)state;
	l.spread = 0.015;
	run(&l, 1, COMMITS, 4, 64, 0, &b);
	assert_found(&b, 4);
	assert_true(tried(&b, 4)->call.boots > 4);
}

static void ends_that_are_the_same_are_refused(void **state)
{
	CLEANUP(bisect_free) struct bisect exact = { 0 }, noisy = { 0 };
	struct lab l = lab(6, 10, 10.15);

	(void)state;
	run(&l, 1, COMMITS, 1, 16, 0, &exact);
	assert_int_equal(exact.status, BISECT_SAME);
	assert_int_equal(l.done, 2);
	assert_int_equal(exact.steps.n, 2);

	l = lab(6, 10, 10.2);
	l.spread = 0.05;
	run(&l, 1, COMMITS, 4, 16, 0, &noisy);
	assert_int_equal(noisy.status, BISECT_SAME);
	assert_true(noisy.gap.need > 16);
	/* It is known after four of each that sixteen do not do. */
	assert_int_equal(l.done, 8);
}

static void an_end_that_fails_is_an_error(void **state)
{
	struct bisect b = { 0 };
	struct lab l = lab(6, 10, 12);
	struct error err = { 0 };
	cleanup_free char *where = NULL;
	int lock;

	(void)state;
	l.no_boot[12] = true;
	new_bisect(&b, 1, COMMITS, 1, 16, &lock);
	where = xstrdup(b.dir);
	bisect_free(&b);
	close(lock);
	assert_int_equal(go(where, &l, &b, &err), -1);
	assert_true(str_starts(err.text, "BAD, "));
	assert_non_null(strstr(err.text, "cannot be measured: boot 1: panic; take another commit"));
	bisect_free(&b);
}

/* GOOD after BAD: git says what it thinks of that, and it stops. */
static void git_is_asked_about_ancestry(void **state)
{
	struct bisect b = { 0 };
	struct lab l = lab(6, 12, 10);
	struct error err = { 0 };
	cleanup_free char *where = NULL;
	int lock;

	(void)state;
	new_bisect(&b, 9, 3, 1, 16, &lock);
	where = xstrdup(b.dir);
	bisect_free(&b);
	close(lock);
	assert_int_equal(go(where, &l, &b, &err), -1);
	assert_non_null(strstr(err.text, "git"));
	printf("%s\n", err.text);
	bisect_free(&b);
}

static void git_can_replay_the_log(void **state)
{
	CLEANUP(bisect_free) struct bisect b = { 0 };
	struct lab l = lab(9, 10, 12);
	cleanup_free char *script = NULL;

	(void)state;
	l.no_build[6] = true;
	run(&l, 1, COMMITS, 1, 16, 0, &b);
	script = xasprintf("git clone -q src replay; cd replay; git bisect replay '%s/bisect.log' >out\n"
			   "grep -q '^%s is the first bad commit' out", b.dir,
			   tried(&b, 9)->commit);
	sh(script);
}

static void the_users_tree_is_only_read(void **state)
{
	CLEANUP(bisect_free) struct bisect b = { 0 };
	struct lab l = lab(9, 10, 12);
	const char *snapshot = "(cd src; find . -type f | sort | xargs sha256sum; git status --porcelain) >'%s'";
	cleanup_free char *before = xasprintf(snapshot, "before");
	cleanup_free char *after = xasprintf(snapshot, "after");

	(void)state;
	sh(before);
	run(&l, 1, COMMITS, 1, 16, 3, &b);
	sh(after);
	sh("sed -i /index$/d before after; diff before after; grep -q untracked after");
}

static void two_at_once_are_refused(void **state)
{
	CLEANUP(bisect_free) struct bisect b = { 0 };
	cleanup_close int lock = -1;
	struct error err = { 0 };

	(void)state;
	new_bisect(&b, 1, COMMITS, 1, 16, &lock);
	assert_int_equal(bisect_lock(b.dir, &err), -1);
	assert_non_null(strstr(err.text, "is working on this bisect already"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_planted_commit_is_found),
		cmocka_unit_test(an_improvement_is_found_as_well),
		cmocka_unit_test(an_interruption_costs_nothing_that_was_measured),
		cmocka_unit_test(what_does_not_build_or_boot_is_skipped),
		cmocka_unit_test(skipped_neighbours_leave_several),
		cmocka_unit_test(what_cannot_be_told_gets_more_boots_then_is_skipped),
		cmocka_unit_test(more_boots_tell_smaller_differences),
		cmocka_unit_test(ends_that_are_the_same_are_refused),
		cmocka_unit_test(an_end_that_fails_is_an_error),
		cmocka_unit_test(git_is_asked_about_ancestry),
		cmocka_unit_test(git_can_replay_the_log),
		cmocka_unit_test(the_users_tree_is_only_read),
		cmocka_unit_test(two_at_once_are_refused),
	};

	return cmocka_run_group_tests(tests, make_repository, remove_repository);
}
