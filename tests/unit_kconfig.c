/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_kconfig.c - reading a .config
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "images/kconfig.h"
#include "tests/kernel_make.h"

static void reads_values(void **state)
{
	static const char text[] =
		"#\n# Automatically generated file; DO NOT EDIT.\n#\n"
		"CONFIG_64BIT=y\r\n"
		"CONFIG_EXT4_FS=m\n"
		"# CONFIG_SMP is not set\n"
		"# CONFIG_NOTE is what this comment is about\n"
		"\n"
		"CONFIG_NR_CPUS=512\n"
		"CONFIG_CMDLINE=\"a=b # c\"\n"
		"CONFIG_TWICE=y\n"
		"CONFIG_TWICE=m\n"
		"CONFIG_LAST=y";
	struct kconfig kc;
	struct error err = { 0 };

	(void)state;
	km_ok(kconfig_parse(text, "config", &kc, &err), &err);
	assert_string_equal(kconfig_get(&kc, "64BIT"), "y");
	assert_string_equal(kconfig_get(&kc, "EXT4_FS"), "m");
	assert_string_equal(kconfig_get(&kc, "SMP"), "n");
	assert_string_equal(kconfig_get(&kc, "NR_CPUS"), "512");
	assert_string_equal(kconfig_get(&kc, "CMDLINE"), "\"a=b # c\"");
	assert_string_equal(kconfig_get(&kc, "TWICE"), "m");
	assert_string_equal(kconfig_get(&kc, "LAST"), "y");
	assert_null(kconfig_get(&kc, "NOTE"));
	assert_null(kconfig_get(&kc, "EXT4"));
	assert_null(kconfig_get(&kc, "EXT4_FS_"));
	kconfig_free(&kc);
	assert_null(kconfig_get(&kc, "64BIT"));
}

static void names_the_bad_line(void **state)
{
	static const struct {
		const char *text, *where;
	} bad[] = {
		{ "CONFIG_A=y\nhello\n", "config:2:" },
		{ "\n\nCONFIG_=y\n", "config:3:" },
		{ "CONFIG_A\n", "config:1:" },
		{ "CONFIG_A B=y\n", "config:1:" },
		{ "# nothing\n", "no CONFIG_ line" },
		{ "", "no CONFIG_ line" },
	};
	struct kconfig kc;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error err = { 0 };

		assert_int_equal(kconfig_parse(bad[i].text, "config", &kc, &err), -1);
		assert_non_null(strstr(err.text, bad[i].where));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_values),
		cmocka_unit_test(names_the_bad_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
