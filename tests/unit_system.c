/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_system.c - the system disk as a whole, from small stand-ins for kernel,
 * initramfs and root (which it never looks into)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "images/esp.h"
#include "images/grub.h"
#include "images/system.h"
#include "images/uki.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "tests/scratch_dir.h"

#define MIB (1ull << 20)
#define ROOT_BYTES (5 * MIB + 4096)

static char *dir;
static unsigned int made, cached;

static void count_step(void *data, const char *name, const char *detail,
		       double seconds, bool was_cached)
{
	(void)data;
	(void)detail;
	assert_true(seconds >= 0);
	if (!strcmp(name, "system image"))
		*(was_cached ? &cached : &made) += 1;
}

/* struct inputs - what a disk is made of */
struct inputs {
	struct cache cache;
	struct base base;
	struct kernel kernel;
	struct initramfs initrd;
};

static void make_file(char **path, const char *name, size_t len, int seed,
		      char digest[SHA256_HEX])
{
	struct buf b = { 0 };
	struct error err = { 0 };

	for (size_t i = 0; i < len; i += 16)
		buf_printf(&b, "%7d %7zu\n", seed, i);
	*path = xasprintf("%s/%s", dir, name);
	assert_int_equal(file_write(*path, b.data, len, &err), 0);
	sha256_of(b.data, len, digest);
	buf_free(&b);
}

static void make_inputs(struct inputs *in, const char *cache)
{
	memset(in, 0, sizeof(*in));
	in->cache.dir = xasprintf("%s/%s", dir, cache);
	in->cache.step = count_step;
	make_file(&in->base.path, "root.ext4", ROOT_BYTES, 1, in->base.digest);
	in->base.size = ROOT_BYTES;
	in->base.epoch = 1700000000;
	uuid5("unit-test", "root", in->base.uuid);
	make_file(&in->kernel.vmlinuz, "vmlinuz", 3000000, 2, in->kernel.digest);
	in->kernel.release = xstrdup("6.1.0-test");
	make_file(&in->initrd.path, "initrd", 1000001, 3, in->initrd.digest);
}

static void free_inputs(struct inputs *in)
{
	free((char *)in->cache.dir);
	free(in->base.path);
	free(in->kernel.vmlinuz);
	free(in->kernel.release);
	free(in->initrd.path);
}

static void build(struct inputs *in, struct system_image *s)
{
	struct error err = { 0 };

	if (system_build(&in->cache, &in->base, &in->kernel, &in->initrd, s, &err))
		fail_msg("%s", err.text);
}

static void need_tools(void)
{
	struct sha256 s;
	char hex[SHA256_HEX];
	struct error err = { 0 };
	int ret;

	sha256_init(&s);
	ret = grub_inputs(&s, &err) < 0 || esp_inputs(&s, &err) < 0;
	sha256_final(&s, hex);
	if (ret || !path_exists(UKI_STUB)) {
		print_message("skipped: %s\n", ret ? err.text : "no " UKI_STUB);
		skip();
	}
}

/* Files below the cache, but locks: what a failed build may not leave. */
static unsigned int files_left(const char *cache)
{
	cleanup_free char *path = xasprintf("%s/images", cache);
	cleanup_closedir DIR *d = opendir(path);
	unsigned int n = 0;
	struct dirent *e;

	while (d && (e = readdir(d)))
		n += e->d_type == DT_REG && !str_ends(e->d_name, ".lock");
	return n;
}

static void test_disk(void **state)
{
	struct buf disk = { 0 }, root = { 0 };
	struct system_image s = { 0 };
	struct error err = { 0 };
	struct inputs in;
	char hex[SHA256_HEX], uuid[UUID_TEXT];

	(void)state;
	need_tools();
	make_inputs(&in, "disk");
	build(&in, &s);
	assert_int_equal(s.size % (2 * MIB), 0);
	assert_int_equal(file_read(s.path, 1 << 28, &disk, &err), 0);
	assert_int_equal(disk.len, s.size);
	sha256_of(disk.data, disk.len, hex);
	assert_string_equal(hex, s.digest);
	/* p3 is the base, byte for byte, where the table says */
	assert_int_equal(file_read(in.base.path, 1 << 28, &root, &err), 0);
	assert_memory_equal(disk.data + 2 * MIB, root.data, ROOT_BYTES);
	assert_memory_equal(disk.data + 1024 + 2 * 128 + 32, "\0\x10\0\0\0\0\0\0", 8);
	assert_memory_equal(disk.data + 512, "EFI PART", 8);
	assert_memory_equal(disk.data + 510, "\x55\xaa", 2);
	assert_string_equal(s.vmlinuz, in.kernel.vmlinuz);
	assert_string_equal(s.initrd, in.initrd.path);
	assert_string_equal(s.cmdline, SYSTEM_CMDLINE);
	system_root_partuuid(&in.base, uuid);
	assert_int_equal(strlen(uuid), 36);
	assert_int_equal(uuid[14], '5');
	assert_int_equal(files_left(in.cache.dir), 2);
	system_image_free(&s);
	free_inputs(&in);
	buf_free(&disk);
	buf_free(&root);
}

