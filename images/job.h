/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job.h - the source tree of a foreground job, and what is known about it
 *
 *	quick-N		a directory of this program's own, loads/jobs/quick-N
 *	linux-6.1	the kernel source that Debian packages, trimmed to what a
 *			tinyconfig build reads; images/linux-6.1.lock names the
 *			package, .files the paths, .config is the configuration
 *	command		a directory of the user's
 */
#ifndef KONTEST_JOB_H
#define KONTEST_JOB_H

#include "images/base.h"
#include "images/tree.h"
#include "results/base/text.h"

#define JOB_LINUX "linux-6.1"
#define JOB_COMMAND "command"

/**
 * struct job_tree - a job's tree; strings owned
 * @name: of the job; the directory on the work disk
 * @digest: SHA-256 of the tree
 * @config: SHA-256 of the kernel configuration, "" when there is none
 * @package: "linux-source-6.1 6.1.192-3", or NULL
 * @note: for the user: another package than the locked one was taken; or NULL
 */
struct job_tree {
	char *name;
	char digest[SHA256_HEX];
	char config[SHA256_HEX];
	char *package;
	char *note;
};
void job_tree_free(struct job_tree *j);

/**
 * job_build() - the work disk with a job's tree in it, and /tmp
 * @c: layer cache
 * @name: of the job
 * @dir: the tree of `command`, else NULL
 * @locked: refuse any other package version than the locked one
 * @size: bytes of the disk
 * @j: what was put there
 * @d: the disk
 *
 * Nothing is unpacked when the disk is in the cache.
 */
int job_build(const struct cache *c, const char *name, const char *dir,
	      bool locked, uint64_t size, struct job_tree *j,
	      struct disk_image *d, struct error *err);

/**
 * linux_tree() - unpack what the manifest names of a package of the source
 * @t: gets it below /linux-6.1, with the configuration
 * @deb: path of the package
 * @files: the manifest: a path a line, sorted
 * @config: the configuration, .config; what follows from it is made, too:
 *          include/config/auto.conf and include/generated/autoconf.h
 *
 * Every path of the manifest must be in the package, as a regular file.
 */
int linux_tree(struct tree *t, const char *deb, const char *files,
	       const char *config, struct error *err);

/* linux_auto_conf(), linux_autoconf_h() - what the kernel's own conf makes of a
 * .config for makefiles and for C; hexadecimal values must have their 0x */
void linux_auto_conf(const char *config, struct buf *out);
void linux_autoconf_h(const char *config, struct buf *out);

/* dir_tree() - a user's directory below /command: names, modes, contents and
 * links as they are; root:root. Sockets, devices and the like are refused. */
int dir_tree(struct tree *t, const char *dir, struct error *err);

#endif
