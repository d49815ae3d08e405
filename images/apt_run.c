/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apt_run.c - run apt with the host's sources and a state of our own
 */
#include "images/apt_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "results/base/cleanup.h"
#include "results/base/digest.h"
#include "results/base/file.h"
#include "results/base/proc.h"

/* Lists older than this are updated before they are asked. */
#define LISTS_OLD_S (24 * 3600)
/* Lists younger than this are not updated when apt does not find a package;
 * also the time after which a failed update is tried again. */
#define LISTS_YOUNG_S 600
#define UPDATE_TIMEOUT_S 600
#define CONFIG_TIMEOUT_S 30
#define ASK_TIMEOUT_S 120
#define ANSWER_MAX_BYTES (1 << 20)

/* The hooks are cleared because they write to the host's caches; the index
 * targets because only package lists are wanted. Everything else, proxies and
 * keys above all, stays as the host has it. */
static const char conf_format[] =
	"#clear APT::Update::Pre-Invoke;\n"
	"#clear APT::Update::Post-Invoke;\n"
	"#clear APT::Update::Post-Invoke-Success;\n"
	"#clear DPkg::Pre-Invoke;\n"
	"#clear DPkg::Post-Invoke;\n"
	"#clear DPkg::Pre-Install-Pkgs;\n"
	"#clear Acquire::IndexTargets::deb::DEP-11;\n"
	"#clear Acquire::IndexTargets::deb::DEP-11-icons;\n"
	"#clear Acquire::IndexTargets::deb::DEP-11-icons-small;\n"
	"#clear Acquire::IndexTargets::deb::DEP-11-icons-hidpi;\n"
	"#clear Acquire::IndexTargets::deb::DEP-11-icons-large;\n"
	"#clear Acquire::IndexTargets::deb::DEP-11-icons-large-hidpi;\n"
	"#clear Acquire::IndexTargets::deb::Contents-deb;\n"
	"#clear Acquire::IndexTargets::deb-src;\n"
	"#clear APT::Architectures;\n"
	"#clear APT::Default-Release;\n"
	"APT::Architecture \"amd64\";\n"
	"APT::Architectures { \"amd64\"; };\n"
	"APT::Install-Recommends \"false\";\n"
	"APT::Install-Suggests \"false\";\n"
	"APT::Get::AllowUnauthenticated \"false\";\n"
	"APT::Get::Show-User-Simulation-Note \"false\";\n"
	"Acquire::Languages \"none\";\n"
	"Acquire::ForceHash \"SHA256\";\n"
	"Acquire::Retries \"2\";\n"
	"Acquire::http::Timeout \"30\";\n"
	"Acquire::https::Timeout \"30\";\n"
	"Debug::NoLocking \"true\";\n"	/* apt_open() holds a lock of ours */
	"Dir::State \"%1$s\";\n"
	"Dir::State::lists \"%2$s\";\n"
	"Dir::State::status \"%1$s/status\";\n"
	"Dir::State::extended_states \"%1$s/extended_states\";\n"
	"Dir::Cache \"%1$s\";\n"
	"Dir::Cache::archives \"%1$s/archives\";\n"
	"Dir::Cache::pkgcache \"pkgcache.bin\";\n"
	"Dir::Cache::srcpkgcache \"\";\n"
	"Dir::Log \"%1$s/log\";\n";

/* What apt says, and what the user can do about it. */
static const struct {
	const char *said, *remedy;
} remedies[] = {
	{ "Unable to locate package", "check the name (apt-cache search), or add the repository that has it to the host's apt sources" },
	{ "No packages found", "check the name (apt-cache search), or add the repository that has it to the host's apt sources" },
	{ "no installation candidate", "add the repository that has it to the host's apt sources" },
	{ "was not found", "the mirror has another version by now; http://snapshot.debian.org as an apt source has every version there ever was" },
	{ "unauthenticated", "install the repository's key: unauthenticated packages are not used" },
	{ "cannot be authenticated", "install the repository's key: unauthenticated packages are not used" },
	{ "NO_PUBKEY", "install the repository's key: unauthenticated packages are not used" },
	{ "is not signed", "install the repository's key: unauthenticated packages are not used" },
	{ "No space left", "free some space, or move the cache with XDG_CACHE_HOME" },
	{ "enough free space", "free some space, or move the cache with XDG_CACHE_HOME" },
	{ "resolving", "check the network, or the proxy in the host's apt configuration" },
	{ "Could not resolve", "check the network, or the proxy in the host's apt configuration" },
	{ "connect", "check the network, or the proxy in the host's apt configuration" },
	{ "timed out", "check the network, or the proxy in the host's apt configuration" },
	{ "404", "the mirror is being changed or incomplete: try again later or use another" },
};

