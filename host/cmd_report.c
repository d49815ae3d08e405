/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/cmd.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/fingerprint.h"
#include "results/provenance.h"
#include "results/report.h"

#define FINGERPRINT "fingerprint"

enum { OPT_FORMAT = 256, OPT_STORE, OPT_LIST, OPT_PROVENANCE, OPT_HELP, OPT_OUTPUT = 'o' };

static const struct option options[] = {
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "store", required_argument, NULL, OPT_STORE },
	{ "output", required_argument, NULL, OPT_OUTPUT },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "provenance", no_argument, NULL, OPT_PROVENANCE },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

/* struct sources - what the arguments name: at most one run, and imports */
struct sources {
	bool own;
	char run_id[UUID_TEXT];
	struct strings imports;
};

static void sources_clear(struct sources *src)
{
	strings_clear(&src->imports);
}

static int add_source(struct store *s, const char *arg, struct sources *src,
		      struct error *err)
{
	char import[SHA256_HEX];
	int found = store_find_import(s, arg, import, err);

	if (found < 0)
		return -1;
	if (found) {
		for (size_t i = 0; i < src->imports.n; i++)
			if (!strcmp(src->imports.v[i], import))
				return error_set(err, 0, "import '%s' is named twice",
						 arg);
		strings_add(&src->imports, xstrdup(import));
		return 0;
	}
	if (src->own)
		return error_set(err, 0, "one run at a time, beside any number of imports: '%s' is no import; 'kontest report --list' lists them",
				 arg);
	src->own = true;
	if (store_find(s, arg, src->run_id, err) < 0)
		return error_add(err, "; no import is named so either, 'kontest report --list' lists all");
	return 0;
}

static int find_sources(struct store *s, char **args, struct sources *src,
			struct error *err)
{
	if (!*args) {
		src->own = true;
		return store_find(s, NULL, src->run_id, err);
	}
	for (; *args; args++)
		if (add_source(s, *args, src, err) < 0)
			return -1;
	return 0;
}

static int fingerprint(struct store *s, const struct sources *src, FILE *out,
		       struct error *err)
{
	CLEANUP(buf_free) struct buf text = { 0 };

	if (!src->own || src->imports.n)
		return error_set(err, 0, "a fingerprint is of one run: imports have none");
	if (fingerprint_text(s, src->run_id, &text, err) < 0)
		return -1;
	fputs(text.data, out);
	return 0;
}

/* Under the table; JSON and HTML have it anyway. */
static int provenance(struct store *s, const struct sources *src,
		      const char *format, FILE *out, struct error *err)
{
	if (format && (!strcmp(format, "json") || !strcmp(format, "html")))
		return 0;
	if (!src->own)
		return error_set(err, 0, "--provenance is of a run: of imports nothing is known but what was printed");
	if (format && !strcmp(format, "csv"))
		return error_set(err, 0, "--provenance has no place in CSV: take --format json, which always has it");
	fputc('\n', out);
	return provenance_print(s, src->run_id, out, err);
}

static int report(struct store *s, char **args, const char *format, bool list,
		  bool origin, FILE *out, struct error *err)
{
	CLEANUP(sources_clear) struct sources src = { 0 };

	if (list)
		return store_list(s, out, err);
	if (find_sources(s, args, &src, err) < 0)
		return -1;
	if (format && !strcmp(format, FINGERPRINT))
		return fingerprint(s, &src, out, err);
	if (report_print_beside(s, src.own ? src.run_id : NULL, &src.imports,
				format, out, err) < 0)
		return -1;
	return origin ? provenance(s, &src, format, out, err) : 0;
}

/* report_file() - the same into a file, which is whole or not there */
static int report_file(struct store *s, char **args, const char *format,
		       bool list, bool origin, const char *path,
		       struct error *err)
{
	CLEANUP(newfile_abort) struct newfile f = { .fd = -1 };
	cleanup_free char *text = NULL;
	cleanup_fclose FILE *out = NULL;
	size_t len = 0;

	if (newfile_open(&f, path, 0666, err) < 0)
		return -1;
	out = open_memstream(&text, &len);
	if (!out)
		return error_set(err, errno, "keep the report");
	if (report(s, args, format, list, origin, out, err) < 0)
		return -1;
	if (fflush(out))
		return error_set(err, errno, "keep the report");
	if (full_pwrite(f.fd, text, len, 0, path, err) < 0)
		return -1;
	return newfile_commit(&f, err);
}

static int run(int argc, char **argv)
{
	const char *format = NULL, *file = NULL, *output = NULL;
	struct store *s = NULL;
	struct error err = { 0 };
	bool list = false, origin = false;
	int opt, status = 0;

	while ((opt = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		switch (opt) {
		case OPT_FORMAT:
			format = optarg;
			break;
		case OPT_STORE:
			file = optarg;
			break;
		case OPT_OUTPUT:
			output = optarg;
			break;
		case OPT_LIST:
			list = true;
			break;
		case OPT_PROVENANCE:
			origin = true;
			break;
		case OPT_HELP:
			return cmd_help(&cmd_report);
		default:
			return cmd_usage(&cmd_report, NULL);
		}
	}
	if ((format && strcmp(format, FINGERPRINT) &&
	     check_format(format, &err) < 0) ||
	    open_store(file, &s, &err) < 0 ||
	    (output ? report_file(s, argv + optind, format, list, origin,
				  output, &err)
		    : report(s, argv + optind, format, list, origin, stdout,
			     &err)) < 0)
		status = cmd_fail(&err);
	if (s)
		store_close(s);
	return status;
}

const struct cmd cmd_report = {
	.name = "report",
	.args = "[RUN | IMPORT]... [--format FORMAT] [-o FILE] [--store FILE]",
	.summary = "print the results of a run again, in any format",
	.help =
"  RUN              run id, or its beginning (default: the newest run)\n"
"  IMPORT           name of foreign results (see `kontest help import`), or the\n"
"                   beginning of their id: alone they are printed as they once\n"
"                   were, beside a run they have marked rows of their own\n"
"  --list           list the runs and imports in the store instead\n"
"  --format FORMAT  contest-0.61  the table of the mails of 2003 (default)\n"
"                   contest-0.51  the table of the mails of 2002\n"
"                   wide          exact figures, rates, intervals\n"
"                   tiobench, volanomark, qsbench  that benchmark's runs alone\n"
"                   json, csv     for programs\n"
"                   html          one file for a browser: verdicts, heat table, plots\n"
"                   fingerprint   digests of table and inputs, for run --expect\n"
"  -o, --output FILE  write FILE instead of printing, whole or not at all\n"
"  --provenance     under the table, where it comes from: digests of kernels,\n"
"                   images, plan, profile, guest program and lock, versions, host\n"
"  --store FILE     results store (default: the user's own)\n",
	.run = run,
};
