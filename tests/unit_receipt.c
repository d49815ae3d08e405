/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "host/receipt.h"

#define MIB (1LL << 20)

static struct profile profile = {
	.cpus = 1,
	.memory = 160 << 20,
	.work = { .present = true, .size = 384 << 20 },
	.swap = { .present = true, .size = 256 << 20 },
};
static struct receipt_check check = {
	.profile = &profile,
	.release = "6.1.0",
	.cmdline = "console=ttyS0",
	.system_bytes = 200 << 20,
	.accel = ACCEL_TCG,
};

static json_t *good(void)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:[{s:s,s:I},{s:s,s:I},{s:s,s:I},{s:s,s:I}]}",
			 "release", "6.1.0", "cmdline", "console=ttyS0",
			 "clocksource", "tsc", "cpus_online", 1, "ram_bytes",
			 (json_int_t)(160 * MIB - 500000), "mem_total_bytes",
			 (json_int_t)(117 * MIB), "swap_bytes",
			 (json_int_t)(256 * MIB - 4096), "disks",
			 "role", "system", "bytes", (json_int_t)(200 * MIB),
			 "role", "work", "bytes", (json_int_t)(384 * MIB),
			 "role", "swap", "bytes", (json_int_t)(256 * MIB),
			 "role", "results", "bytes", (json_int_t)(32 * MIB));
}

/* Takes @o over. Returns what is said to be wrong, "" when nothing is. */
static const char *judge(json_t *o)
{
	static char why[256];
	char *text = json_dumps(o, 0);

	*why = '\0';
	if (receipt_matches(text, &check, why, sizeof(why)))
		assert_string_equal(why, "");
	else
		assert_string_not_equal(why, "");
	free(text);
	json_decref(o);
	return why;
}

static void what_was_promised_is_accepted(void **state)
{
	(void)state;
	assert_string_equal(judge(good()), "");
}

static const char *with(const char *key, json_t *value)
{
	json_t *o = good();

	json_object_set_new(o, key, value);
	return judge(o);
}

static void each_difference_is_named(void **state)
{
	json_t *o;

	(void)state;
	assert_non_null(strstr(with("cpus_online", json_integer(2)), "2 CPUs online, not 1"));
	assert_non_null(strstr(with("release", json_string("6.2")), "kernel 6.2, not 6.1.0"));
	assert_non_null(strstr(with("cmdline", json_string("quiet")), "'quiet', not 'console=ttyS0'"));
	assert_non_null(strstr(with("ram_bytes", json_integer(128 * MIB)), "bytes of RAM"));
	assert_non_null(strstr(with("ram_bytes", json_integer(161 * MIB)), "bytes of RAM"));
	assert_non_null(strstr(with("mem_total_bytes", json_integer(90 * MIB)), "leaves"));
	assert_non_null(strstr(with("mem_total_bytes", json_integer(170 * MIB)), "leaves"));
	assert_non_null(strstr(with("clocksource", json_string("jiffies")), "too coarse"));
	assert_string_equal(with("cmdline", json_string("built in console=ttyS0")), "");
	assert_non_null(strstr(with("cmdline", json_string("xconsole=ttyS0")), "command line"));
	assert_non_null(strstr(with("swap_bytes", json_integer(0)), "bytes of swap"));
	o = good();
	json_array_remove(json_object_get(o, "disks"), 1);
	assert_non_null(strstr(judge(o), "no work disk"));
	o = good();
	json_array_append_new(json_object_get(o, "disks"),
			      json_pack("{s:s}", "role", "other"));
	assert_non_null(strstr(judge(o), "an other disk"));
	o = good();
	json_object_set_new(json_array_get(json_object_get(o, "disks"), 1), "bytes",
			    json_integer(1));
	assert_non_null(strstr(judge(o), "work disk has 1 bytes"));
	assert_non_null(strstr(judge(json_array()), "not a JSON object"));
}

static void exact_mode_expects_its_own_command_line(void **state)
{
	(void)state;
	check.accel = ACCEL_EXACT;
	assert_non_null(strstr(judge(good()), "command line"));
	assert_string_equal(with("cmdline", json_string("console=ttyS0 swiotlb=noforce")), "");
	check.accel = ACCEL_TCG;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_promised_is_accepted),
		cmocka_unit_test(each_difference_is_named),
		cmocka_unit_test(exact_mode_expects_its_own_command_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