static void test_same_everywhere(void **state)
{
	struct system_image a = { 0 }, b = { 0 };
	struct inputs in, other;
	mode_t mask;

	(void)state;
	need_tools();
	make_inputs(&in, "here");
	build(&in, &a);
	make_inputs(&other, "another place with a longer name");
	mask = umask(077);
	assert_int_equal(setenv("TZ", "Asia/Kolkata", 1), 0);
	assert_int_equal(setenv("LC_ALL", "de_DE.UTF-8", 1), 0);
	assert_int_equal(setenv("HOME", "/nonexistent", 1), 0);
	build(&other, &b);
	umask(mask);
	assert_string_equal(a.digest, b.digest);
	assert_string_not_equal(a.path, b.path);
	system_image_free(&a);
	system_image_free(&b);
	free_inputs(&in);
	free_inputs(&other);
}

static void test_cache(void **state)
{
	struct system_image a = { 0 }, b = { 0 }, c = { 0 };
	struct error err = { 0 };
	struct inputs in;
	cleanup_free char *stale = NULL;

	(void)state;
	need_tools();
	make_inputs(&in, "cache");
	made = cached = 0;
	build(&in, &a);
	build(&in, &b);
	assert_int_equal(made, 1);
	assert_int_equal(cached, 1);
	assert_string_equal(a.path, b.path);
	assert_string_equal(a.digest, b.digest);
	assert_int_equal(a.size, b.size);
	/* other initramfs: another image, on the same root at the same place */
	in.initrd.digest[0] ^= 1;
	build(&in, &c);
	assert_int_equal(made, 2);
	assert_string_not_equal(a.path, c.path);
	assert_int_equal(files_left(in.cache.dir), 4);
	/* a build that was killed is made good by the next one */
	stale = xasprintf("%s/images/.%s.abcdef", in.cache.dir,
			  strrchr(c.path, '/') + 1);
	assert_int_equal(file_write(stale, "half", 4, &err), 0);
	assert_int_equal(truncate(c.path, 4096), 0);
	system_image_free(&c);
	build(&in, &c);
	assert_int_equal(made, 3);
	assert_false(path_exists(stale));
	system_image_free(&a);
	system_image_free(&b);
	system_image_free(&c);
	free_inputs(&in);
}

static void refuses(struct inputs *in, const char *why, const char *what)
{
	struct system_image s = { 0 };
	struct error err = { 0 };

	assert_int_equal(system_build(&in->cache, &in->base, &in->kernel,
				      &in->initrd, &s, &err), -1);
	if (!strstr(err.text, why) || !strstr(err.text, what))
		fail_msg("'%s' does not say '%s' and '%s'", err.text, why, what);
	assert_null(strchr(err.text, '\n'));
	assert_null(s.path);
	assert_int_equal(files_left(in->cache.dir), 0);
}

static void test_failures(void **state)
{
	struct rlimit before, small;
	struct inputs in;

	(void)state;
	need_tools();
	make_inputs(&in, "failures");
	in.base.size += 4096;
	refuses(&in, "should be", in.base.path);
	in.base.size -= 4096;
	assert_int_equal(truncate(in.initrd.path, 0), 0);
	refuses(&in, "is empty", in.initrd.path);
	assert_int_equal(truncate(in.initrd.path, 1000001), 0);
	assert_int_equal(unlink(in.kernel.vmlinuz), 0);
	refuses(&in, "No such file", in.kernel.vmlinuz);
	free_inputs(&in);

	/* no room for a file of that size */
	make_inputs(&in, "failures");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 4 * MIB;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	refuses(&in, "File too large", "images");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	free_inputs(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disk),
		cmocka_unit_test(test_same_everywhere),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
