/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_bzimage.c - the setup header, the payload, the built-in configuration
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "images/bzimage.h"
#include "images/unpack.h"
#include "tests/kernel_make.h"

#define VERSION KM_RELEASE " (me@here) #1 SMP Thu Jan 1 00:00:00 UTC 1970"

static void fill(struct buf *b, size_t len)
{
	uint32_t x = 1;

	while (b->len < len) {
		x = x * 1664525u + 1013904223u;
		buf_add(b, &x, sizeof(x));
	}
}

static void reads_header(void **state)
{
	CLEANUP(buf_free) struct buf vmlinux = { 0 }, image = { 0 };
	struct bzimage bz;
	struct error err = { 0 };

	(void)state;
	fill(&vmlinux, 1000);
	km_bzimage(VERSION, "gzip", &vmlinux, &image);
	assert_true(bzimage_is(image.data, image.len));
	km_ok(bzimage_parse(image.data, image.len, "bzImage", &bz, &err), &err);
	assert_int_equal(bz.protocol, 0x020f);
	assert_string_equal(bz.version, VERSION);
	assert_string_equal(bz.release, KM_RELEASE);
	bzimage_free(&bz);
}

static void refuses_what_is_no_image(void **state)
{
	CLEANUP(buf_free) struct buf vmlinux = { 0 }, image = { 0 };
	struct bzimage bz;
	struct error err = { 0 };

	(void)state;
	fill(&vmlinux, 1000);
	assert_int_equal(bzimage_parse(vmlinux.data, vmlinux.len, "noise", &bz, &err), -1);
	assert_non_null(strstr(err.text, "'noise'"));
	km_bzimage(VERSION, "gzip", &vmlinux, &image);
	/* Wherever it is cut, it is refused. */
	for (size_t len = 0; len < image.len; len += 97) {
		char *cut = xmalloc(len + 1);

		memcpy(cut, image.data, len);
		assert_int_equal(bzimage_parse(cut, len, "cut", &bz, &err), -1);
		free(cut);
	}
	assert_non_null(strstr(err.text, "cut short"));
	image.data[0x20e] = image.data[0x20f] = 0;
	assert_int_equal(bzimage_parse(image.data, image.len, "mute", &bz, &err), -1);
	assert_non_null(strstr(err.text, "no version string"));
}

static void unpacks_every_method(void **state)
{
	static const char *const methods[] = { "gzip", "bzip2", "xz", "lzma", "zstd", "lz4" };

	(void)state;
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		CLEANUP(buf_free) struct buf vmlinux = { 0 }, image = { 0 }, out = { 0 };
		struct bzimage bz;
		struct error err = { 0 };

		fill(&vmlinux, 300000);
		km_bzimage(VERSION, methods[i], &vmlinux, &image);
		km_ok(bzimage_parse(image.data, image.len, "bzImage", &bz, &err), &err);
		assert_string_equal(unpack_method(bz.payload, bz.payload_len), methods[i]);
		km_ok(bzimage_vmlinux(&bz, "bzImage", &out, &err), &err);
		assert_int_equal(out.len, vmlinux.len);
		assert_memory_equal(out.data, vmlinux.data, out.len);
		bzimage_free(&bz);
	}
}

static void damaged_payload_is_an_error(void **state)
{
	CLEANUP(buf_free) struct buf vmlinux = { 0 }, image = { 0 }, out = { 0 };
	struct bzimage bz;
	struct error err = { 0 };

	(void)state;
	fill(&vmlinux, 300000);
	km_bzimage(VERSION, "xz", &vmlinux, &image);
	image.data[image.len / 2] ^= 0x55;
	km_ok(bzimage_parse(image.data, image.len, "bzImage", &bz, &err), &err);
	assert_int_equal(bzimage_vmlinux(&bz, "bzImage", &out, &err), -1);
	assert_non_null(strstr(err.text, "damaged"));
	bzimage_free(&bz);
}

static void finds_built_in_config(void **state)
{
	static const char text[] = "CONFIG_64BIT=y\n# CONFIG_SMP is not set\n";
	CLEANUP(buf_free) struct buf vmlinux = { 0 }, config = { 0 }, packed = { 0 };
	CLEANUP(buf_free) struct buf out = { 0 };
	struct error err = { 0 };

	(void)state;
	fill(&vmlinux, 5000);
	assert_int_equal(bzimage_ikconfig(&vmlinux, "bzImage", &out, &err), 0);
	buf_adds(&config, text);
	km_pack("gzip", &config, &packed);
	buf_adds(&vmlinux, "IKCFG_ST");
	buf_add(&vmlinux, packed.data, packed.len);
	buf_adds(&vmlinux, "IKCFG_ED");
	fill(&vmlinux, 9000);
	assert_int_equal(bzimage_ikconfig(&vmlinux, "bzImage", &out, &err), 1);
	assert_string_equal(out.data, text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_header),
		cmocka_unit_test(refuses_what_is_no_image),
		cmocka_unit_test(unpacks_every_method),
		cmocka_unit_test(damaged_payload_is_an_error),
		cmocka_unit_test(finds_built_in_config),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