/* apt's summaries: the lines before them say more. */
static bool is_summary(const char *line)
{
	return str_starts(line, "E: Unable to fetch some archives") ||
	       str_starts(line, "E: Some index files failed") ||
	       str_starts(line, "W: Some index files failed") ||
	       str_starts(line, "W: Download is performed unsandboxed");
}

/* The line of @text that tells most: an error, else a warning. Owned. */
static char *complaint(const char *text)
{
	const char *kinds[] = { "E: ", "W: Failed to fetch", "W: " };

	for (size_t k = 0; k < 3; k++) {
		for (const char *l = text; *l; ) {
			size_t len = strcspn(l, "\n");

			if (str_starts(l, kinds[k]) && !is_summary(l))
				return xstrndup(l + 3, len - 3);
			l += len + (l[len] == '\n');
		}
	}
	return xstrdup("it does not say why");
}

static int explain(const struct apt *a, const char *program, const char *text,
		   struct error *err)
{
	cleanup_free char *said = complaint(text);
	const char *remedy = NULL;
	const char *also = a->update_err.text;

	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++) {
		if (strstr(said, remedies[i].said)) {
			remedy = remedies[i].remedy;
			break;
		}
	}
	return error_set(err, 0, "%s: %s%s%s%s%s%s", program, said,
			 remedy ? "; " : "", remedy ? remedy : "",
			 *also ? " (and the package lists could not be updated: " : "",
			 also, *also ? ")" : "");
}

/*
 * Run apt with our configuration. @status gets its exit status. Its standard
 * error goes where its output goes, because one line of it is not enough.
 */
static int run(const struct apt *a, const struct strings *argv, int timeout_s,
	       const char *cwd, struct buf *out, int *status, struct error *err)
{
	cleanup_free char *conf = xasprintf("%s/kontest.conf", a->dir);
	cleanup_free const char **full = xcalloc(argv->n + 7, sizeof(*full));
	const struct proc_opts opts = { .cwd = cwd, .out = out,
		.timeout_s = timeout_s, .status = status };
	size_t n = 0;

	full[n++] = "sh";
	full[n++] = "-c";
	full[n++] = "exec \"$0\" \"$@\" 2>&1";
	full[n++] = argv->v[0];
	full[n++] = "-c";
	full[n++] = conf;
	for (size_t i = 1; i < argv->n; i++)
		full[n++] = argv->v[i];
	return proc_run(full, &opts, err);
}

static int write_conf(const struct apt *a, struct error *err)
{
	cleanup_free char *conf = xasprintf("%s/kontest.conf", a->dir);
	cleanup_free char *own = xasprintf("%s/lists", a->dir);
	cleanup_free char *text = xasprintf(conf_format, a->dir,
					    a->use_own ? own : a->host_lists);

	return file_write(conf, text, strlen(text), err);
}

/* When the lists in @dir were last updated; 0 when there are none */
static time_t lists_time(const char *dir, const char *stamp)
{
	cleanup_closedir DIR *d = opendir(dir);
	bool some = false;
	struct dirent *e;
	struct stat st, partial;
	cleanup_free char *sub = NULL;

	while (d && !some && (e = readdir(d)))
		some = str_ends(e->d_name, "Release");
	if (!some)
		return 0;
	if (stamp)
		return stat(stamp, &st) ? 1 : st.st_mtime;
	if (stat(dir, &st))
		return 0;
	sub = xasprintf("%s/partial", dir);
	if (!stat(sub, &partial) && partial.st_mtime > st.st_mtime)
		return partial.st_mtime;
	return st.st_mtime;
}

