/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "host/cmd.h"
#include "host/export.h"
#include "host/verify_bundle.h"
#include "images/minisign.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define PASSWORD_MAX 1024

struct export_args {
	const char *run, *output, *sign, *password_file, *store;
	bool results_only;
};

/* A line without its end; owned by the caller. */
static char *first_line(const char *text)
{
	return xstrndup(text, strcspn(text, "\r\n"));
}

static char *read_terminal(struct error *err)
{
	cleanup_close int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	static const char prompt[] = "Password of the secret key: ";
	struct termios old, quiet;
	char line[PASSWORD_MAX];
	char *password;
	ssize_t n;

	if (fd < 0 || tcgetattr(fd, &old) < 0) {
		error_set(err, 0, "the secret key has a password, and there is no terminal to ask for it: give --password-file");
		return NULL;
	}
	quiet = old;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	if (tcsetattr(fd, TCSAFLUSH, &quiet) < 0 ||
	    write(fd, prompt, strlen(prompt)) < 0) {
		error_set(err, errno, "ask for a password");
		return NULL;
	}
	n = read(fd, line, sizeof(line) - 1);
	if (tcsetattr(fd, TCSAFLUSH, &old) < 0 || write(fd, "\n", 1) < 0 || n < 0) {
		error_set(err, errno, "read a password");
		return NULL;
	}
	line[n] = '\0';
	password = first_line(line);
	explicit_bzero(line, sizeof(line));
	return password;
}

static char *ask_password(void *data, struct error *err)
{
	const struct export_args *a = data;
	CLEANUP(buf_free) struct buf b = { 0 };
	char *password;

	if (!a->password_file)
		return read_terminal(err);
	if (file_read(a->password_file, PASSWORD_MAX, &b, err) < 0)
		return NULL;
	password = first_line(b.data);
	explicit_bzero(b.data, b.len);
	return password;
}

/* The key is opened first: who cannot sign need not wait for the export. */
static int export(struct export_args *a, struct store *s, const struct cache *c,
		  struct error *err)
{
	CLEANUP(minisign_wipe) struct minisign_secret key = { 0 };
	cleanup_free char *signature = xasprintf("%s" MINISIGN_SUFFIX, a->output);
	char run_id[UUID_TEXT];

	if (store_find(s, a->run, run_id, err) < 0 ||
	    (a->sign && minisign_secret_read(a->sign, ask_password, a, &key, err) < 0))
		return -1;
	if (export_run(s, run_id, c, a->results_only, a->output, stdout, err) < 0)
		return -1;
	/* An old one is of the file that was replaced. */
	if (unlink(signature) < 0 && errno != ENOENT)
		return error_set(err, errno, "remove the old '%s'", signature);
	if (a->sign && minisign_sign(a->output, &key, (int64_t)time(NULL), err) < 0)
		return -1;
	if (a->sign)
		printf("%s: signed; send it along\n", signature);
	else if (bundle_signature(a->output, NULL, stdout, err) < 0)
		return -1;
	return fflush(stdout) ? error_set(err, errno, "print the sizes") : 0;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "results-only", no_argument, NULL, 'r' },
		{ "sign", required_argument, NULL, 's' },
		{ "password-file", required_argument, NULL, 'p' },
		{ "store", required_argument, NULL, 'S' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct export_args a = { 0 };
	struct cache cache = { 0 };
	struct store *s = NULL;
	struct error err = { 0 };
	int opt, status = 0;

	while ((opt = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		switch (opt) {
		case 'o': a.output = optarg; break;
		case 'r': a.results_only = true; break;
		case 's': a.sign = optarg; break;
		case 'p': a.password_file = optarg; break;
		case 'S': a.store = optarg; break;
		case 'h': return cmd_help(&cmd_export);
		default: return cmd_usage(&cmd_export, NULL);
		}
	}
	if (argc - optind > 1)
		return cmd_usage(&cmd_export, "one run at a time, not '%s'", argv[optind + 1]);
	if (!a.output)
		return cmd_usage(&cmd_export, "say where to: -o FILE.kontest");
	a.run = argv[optind];
	if (open_store(a.store, &s, &err) < 0 || open_cache(&cache, &err) < 0 ||
	    export(&a, s, &cache, &err) < 0)
		status = cmd_fail(&err);
	if (s)
		store_close(s);
	close_cache(&cache);
	return status;
}

const struct cmd cmd_export = {
	.name = "export",
	.args = "[RUN] -o FILE.kontest [--results-only] [--sign KEY]",
	.summary = "a run in one file that others can do again",
	.help =
"  RUN                   run id, or its beginning (default: the newest run)\n"
"  -o FILE.kontest       bundle to make: all disk images, kernels, plan, profile,\n"
"                        domain XML, versions, and the journals\n"
"  --results-only        without the images: small enough for a mail\n"
"  --sign KEY            sign it as `minisign -S -s KEY` does; the signature is\n"
"                        FILE.kontest.minisig. `minisign -G` makes a KEY\n"
"  --password-file FILE  its first line is KEY's password (default: ask)\n"
"  --store FILE          results store (default: the user's own)\n",
	.run = run,
};
