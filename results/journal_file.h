/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal_file.h - the host's side of the journal: make it, follow it, read it
 */
#ifndef KONTEST_JOURNAL_FILE_H
#define KONTEST_JOURNAL_FILE_H

#include <stdbool.h>

#include "results/base/digest.h"
#include "results/base/text.h"
#include "results/journal.h"

/* struct journal_entry - one record; @payload owned, NUL-terminated */
struct journal_entry {
	enum journal_type type;
	uint64_t seq;
	uint64_t t_ns;
	char *payload;
	size_t len;
};
DEFINE_VECTOR(journal_entries, struct journal_entry)

/**
 * struct journal - a journal in memory
 * @super: its first block
 * @plan: guest plan text, owned
 * @context: context JSON text, owned
 * @entries: the whole records, in order
 * @torn: bytes that are not zero follow the last whole record
 * @end: offset behind the last whole record
 */
struct journal {
	struct journal_super super;
	char *plan;
	char *context;
	struct journal_entries entries;
	bool torn;
	uint64_t end;
};

/**
 * journal_create() - make the results disk of a boot
 * @path: file to make, JOURNAL_DISK_BYTES long, sparse
 * @run_id: UUID text
 * @plan: guest plan text
 * @context: context, JSON text
 */
int journal_create(const char *path, const char *run_id, const char *plan,
		   const char *context, struct error *err);

/* journal_read() - a whole journal; a damaged header is an error, a torn tail
 * is not */
int journal_read(const char *path, struct journal *j, struct error *err);
void journal_free(struct journal *j);

/**
 * struct journal_tail - follows a journal while the guest writes it
 * @fd: open for reading
 * @off: where the next record will start; begins at JOURNAL_LOG_OFF
 * @seq: its sequence number; begins at 0
 */
struct journal_tail {
	int fd;
	uint64_t off;
	uint64_t seq;
};

/* journal_next() - 1 and the next whole record in @e (owned by the caller), 0
 * when there is none yet, -1 when reading failed */
int journal_next(struct journal_tail *t, struct journal_entry *e,
		 struct error *err);

/* journal_append() - the host's VERDICT behind the last whole record; a torn
 * tail is overwritten */
int journal_append(const char *path, enum journal_type type,
		   const char *payload, struct error *err);

/* journal_id() - SHA-256 of what journal_store_copy() would write of the
 * journal @path, which was read into @j */
int journal_id(const char *path, const struct journal *j, char id[SHA256_HEX],
	       struct error *err);

/* journal_store_copy() - copy without the unused end of the disk, fsynced;
 * @id: SHA-256 of the copy, which is the boot's id */
int journal_store_copy(const char *path, const char *to, char id[SHA256_HEX],
		       struct error *err);

#endif