static int set_stamp(const char *stamp, bool good)
{
	time_t t = time(NULL) - (good ? 0 : LISTS_OLD_S - LISTS_YOUNG_S);
	const struct timespec times[2] = { { .tv_sec = t }, { .tv_sec = t } };

	if (file_write(stamp, "", 0, NULL))
		return -1;
	return utimensat(AT_FDCWD, stamp, times, 0);
}

/* Bring the lists below @a->dir up to date and use them from now on. */
static int update(struct apt *a)
{
	CLEANUP(strings_clear) struct strings argv = { 0 };
	CLEANUP(buf_free) struct buf text = { 0 };
	cleanup_free char *lists = xasprintf("%s/lists", a->dir);
	cleanup_free char *partial = xasprintf("%s/partial", lists);
	cleanup_free char *stamp = xasprintf("%s/updated", a->dir);
	bool was_own = a->use_own;
	int status = 0;

	a->refreshed = true;
	a->update_err.text[0] = '\0';
	if (make_dirs(partial, &a->update_err))
		return -1;
	a->use_own = true;
	if (write_conf(a, &a->update_err))
		return -1;
	strings_add(&argv, xstrdup("apt-get"));
	strings_add(&argv, xstrdup("-q"));
	strings_add(&argv, xstrdup("-oAPT::Update::Error-Mode=any"));
	strings_add(&argv, xstrdup("update"));
	if (!run(a, &argv, UPDATE_TIMEOUT_S, NULL, &text, &status,
		 &a->update_err) && status) {
		cleanup_free char *said = complaint(text.len ? text.data : "");

		error_set(&a->update_err, 0, "%s", said);
	}
	/* One dead source of several must not stop us: go on with what came. */
	(void)set_stamp(stamp, !a->update_err.text[0]);
	if (lists_time(lists, stamp))
		return 0;
	a->use_own = was_own;
	return -1;
}

static int find_host_lists(struct apt *a, struct error *err)
{
	static const char *const argv[] = { "apt-config", "shell", "LISTS",
					    "Dir::State::lists/d", NULL };
	CLEANUP(buf_free) struct buf text = { 0 };
	const struct proc_opts opts = { .out = &text,
					.timeout_s = CONFIG_TIMEOUT_S };
	char *start, *end;

	if (proc_run(argv, &opts, err))
		return error_prefix(err, "read the host's apt configuration");
	start = text.len ? strchr(text.data, '\'') : NULL;
	end = start ? strrchr(start + 1, '\'') : NULL;
	if (!end)
		return error_set(err, 0, "apt-config names no Dir::State::lists: see the host's apt configuration");
	while (end > start + 2 && end[-1] == '/')
		end--;
	a->host_lists = xstrndup(start + 1, (size_t)(end - start - 1));
	return 0;
}

static int choose_lists(struct apt *a, struct error *err)
{
	cleanup_free char *own = xasprintf("%s/lists", a->dir);
	cleanup_free char *stamp = xasprintf("%s/updated", a->dir);
	time_t host_t = lists_time(a->host_lists, NULL);
	time_t own_t = lists_time(own, stamp);
	time_t best = own_t > host_t ? own_t : host_t;
	time_t age = time(NULL) - best;

	a->use_own = own_t > host_t;
	a->refreshed = best && age < LISTS_YOUNG_S;
	if (best && age < LISTS_OLD_S)
		return write_conf(a, err);
	if (!update(a))
		return 0;
	if (!best)
		return error_set(err, 0,
			"there are no package lists and apt-get update failed: %s; check the network and the host's apt sources",
			a->update_err.text);
	return write_conf(a, err);
}

