/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apt.c against a repository on the disk: no network, nothing of the host's */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>

#include "images/apt.h"
#include "tests/apt_repo.h"

struct fixture {
	struct apt_repo repo;
	char *cache_dir;
	struct cache cache;
	char *path;
};

/* The reason of a failure that is none of the test's own subject */
static struct error why;

#define ok(call) do {				\
	if (call)				\
		fail_msg("%s", why.text);	\
} while (0)

static int begin(void **state, bool trusted)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	*state = f;
	ok(repo_make(&f->repo, trusted, &why));
	f->cache_dir = xasprintf("%s/cache", f->repo.dir);
	f->cache.dir = f->cache_dir;
	f->path = xstrdup(getenv("PATH"));
	ok(repo_add(&f->repo, "app", "2:1.0-1", "Depends: lib (>= 1)\nRecommends: extra\n", &why));
	ok(repo_add(&f->repo, "lib", "1.0~rc1+b1", "", &why));
	ok(repo_add(&f->repo, "lib", "1.5", "", &why));
	ok(repo_add(&f->repo, "extra", "1", "", &why));
	ok(repo_add(&f->repo, "linux-image-cloud", "1", "Depends: lib, linux-image-6.1-cloud (= 6.1.5-1) | nothing\n", &why));
	ok(repo_index(&f->repo, &why));
	return 0;
}

static int setup(void **state)
{
	return begin(state, true);
}

static int setup_untrusted(void **state)
{
	return begin(state, false);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	setenv("PATH", f->path, 1);
	repo_end(&f->repo);
	free(f->cache_dir);
	free(f->path);
	free(f);
	return 0;
}

static void closure_without_recommends(void **state)
{
	struct fixture *f = *state;
	CLEANUP(packages_clear) struct packages p = { 0 };

	ok(apt_resolve(&f->cache, (const char *[]){ "app", NULL }, false, &p, &why));
	assert_int_equal(p.n, 2);
	assert_string_equal(p.v[0].name, "app");
	assert_string_equal(p.v[0].version, "2:1.0-1");
	assert_string_equal(p.v[0].arch, "amd64");
	assert_string_equal(p.v[1].name, "lib");
	assert_string_equal(p.v[1].version, "1.5");
	assert_null(p.v[0].path);
}

static void named_version_alone(void **state)
{
	struct fixture *f = *state;
	CLEANUP(packages_clear) struct packages p = { 0 };

	ok(apt_resolve(&f->cache, (const char *[]){ "lib=1.0~rc1+b1", NULL }, true, &p, &why));
	assert_int_equal(p.n, 1);
	assert_string_equal(p.v[0].version, "1.0~rc1+b1");
	packages_clear(&p);
	ok(apt_resolve(&f->cache, (const char *[]){ "app", NULL }, true, &p, &why));
	assert_int_equal(p.n, 1);
}

static void unknown_package(void **state)
{
	struct fixture *f = *state;
	struct packages p = { 0 };
	struct error err = { 0 };

	assert_int_equal(apt_resolve(&f->cache, (const char *[]){ "nosuch", NULL }, false, &p, &err), -1);
	assert_non_null(strstr(err.text, "nosuch"));
	assert_non_null(strstr(err.text, "check the name"));
	assert_null(strchr(err.text, '\n'));
	assert_int_equal(p.n, 0);
}

static void meta_package(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *real = NULL;
	struct error err = { 0 };

	ok(apt_meta(&f->cache, "linux-image-cloud", "linux-image-", &real, &why));
	assert_string_equal(real, "linux-image-6.1-cloud");
	free(steal_ptr(real));
	assert_int_equal(apt_meta(&f->cache, "app", "linux-image-", &real, &err), -1);
	assert_null(real);
	assert_non_null(strstr(err.text, "app"));
}

/* Fetched once, a package needs neither apt nor mirror any more. */
static void fetch_then_offline(void **state)
{
	struct fixture *f = *state;
	CLEANUP(packages_clear) struct packages p = { 0 };
	CLEANUP(strings_clear) struct strings gone = { 0 };
	char hex[SHA256_HEX];
	struct error err = { 0 };

	ok(apt_resolve(&f->cache, (const char *[]){ "app", NULL }, false, &p, &why));
	ok(apt_fetch(&f->cache, &p, &why));
	for (size_t i = 0; i < p.n; i++) {
		ok(sha256_file(p.v[i].path, hex, &why));
		assert_string_equal(hex, p.v[i].sha256);
		free(steal_ptr(p.v[i].path));
	}
	ok(remove_tree(f->repo.debs, &why));
	setenv("PATH", "/nonexistent", 1);
	ok(apt_gone(&f->cache, &p, &gone, &why));
	assert_int_equal(gone.n, 0);
	ok(apt_fetch(&f->cache, &p, &why));
	assert_non_null(p.v[1].path);
	/* With one lost, apt is wanted and, here, missed. */
	assert_int_equal(truncate(p.v[1].path, 10), 0);
	free(steal_ptr(p.v[1].path));
	setenv("PATH", f->path, 1);
	assert_int_equal(apt_fetch(&f->cache, &p, &err), -1);
	assert_non_null(strstr(err.text, "lib"));
	assert_null(p.v[1].path);
}

