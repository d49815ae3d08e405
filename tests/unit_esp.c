/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_esp.c - the FAT inside a disk image: read back, stable, no larger than needed
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "images/esp.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/proc.h"
#include "tests/scratch_dir.h"

#define MIB (1ull << 20)
#define OFF (3 * MIB)
#define EPOCH 1700000000u	/* 2023-11-14 22:13:20 UTC */

static void need_tools(void)
{
	struct sha256 s;
	char hex[SHA256_HEX];
	struct error err = { 0 };
	int ret;

	sha256_init(&s);
	ret = esp_inputs(&s, &err);
	sha256_final(&s, hex);
	if (ret < 0) {
		print_message("skipped: %s\n", err.text);
		skip();
	}
}

static void fill_part(struct buf *b, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++) {
		char c = (char)(seed = seed * 1103515245 + 12345, seed >> 16);

		buf_add(b, &c, 1);
	}
}

static void make_image(const char *path, const struct buf *big,
		       const struct buf *cfg, struct buf *out,
		       struct esp_layout *l)
{
	cleanup_free char *kernel = xasprintf("%s/kernel", dir);
	const struct esp_file files[] = {
		{ "grub/grub.cfg", NULL, cfg, cfg->len },
		{ "vmlinuz", kernel, NULL, big->len },
		{ "EFI/BOOT/BOOTX64.EFI", NULL, big, big->len },
	};
	struct error err = { 0 };

