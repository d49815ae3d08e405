/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_fixture.h - a store of the test's own, for unit tests of reports
 */
#ifndef KONTEST_STORE_FIXTURE_H
#define KONTEST_STORE_FIXTURE_H

#include "results/report.h"
#include "results/store.h"
#include "tests/make_journal.h"

/**
 * struct fixture - what setup() makes and teardown() removes
 * @dir: of the test
 * @db: the store's file in it; @s: that store, open
 * @journal: a path in it, where journals are written
 * @imports: where the store keeps foreign results
 * @boots: for the test to count
 */
struct fixture {
	char *dir, *db, *journal, *imports;
	struct store *s;
	int boots;
	struct error err;
};

static inline int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->dir = scratch_dir();
	f->db = xasprintf("%s/results.db", f->dir);
	f->journal = xasprintf("%s/j", f->dir);
	f->imports = xasprintf("%s/imports", f->dir);
	must(store_open(f->db, &f->s, &f->err), &f->err);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	store_close(f->s);
	must(remove_tree(f->dir, &f->err), &f->err);
	free(f->dir);
	free(f->db);
	free(f->journal);
	free(f->imports);
	free(f);
	return 0;
}

/* print_run() - the report of RUN_A; owned by the caller. Not inline: gcc then takes
 * open_memstream()'s buffer for the variable that names it */
__attribute__((unused, noinline)) static char *print_run(struct fixture *f, const char *format)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	must(report_print(f->s, RUN_A, format, out, &f->err), &f->err);
	fclose(out);
	return text;
}

/* end_boot() - the journal is whole: into the store with it */
static inline void end_boot(struct fixture *f)
{
	char id[SHA256_HEX];

	finish(f->journal);
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
}

#endif
