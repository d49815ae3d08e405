/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base.c: a little root file system from a repository on the disk */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/stat.h>

#include "images/base.h"
#include "images/lock.h"
#include "tests/apt_repo.h"

static const char recipe_text[] =
	"[base]\nname = little\nlabel = little-root\nepoch = 86400\n"
	"[packages]\ninstall = app\nwithout = unwanted\n"
	"[exclude]\npath = /usr/share/doc*\n"
	"[layout]\n/bin = usr/bin\n"
	"[directory]\n/tmp = 1777\n"
	"[link]\n/bin/sh = dash\n"
	"[file]\n/etc/passwd = root:x:0:0:root:/root:/bin/sh\n"
	"[tree]\n/jobs = loads/jobs\n";

struct fixture {
	struct apt_repo repo;
	char *recipe, *lock, *job, *cache_dir, *path;
	struct cache cache;
};

static struct error why;
static char share[] = "/tmp/kontest-share.XXXXXX";

#define ok(call) do {				\
	if (call)				\
		fail_msg("%s", why.text);	\
} while (0)

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	*state = f;
	ok(repo_make(&f->repo, true, &why));
	ok(repo_add(&f->repo, "app", "1.0", "Depends: lib, unwanted\n", &why));
	ok(repo_add(&f->repo, "lib", "1.0", "", &why));
	ok(repo_add(&f->repo, "unwanted", "1.0", "", &why));
	ok(repo_index(&f->repo, &why));
	f->cache_dir = xasprintf("%s/cache", f->repo.dir);
	f->recipe = xasprintf("%s/little.recipe", f->repo.dir);
	f->lock = xasprintf("%s/little.lock", f->repo.dir);
	f->job = xasprintf("%s/loads/jobs/main.c", share);
	f->cache.dir = f->cache_dir;
	f->path = xstrdup(getenv("PATH"));
	ok(file_write(f->recipe, recipe_text, strlen(recipe_text), &why));
	ok(file_write(f->job, "int x;\n", 7, &why));
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	setenv("PATH", f->path, 1);
	repo_end(&f->repo);
	free(f->cache_dir);
	free(f->recipe);
	free(f->lock);
	free(f->job);
	free(f->path);
	free(f);
	return 0;
}

/* Make the lock that a release would ship: what a first build writes */
static void ship_lock(struct fixture *f)
{
	CLEANUP(base_free) struct base b = { 0 };
	CLEANUP(lock_free) struct lock l = { 0 };

	ok(base_build(&f->cache, f->recipe, false, &b, &why));
	assert_non_null(b.new_lock);
	ok(lock_read(b.new_lock, &l, &why));
	l.replaces[0] = '\0';
	ok(lock_write(f->lock, "little", &l, &why));
}

/* The mirror replaces lib 1.0 by lib 1.1; lists and packages start afresh. */
static void upgrade(struct fixture *f)
{
	ok(repo_sh(&f->repo, "rm \"$0/repo/lib_1.0_amd64.deb\"; rm -r \"$0/cache\"",
		   NULL, NULL, &why));
	ok(repo_add(&f->repo, "lib", "1.1", "", &why));
	ok(repo_index(&f->repo, &why));
}

/* What debugfs says of a path in the image, or "" when there is nothing */
static char *in_image(const struct base *b, const char *command)
{
	const char *argv[] = { "debugfs", "-R", command, b->path, NULL };
	struct buf out = { 0 };
	struct proc_opts opts = { .out = &out };

	ok(proc_run(argv, &opts, &why));
	buf_adds(&out, "");
	return out.data;
}

static void expect(const struct base *b, const char *command, const char *text)
{
	cleanup_free char *got = in_image(b, command);

	if (!strstr(got, text))
		fail_msg("%s: no '%s' in '%s'", command, text, got);
}

static void content(void **state)
{
	struct fixture *f = *state;
	CLEANUP(base_free) struct base b = { 0 };
	cleanup_free char *list = NULL;
	char hex[SHA256_HEX];
	uint8_t uuid[16];
	struct stat st;

	ship_lock(f);
	ok(base_build(&f->cache, f->recipe, true, &b, &why));
	assert_null(b.new_lock);
	assert_int_equal(b.epoch, 86400);
	uuid5("little", "root", uuid);
	assert_memory_equal(b.uuid, uuid, 16);
	ok(sha256_file(b.path, hex, &why));
	assert_string_equal(b.digest, hex);
	assert_int_equal(stat(b.path, &st), 0);
	assert_int_equal(st.st_size, b.size);
	assert_int_equal(b.size % (1 << 20), 0);
	ok(sha256_file(f->lock, hex, &why));
	assert_string_equal(b.lock_digest, hex);
	expect(&b, "cat /usr/share/lib/version", "1.0");
	expect(&b, "cat /jobs/main.c", "int x;");
	expect(&b, "cat /etc/passwd", "root:x:0:0:");
	expect(&b, "stat /usr/bin/sh", "\"dash\"");
	expect(&b, "stat /bin", "\"usr/bin\"");
	expect(&b, "stat /tmp", "01777");
	expect(&b, "stats -h", "little-root");
	list = in_image(&b, "ls -p /usr/share");
	assert_non_null(strstr(list, "/lib/"));
	assert_null(strstr(list, "unwanted"));
}