	assert_int_equal(file_write(kernel, big->data, big->len, &err), 0);
	assert_int_equal(esp_plan(files, 3, l, &err), 0);
	assert_int_equal(file_write(path, "", 0, &err), 0);
	assert_int_equal(truncate(path, (off_t)(OFF + l->size + MIB)), 0);
	if (esp_write(path, OFF, l, 0xc0ffee42, EPOCH, files, 3, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(file_read(path, 1 << 28, out, &err), 0);
}

static void read_back(const char *image, const char *name,
		      const struct buf *want)
{
	cleanup_free char *target = xasprintf("%s@@%llu", image, OFF);
	cleanup_free char *path = xasprintf("::%s", name);
	const char *const env[] = { "MTOOLS_SKIP_CHECK=1", NULL };
	const char *const argv[] = { "mcopy", "-i", target, path, "-", NULL };
	struct buf got = { 0 };
	struct proc_opts opts = { .env = env, .out = &got };
	struct error err = { 0 };

	if (proc_run(argv, &opts, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(got.len, want->len);
	assert_memory_equal(got.data, want->data, want->len);
	buf_free(&got);
}

/* A checker that knows nothing of us says that it is a sound file system. */
static void check_fat(const struct buf *image, const struct esp_layout *l)
{
	cleanup_free char *path = xasprintf("%s/esp", dir);
	const char *const argv[] = { "fsck.fat", "-n", path, NULL };
	struct error err = { 0 };

	assert_int_equal(file_write(path, image->data + OFF, l->size, &err), 0);
	if (proc_run(argv, NULL, &err) < 0)
		fail_msg("%s", err.text);
}

static void check_times(const struct buf *image)
{
	/* root directory: 1 reserved sector, two FATs (size at 22) */
	const unsigned char *fat = (const unsigned char *)image->data + OFF;
	const unsigned char *e = fat + 512 * (1 + 2 * (fat[22] | fat[23] << 8));
	const unsigned int date = (2023 - 1980) << 9 | 11 << 5 | 14;
	const unsigned int time = 22 << 11 | 13 << 5 | 20 / 2;
	unsigned int seen = 0;

	for (; e[0]; e += 32) {
		if (e[11] == 0x0f || e[11] & 0x08)	/* long name, label */
			continue;
		seen++;
		assert_int_equal(e[14] | e[15] << 8, time);
		assert_int_equal(e[16] | e[17] << 8, date);
		assert_int_equal(e[18] | e[19] << 8, date);
		assert_int_equal(e[22] | e[23] << 8, time);
		assert_int_equal(e[24] | e[25] << 8, date);
	}
	assert_int_equal(seen, 3);	/* grub, vmlinuz, EFI */
}

static void test_files(void **state)
{
	cleanup_free char *path = xasprintf("%s/image", dir);
	struct buf big = { 0 }, cfg = { 0 }, image = { 0 };
	struct esp_layout l;

	(void)state;
	need_tools();
	fill_part(&big, 9000001, 1);
	buf_adds(&cfg, "boot\n");
	make_image(path, &big, &cfg, &image, &l);
	read_back(path, "/grub/grub.cfg", &cfg);
	read_back(path, "/vmlinuz", &big);
	read_back(path, "/EFI/BOOT/BOOTX64.EFI", &big);
	check_fat(&image, &l);
	check_times(&image);
	assert_memory_equal(image.data + OFF + 39, "\x42\xee\xff\xc0", 4);
	assert_memory_equal(image.data + OFF + 54, "FAT16   ", 8);
	for (size_t i = 0; i < OFF; i++)
		assert_int_equal(image.data[i], 0);
	for (size_t i = OFF + l.size; i < image.len; i++)
		assert_int_equal(image.data[i], 0);
	/* two files of 9 MB, and less than 1.2 MB of everything else */
	assert_in_range(l.size, 18 * 1000000, 18 * 1000000 + 1200000 + MIB / 8);
	buf_free(&big);
	buf_free(&cfg);
	buf_free(&image);
}

static void test_same_bytes(void **state)
{
	cleanup_free char *a_path = xasprintf("%s/a", dir);
	cleanup_free char *b_path = xasprintf("%s/with a longer name", dir);
	cleanup_free char *rc = xasprintf("%s/.mtoolsrc", dir);
	struct buf big = { 0 }, cfg = { 0 }, a = { 0 }, b = { 0 };
	struct error err = { 0 };
	struct esp_layout l;

	(void)state;
	need_tools();
	fill_part(&big, 300001, 2);
	buf_adds(&cfg, "boot\n");
	make_image(a_path, &big, &cfg, &a, &l);
	assert_int_equal(file_write(rc, "mtools_lower_case=1\nmtools_no_vfat=1\n",
				    37, &err), 0);
	assert_int_equal(setenv("HOME", dir, 1), 0);
	assert_int_equal(setenv("MTOOLSRC", rc, 1), 0);
	assert_int_equal(setenv("MTOOLS_LOWER_CASE", "1", 1), 0);
	assert_int_equal(setenv("MTOOLS_NO_VFAT", "1", 1), 0);
	assert_int_equal(setenv("SOURCE_DATE_EPOCH", "5", 1), 0);
	assert_int_equal(setenv("TZ", "Asia/Kolkata", 1), 0);
	make_image(b_path, &big, &cfg, &b, &l);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.data, b.data, a.len);
	check_fat(&a, &l);
	buf_free(&big);
	buf_free(&cfg);
	buf_free(&a);
	buf_free(&b);
}

static void test_plan(void **state)
{
	struct esp_file file = { "vmlinuz", NULL, NULL, 1 };
	struct error err = { 0 };
	struct esp_layout l;

	(void)state;
	/* never below what makes a FAT16, never a cluster more than needed */
	assert_int_equal(esp_plan(&file, 1, &l, &err), 0);
	assert_int_equal(l.cluster, 2048);
	assert_int_equal(l.size, 9 * MIB);
	for (file.size = 10 * MIB; file.size < 1900 * MIB; file.size += 77777777) {
		assert_int_equal(esp_plan(&file, 1, &l, &err), 0);
		assert_true(l.size >= file.size + l.size / l.cluster * 4);
		assert_true(l.size < file.size + l.size / l.cluster * 4 + 2 * MIB);
		assert_true(l.size / l.cluster < 65525);
		assert_int_equal(l.size % MIB, 0);
	}
	file.size = 2200 * MIB;
	assert_int_equal(esp_plan(&file, 1, &l, &err), -1);
	assert_non_null(strstr(err.text, "too large"));
}

static void test_missing_tool(void **state)
{
	cleanup_free char *path = xstrdup(getenv("PATH"));
	struct sha256 s;
	char hex[SHA256_HEX];
	struct error err = { 0 };
	int ret;

	(void)state;
	need_tools();
	/* mkfs.fat is found in /usr/sbin whatever PATH says; mtools is not */
	assert_int_equal(setenv("PATH", dir, 1), 0);
	sha256_init(&s);
	ret = esp_inputs(&s, &err);
	sha256_final(&s, hex);
	assert_int_equal(setenv("PATH", path, 1), 0);
	assert_int_equal(ret, -1);
	assert_non_null(strstr(err.text, "'mcopy'"));
	assert_non_null(strstr(err.text, "package mtools"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_missing_tool),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