/* A file in the cache that was damaged is fetched again, not used. */
static void damaged_in_cache(void **state)
{
	struct fixture *f = *state;
	CLEANUP(packages_clear) struct packages p = { 0 };
	char hex[SHA256_HEX];
	int fd;

	ok(apt_resolve(&f->cache, (const char *[]){ "lib", NULL }, true, &p, &why));
	ok(apt_fetch(&f->cache, &p, &why));
	fd = open(p.v[0].path, O_WRONLY);
	assert_int_equal(pwrite(fd, "X", 1, 100), 1);
	close(fd);
	ok(apt_fetch(&f->cache, &p, &why));
	ok(sha256_file(p.v[0].path, hex, &why));
	assert_string_equal(hex, p.v[0].sha256);
}

static void gone_version(void **state)
{
	struct fixture *f = *state;
	CLEANUP(packages_clear) struct packages p = { 0 };
	CLEANUP(strings_clear) struct strings gone = { 0 };
	cleanup_free char *deb = xasprintf("%s/lib_1.5_amd64.deb", f->repo.debs);
	struct error err = { 0 };

	ok(apt_resolve(&f->cache, (const char *[]){ "app", NULL }, false, &p, &why));
	assert_int_equal(unlink(deb), 0);
	ok(repo_add(&f->repo, "lib", "1.6", "", &why));
	ok(repo_index(&f->repo, &why));
	/* Lists made this minute are not updated again: a new cache has none. */
	f->cache.dir = f->repo.dir;
	ok(apt_gone(&f->cache, &p, &gone, &why));
	assert_int_equal(gone.n, 1);
	assert_string_equal(gone.v[0], "lib 1.5");
	assert_int_equal(apt_fetch(&f->cache, &p, &err), -1);
	assert_non_null(strstr(err.text, "1.5"));
}

/* Same version, other bytes: that is another package. */
static void rebuilt_version(void **state)
{
	struct fixture *f = *state;
	CLEANUP(packages_clear) struct packages p = { 0 };
	CLEANUP(strings_clear) struct strings gone = { 0 };
	struct error err = { 0 };

	ok(apt_resolve(&f->cache, (const char *[]){ "lib", NULL }, true, &p, &why));
	p.v[0].sha256[0] = p.v[0].sha256[0] == '0' ? '1' : '0';
	ok(apt_gone(&f->cache, &p, &gone, &why));
	assert_int_equal(gone.n, 1);
	assert_int_equal(apt_fetch(&f->cache, &p, &err), -1);
	assert_non_null(strstr(err.text, "not the one wanted"));
}

/* Lists of the host's that know a version which the mirror has no more are
 * updated, in the cache, when the fetch fails. */
static void old_host_lists(void **state)
{
	struct fixture *f = *state;
	CLEANUP(packages_clear) struct packages p = { 0 };
	CLEANUP(strings_clear) struct strings gone = { 0 };

	ok(repo_sh(&f->repo,
		   "mkdir -p \"$0/host-lists/partial\" \"$0/s\"; : >\"$0/st\"\n"
		   "apt-get -qq -oDir::State=\"$0/s\" -oDir::Cache=\"$0/s\" -oDir::State::lists=\"$0/host-lists\" update 2>/dev/null\n"
		   "touch -d '-2 hours' \"$0/host-lists\" \"$0/host-lists/partial\"\n"
		   "rm \"$0/repo/lib_1.5_amd64.deb\"", NULL, NULL, &why));
	ok(repo_add(&f->repo, "lib", "1.7", "", &why));
	ok(repo_index(&f->repo, &why));
	ok(apt_resolve(&f->cache, (const char *[]){ "lib=1.5", NULL }, true, &p, &why));
	ok(apt_gone(&f->cache, &p, &gone, &why));
	assert_int_equal(gone.n, 0);
	packages_clear(&p);
	ok(apt_resolve(&f->cache, (const char *[]){ "lib=1.7", NULL }, true, &p, &why));
	ok(apt_fetch(&f->cache, &p, &why));
	assert_non_null(p.v[0].path);
}

static void unauthenticated(void **state)
{
	struct fixture *f = *state;
	struct packages p = { 0 };
	struct error err = { 0 };

	assert_int_equal(apt_resolve(&f->cache, (const char *[]){ "lib", NULL }, true, &p, &err), -1);
	assert_non_null(strstr(err.text, "is not signed"));
	packages_clear(&p);
}

static void no_apt(void **state)
{
	struct fixture *f = *state;
	struct packages p = { 0 };
	struct error err = { 0 };

	/* proc_find() looks into /usr/sbin and /sbin too; apt is in neither. */
	setenv("PATH", "/nonexistent", 1);
	assert_int_equal(apt_resolve(&f->cache, (const char *[]){ "lib", NULL }, true, &p, &err), -1);
	assert_non_null(strstr(err.text, "apt-get"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(closure_without_recommends),
		TEST(named_version_alone),
		TEST(unknown_package),
		TEST(meta_package),
		TEST(fetch_then_offline),
		TEST(damaged_in_cache),
		TEST(gone_version),
		TEST(rebuilt_version),
		TEST(old_host_lists),
		cmocka_unit_test_setup_teardown(unauthenticated,
						setup_untrusted, teardown),
		TEST(no_apt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
