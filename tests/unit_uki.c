/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_uki.c - the EFI program, read back by a parser of the test's own
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "images/uki.h"
#include "results/base/file.h"

#define STUB_HEADERS 0x400
#define STUB_TEXT 0x123

static uint32_t le(const struct buf *b, size_t off, unsigned int bytes)
{
	uint32_t v = 0;

	assert_true(off + bytes <= b->len);
	while (bytes--)
		v = v << 8 | (unsigned char)b->data[off + bytes];
	return v;
}

static void set(struct buf *b, size_t off, unsigned int bytes, uint32_t v)
{
	for (unsigned int i = 0; i < bytes; i++, v >>= 8)
		b->data[off + i] = (char)v;
}

/* A small PE32+ file with one section, a time stamp, checksum and symbols. */
static struct buf make_stub(void)
{
	struct buf b = { 0 };
	char zeros[STUB_HEADERS] = { 0 };
	size_t coff = 0x84, opt = coff + 20, sec = opt + 240;

	buf_add(&b, zeros, sizeof(zeros));
	memcpy(b.data, "MZ", 2);
	set(&b, 60, 4, 0x80);
	memcpy(b.data + 0x80, "PE\0\0", 4);
	set(&b, coff, 2, 0x8664);
	set(&b, coff + 2, 2, 1);
	set(&b, coff + 4, 4, 0x65000000);
	set(&b, coff + 8, 4, 0x600);
	set(&b, coff + 12, 4, 7);
	set(&b, coff + 16, 2, 240);
	set(&b, opt, 2, 0x20b);
	set(&b, opt + 32, 4, 0x1000);
	set(&b, opt + 36, 4, 0x200);
	set(&b, opt + 56, 4, 0x2000);
	set(&b, opt + 60, 4, STUB_HEADERS);
	set(&b, opt + 64, 4, 0xabcdef);
	set(&b, opt + 108, 4, 16);
	set(&b, opt + 144, 4, 0x600);
	memcpy(b.data + sec, ".text", 5);
	set(&b, sec + 8, 4, STUB_TEXT);
	set(&b, sec + 12, 4, 0x1000);
	set(&b, sec + 16, 4, 0x200);
	set(&b, sec + 20, 4, 0x400);
	for (int i = 0; i < 0x200; i++)
		buf_add(&b, i % 2 ? "x" : "y", 1);
	buf_adds(&b, "symbols that nobody needs");
	return b;
}

struct section {
	char name[9];
	uint32_t vsize, vaddr, raw_size, raw;
};

static unsigned int sections_of(const struct buf *b, struct section out[16])
{
	size_t coff = le(b, 60, 4) + 4, table = coff + 20 + le(b, coff + 16, 2);
	unsigned int n = le(b, coff + 2, 2);

	assert_true(n <= 16);
	for (unsigned int i = 0; i < n; i++) {
		size_t s = table + i * 40;

		memset(&out[i], 0, sizeof(out[i]));
		memcpy(out[i].name, b->data + s, 8);
		out[i].vsize = le(b, s + 8, 4);
		out[i].vaddr = le(b, s + 12, 4);
		out[i].raw_size = le(b, s + 16, 4);
		out[i].raw = le(b, s + 20, 4);
	}
	return n;
}

static void fill_part(struct buf *b, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++) {
		char c = (char)(seed = seed * 1103515245 + 12345, seed >> 16);

		buf_add(b, &c, 1);
	}
}

static void expect(const struct buf *b, const struct section *s,
		   const char *name, const void *data, size_t len)
{
	assert_string_equal(s->name, name);
	assert_int_equal(s->vsize, len);
	assert_true(s->raw_size >= len);
	assert_true((size_t)s->raw + s->raw_size <= b->len);
	assert_memory_equal(b->data + s->raw, data, len);
}

