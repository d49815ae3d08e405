/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * render.h - the renderers behind report_print()
 */
#ifndef KONTEST_RENDER_H
#define KONTEST_RENDER_H

#include "results/base/text.h"
#include "results/import.h"
#include "results/table.h"

/**
 * struct report - what there is to show
 * @run_id: of one `kontest run`, or NULL
 * @boots: its boots
 * @table: their runs
 * @imports: foreign results beside them, or alone
 */
struct report {
	const char *run_id;
	struct boot_records boots;
	struct table table;
	struct imports imports;
};

/* CONTEST_060: as CONTEST_061, but Loads are whole */
enum contest_style { CONTEST_051, CONTEST_060, CONTEST_061 };

/**
 * struct contest_row - a line of a contest table
 * @label: of the kernel
 * @runs: good runs behind it
 * @printed: of a foreign row, its figures as they were printed; else NULL
 * The figures of one's own rows: NAN is shown as "-".
 */
struct contest_row {
	const char *label;
	size_t runs;
	double time_s, cpu_pct, loads, lcpu_pct, ratio;
	char *const *printed;
};
DEFINE_VECTOR(contest_rows, struct contest_row)

/**
 * contest_put_load() - one load's part of a contest table
 * @b: where to
 * @style: version of contest that printed such a table
 * @load: name of the load
 * @rows: a line a kernel
 * @n: how many
 *
 * Name of the load, header, rows, laid out as that version did (0.60 and 0.61:
 * contest-2.5.59-mm7 and contest-100hz-v-1000hz, to the byte).
 */
void contest_put_load(struct buf *b, enum contest_style style,
		      const char *load, const struct contest_row *rows,
		      size_t n);

void render_contest(const struct report *r, enum contest_style style,
		    struct buf *b);
void render_wide(const struct report *r, struct buf *b);
void render_json(const struct report *r, struct buf *b);
void render_csv(const struct report *r, struct buf *b);
/* render_html() - one self-contained file; fails for want of gnuplot */
int render_html(const struct report *r, struct buf *b, struct error *err);

/* put_imports() - foreign results as they were printed, to the byte */
void put_imports(const struct report *r, struct buf *b);
/* put_imports_wide() - their part of the wide report */
void put_imports_wide(const struct report *r, struct buf *b);
/* put_imports_bench() - their tables of tiobench or VolanoMark, as printed */
void put_imports_bench(const struct report *r, enum import_bench_format format,
		       struct buf *b);
/* imports_json() - member "imports" of the JSON report */
json_t *imports_json(const struct report *r);

/* put_bench() - a benchmark's runs in the table that is known of it */
void put_bench(const struct report *r, size_t bench, struct buf *b);
/* put_benches() - all benchmarks, each with a line on its settings */
void put_benches(const struct report *r, struct buf *b);
/* put_benches_wide() - their part of the wide report */
void put_benches_wide(const struct report *r, struct buf *b);
/* benches_json() - member "benches" of the JSON report */
json_t *benches_json(const struct report *r);
/* run_bench_json() - a benchmark's own figures, as members of a run */
void run_bench_json(const struct run_record *run, json_t *to);

/* put_noisy() - a line on each noisy run (noise.h); nothing in exact mode */
void put_noisy(const struct report *r, struct buf *b);
/* put_noise_wide() - the host's part of the wide report; nothing in exact mode
 * or without a noise receipt */
void put_noise_wide(const struct report *r, struct buf *b);
/* run_noise_json() - member "host" of a run; NULL in exact mode or without a
 * noise receipt */
json_t *run_noise_json(const struct boot_record *b,
		       const struct run_record *r);

/* put_notes() - the lines about runs that are missing under a load */
void put_notes(const struct report *r, size_t load, struct buf *b);

#endif
