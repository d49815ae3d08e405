/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libfuzzer.c - one target as a libFuzzer program; KONTEST_FUZZ names it
 */
#include "tests/fuzz/targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_target *target;
	const char *name = target ? NULL : getenv("KONTEST_FUZZ");

	for (size_t i = 0; name && i < FUZZ_TARGETS; i++)
		if (!strcmp(fuzz_targets[i].name, name))
			target = &fuzz_targets[i];
	if (!target) {
		fprintf(stderr, "KONTEST_FUZZ names no target\n");
		exit(2);
	}
	target->fn(data, size);
	return 0;
}
