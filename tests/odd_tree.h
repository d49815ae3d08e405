/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * odd_tree.h - a directory tree with the names, modes and times that a program
 * which walks trees may trip over, and its comparison with another
 */
#ifndef KONTEST_ODD_TREE_H
#define KONTEST_ODD_TREE_H

#include <fcntl.h>
#include <sys/stat.h>

#include "tests/run_load.h"

#define ODD_PATH 8192

/* system(), which has to succeed */
static inline void sh(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

static inline void sh(const char *fmt, ...)
{
	char command[3 * ODD_PATH];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	assert_true(n > 0 && (size_t)n < sizeof(command));
	n = system(command);
	if (n != 0)
		fail_msg("'%s' ended with status %d", command, n);
}

/* "@dir/@name", which has to fit */
static inline void odd_path(char path[ODD_PATH], const char *dir,
			    const char *name)
{
	int n = snprintf(path, ODD_PATH, "%s/%s", dir, name);

	assert_true(n > 0 && n < ODD_PATH);
}

static inline void odd_file(const char *dir, const char *name, size_t size)
{
	char path[ODD_PATH];
	FILE *f;

	odd_path(path, dir, name);
	f = fopen(path, "wx");
	assert_non_null(f);
	for (size_t i = 0; i < size; i++)
		assert_true(fputc((int)((i * 31 + i / 251) & 0xff), f) != EOF);
	assert_int_equal(fclose(f), 0);
}

/* A name of @len bytes, all @c */
static inline const char *odd_name(char c, size_t len)
{
	static char name[256];

	memset(name, c, len);
	name[len] = '\0';
	return name;
}

/* Names of 99 to 101 and 255 bytes, as files and directories, with 100 and more
 * before them: each side of what a ustar header holds */
static inline void odd_long_names(const char *top)
{
	static const size_t lens[] = { 98, 99, 100, 101, 154, 155, 156, 255 };
	char dir[ODD_PATH];

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		odd_file(top, odd_name('f', lens[i]), 10 + i);
		odd_path(dir, top, odd_name('d', lens[i]));
		assert_int_equal(mkdir(dir, 0755), 0);
		odd_file(dir, "short", i);
		odd_file(dir, odd_name('g', lens[i]), 600 + i);
	}
	/* A path of 600 bytes in short components */
	snprintf(dir, sizeof(dir), "%s", top);
	for (int i = 0; i < 20; i++) {
		strcat(dir, "/");
		strcat(dir, odd_name((char)('a' + i), 30));
		assert_int_equal(mkdir(dir, 0755), 0);
	}
	odd_file(dir, "deep", 512);
}

static inline void odd_links(const char *top)
{
	char path[ODD_PATH], name[32], target[1024];

	for (size_t len = 99; len <= 101; len++) {
		snprintf(name, sizeof(name), "link-%zu", len);
		odd_path(path, top, name);
		assert_int_equal(symlink(odd_name('t', len), path), 0);
	}
	memset(target, 'u', sizeof(target) - 1);
	target[sizeof(target) - 1] = '\0';
	odd_path(path, top, "link-1023");
	assert_int_equal(symlink(target, path), 0);
	odd_path(path, top, "link-away");
	assert_int_equal(symlink("/etc/../nowhere at all", path), 0);
}

static inline void odd_sizes(const char *top)
{
	static const size_t sizes[] = { 0, 1, 511, 512, 513, 10239, 10240,
					10241, 100000 };
	char name[32];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		snprintf(name, sizeof(name), "size-%zu", sizes[i]);
		odd_file(top, name, sizes[i]);
	}
}

/* Makes @top; all that is in it has times of its own */
static inline void odd_tree(const char *top)
{
	assert_int_equal(mkdir(top, 0755), 0);
	odd_long_names(top);
	odd_links(top);
	odd_sizes(top);
	odd_file(top, "with spaces and\ttab", 5);
	odd_file(top, "\xc3\xbcml\xc3\xa4ut \xe2\x82\xac", 6);
	odd_file(top, "new\nline", 7);
	odd_file(top, "-n", 8);
	odd_file(top, "=path", 9);
	odd_file(top, ".hidden", 1);
	sh("cd '%s' && mkdir empty only 'a dir' && chmod 700 only && "
	   "chmod 1777 'a dir' && chmod 4755 size-1 && chmod 2711 size-511 && "
	   "chmod %s size-512 && ln size-513 hard && mkfifo pipe && "
	   "touch -d @1000000000 size-0 && touch -d @4000000000 size-10240 && "
	   "touch -h -d @1234567890 link-away && touch -d '1 month ago' hard && "
	   "touch -d '7 months ago' .hidden", top,
	   geteuid() == 0 ? "000" : "400");	/* root may read it all the same */
}

/* The same names, kinds, modes, contents, targets and times (in whole seconds) */
static inline void same_trees(const char *a, const char *b, bool dir_times)
{
	static const char list[] =
		"LC_ALL=C find . ! -type d -exec stat -c '%N %F %a %Y' {} +; "
		"LC_ALL=C find . -type f -exec sha256sum {} +; "
		"LC_ALL=C find . -type f -exec stat -c '%n %s' {} +";

	sh("(cd '%s' && (%s) | sort) >'%s.list' && "
	   "(cd '%s' && (%s) | sort) >'%s.list' && "
	   "test $(wc -l <'%s.list') -gt 20 && diff '%s.list' '%s.list' >&2 && "
	   "rm '%s.list' '%s.list'", a, list, a, b, list, b, a, a, b, a, b);
	sh("(cd '%s' && find . -type d -exec stat -c '%%n %%a%s' {} + | sort) "
	   ">'%s.list' && "
	   "(cd '%s' && find . -type d -exec stat -c '%%n %%a%s' {} + | sort) "
	   ">'%s.list' && diff '%s.list' '%s.list' >&2 && "
	   "rm '%s.list' '%s.list'", a, dir_times ? " %Y" : "", a, b,
	   dir_times ? " %Y" : "", b, a, b, a, b);
}

#endif
