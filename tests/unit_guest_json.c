/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_guest_json.c - the guest's JSON, read back by a real reader
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "guest/json.h"

static void test_structure(void **state)
{
	char buf[256];
	struct jsonw w;

	(void)state;
	jsonw_begin(&w, buf, sizeof(buf));
	jsonw_open(&w, NULL, '{');
	jsonw_u64(&w, "a", UINT64_MAX);
	jsonw_open(&w, "b", '[');
	jsonw_open(&w, NULL, '{');
	jsonw_close(&w, '}');
	jsonw_string(&w, NULL, "x");
	jsonw_close(&w, ']');
	jsonw_bool(&w, "c", true);
	jsonw_close(&w, '}');
	assert_true(jsonw_ok(&w));
	assert_string_equal(buf, "{\"a\":18446744073709551615,"
			    "\"b\":[{},\"x\"],\"c\":true}");
}

/* What went in as @in must come out of a JSON reader as @out */
static void expect_read(const char *in, const char *out)
{
	char buf[512];
	struct jsonw w;
	json_error_t error;
	json_t *j;

	jsonw_begin(&w, buf, sizeof(buf));
	jsonw_open(&w, NULL, '{');
	jsonw_string(&w, "s", in);
	jsonw_close(&w, '}');
	assert_true(jsonw_ok(&w));
	j = json_loads(buf, JSON_REJECT_DUPLICATES, &error);
	if (!j)
		fail_msg("%s: %s", buf, error.text);
	assert_string_equal(json_string_value(json_object_get(j, "s")), out);
	json_decref(j);
}

static void test_strings(void **state)
{
	(void)state;
	expect_read("", "");
	expect_read("a \"b\" \\c/", "a \"b\" \\c/");
	expect_read("line\n\ttab", "line\n\ttab");
	expect_read("\x1b[31mred\x7f", "\xef\xbf\xbd[31mred\xef\xbf\xbd");
	expect_read("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa7",
		      "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa7");
	/* alone, cut short, overlong, surrogate, above U+10FFFF */
	expect_read("\xff", "\xef\xbf\xbd");
	expect_read("a\xc3", "a\xef\xbf\xbd");
	expect_read("\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd");
	expect_read("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	expect_read("\xf4\x90\x80\x80",
		      "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

static void test_every_byte(void **state)
{
	(void)state;
	for (int c = 1; c < 256; c++) {
		const char in[] = { (char)c, 'x', '\0' };
		char buf[64];
		struct jsonw w;
		json_t *j;

		jsonw_begin(&w, buf, sizeof(buf));
		jsonw_open(&w, NULL, '[');
		jsonw_string(&w, NULL, in);
		jsonw_close(&w, ']');
		j = json_loads(buf, 0, NULL);
		assert_non_null(j);
		json_decref(j);
	}
}

static void test_too_long(void **state)
{
	char buf[16];
	struct jsonw w;

	(void)state;
	memset(buf, 'z', sizeof(buf));
	jsonw_begin(&w, buf, 8);
	jsonw_open(&w, NULL, '{');
	jsonw_string(&w, "key", "value");
	jsonw_close(&w, '}');
	assert_false(jsonw_ok(&w));
	for (size_t i = 8; i < sizeof(buf); i++)
		assert_int_equal(buf[i], 'z');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_structure),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
