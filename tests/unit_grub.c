/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_grub.c - GRUB's boot code in a disk image
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

#include "images/grub.h"
#include "results/base/file.h"

#define MIB (1 << 20)

static uint64_t le(const struct buf *b, size_t off, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | (unsigned char)b->data[off + bytes];
	return v;
}

static void need_grub(void)
{
	struct sha256 s;
	char hex[SHA256_HEX];
	struct error err = { 0 };
	int ret;

	sha256_init(&s);
	ret = grub_inputs(&s, &err);
	sha256_final(&s, hex);
	if (ret < 0) {
		assert_non_null(strstr(err.text, "install the Debian package grub-"));
		print_message("skipped: %s\n", err.text);
		skip();
	}
}

/* A 4 MiB disk full of 0xa5, so that every byte written shows. */
static int make_disk(char path[256])
{
	const char *dir = getenv("TMPDIR");
	char *fill = malloc(4 * MIB);
	struct error err = { 0 };
	int fd;

	assert_non_null(fill);
	memset(fill, 0xa5, 4 * MIB);
	snprintf(path, 256, "%s/kontest-grub-XXXXXX", dir ? dir : "/tmp");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(full_pwrite(fd, fill, 4 * MIB, 0, path, &err), 0);
	free(fill);
	return fd;
}

static void test_core_is_stable(void **state)
{
	struct buf a = { 0 }, b = { 0 };
	struct error err = { 0 };

	(void)state;
	need_grub();
	assert_int_equal(grub_core(&a, &err), 0);
	assert_int_equal(setenv("TZ", "Asia/Kolkata", 1), 0);
	assert_int_equal(grub_core(&b, &err), 0);
	assert_true(a.len > 10000);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.data, b.data, a.len);
	buf_free(&a);
	buf_free(&b);
}

static void test_embed(void **state)
{
	struct buf core = { 0 }, disk = { 0 }, boot = { 0 };
	struct error err = { 0 };
	char path[256];
	int fd;

	(void)state;
	need_grub();
	fd = make_disk(path);
	assert_int_equal(grub_core(&core, &err), 0);
	assert_int_equal(grub_embed(fd, path, &core, MIB, MIB, &err), 0);
	assert_int_equal(file_read(path, 8 * MIB, &disk, &err), 0);
	assert_int_equal(file_read(GRUB_DIR "/boot.img", 512, &boot, &err), 0);
	assert_int_equal(disk.len, 4 * MIB);
	/* the code as it came, but for the three fields of an installer */
	assert_memory_equal(disk.data, boot.data, 0x5c);
	assert_int_equal(le(&disk, 0x5c, 8), 2048);
	assert_int_equal(le(&disk, 0x66, 2), 0x9090);
	assert_memory_equal(disk.data + 0x68, boot.data + 0x68, 440 - 0x68);
	/* the label's part of the MBR, and what lies around the core */
	for (int i = 440; i < MIB; i++)
		assert_int_equal((unsigned char)disk.data[i], 0xa5);
	for (size_t i = MIB + core.len; i < 4 * MIB; i++)
		assert_int_equal((unsigned char)disk.data[i], 0xa5);
	/* the core finds its own rest: all of it, right behind */
	assert_int_equal(le(&disk, MIB + 0x1f4, 8), 2049);
	assert_int_equal(le(&disk, MIB + 0x1fc, 2) * 512,
			 (core.len + 511) / 512 * 512 - 512);
	assert_memory_equal(disk.data + MIB + 512, core.data + 512,
			    core.len - 512);
	close(fd);
	unlink(path);
	buf_free(&core);
	buf_free(&disk);
	buf_free(&boot);
}

static void test_refuses(void **state)
{
	struct buf core = { 0 }, odd = { 0 };
	struct error err = { 0 };
	char path[256];
	int fd;

	(void)state;
	need_grub();
	fd = make_disk(path);
	assert_int_equal(grub_core(&core, &err), 0);
	assert_int_equal(grub_embed(fd, path, &core, MIB, core.len - 1, &err), -1);
	assert_non_null(strstr(err.text, "does not fit"));
	for (int i = 0; i < 2048; i++)
		buf_adds(&odd, "?");
	assert_int_equal(grub_embed(fd, path, &odd, MIB, MIB, &err), -1);
	assert_non_null(strstr(err.text, "unknown layout"));
	close(fd);
	unlink(path);
	buf_free(&core);
	buf_free(&odd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_core_is_stable),
		cmocka_unit_test(test_embed),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
