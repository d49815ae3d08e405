/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_kbuild.c - options of a kernel that is built: set, kept, lost
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "images/kbuild.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

static void sets_become_lines(void **state)
{
	CLEANUP(buf_free) struct buf b = { 0 };

	(void)state;
	kbuild_set_text("HZ_1000=y", &b);
	kbuild_set_text("CONFIG_SMP=n", &b);
	kbuild_set_text("NR_CPUS=8", &b);
	kbuild_set_text("LOCALVERSION=\"-x\"", &b);
	assert_string_equal(b.data, "CONFIG_HZ_1000=y\n# CONFIG_SMP is not set\n"
				    "CONFIG_NR_CPUS=8\nCONFIG_LOCALVERSION=\"-x\"\n");
}

static void bad_sets_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "HZ_1000", "=y", "HZ 1000=y", "HZ_1000=", "HZ_1000=yes",
		"X=-", "X=0x", "X=y\nY=y",
	};
	static const char *const fine[] = {
		"A=y", "A=m", "A=n", "CONFIG_A=12", "A=-3", "A=0xff", "A=\"\"",
	};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(kbuild_set_ok(bad[i], &err), -1);
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		assert_int_equal(kbuild_set_ok(fine[i], &err), 0);
}

static int verify(const char *config, const char *set, const char *source,
		  struct error *err)
{
	char *one = (char *)set;
	const struct strings sets = { .v = &one, .n = 1, .cap = 1 };

	return kbuild_verify(config, &sets, source, err);
}

static void each_set_is_held_against_the_result(void **state)
{
	static const char config[] = "CONFIG_HZ_100=y\n# CONFIG_HZ_1000 is not set\n"
		"CONFIG_HZ=100\nCONFIG_NAME=\"a b\"\nCONFIG_FS=m\n";
	struct error err = { 0 };

	(void)state;
	assert_int_equal(verify(config, "HZ_100=y", NULL, &err), 0);
	assert_int_equal(verify(config, "HZ_1000=n", NULL, &err), 0);
	assert_int_equal(verify(config, "UNKNOWN=n", NULL, &err), 0);
	assert_int_equal(verify(config, "NAME=\"a b\"", NULL, &err), 0);
	assert_int_equal(verify(config, "HZ_1000=y", NULL, &err), -1);
	assert_non_null(strstr(err.text, "HZ_1000=y did not survive olddefconfig: CONFIG_HZ_1000 is n"));
	assert_int_equal(verify(config, "FS=y", NULL, &err), -1);
	assert_int_equal(verify(config, "HZ=1000", NULL, &err), -1);
	assert_int_equal(verify(config, "NAME=\"a\"", NULL, &err), -1);
	assert_int_equal(verify(config, "MORE=y", NULL, &err), -1);
	assert_non_null(strstr(err.text, "CONFIG_MORE is not there"));
}

/* What it depends on is looked up in the source, of this architecture alone */
static void a_lost_option_is_explained(void **state)
{
	char top[] = "/tmp/unit_kbuild.XXXXXX";
	cleanup_free char *x86 = NULL, *arm = NULL, *a = NULL, *b = NULL;
	static const char here[] =
		"config FASTER\n\tdepends on WRONG\n"
		"menuconfig FAST\n\tbool \"fast\"\n\tdepends on CACHE && !TINY\n"
		"\tdepends on MMU\n\thelp\n\t  It depends on luck.\nconfig LAST\n\tdepends on WRONG\n"
		"choice\n\tprompt \"which\"\n\n\tconfig ONE\n\t\tbool \"one\"\n"
		"\t\tdepends on MANY\n\tconfig TWO\n\t\tdepends on WRONG\n\nendchoice\n";
	static const char there[] = "config FAST\n\tdepends on ARM\n";
	struct error err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(top));
	x86 = xasprintf("%s/arch/x86", top);
	arm = xasprintf("%s/arch/arm", top);
	a = xasprintf("%s/Kconfig.cpu", x86);
	b = xasprintf("%s/Kconfig", arm);
	assert_int_equal(make_dirs(x86, &err), 0);
	assert_int_equal(make_dirs(arm, &err), 0);
	assert_int_equal(file_write(a, here, strlen(here), &err), 0);
	assert_int_equal(file_write(b, there, strlen(there), &err), 0);
	assert_int_equal(verify("CONFIG_X=y\n", "FAST=y", top, &err), -1);
	if (!strstr(err.text, "it depends on CACHE && !TINY && MMU: set these, too"))
		fail_msg("%s", err.text);
	/* Within a choice entries are indented as their own lines are */
	assert_int_equal(verify("CONFIG_X=y\n", "ONE=y", top, &err), -1);
	if (!strstr(err.text, "it depends on MANY: set these, too"))
		fail_msg("%s", err.text);
	assert_int_equal(verify("CONFIG_X=y\n", "FST=y", top, &err), -1);
	assert_non_null(strstr(err.text, "no option CONFIG_FST"));
	assert_int_equal(remove_tree(top, &err), 0);
}

static void a_fragment_that_was_overruled_is_noted(void **state)
{
	CLEANUP(strings_clear) struct strings notes = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(kbuild_lost("CONFIG_A=y\nCONFIG_B=m\n",
				     "# a remark\nCONFIG_A=y\nCONFIG_B=y\n# CONFIG_D is not set\nCONFIG_C=y\n",
				     "f", &notes, &err), 0);
	assert_int_equal(notes.n, 2);
	assert_string_equal(notes.v[0], "f: CONFIG_B=y is m in the end");
	assert_string_equal(notes.v[1], "f: CONFIG_C=y is not there in the end");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_become_lines),
		cmocka_unit_test(bad_sets_are_refused),
		cmocka_unit_test(each_set_is_held_against_the_result),
		cmocka_unit_test(a_lost_option_is_explained),
		cmocka_unit_test(a_fragment_that_was_overruled_is_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
