/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay_verdict.c - a measured run there and here: verdicts, not equality
 */
#include "host/replay.h"

#include <errno.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/compare.h"

static int put_kernel(const struct compare_side sides[2], FILE *out,
		      struct error *err)
{
	CLEANUP(strings_clear) struct strings differences = { 0 };
	CLEANUP(compare_free) struct compare c = { 0 };
	CLEANUP(buf_free) struct buf text = { 0 };

	compare_same(sides, 2, &differences);
	for (size_t i = 0; i < differences.n; i++)
		fprintf(out, "%s%s%s", i ? "; " : "\nNot compared, since it was not made under the same conditions: ",
			differences.v[i], i + 1 == differences.n ? "\n" : "");
	if (differences.n)
		return 0;
	if (compare_make(&c, sides, 2, NULL, err) < 0)
		return -1;
	compare_put_text(&c, &differences, &text);
	fprintf(out, "\n%s", text.data);
	return 0;
}

int replay_verdicts(struct boot_records *theirs, struct boot_records *ours,
		    FILE *out, struct error *err)
{
	CLEANUP(table_free) struct table there = { 0 }, here = { 0 };

	table_make(&there, theirs);
	table_make(&here, ours);
	for (size_t k = 0; k < there.kernels.n; k++)
		for (size_t i = 0; i < here.kernels.n; i++) {
			const char *label = there.kernels.v[k].label;
			cleanup_free char *a = xasprintf("%s there", label);
			cleanup_free char *b = xasprintf("%s here", label);
			const struct compare_side sides[2] = {
				{ .boots = theirs, .table = &there, .kernel = k, .title = a },
				{ .boots = ours, .table = &here, .kernel = i, .title = b },
			};

			if (!strcmp(label, here.kernels.v[i].label) &&
			    put_kernel(sides, out, err) < 0)
				return -1;
		}
	if (fflush(out))
		return error_set(err, errno, "print the comparison");
	return 0;
}
