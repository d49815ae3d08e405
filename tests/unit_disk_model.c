/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_disk_model.c - the modelled disk keeps the times of its data sheet
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "guest/disk_model.h"

#define MIB ((uint64_t)1 << 20)
#define MS 1000000u
#define ROTATION_NS 8333000u
#define SEEK_NS (8500u * 1000)
#define SETTLE_NS (1000u * 1000)

static struct disk_model disk(void)
{
	return (struct disk_model){
		.rbps = 40 * MIB, .wbps = 20 * MIB, .seek_ns = SEEK_NS,
		.settle_ns = SETTLE_NS, .rotation_ns = ROTATION_NS,
		.bytes = 1024 * MIB,
	};
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The first request seeks; what follows takes bytes / rate to the nanosecond */
static uint64_t stream(struct disk_model *m, uint64_t start_ns, uint64_t gap_ns,
		       size_t block, unsigned int n, bool write)
{
	uint64_t now = start_ns;

	for (unsigned int i = 0; i < n; i++)
		now = gap_ns + disk_model_serve(m, now, 100 * MIB + i * block,
						block, write);
	return now - gap_ns;
}

static void test_sequential_is_bytes_by_rate(void **state)
{
	struct disk_model m = disk();
	uint64_t first, last;

	(void)state;
	first = disk_model_serve(&m, 0, 100 * MIB - 4096, 4096, false);
	last = stream(&m, first, 0, 256 * 1024, 160, false);	/* 40 MiB */
	assert_int_equal(last - first, 1000 * MS);

	m = disk();
	first = disk_model_serve(&m, 0, 100 * MIB - 4096, 4096, true);
	last = stream(&m, first, 0, 256 * 1024, 160, true);
	assert_int_equal(last - first, 2000 * MS);
}

/* The buffer covers what a host needs between two requests, but not more than
 * it can hold: then nothing has been gained while nobody asked */
static void test_gaps_are_covered_by_the_buffer(void **state)
{
	struct disk_model m = disk();
	uint64_t first = disk_model_serve(&m, 0, 100 * MIB - 4096, 4096, false);
	uint64_t last = stream(&m, first, MS, 256 * 1024, 160, false);

	(void)state;
	assert_true(last - first <= 1001 * MS);

	last = disk_model_serve(&m, last + 60000ull * MS, m.head, 40 * MIB,
				false);
	assert_int_equal(last - first, m.free_ns - first);
	/* 40 MiB take a second, 2 MiB (50 ms) of it were there already */
	m = disk();
	first = disk_model_serve(&m, 0, 0, 4096, false);
	last = disk_model_serve(&m, first + 60000ull * MS, 4096, 40 * MIB,
				false);
	assert_int_equal(last - first, 60000ull * MS + 950 * MS);
}

/* One random read at a time: average seek, half a turn, transfer */
static void test_random_takes_the_access_time(void **state)
{
	struct disk_model m = disk();
	uint64_t seed = 88172645463325252u, now = 0, sum = 0;
	const unsigned int n = 20000;
	uint64_t expected = SEEK_NS + ROTATION_NS / 2 +
			    4096 * UINT64_C(1000000000) / (40 * MIB);
	uint64_t mean;

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		uint64_t off = next_random(&seed) % (m.bytes / 4096) * 4096;
		uint64_t done = disk_model_serve(&m, now, off, 4096, false);

		assert_true(done >= now);
		sum += done - now;
		/* A host that thinks for a while in between */
		now = done + next_random(&seed) % MS;
	}
	mean = sum / n;
	assert_true(mean > expected * 99 / 100 && mean < expected * 101 / 100);
}

static void test_one_head(void **state)
{
	struct disk_model m = disk();
	uint64_t a = disk_model_serve(&m, 0, 10 * MIB, 4096, false);
	/* Asked at the same moment: it has to wait for the first */
	uint64_t b = disk_model_serve(&m, 0, 900 * MIB, 4096, true);

	(void)state;
	assert_true(b > a + SETTLE_NS);
	/* Back within one track costs at most one turn and no seek */
	a = disk_model_serve(&m, b, 900 * MIB - 8192, 4096, false);
	assert_true(a - b < ROTATION_NS + MS);
}

static void test_longer_seeks_take_longer(void **state)
{
	uint64_t last = 0;

	(void)state;
	for (uint64_t mib = 1; mib <= 1023; mib += 73) {
		struct disk_model m = disk();
		uint64_t t;

		m.rotation_ns = 0;
		m.rbps = 0;
		t = disk_model_serve(&m, 0, mib * MIB, 4096, false);
		assert_true(t > last && t >= SETTLE_NS);
		last = t;
	}
	/* A full stroke: 1 + 7.5 * 15/8 ms */
	assert_true(last > 15 * MS && last < 15063u * 1000);
}

static void test_no_mechanics(void **state)
{
	struct disk_model m = { .rbps = 40 * MIB, .wbps = 40 * MIB,
				.bytes = 1024 * MIB };

	(void)state;
	assert_int_equal(disk_model_serve(&m, 0, 7 * MIB, 40 * MIB, false),
			 1000 * MS);
	assert_int_equal(disk_model_serve(&m, 0, 900 * MIB, 40 * MIB, true),
			 2000 * MS);
	m = (struct disk_model){ .bytes = MIB };
	assert_int_equal(disk_model_serve(&m, 5, 0, 4096, true), 5);
	assert_int_equal(disk_model_serve(&m, 9, 900 * MIB, 4096, true), 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sequential_is_bytes_by_rate),
		cmocka_unit_test(test_gaps_are_covered_by_the_buffer),
		cmocka_unit_test(test_random_takes_the_access_time),
		cmocka_unit_test(test_one_head),
		cmocka_unit_test(test_longer_seeks_take_longer),
		cmocka_unit_test(test_no_mechanics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
