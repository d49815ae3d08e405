/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_bisect_state.c - a bisect's state in its file: it comes back as it was, and a
 * damaged one is told by the place
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/bisect.h"
#include "results/base/cleanup.h"
#include "tests/scratch_dir.h"

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define ID_C "cccccccccccccccccccccccccccccccccccccccc"

static void make(struct bisect *b)
{
	struct error err = { 0 };
	int lock = -1;

	*b = (struct bisect){
		.source = xstrdup("/home/me/linux"), .good_name = xstrdup("v6.1"),
		.bad_name = xstrdup("v6.12"), .load = xstrdup("io_load"),
		.metric = xstrdup("time"), .threshold_pct = 1.5, .boots = 4,
		.max_boots = 16, .store = xstrdup("/home/me/results.db"),
		.kbuild = { .config = xstrdup("file"), .fragment = true, .jobs = 3 },
		.status = BISECT_SEVERAL,
		.gap = { .told = true, .pct = 12.5, .low = 11, .high = NAN, .need = 3 },
	};
	strings_add(&b->kbuild.sets, xstrdup("SMP=n"));
	strings_add(&b->left, xstrdup(ID_C));
	bisect_step(b, ID_A, "one");
	bisect_step(b, ID_B, "two: \"quoted\"");
	assert_int_equal(bisect_step(b, ID_C, "three"), 2);
	assert_int_equal(bisect_step(b, ID_B, "known"), 1);
	b->steps.v[0].verdict = BISECT_GOOD;
	b->steps.v[0].order = 0;
	b->steps.v[0].call = (struct bisect_call){ BISECT_GOOD, 4, 10.125, 10, 10.25, 11 };
	b->steps.v[2].verdict = BISECT_SKIP;
	b->steps.v[2].reason = xstrdup("does not build");
	b->machine[MACHINE_accel] = xstrdup("tcg");
	if (bisect_new(b, dir, &lock, &err) < 0 || bisect_save(b, &err) < 0)
		fail_msg("%s", err.text);
	close(lock);
}

static void it_comes_back_as_it_was(void **state)
{
	CLEANUP(bisect_free) struct bisect b = { 0 }, c = { 0 };
	struct error err = { 0 };
	const struct bisect_step *s;

	(void)state;
	make(&b);
	if (bisect_load(&c, b.dir, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(c.id, b.id);
	assert_string_equal(c.created, b.created);
	assert_string_equal(c.bad_name, "v6.12");
	assert_true(c.threshold_pct == 1.5);
	assert_int_equal(c.max_boots, 16);
	assert_null(c.cmdline);
	assert_string_equal(c.kbuild.config, "file");
	assert_true(c.kbuild.fragment);
	assert_int_equal(c.kbuild.jobs, 3);
	assert_string_equal(c.kbuild.sets.v[0], "SMP=n");
	assert_string_equal(c.machine[MACHINE_accel], "tcg");
	assert_null(c.machine[MACHINE_guest]);
	assert_int_equal(c.status, BISECT_SEVERAL);
	assert_true(c.gap.told && isnan(c.gap.high) && c.gap.need == 3);
	assert_int_equal(c.left.n, 1);
	assert_int_equal(c.steps.n, 3);
	s = &c.steps.v[0];
	assert_string_equal(s->commit, ID_A);
	assert_int_equal(s->verdict, BISECT_GOOD);
	assert_true(s->call.mean == 10.125 && s->call.boundary == 11 && s->call.boots == 4);
	assert_string_equal(c.steps.v[1].subject, "two: \"quoted\"");
	assert_int_equal(c.steps.v[1].order, -1);
	assert_string_equal(c.steps.v[2].reason, "does not build");
}

/* damage() - replace @from by @to in the file; what is said then must have @text */
static void damage(const char *from, const char *to, const char *text)
{
	CLEANUP(bisect_free) struct bisect b = { 0 }, c = { 0 };
	CLEANUP(buf_free) struct buf old = { 0 }, new = { 0 };
	cleanup_free char *path = NULL;
	struct error err = { 0 };
	char *at;

	make(&b);
	path = bisect_file(&b, "state.json");
	assert_int_equal(file_read(path, 1 << 20, &old, &err), 0);
	at = strstr(old.data, from);
	assert_non_null(at);
	buf_add(&new, old.data, (size_t)(at - old.data));
	buf_adds(&new, to);
	buf_adds(&new, at + strlen(from));
	assert_int_equal(file_write(path, new.data, new.len, &err), 0);
	assert_int_equal(bisect_load(&c, b.dir, &err), -1);
	if (!strstr(err.text, text) || !strstr(err.text, path) || strchr(err.text, '\n'))
		fail_msg("no '%s' in: %s", text, err.text);
}

static void damage_is_told_by_its_place(void **state)
{
	(void)state;
	damage("\"verdict\": \"good\"", "\"verdict\": \"goood\"",
	       "steps[0].verdict is not one of open, good, bad, skip");
	damage("\"boots\": 4,\n \"max_boots\"", "\"boots\": 0,\n \"max_boots\"",
	       "boots is not a whole number from 1 to 1000");
	damage("\"format\": 1", "\"format\": 2", "format is not a whole number from 1 to 1");
	damage(ID_C, ID_A, "steps[2].commit is not a commit and a kernel of its own");
	damage(ID_B, "bb/../../etc", "steps[1].commit is not a number in hex");
	damage("\"metric\": \"time\"", "\"metric\": \"luck\"", "metric is not a metric");
	damage("\"config\": \"file\"", "\"config\": \"../x\"", "kbuild.config is not");
	damage("\"status\": \"several\"", "\"status\": null", "status is not one of running");
	damage("\"sets\": [", "\"sets\": [ 1, ", "kbuild.sets is not a list of texts");
	damage("\"id\": \"", "\"id\": \"x", "id is not the name of its directory");
	damage("\"load\": \"io_load\",", "\"load\": \"io\\u0000load\",", "state.json' line");
	damage("\n}", "", "state.json' line");
}

static void it_is_found_by_the_beginning_of_its_id(void **state)
{
	CLEANUP(bisect_free) struct bisect b = { 0 };
	cleanup_free char *prefix = NULL, *found = NULL, *none = NULL;
	struct error err = { 0 };

	(void)state;
	make(&b);
	prefix = xstrndup(b.id, 13);
	found = bisect_find(dir, prefix, &err);
	assert_non_null(found);
	assert_string_equal(found, b.dir);
	none = bisect_find(dir, "zz", &err);
	assert_null(none);
	assert_non_null(strstr(err.text, "there is no bisect 'zz'; `kontest bisect --list`"));
}

/* The newest one that is not done comes before a newer one that is. */
static void the_one_to_go_on_with_is_that_which_is_not_done(void **state)
{
	CLEANUP(bisect_free) struct bisect b = { 0 }, done = { 0 };
	cleanup_free char *found = NULL;
	struct error err = { 0 };

	(void)state;
	make(&b);
	b.status = BISECT_RUNNING;
	assert_int_equal(bisect_save(&b, &err), 0);
	make(&done);
	found = bisect_find(dir, NULL, &err);
	assert_non_null(found);
	assert_string_equal(found, b.dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_comes_back_as_it_was, setup, teardown),
		cmocka_unit_test_setup_teardown(damage_is_told_by_its_place, setup, teardown),
		cmocka_unit_test_setup_teardown(it_is_found_by_the_beginning_of_its_id,
						setup, teardown),
		cmocka_unit_test_setup_teardown(the_one_to_go_on_with_is_that_which_is_not_done,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
