/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.c - the table on the console
 */
#include "guest/table.h"

#include <stdio.h>
#include <string.h>

#define TAB 8
#define RUNS "[runs]"
#define NO_LOAD "no_load"

/**
 * struct mean - the good runs of one load
 * @wall_ns, @job_ns: sums. @load_s: sum of whole seconds
 * @loads: sum of Loads
 * @good: how many
 */
struct mean {
	uint64_t wall_ns, job_ns, load_s;
	double loads;
	unsigned int good;
};

static void add_row(struct mean *m, const struct run_result *r)
{
	const uint64_t *v = r->diff.value;

	if (strcmp(r->verdict, "ok") != 0)
		return;
	m->good++;
	m->wall_ns += v[C_WALL];
	m->job_ns += v[C_JOB_USER] + v[C_JOB_SYSTEM];
	m->load_s += (v[C_LOAD_USER] + v[C_LOAD_SYSTEM]) / NS_PER_S;
	if (r->per_load)
		m->loads += (double)v[C_DONE] / (double)r->per_load;
}

static struct mean mean_of(const char *load, const struct table_row rows[],
			   size_t n)
{
	struct mean m = { 0 };

	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].load->name, load) == 0)
			add_row(&m, &rows[i].result);
	return m;
}

static uint64_t whole_s(uint64_t sum_ns, unsigned int n)
{
	return n ? sum_ns / n / NS_PER_S : 0;
}

/* A cell: @a / @b with so many decimals, or "-" */
static void put_cell(char *line, size_t size, size_t column, bool known,
		     double value, int decimals)
{
	size_t used = strlen(line);

	while (used + 1 < size && used < column)
		line[used++] = ' ';
	line[used] = '\0';
	if (known)
		snprintf(line + used, size - used, "%.*f", decimals, value);
	else
		snprintf(line + used, size - used, "-");
}

static void put_row(const char *kernel, const struct mean *m, uint64_t no_load_s,
		    size_t label, void (*print)(const char *fmt, ...))
{
	size_t column = (label + strlen(RUNS)) / TAB * TAB + TAB;
	uint64_t time_s = whole_s(m->wall_ns, m->good);
	uint64_t job_s = whole_s(m->job_ns, m->good);
	bool any = m->good > 0, timed = time_s > 0;
	double runs = any ? m->good : 1;
	double per_time = timed ? (double)time_s : 1;
	char line[256];

	snprintf(line, sizeof(line), "%-*s%*u", (int)label, kernel,
		 (int)strlen(RUNS), m->good);
	put_cell(line, sizeof(line), column, any, (double)time_s, 0);
	put_cell(line, sizeof(line), column + TAB, timed,
		 100 * (double)job_s / per_time, 1);
	put_cell(line, sizeof(line), column + 2 * TAB, any, m->loads / runs, 1);
	put_cell(line, sizeof(line), column + 3 * TAB, timed,
		 100 * ((double)m->load_s / runs) / per_time, 1);
	put_cell(line, sizeof(line), column + 4 * TAB, any && no_load_s > 0,
		 (double)time_s / (no_load_s ? (double)no_load_s : 1), 2);
	print("%s\n", line);
}

static void put_header(size_t label, void (*print)(const char *fmt, ...))
{
	size_t column = (label + strlen(RUNS)) / TAB * TAB + TAB;

	print("%-*s%-*sTime    CPU%%    Loads   LCPU%%   Ratio\n", (int)label,
	      "Kernel", (int)(column - label), RUNS);
}

static bool is_first(const struct table_row rows[], size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (rows[k].load == rows[i].load)
			return false;
	return true;
}

void console_table(const char *kernel, const struct table_row rows[], size_t n,
		   void (*print)(const char *fmt, ...))
{
	size_t width = strlen(kernel) > 6 ? strlen(kernel) : 6;
	size_t label = (width + 1) / 4 * 4 + 3;
	struct mean no_load = mean_of(NO_LOAD, rows, n);
	uint64_t no_load_s = whole_s(no_load.wall_ns, no_load.good);

	for (size_t i = 0; i < n; i++) {
		struct mean m;

		if (!is_first(rows, i))
			continue;
		m = mean_of(rows[i].load->name, rows, n);
		print("%s:\n", rows[i].load->name);
		put_header(label, print);
		put_row(kernel, &m, no_load_s, label, print);
		for (size_t k = i; k < n; k++)
			if (rows[k].load == rows[i].load &&
			    rows[k].result.message[0])
				print("  %s\n", rows[k].result.message);
	}
}
