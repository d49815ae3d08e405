/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_journal.h - journals for unit tests, written the way host and guest do
 */
#ifndef KONTEST_MAKE_JOURNAL_H
#define KONTEST_MAKE_JOURNAL_H

#include <stdlib.h>
#include <string.h>

#include "results/base/file.h"
#include "results/journal_file.h"

#define RUN_A "11111111-2222-4333-8444-555555555555"
#define RUN_B "11119999-2222-4333-8444-555555555555"

/* must() - a test cannot go on without it */
static inline void must(int ret, const struct error *err)
{
	if (ret) {
		fprintf(stderr, "%s\n", err->text);
		abort();
	}
}

/* scratch_dir() - a directory of the test's own; owned by the caller */
__attribute__((unused)) static char *scratch_dir(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = xasprintf("%s/kontest-unit-XXXXXX", tmp ? tmp : "/tmp");

	if (!mkdtemp(dir))
		abort();
	return dir;
}

__attribute__((unused)) static char *context_json(const char *run_id,
						  const char *label, int order,
						  int number, int boots,
						  const char *start,
						  const char *loads)
{
	return xasprintf("{\"kontest\":\"0.1.0\",\"run_id\":\"%s\","
		"\"plan\":{\"name\":\"p\",\"text\":\"t\",\"digest\":\"d\",\"order_seed\":1,\"boots\":%d,\"runs\":1},"
		"\"boot\":{\"index\":%d,\"number\":%d,\"seed\":7},"
		"\"kernel\":{\"label\":\"%s\",\"spec\":\"s\",\"release\":\"r\",\"version\":null,\"digest\":\"k\",\"order\":%d},"
		"\"profile\":{\"name\":\"small\",\"digest\":\"pd\",\"text\":\"x\",\"cpus\":1,\"memory\":1},"
		"\"loads\":%s,\"job\":{\"name\":\"quick-1\",\"digest\":\"jd\",\"jobs\":4},"
		"\"image\":{\"system\":\"sd\"},\"accel\":\"exact\","
		"\"qemu\":{\"version\":\"7.2.18\"},\"host\":{\"start\":\"%s\"}}",
		run_id, boots, order * boots + number, number, label, order,
		loads, start);
}

__attribute__((unused)) static void append(const char *path,
					   enum journal_type type,
					   const char *payload)
{
	struct error err = { 0 };

	must(journal_append(path, type, payload, &err), &err);
}

/* struct made_run - what a RUN_END of a test says */
struct made_run {
	int number;
	const char *load;
	const char *verdict;
	int64_t wall_ns, job_ns, load_ns;
	int64_t done, per_load;
};

__attribute__((unused)) static void append_run(const char *path,
					       const struct made_run *r)
{
	char *start = xasprintf("{\"run\":%d,\"load\":\"%s\",\"index\":1}",
				r->number, r->load);
	char *end = xasprintf("{\"run\":%d,\"load\":\"%s\",\"index\":1,\"verdict\":\"%s\","
		"\"wall_ns\":%lld,\"job\":{\"user_ns\":%lld,\"system_ns\":0,\"exit\":0},"
		"\"load_cpu\":{\"user_ns\":0,\"system_ns\":%lld},"
		"\"count\":{\"done\":%lld,\"per_load\":%lld,\"unit\":\"u\"},"
		"\"cpu\":{\"user_ns\":600,\"nice_ns\":0,\"system_ns\":100,\"idle_ns\":200,\"iowait_ns\":100,\"irq_ns\":0,\"softirq_ns\":0,\"steal_ns\":0},"
		"\"vm\":{\"pswpin\":3,\"pswpout\":5}}",
		r->number, r->load, r->verdict, (long long)r->wall_ns,
		(long long)r->job_ns, (long long)r->load_ns,
		(long long)r->done, (long long)r->per_load);

	append(path, JOURNAL_RUN_START, start);
	append(path, JOURNAL_RUN_END, end);
	free(start);
	free(end);
}

/* finish() - how a good boot ends */
__attribute__((unused)) static void finish(const char *path)
{
	append(path, JOURNAL_END, "{\"runs\":1}");
	append(path, JOURNAL_VERDICT,
	       "{\"verdict\":\"ok\",\"evidence\":\"\",\"console\":[],\"host\":{\"seconds\":1.5}}");
}

/* slurp() - a file's text; owned by the caller */
__attribute__((unused)) static char *slurp(const char *path)
{
	struct buf b = { 0 };
	struct error err = { 0 };

	must(file_read(path, 1 << 24, &b, &err), &err);
	return b.data;
}

#endif
