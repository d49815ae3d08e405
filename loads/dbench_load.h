/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dbench_load.h - the script that each client of dbench_load performs
 */
#ifndef KONTEST_LOADS_DBENCH_LOAD_H
#define KONTEST_LOADS_DBENCH_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loads/load.h"

#define DBENCH_CLIENTS_MAX 1024
#define DBENCH_FILES_MAX 12		/* of a client at any one time */
#define DBENCH_FILE_MAX (256u << 10)	/* bytes; the largest file */
#define DBENCH_IO_MAX (64u << 10)	/* bytes; the longest read or write */

/* What a client may do to its files */
enum dbench_kind {
	DBENCH_CREATE,	/* a new file, which stays open until it is deleted */
	DBENCH_OPEN,	/* a file that is there, once more, and close it */
	DBENCH_WRITE,	/* next to what was written last, from the start again
			 * when the file has its full size */
	DBENCH_READ,
	DBENCH_STAT,	/* by name */
	DBENCH_RENAME,
	DBENCH_DELETE,
	DBENCH_FLUSH,	/* fsync() */
	DBENCH_KINDS
};

/**
 * struct dbench_op - one operation
 * @kind: what
 * @slot: index of the file among the client's, below DBENCH_FILES_MAX
 * @name: number in the file's name
 * @new_name: DBENCH_RENAME: its number from now on
 * @offset: bytes; DBENCH_READ, DBENCH_WRITE: where
 * @bytes: DBENCH_READ, DBENCH_WRITE: how many; a file without content is
 *         read, too: 0 bytes
 */
struct dbench_op {
	enum dbench_kind kind;
	unsigned int slot;
	uint32_t name;
	uint32_t new_name;
	uint32_t offset;
	uint32_t bytes;
};

/**
 * struct dbench_file - a file as the script knows it
 * @name: number in its name; 0: the slot is free
 * @size: bytes it may grow to
 * @length: bytes it has
 * @next: offset of the next write
 */
struct dbench_file {
	uint32_t name;
	uint32_t size;
	uint32_t length;
	uint32_t next;
};

/**
 * struct dbench_script - a client's script, as far as it has gone
 * @left: operations of each kind still to be done
 * @live: files that exist
 * @written: slot of the last write, which is what gets flushed
 */
struct dbench_script {
	uint64_t random;
	uint32_t left[DBENCH_KINDS];
	struct dbench_file file[DBENCH_FILES_MAX];
	unsigned int live;
	unsigned int written;
	uint32_t last_name;
};

/* dbench_name() - what operations of that kind are called, for messages */
const char *dbench_name(enum dbench_kind kind);

/* dbench_count() - how often a script does @kind */
uint32_t dbench_count(enum dbench_kind kind);

/* dbench_total() - operations of a script */
uint32_t dbench_total(void);

/* dbench_begin() - the script of client number @client, which alone decides it */
void dbench_begin(struct dbench_script *s, unsigned int client);

/**
 * dbench_next() - the script's next operation
 * @s: remembers what the operation does to the files
 * @op: filled in
 *
 * Return: false when the script is over; then no file is left.
 */
bool dbench_next(struct dbench_script *s, struct dbench_op *op);

/**
 * struct dbench_report - why a client had to give up
 * @error: errno, 0 while it works
 * @what: what it tried
 */
struct dbench_report {
	int error;
	char what[128];
};

/**
 * dbench_perform() - do one whole script, or what there is of it until the stop
 * @a: the load's; shared->done is counted up by one an operation
 * @dir: descriptor of the client's own directory
 * @client: its number
 * @report: filled in on failure
 *
 * Return: 0, or -1 with @report.
 */
int dbench_perform(const struct load_args *a, int dir, unsigned int client,
		   struct dbench_report *report);

#endif