/* Everything cached: no apt, no package is read; a changed job is a new base. */
static void cached(void **state)
{
	struct fixture *f = *state;
	CLEANUP(base_free) struct base a = { 0 };
	CLEANUP(base_free) struct base b = { 0 };
	CLEANUP(base_free) struct base c = { 0 };

	ship_lock(f);
	ok(base_build(&f->cache, f->recipe, true, &a, &why));
	ok(remove_tree(f->repo.debs, &why));
	setenv("PATH", "/nonexistent", 1);
	ok(base_build(&f->cache, f->recipe, true, &b, &why));
	assert_string_equal(a.path, b.path);
	assert_string_equal(a.digest, b.digest);
	ok(file_write(f->job, "int y;\n", 7, &why));
	ok(base_build(&f->cache, f->recipe, true, &c, &why));
	assert_string_not_equal(a.path, c.path);
	assert_string_not_equal(a.digest, c.digest);
	/* An image that was cut short is made again. */
	assert_int_equal(truncate(c.path, 4096), 0);
	base_free(&b);
	ok(base_build(&f->cache, f->recipe, true, &b, &why));
	assert_string_equal(b.digest, c.digest);
	assert_int_equal(b.size, c.size);
}

static void same_bytes_elsewhere(void **state)
{
	struct fixture *f = *state;
	CLEANUP(base_free) struct base a = { 0 };
	CLEANUP(base_free) struct base b = { 0 };
	cleanup_free char *other = xasprintf("%s/another cache", f->repo.dir);
	struct cache c = { .dir = other };
	mode_t mask;

	ship_lock(f);
	ok(base_build(&f->cache, f->recipe, true, &a, &why));
	mask = umask(077);
	setenv("TZ", "Asia/Tokyo", 1);
	ok(base_build(&c, f->recipe, true, &b, &why));
	unsetenv("TZ");
	umask(mask);
	assert_string_not_equal(a.path, b.path);
	assert_string_equal(a.digest, b.digest);
}

static void gone_and_locked(void **state)
{
	struct fixture *f = *state;
	struct base b = { 0 };
	cleanup_free char *images = NULL;

	ship_lock(f);
	upgrade(f);
	assert_int_equal(base_build(&f->cache, f->recipe, true, &b, &why), -1);
	assert_non_null(strstr(why.text, "lib 1.0"));
	assert_non_null(strstr(why.text, "little.lock"));
	assert_null(strstr(why.text, "app 1.0"));
	assert_null(b.path);
	images = cache_path(&f->cache, "base", "little", ".lock");
	assert_false(path_exists(images));
}

static void gone_goes_on(void **state)
{
	struct fixture *f = *state;
	CLEANUP(base_free) struct base b = { 0 };
	CLEANUP(base_free) struct base again = { 0 };
	CLEANUP(lock_free) struct lock l = { 0 };
	struct base none = { 0 };

	ship_lock(f);
	upgrade(f);
	ok(base_build(&f->cache, f->recipe, false, &b, &why));
	assert_string_equal(b.changes, "lib 1.0 -> 1.1\n");
	ok(lock_read(b.new_lock, &l, &why));
	assert_int_equal(l.packages.n, 2);
	assert_string_equal(l.packages.v[1].version, "1.1");
	expect(&b, "cat /usr/share/lib/version", "1.1");
	/* The next time it is taken from the cache, and still said. */
	setenv("PATH", "/nonexistent", 1);
	ok(base_build(&f->cache, f->recipe, false, &again, &why));
	assert_string_equal(again.digest, b.digest);
	assert_string_equal(again.changes, b.changes);
	assert_string_equal(again.new_lock, b.new_lock);
	assert_string_equal(again.lock_digest, b.lock_digest);
	/* But never in a locked build. */
	setenv("PATH", f->path, 1);
	assert_int_equal(base_build(&f->cache, f->recipe, true, &none, &why), -1);
	assert_non_null(strstr(why.text, "lib 1.0"));
}

static void no_lock(void **state)
{
	struct fixture *f = *state;
	struct base b = { 0 };

	assert_int_equal(base_build(&f->cache, f->recipe, true, &b, &why), -1);
	assert_non_null(strstr(why.text, "little.lock"));
}

/* A job's directory that is missing is said before anything is fetched. */
static void no_tree(void **state)
{
	struct fixture *f = *state;
	struct base b = { 0 };
	cleanup_free char *text = xasprintf("%s/other = loads/none\n",
					    recipe_text);

	ok(file_write(f->recipe, text, strlen(text), &why));
	assert_int_equal(base_build(&f->cache, f->recipe, false, &b, &why), -1);
	assert_non_null(strstr(why.text, "loads/none"));
	assert_false(path_exists(f->cache_dir));
}

static int group_setup(void **state)
{
	cleanup_free char *jobs = NULL;

	(void)state;
	if (!mkdtemp(share))
		return -1;
	jobs = xasprintf("%s/loads/jobs", share);
	setenv("KONTEST_SHARE", share, 1);
	return make_dirs(jobs, &why);
}

static int group_teardown(void **state)
{
	(void)state;
	return remove_tree(share, NULL);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(content),
		TEST(cached),
		TEST(same_bytes_elsewhere),
		TEST(gone_and_locked),
		TEST(gone_goes_on),
		TEST(no_lock),
		TEST(no_tree),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
