/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apt_repo.h - a little Debian repository on the disk, and an apt that knows
 * only it: for tests that must not touch the network or the host's apt
 */
#ifndef KONTEST_TEST_APT_REPO_H
#define KONTEST_TEST_APT_REPO_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/proc.h"
#include "results/base/text.h"

struct apt_repo {
	char *dir;	/* everything is below it */
	char *debs;	/* DIR/repo: packages, Packages, Release */
};

static inline int repo_sh(const struct apt_repo *r, const char *script,
			  const char *a, const char *b, struct error *err)
{
	const char *argv[] = { "sh", "-euc", script, r->dir, a, b, NULL };

	return proc_run(argv, NULL, err);
}

/* Index what is in DIR/repo, as a mirror does after an upload. */
static inline int repo_index(const struct apt_repo *r, struct error *err)
{
	return repo_sh(r,
		"cd \"$0/repo\"; : >Packages\n"
		"for f in *.deb; do\n"
		"	dpkg-deb -f \"$f\" >>Packages\n"
		"	printf 'Filename: ./%s\\nSize: %s\\nSHA256: %s\\n\\n' \"$f\" \\\n"
		"		$(stat -c %s \"$f\") $(sha256sum <\"$f\" | cut -d' ' -f1) >>Packages\n"
		"done\n"
		/* Compressed, or apt's lists would be links to the very file. */
		"gzip -fkn9 Packages\n"
		"printf 'Date: %s\\nSHA256:\\n' \"$(date -uR)\" >Release\n"
		"for f in Packages Packages.gz; do\n"
		"	echo \" $(sha256sum <$f | cut -d' ' -f1) $(stat -c %s $f) $f\"\n"
		"done >>Release\n"
		"rm Packages\n", NULL, NULL, err);
}

/* Put a package with one file /usr/share/NAME/version into the repository;
 * @fields: more lines of its control file, each with its newline */
static inline int repo_add(const struct apt_repo *r, const char *name,
			   const char *version, const char *fields,
			   struct error *err)
{
	cleanup_free char *control = xasprintf(
		"Package: %s\nVersion: %s\nArchitecture: amd64\n"
		"Maintainer: nobody <nobody@example.org>\n%sDescription: test\n",
		name, version, fields);
	cleanup_free char *tree = xasprintf("%s/tree", r->dir);
	cleanup_free char *debian = xasprintf("%s/DEBIAN", tree);
	cleanup_free char *data = xasprintf("%s/usr/share/%s", tree, name);
	cleanup_free char *file = xasprintf("%s/control", debian);
	cleanup_free char *content = xasprintf("%s/version", data);

	if (remove_tree(tree, err) || make_dirs(debian, err) ||
	    make_dirs(data, err) ||
	    file_write(file, control, strlen(control), err) ||
	    file_write(content, version, strlen(version), err))
		return -1;
	return repo_sh(r, "chmod -R go=rX \"$0/tree\"; dpkg-deb -Zgzip --root-owner-group -b \"$0/tree\" \"$0/repo\" >/dev/null",
		       NULL, NULL, err);
}

/* Make the repository and, through APT_CONFIG, an apt configuration that has
 * nothing of the host's; @trusted: the user vouches for the repository */
static inline int repo_make(struct apt_repo *r, bool trusted, struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = xasprintf("%s/kontest-apt.XXXXXX", tmp ? tmp : "/tmp");
	cleanup_free char *conf = xasprintf("%s/apt.conf", mkdtemp(dir));

	r->dir = dir;
	r->debs = xasprintf("%s/repo", dir);
	if (make_dirs(r->debs, err) ||
	    repo_sh(r,
		"mkdir -p \"$0/etc\" \"$0/host-lists\"\n"
		"echo \"deb [$1] file:$0/repo ./\" >\"$0/etc/sources.list\"\n"
		"printf 'Dir::Etc \"%s/etc\";\\nDir::State::lists \"%s/host-lists\";\\n' "
		"\"$0\" \"$0\" >\"$0/apt.conf\"\n",
		trusted ? "trusted=yes" : "arch=amd64", NULL, err))
		return -1;
	return setenv("APT_CONFIG", conf, 1);
}

static inline void repo_end(struct apt_repo *r)
{
	if (r->dir)
		(void)remove_tree(r->dir, NULL);
	free(r->dir);
	free(r->debs);
	unsetenv("APT_CONFIG");
	memset(r, 0, sizeof(*r));
}

#endif
