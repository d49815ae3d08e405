/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recover.h - nothing measured is lost when kontest itself is killed
 */
#ifndef KONTEST_RECOVER_H
#define KONTEST_RECOVER_H

#include <stdbool.h>

#include "results/base/error.h"
#include "results/verdict.h"

/**
 * journal_verdict() - the host's verdict in a journal
 * @journal: its path
 * @v: gets the verdict
 * @evidence: gets why, owned by the caller; may be NULL
 * @err: why the journal could not be read
 *
 * Return: false when there is none (yet).
 */
bool journal_verdict(const char *journal, enum verdict *v, char **evidence,
		     struct error *err);

/**
 * recover_boots() - store what others left in DATA_DIR/running
 * @data_dir: as in struct run_opts
 *
 * What a kontest that was killed, or that could not store it, left there goes to
 * the store that it was meant for. What cannot go there stays, which is said on
 * stderr: it must not keep others from running.
 */
void recover_boots(const char *data_dir);

#endif