static void check_program(const struct buf *stub, const char *stub_name)
{
	struct section was[16], s[16];
	struct buf kernel = { 0 }, initrd = { 0 }, a = { 0 }, b = { 0 };
	struct error err = { 0 };
	struct uki_parts p = { stub, stub_name, &kernel, &initrd, "quiet x=1",
			       "ID=kontest\n" };
	unsigned int n_was = sections_of(stub, was), n;
	size_t opt = le(stub, 60, 4) + 24;

	fill_part(&kernel, 100001, 1);
	fill_part(&initrd, 5003, 2);
	assert_int_equal(uki_build(&p, &a, &err), 0);
	n = sections_of(&a, s);
	assert_int_equal(n, n_was + 4);
	for (unsigned int i = 0; i < n_was; i++) {
		assert_memory_equal(&s[i], &was[i], sizeof(s[i]));
		assert_memory_equal(a.data + s[i].raw, stub->data + s[i].raw,
				    s[i].raw_size);
	}
	expect(&a, &s[n_was], ".osrel", p.osrel, strlen(p.osrel));
	expect(&a, &s[n_was + 1], ".cmdline", p.cmdline, strlen(p.cmdline));
	expect(&a, &s[n_was + 2], ".initrd", initrd.data, initrd.len);
	expect(&a, &s[n_was + 3], ".linux", kernel.data, kernel.len);
	for (unsigned int i = n_was; i < n; i++) {
		assert_int_equal(s[i].vaddr % 4096, 0);
		assert_int_equal(s[i].raw % 512, 0);
		assert_true(s[i].vaddr >= s[i - 1].vaddr + s[i - 1].vsize);
		assert_true(s[i].raw >= s[i - 1].raw + s[i - 1].raw_size);
	}
	/* the image covers its last section, and nothing lies behind it */
	assert_true(le(&a, opt + 56, 4) >= s[n - 1].vaddr + s[n - 1].vsize);
	assert_int_equal(a.len, s[n - 1].raw + s[n - 1].raw_size);
	/* time, symbols, checksum, signature */
	assert_int_equal(le(&a, opt - 16, 4), 0);
	assert_int_equal(le(&a, opt - 12, 4), 0);
	assert_int_equal(le(&a, opt - 8, 4), 0);
	assert_int_equal(le(&a, opt + 64, 4), 0);
	assert_int_equal(le(&a, opt + 144, 4), 0);

	assert_int_equal(uki_build(&p, &b, &err), 0);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.data, b.data, a.len);
	buf_free(&kernel);
	buf_free(&initrd);
	buf_free(&a);
	buf_free(&b);
}

static void test_small_stub(void **state)
{
	struct buf stub = make_stub();

	(void)state;
	check_program(&stub, "small.stub");
	buf_free(&stub);
}

static void test_real_stub(void **state)
{
	struct buf stub = { 0 };
	struct error err = { 0 };

	(void)state;
	if (file_read(UKI_STUB, 1 << 24, &stub, &err) < 0) {
		print_message("skipped: %s\n", err.text);
		skip();
	}
	check_program(&stub, UKI_STUB);
	buf_free(&stub);
}

static void refuses(struct buf *stub, const char *why)
{
	struct buf kernel = { 0 }, out = { 0 };
	struct error err = { 0 };
	struct uki_parts p = { stub, "odd.stub", &kernel, &kernel, "", "" };

	buf_adds(&kernel, "kernel");
	assert_int_equal(uki_build(&p, &out, &err), -1);
	assert_non_null(strstr(err.text, "'odd.stub'"));
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	assert_int_equal(out.len, 0);
	buf_free(&kernel);
	buf_free(&out);
	buf_free(stub);
}

static void test_bad_stubs(void **state)
{
	struct buf s = { 0 };

	(void)state;
	buf_adds(&s, "#!/bin/sh\n");
	refuses(&s, "no PE file");
	s = make_stub();
	s.len = 0x90;
	refuses(&s, "no PE file");
	s = make_stub();
	set(&s, 60, 4, 0xfffffff0);
	refuses(&s, "no PE file");
	s = make_stub();
	set(&s, 0x84, 2, 0xaa64);
	refuses(&s, "not for x86-64");
	s = make_stub();
	s.len = 0x500;
	refuses(&s, "cut short");
	s = make_stub();
	set(&s, 0x84 + 2, 2, 0xffff);
	refuses(&s, "section table");
	s = make_stub();
	set(&s, 0x84 + 20 + 36, 4, 0);
	refuses(&s, "alignments");
	s = make_stub();
	memcpy(s.data + 0x84 + 20 + 240, ".linux\0\0", 8);
	refuses(&s, "a kernel in it already");
	s = make_stub();
	set(&s, 0x84 + 20 + 60, 4, 0x84 + 20 + 240 + 4 * 40);
	refuses(&s, "no room");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_stub),
		cmocka_unit_test(test_real_stub),
		cmocka_unit_test(test_bad_stubs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
