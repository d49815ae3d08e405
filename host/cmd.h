/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd.h - the subcommands: parse arguments, call the library, print
 */
#ifndef KONTEST_CMD_H
#define KONTEST_CMD_H

#include <getopt.h>

#include "images/cache.h"
#include "results/store.h"

/* Exit statuses; those of a run's verdict are in results/verdict.h. */
#define EXIT_USAGE 2

/**
 * struct cmd - a subcommand
 * @name: "run"
 * @args: what follows it, for the usage line
 * @summary: what it does, one line
 * @help: its options, lines for `kontest help NAME`
 * @run: gets argv from the name on; returns the exit status
 */
struct cmd {
	const char *name;
	const char *args;
	const char *summary;
	const char *help;
	int (*run)(int argc, char **argv);
};

extern const struct cmd cmd_run, cmd_build, cmd_report, cmd_kernel, cmd_profile,
	cmd_journal, cmd_store, cmd_import, cmd_export, cmd_replay, cmd_verify,
	cmd_doctor, cmd_compare, cmd_calibrate, cmd_bisect;

/* cmd_fail() - print the reason on stderr; returns EXIT_USAGE */
int cmd_fail(const struct error *err);
/* cmd_usage() - "kontest NAME: what is wrong; see `kontest help NAME`";
 * returns EXIT_USAGE. With @fmt NULL getopt has said what is wrong. */
int cmd_usage(const struct cmd *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* cmd_help() - print what `kontest help NAME` prints; returns 0 */
int cmd_help(const struct cmd *c);

/* open_cache() - the user's layer cache, with build steps shown on stderr */
int open_cache(struct cache *c, struct error *err);
void close_cache(struct cache *c);
/* store_path() - absolute path of the store FILE, or of the user's own when
 * NULL; owned by the caller; NULL with the reason on failure */
char *store_path(const char *file, struct error *err);
/* open_store() - the store at store_path() */
int open_store(const char *file, struct store **s, struct error *err);

/* check_format() - is it one of report_formats()? */
int check_format(const char *format, struct error *err);

/* KERNEL_SPEC_HELP - what --kernel takes, for several help texts */
#define KERNEL_SPEC_HELP \
"A kernel is LABEL=IMAGE or IMAGE, and IMAGE one of:\n" \
"  built:LABEL     what kontest kernel build made\n" \
"  debian:PACKAGE  a Debian package or meta-package, through the host's apt\n" \
"  FILE.deb        a Debian kernel package, one of make bindeb-pkg too\n" \
"  FILE.tar[.*]    what make tar-pkg makes\n" \
"  bzImage         a kernel image; see --modules and --config\n" \
"  vmlinux         an uncompressed kernel (ELF); likewise\n" \
"  DIRECTORY       a kernel build tree\n" \
"  DISK[:VERSION]  a distribution's disk image (raw, qcow2): its newest kernel,\n" \
"                  or that one\n"

#endif