int apt_open(struct apt *a, const struct cache *c, struct error *err)
{
	cleanup_free char *apt_get = proc_find("apt-get");
	cleanup_free char *dir = cache_path(c, "apt", "", "");
	cleanup_free char *status = NULL, *archives = NULL, *answers = NULL;

	if (!apt_get)
		return error_set(err, 0, "there is no apt-get: fetching packages needs apt (kontest needs a Debian or a system derived from it for that)");
	a->lock = cache_lock(c, "apt", "apt", err);
	if (a->lock < 0)
		return -1;
	a->dir = realpath(dir, NULL);
	if (!a->dir)
		return error_set(err, errno, "'%s'", dir);
	if (strpbrk(a->dir, "\"\\;\n"))
		return error_set(err, 0, "apt cannot use the cache directory '%s': choose one without quotes, backslashes and semicolons (XDG_CACHE_HOME)",
				 a->dir);
	status = xasprintf("%s/status", a->dir);
	archives = xasprintf("%s/archives/partial", a->dir);
	answers = xasprintf("%s/answers", a->dir);
	if (file_write(status, "", 0, err) || make_dirs(archives, err) ||
	    make_dirs(answers, err) ||
	    find_host_lists(a, err))
		return -1;
	return choose_lists(a, err);
}

void apt_close(struct apt *a)
{
	free(a->dir);
	free(a->host_lists);
	cleanup_closep(&a->lock);
	*a = (struct apt)APT_CLOSED;
}

bool apt_refresh(struct apt *a)
{
	return !a->refreshed && !update(a) && !a->update_err.text[0];
}

int apt_do(struct apt *a, const struct strings *argv, int timeout_s,
	    const char *cwd, struct buf *out, struct error *err)
{
	int status = 0;

	for (;;) {
		out->len = 0;
		if (run(a, argv, timeout_s, cwd, out, &status, err))
			return -1;
		if (!status)
			return 0;
		/* New lists are no help against a full disk. */
		if ((out->len && strstr(out->data, "No space left")) ||
		    !apt_refresh(a))
			break;
	}
	return explain(a, argv->v[0], out->len ? out->data : "", err);
}

/*
 * Where the answer to a question is kept: the lists in use decide it, and apt
 * takes a second to read them. NULL when it cannot be told.
 */
static char *answer_path(const struct apt *a, const struct strings *argv)
{
	cleanup_free char *own = xasprintf("%s/lists", a->dir);
	const char *dir = a->use_own ? own : a->host_lists;
	char hex[SHA256_HEX], line[128];
	struct dirent **names;
	struct sha256 sum;
	int n = scandir(dir, &names, NULL, alphasort);

	if (n < 0)
		return NULL;
	sha256_init(&sum);
	for (size_t i = 0; i < argv->n; i++)
		sha256_adds(&sum, argv->v[i]);
	for (int i = 0; i < n; i++) {
		cleanup_free char *path = xasprintf("%s/%s", dir, names[i]->d_name);
		struct stat st;

		if (names[i]->d_name[0] != '.' && !stat(path, &st) &&
		    S_ISREG(st.st_mode)) {
			snprintf(line, sizeof(line), "%lld %lld.%09ld",
				 (long long)st.st_size,
				 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
			sha256_adds(&sum, path);
			sha256_adds(&sum, line);
		}
		free(names[i]);
	}
	free(names);
	sha256_final(&sum, hex);
	return xasprintf("%s/answers/%s", a->dir, hex);
}

int apt_ask(struct apt *a, const struct strings *argv, struct buf *out,
	    struct error *err)
{
	cleanup_free char *kept = answer_path(a, argv);

	out->len = 0;
	if (kept && !file_read(kept, ANSWER_MAX_BYTES, out, NULL))
		return 0;
	if (apt_do(a, argv, ASK_TIMEOUT_S, NULL, out, err))
		return -1;
	/* The lists may be new ones by now. It saves a second: no failure. */
	free(kept);
	kept = answer_path(a, argv);
	if (kept)
		file_write(kept, out->data ? out->data : "", out->len, NULL);
	return 0;
}

int apt_show(struct apt *a, const struct strings *argv, struct buf *out,
	     struct error *err)
{
	int status;

	/* apt-cache show ends with 100 when it lacks one of several names. */
	return run(a, argv, ASK_TIMEOUT_S, NULL, out, &status, err);
}
