/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fingerprint.h - everything that decides an exact result, and the result, as
 * digests: lines "name = value" that two people can compare
 *
 *	table = SHA-256 of the contest-0.61 and the wide table
 *	qemu = 7.2.22 Debian 1:7.2+dfsg-7
 *	kernel 6.1 = 6.1.0-57-cloud-amd64 SHA-256
 *	...
 */
#ifndef KONTEST_FINGERPRINT_H
#define KONTEST_FINGERPRINT_H

#include "results/store.h"

/* fingerprint_text() - the fingerprint of a run, added to @out */
int fingerprint_text(struct store *s, const char *run_id, struct buf *out,
		     struct error *err);

/* fingerprint_check() - is this file a fingerprint? Worth asking before a run */
int fingerprint_check(const char *path, struct error *err);

/**
 * fingerprint_compare() - hold a run against somebody's fingerprint
 * @s: store
 * @run_id: whole run id
 * @path: file with the other fingerprint; '#' begins a comment line
 * @out: gets the comparison in words
 * @err: reason of a failure
 *
 * Return: 0 when the tables are the same, 1 when they differ, -1 on failure.
 */
int fingerprint_compare(struct store *s, const char *run_id, const char *path,
			FILE *out, struct error *err);

#endif
