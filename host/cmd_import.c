/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "host/cmd.h"
#include "host/verify_bundle.h"
#include "images/bundle.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/columns.h"
#include "results/import.h"

#define ID_SHOWN 12

/* show() - what was found in the file */
static void show(const struct import *imp, struct buf *out)
{
	for (size_t i = 0; i < imp->tables.n; i++) {
		const struct import_table *t = &imp->tables.v[i];

		put_left(out, t->load, 16);
		buf_printf(out, "  %s  %6zu row%s\n",
			   import_format_name(t->format), t->rows.n,
			   t->rows.n == 1 ? "" : "s");
	}
	for (size_t i = 0; i < imp->benches.n; i++) {
		const struct import_bench *t = &imp->benches.v[i];

		put_left(out, t->title, 18);
		buf_printf(out, "  %s  %6zu row%s\n",
			   import_bench_format_name(t->format), t->rows.n,
			   t->rows.n == 1 ? "" : "s");
	}
	buf_printf(out, "%zu table%s, %zu row%s", import_tables_total(imp),
		   import_tables_total(imp) == 1 ? "" : "s",
		   import_rows_total(imp),
		   import_rows_total(imp) == 1 ? "" : "s");
	if (imp->quoted)
		buf_printf(out, "; left out: %zu that only quote%s one of these",
			   imp->quoted, imp->quoted == 1 ? "s" : "");
	buf_adds(out, "\n");
}

static int store_it(const struct import *imp, const char *file, struct buf *out,
		    struct error *err)
{
	struct store *s = NULL;
	char id[SHA256_HEX];
	bool known = false;
	int ret = open_store(file, &s, err);

	if (!ret)
		ret = store_add_import(s, imp, id, &known, err);
	if (!ret)
		buf_printf(out, "%s '%s', id %.*s\n",
			   known ? "in the store already:" : "stored as",
			   imp->name, ID_SHOWN, id);
	if (s)
		store_close(s);
	return ret;
}

static int import(const char *path, const char *name, const char *store,
		  bool dry_run, struct error *err)
{
	CLEANUP(import_free) struct import imp = { 0 };
	CLEANUP(buf_free) struct buf out = { 0 };

	if (import_read(path, name, &imp, err))
		return -1;
	show(&imp, &out);
	if (dry_run)
		buf_printf(&out, "would be stored as '%s'\n", imp.name);
	else if (store_it(&imp, store, &out, err))
		return -1;
	if (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout))
		return error_set(err, errno, "print what was imported");
	return 0;
}

/* Journals of a bundle, one by one: each is checked by the manifest's digest. */
static int import_journal(struct bundle *b, const struct bundle_member *m,
			  struct store *s, struct error *err)
{
	CLEANUP(buf_free) struct buf data = { 0 };
	char path[64], id[SHA256_HEX];
	cleanup_close int fd = memfd_create("journal", MFD_CLOEXEC);
	int ret;

	if (fd < 0)
		return error_set(err, errno, "make a file in memory");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (bundle_read(b, m, &data, err) < 0 ||
	    full_pwrite(fd, data.data, data.len, 0, m->path, err) < 0)
		return -1;
	ret = store_add(s, path, id, err);
	return ret < 0 ? error_prefix(err, "bundle '%s': member '%s'", b->path, m->path) : 0;
}

static int import_bundle(const char *path, const char *pubkey, const char *store,
			 bool dry_run, struct error *err)
{
	CLEANUP(bundle_close) struct bundle b = { 0 };
	struct store *s = NULL;
	unsigned int n = 0;
	int ret = 0;

	if (bundle_signature(path, pubkey, stdout, err) < 0 ||
	    bundle_open(&b, path, err) < 0 ||
	    (!dry_run && open_store(store, &s, err) < 0))
		return -1;
	for (size_t i = 0; !ret && i < b.m.members.n; i++) {
		if (strcmp(b.m.members.v[i].role, BUNDLE_JOURNAL))
			continue;
		n++;
		if (s)
			ret = import_journal(&b, &b.m.members.v[i], s, err);
	}
	if (s)
		store_close(s);
	if (!ret)
		printf("%s: run %s, %u boots%s\n", path, b.m.run_id, n,
		       dry_run ? " would be stored" : " stored");
	return ret;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "name", required_argument, NULL, 'n' },
		{ "dry-run", no_argument, NULL, 'd' },
		{ "store", required_argument, NULL, 's' },
		{ "pubkey", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *name = NULL, *store = NULL, *pubkey = NULL;
	struct error err = { 0 };
	bool dry_run = false;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'h')
			return cmd_help(&cmd_import);
		if (opt == 'n')
			name = optarg;
		else if (opt == 's')
			store = optarg;
		else if (opt == 'p')
			pubkey = optarg;
		else if (opt == 'd')
			dry_run = true;
		else
			return cmd_usage(&cmd_import, NULL);
	}
	if (argc - optind != 1)
		return cmd_usage(&cmd_import, "name one file, or - for standard input");
	if (bundle_is(argv[optind]) && name)
		return cmd_usage(&cmd_import, "a bundle's run keeps its id: no --name for it");
	if (bundle_is(argv[optind]))
		ret = import_bundle(argv[optind], pubkey, store, dry_run, &err);
	else if (pubkey)
		return cmd_usage(&cmd_import, "--pubkey is for bundles");
	else
		ret = import(argv[optind], name, store, dry_run, &err);
	return ret < 0 ? cmd_fail(&err) : 0;
}

const struct cmd cmd_import = {
	.name = "import",
	.args = "FILE [--name NAME] [--pubkey KEY] [--dry-run] [--store FILE]",
	.summary = "take in tables that contest or tiobench once printed, from a mail too",
	.help =
"  FILE          a text with tables of contest 0.51, 0.60 or 0.61, of tiobench\n"
"                0.3.3, or of Bill Hartner's mails on VolanoMark: alone, or in\n"
"                mails, quoted by '>' or not; - reads standard input\n"
"  --name NAME   what to call them (default: the mail's Subject, or FILE's name);\n"
"                `kontest report NAME` prints them back, to the byte, and\n"
"                `kontest report RUN NAME` shows them beside a run of your own\n"
"  FILE.kontest  a bundle: its journals, as a run like those of one's own\n"
"  --pubkey KEY  public key of minisign by which the bundle must be signed\n"
"  --dry-run     only say what would be taken\n"
"  --store FILE  results store (default: the user's own)\n"
"Prose is passed over. What looks like a table and cannot be read is an error, with\n"
"its line, and nothing is stored. A quotation of a table in the same file is taken\n"
"once. Foreign results are averaged with nothing and have no intervals.\n",
	.run = run,
};
