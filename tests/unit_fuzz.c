/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_fuzz.c - every fuzz target on its corpus, and on a fixed number of inputs
 * that are changed from it in the same way each time
 *
 * No search for new paths, as `make fuzz` does it: this keeps what was found from
 * coming back, with any compiler, in seconds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <dirent.h>

#include <cmocka.h>

#include "tests/fuzz/targets.h"

#define CORPUS "tests/fuzz/corpus"

/* struct random - a generator of our own: the same everywhere */
struct random {
	uint64_t x;
};

static uint32_t draw(struct random *r, size_t below)
{
	r->x = r->x * 6364136223846793005ull + 1442695040888963407ull;
	return below ? (uint32_t)((r->x >> 33) % below) : 0;
}

/* One of: a bit, a byte, a number, a part that is gone, doubled or cut off */
static void change(struct random *r, struct buf *b, size_t max)
{
	static const uint32_t numbers[] = { 0, 1, 0x7f, 0xff, 0x7fff, 0xffff,
					    0x7fffffff, 0x80000000, 0xffffffff };
	size_t at = draw(r, b->len), len = draw(r, 64);
	uint32_t v = numbers[draw(r, sizeof(numbers) / sizeof(numbers[0]))];

	if (!b->len)
		return;
	switch (draw(r, 6)) {
	case 0:
		b->data[at] ^= (char)(1 << draw(r, 8));
		break;
	case 1:
		b->data[at] = (char)draw(r, 256);
		break;
	case 2:
		len = b->len - at < sizeof(v) ? b->len - at : sizeof(v);
		memcpy(b->data + at, &v, len);
		break;
	case 3:
		len = len < b->len - at ? len : b->len - at;
		memmove(b->data + at, b->data + at + len, b->len - at - len);
		b->len -= len;
		break;
	case 4:
		len = len < b->len - at ? len : b->len - at;
		if (b->len + len <= max) {
			cleanup_free char *part = xmalloc(len + 1);

			memcpy(part, b->data + at, len);
			buf_add(b, part, len);
		}
		break;
	default:
		if (!draw(r, 4))
			b->len = at;
		break;
	}
}

static void run_file(const struct fuzz_target *t, const char *path)
{
	CLEANUP(buf_free) struct buf seed = { 0 };
	struct error err = { 0 };
	struct random r = { 20260101 };

	if (file_read(path, (size_t)16 << 20, &seed, &err) < 0)
		fail_msg("%s", err.text);
	t->fn((const uint8_t *)seed.data, seed.len);
	for (int i = 0; i < t->changed; i++) {
		CLEANUP(buf_free) struct buf b = { 0 };
		cleanup_free uint8_t *exact = NULL;

		buf_add(&b, seed.data, seed.len);
		for (uint32_t n = draw(&r, 6) + 1; n; n--)
			change(&r, &b, t->max_bytes);
		/* no NUL behind it, so that reading too far is seen */
		exact = xmalloc(b.len ? b.len : 1);
		if (b.len)
			memcpy(exact, b.data, b.len);
		t->fn(exact, b.len);
	}
}

static void run_target(void **state)
{
	const struct fuzz_target *t = *state;
	cleanup_free char *dir = xasprintf(CORPUS "/%s", t->name);
	struct dirent **names;
	int n = scandir(dir, &names, NULL, alphasort), run = 0;

	assert_true(n > 0);
	for (int i = 0; i < n; i++) {
		cleanup_free char *path = xasprintf("%s/%s", dir, names[i]->d_name);

		if (names[i]->d_name[0] != '.') {
			run_file(t, path);
			run++;
		}
		free(names[i]);
	}
	free(names);
	/* a target without a corpus tests nothing */
	assert_true(run > 0);
}

int main(void)
{
	struct CMUnitTest tests[FUZZ_TARGETS];

	for (size_t i = 0; i < FUZZ_TARGETS; i++)
		tests[i] = (struct CMUnitTest){
			.name = fuzz_targets[i].name, .test_func = run_target,
			.initial_state = (void *)&fuzz_targets[i] };
	return cmocka_run_group_tests_name("fuzz", tests, NULL, NULL);
}
