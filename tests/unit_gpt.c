/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_gpt.c - the partition table, read back from its bytes (UEFI spec, 5.3)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "images/gpt.h"
#include "results/base/file.h"

#define MIB (1ull << 20)
#define DISK (8 * MIB)

static const uint8_t disk_uuid[16] = "\x10\x11\x12\x13\x14\x15\x56\x17"
				     "\x98\x19\x1a\x1b\x1c\x1d\x1e\x1f";
static const struct gpt_part parts[] = {
	{ 1 * MIB, 1 * MIB, GPT_TYPE_BIOS_BOOT, "first",
	  "\x20\x21\x22\x23\x24\x25\x56\x27\x98\x29\x2a\x2b\x2c\x2d\x2e\x2f" },
	/* behind the third, and of a size that is no round figure */
	{ 5 * MIB, 1 * MIB + 4096, GPT_TYPE_ESP, "second",
	  "\x30\x31\x32\x33\x34\x35\x56\x37\x98\x39\x3a\x3b\x3c\x3d\x3e\x3f" },
	{ 2 * MIB, 3 * MIB, GPT_TYPE_ROOT_X86_64, "third",
	  "\x40\x41\x42\x43\x44\x45\x56\x47\x98\x49\x4a\x4b\x4c\x4d\x4e\x4f" },
};
/* the same types as a GPT stores them: three little-endian fields, two not */
static const uint8_t types[3][16] = {
	"\x48\x61\x68\x21\x49\x64\x6f\x6e\x74\x4e\x65\x65\x64\x45\x46\x49",
	"\x28\x73\x2a\xc1\x1f\xf8\xd2\x11\xba\x4b\x00\xa0\xc9\x3e\xc9\x3b",
	"\xe3\xbc\x68\x4f\xcd\xe8\xb1\x4d\x96\xe7\xfb\xca\xf9\x84\xb7\x09",
};

static uint64_t le(const uint8_t *p, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static uint32_t crc32_of(const uint8_t *p, size_t len)
{
	uint32_t crc = ~0u;

	while (len--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

static void same_guid(const uint8_t *gpt, const uint8_t uuid[16])
{
	static const int order[16] = { 3, 2, 1, 0, 5, 4, 7, 6,
				       8, 9, 10, 11, 12, 13, 14, 15 };

	for (int i = 0; i < 16; i++)
		assert_int_equal(gpt[i], uuid[order[i]]);
}

static int temp_file(char path[256])
{
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, 256, "%s/kontest-gpt-XXXXXX", dir ? dir : "/tmp");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	return fd;
}

static uint8_t *make_disk(void)
{
	char path[256];
	int fd = temp_file(path);
	uint8_t *disk = malloc(DISK);
	struct error err = { 0 };
	struct stat st;

	assert_non_null(disk);
	assert_int_equal(ftruncate(fd, DISK), 0);
	if (gpt_write(fd, path, disk_uuid, parts, 3, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, DISK);
	assert_int_equal(full_pread(fd, disk, DISK, 0, path, &err), 0);
	close(fd);
	unlink(path);
	return disk;
}

static void check_header(uint8_t *disk, uint64_t lba, uint64_t other)
{
	uint8_t *h = disk + lba * 512;
	const uint8_t *entries;
	uint8_t copy[92];

	assert_memory_equal(h, "EFI PART", 8);
	assert_int_equal(le(h + 12, 4), 92);
	memcpy(copy, h, 92);
	memset(copy + 16, 0, 4);
	assert_int_equal(le(h + 16, 4), crc32_of(copy, 92));
	assert_int_equal(le(h + 24, 8), lba);
	assert_int_equal(le(h + 32, 8), other);
	same_guid(h + 56, disk_uuid);
	assert_int_equal(le(h + 80, 4), 128);
	assert_int_equal(le(h + 84, 4), 128);
	entries = disk + le(h + 72, 8) * 512;
	assert_int_equal(le(h + 88, 4), crc32_of(entries, 128 * 128));
	for (int i = 0; i < 3; i++) {
		const uint8_t *e = entries + i * 128;

		assert_memory_equal(e, types[i], 16);
		same_guid(e + 16, parts[i].uuid);
		assert_int_equal(le(e + 32, 8), parts[i].start / 512);
		assert_int_equal(le(e + 40, 8),
				 (parts[i].start + parts[i].size) / 512 - 1);
		for (size_t c = 0; c <= strlen(parts[i].name); c++)
			assert_int_equal(le(e + 56 + 2 * c, 2), parts[i].name[c]);
	}
	for (int i = 3 * 128; i < 128 * 128; i++)
		assert_int_equal(entries[i], 0);
}

static void test_table(void **state)
{
	uint8_t *disk = make_disk();
	uint64_t last = DISK / 512 - 1;

	(void)state;
	check_header(disk, 1, last);
	check_header(disk, last, 1);
	/* protective MBR: one partition of type EE over the whole disk */
	assert_int_equal(le(disk + 510, 2), 0xaa55);
	assert_int_equal(disk[446 + 4], 0xee);
	assert_int_equal(le(disk + 446 + 8, 4), 1);
	assert_int_equal(le(disk + 446 + 12, 4), last);
	for (int i = 0; i < 446; i++)
		assert_int_equal(disk[i], 0);
	for (int i = 462; i < 510; i++)
		assert_int_equal(disk[i], 0);
	free(disk);
}

static void test_same_bytes(void **state)
{
	uint8_t *a = make_disk(), *b;

	(void)state;
	setenv("TZ", "Asia/Kolkata", 1);
	b = make_disk();
	assert_memory_equal(a, b, DISK);
	free(a);
	free(b);
}

static void test_does_not_fit(void **state)
{
	char path[256];
	struct gpt_part big = parts[0];
	int fd = temp_file(path);
	struct error err = { 0 };

	(void)state;
	big.size = DISK;
	assert_int_equal(ftruncate(fd, DISK), 0);
	assert_int_equal(gpt_write(fd, path, disk_uuid, &big, 1, &err), -1);
	assert_non_null(strstr(err.text, "partition 1 (first)"));
	assert_non_null(strstr(err.text, path));
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_does_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
