/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "images/cache.h"
#include "results/base/cleanup.h"
#include "results/base/clock.h"
#include "results/base/file.h"

static char dir[] = "/tmp/kontest-cache.XXXXXX";

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return remove_tree(dir, NULL);
}

static void sleep_ms(long ms)
{
	struct timespec ts = { .tv_sec = ms / 1000,
			       .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static void paths(void **state)
{
	cleanup_free char *sub = xasprintf("%s/not/yet", dir);
	struct cache c = { .dir = sub };
	cleanup_free char *p = cache_path(&c, "debs", "abc", ".deb");
	cleanup_free char *want = xasprintf("%s/debs/abc.deb", sub);
	cleanup_free char *bare = cache_path(&c, "debs", "abc", NULL);
	struct error err = { 0 };

	(void)state;
	assert_string_equal(p, want);
	assert_int_equal(strlen(bare) + 4, strlen(p));
	/* The directory was made: the entry can be written at once. */
	assert_int_equal(file_write(p, "x", 1, &err), 0);
}

/* A child that holds the lock until it is told to die; its pid. */
static pid_t holder(const struct cache *c, const char *key)
{
	struct error err = { 0 };
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (cache_lock(c, "base", key, &err) < 0 ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		sleep(60);
		_exit(0);
	}
	assert_true(pid > 0);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

/* One at a time; and who dies with a lock, however, leaves it free. */
static void lock_excludes(void **state)
{
	struct cache c = { .dir = dir };
	struct error err = { 0 };
	pid_t first = holder(&c, "k"), second;
	int status, fd;

	(void)state;
	second = fork();
	if (!second)
		_exit(cache_lock(&c, "base", "k", &err) < 0 ? 1 : 42);
	sleep_ms(300);
	assert_int_equal(waitpid(second, &status, WNOHANG), 0);
	/* Another entry is free meanwhile. */
	fd = cache_lock(&c, "base", "other", &err);
	assert_true(fd >= 0);
	close(fd);
	kill(first, SIGKILL);
	waitpid(first, &status, 0);
	assert_int_equal(waitpid(second, &status, 0), second);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
}

static void lock_is_free_after_close(void **state)
{
	struct cache c = { .dir = dir };
	struct error err = { 0 };
	double t0 = clock_now_s();

	(void)state;
	for (int i = 0; i < 20; i++) {
		int fd = cache_lock(&c, "kernels", "k", &err);

		assert_true(fd >= 0);
		close(fd);
	}
	assert_true(clock_now_s() - t0 < 5);
}

/* What a killed kontest left of an entry goes, and nothing else does. */
static void leftovers_go(void **state)
{
	static const char *const gone[] = { ".key.abcdef", ".key.img.XyZ012",
					    ".key.sha256.000000" };
	static const char *const stay[] = { "key.img", "key.sha256", ".key.lock",
		".key2.img.abcdef", ".other.img.abcdef", "key.img.abcdef" };
	struct cache c = { .dir = dir };
	cleanup_free char *making = cache_making(&c, "kernels", "key");
	cleanup_free char *below = xasprintf("%s/modules/net", making);
	cleanup_free char *module = xasprintf("%s/.a.ko.abcdef", below);
	struct error err = { 0 };
	int fd;

	(void)state;
	assert_int_equal(make_dirs(below, &err), 0);
	assert_int_equal(file_write(module, "x", 1, &err), 0);
	for (size_t i = 0; i < sizeof(gone) / sizeof(*gone); i++) {
		cleanup_free char *path = cache_path(&c, "kernels", gone[i], NULL);

		assert_int_equal(file_write(path, "x", 1, &err), 0);
	}
	for (size_t i = 0; i < sizeof(stay) / sizeof(*stay); i++) {
		cleanup_free char *path = cache_path(&c, "kernels", stay[i], NULL);

		assert_int_equal(file_write(path, "x", 1, &err), 0);
	}
	fd = cache_lock(&c, "kernels", "key", &err);
	assert_true(fd >= 0);
	assert_false(path_exists(making));
	for (size_t i = 0; i < sizeof(gone) / sizeof(*gone); i++) {
		cleanup_free char *path = cache_path(&c, "kernels", gone[i], NULL);

		assert_false(path_exists(path));
	}
	for (size_t i = 0; i < sizeof(stay) / sizeof(*stay); i++) {
		cleanup_free char *path = cache_path(&c, "kernels", stay[i], NULL);

		assert_true(path_exists(path));
	}
	close(fd);
}

static void not_writable(void **state)
{
	struct cache c = { .dir = "/proc/kontest" };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(cache_lock(&c, "base", "k", &err), -1);
	assert_non_null(strstr(err.text, "/proc/kontest"));
}

struct seen {
	char name[32], detail[64];
	double seconds;
	bool cached;
	int calls;
};

static void on_step(void *data, const char *name, const char *detail,
		    double seconds, bool cached)
{
	struct seen *s = data;

	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(s->detail, sizeof(s->detail), "%s", detail);
	s->seconds = seconds;
	s->cached = cached;
	s->calls++;
}

static void steps(void **state)
{
	struct seen seen = { .calls = 0 };
	struct cache c = { .dir = dir, .step = on_step, .step_data = &seen };
	struct step s;

	(void)state;
	step_begin(&s, &c, "base");
	sleep_ms(50);
	step_end(&s, true, "%d MiB", 85);
	assert_int_equal(seen.calls, 1);
	assert_string_equal(seen.name, "base");
	assert_string_equal(seen.detail, "85 MiB");
	assert_true(seen.cached);
	assert_true(seen.seconds >= 0.05 && seen.seconds < 10);
	/* Nobody has to listen. */
	c.step = NULL;
	step_begin(&s, &c, "esp");
	step_end(&s, false, "x");
	assert_int_equal(seen.calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(lock_excludes),
		cmocka_unit_test(lock_is_free_after_close),
		cmocka_unit_test(leftovers_go),
		cmocka_unit_test(not_writable),
		cmocka_unit_test(steps),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
