/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal_write.h - the guest's side of the journal: append records
 *
 * PID 1 (heartbeats) and the driver (everything else) append to the same
 * journal: its state is shared memory behind a lock that outlives its holder.
 */
#ifndef KONTEST_GUEST_JOURNAL_WRITE_H
#define KONTEST_GUEST_JOURNAL_WRITE_H

#include <stdbool.h>

#include "guest/util.h"
#include "results/journal.h"

struct jw;	/* mapped once, shared by fork() */

/**
 * jw_open() - take over a results disk
 * @path: device or file, with a superblock and plan by the host
 * @plan: gets the guest plan, malloc'ed
 * @f: what is wrong with the disk
 *
 * A disk that holds records already is refused, since a guest that was reset
 * in the middle must not write over what it had measured.
 *
 * Return: the journal; it stays until the power-off. NULL on failure.
 */
struct jw *jw_open(const char *path, char **plan, struct fail *f);
/* jw_none() - a journal that keeps nothing: there is no results disk */
struct jw *jw_none(struct fail *f);
/* jw_present() - there is a results disk */
bool jw_present(const struct jw *j);

/* jw_room() - bytes left for records; of a journal that keeps nothing, 0 */
uint64_t jw_room(const struct jw *j);

/**
 * jw_append() - one record; when this returns 0 it is on the disk
 * @payload: JSON text
 */
int jw_append(struct jw *j, enum journal_type type, const char *payload,
	      struct fail *f);
/* jw_log() - a LOG record */
int jw_log(struct jw *j, struct fail *f, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* jw_error() - an ERROR record */
int jw_error(struct jw *j, const char *verdict, const char *message,
	     struct fail *f);
/* jw_ended() - an END or ERROR record has been written */
bool jw_ended(const struct jw *j);

#endif
