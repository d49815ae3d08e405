/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal_file.c - the host's side of the journal
 *
 * Nothing in a journal is believed before it was checked: a guest may have
 * died in the middle of a write, and a file may come from somebody else.
 */
#include "results/journal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/crc32c.h"

/* The structs are read and written as they lie in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "the journal is little-endian");
_Static_assert(sizeof(struct journal_super) == 136, "journal_super has holes");
_Static_assert(sizeof(struct journal_record) == 32, "journal_record has holes");

static uint64_t record_size(size_t len)
{
	uint64_t size = sizeof(struct journal_record) + len;

	return (size + JOURNAL_BLOCK - 1) / JOURNAL_BLOCK * JOURNAL_BLOCK;
}

static uint32_t super_crc(const struct journal_super *super)
{
	struct journal_super copy = *super;

	copy.crc = 0;
	return crc32c(0, &copy, sizeof(copy));
}

static uint32_t record_crc(const struct journal_record *rec,
			   const void *payload)
{
	struct journal_record copy = *rec;

	copy.crc = 0;
	return crc32c(crc32c(0, &copy, sizeof(copy)), payload, rec->len);
}

/* pread_some() - up to @len bytes: fewer only at the end of the file */
static ssize_t pread_some(int fd, void *data, size_t len, uint64_t off)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, (char *)data + done, len - done,
				  (off_t)(off + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* journal_open() - a file or a disk; anything else could block for ever */
static int journal_open(const char *path, int flags, struct error *err)
{
	cleanup_close int fd = open(path, flags | O_CLOEXEC | O_NOCTTY |
				    O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return error_set(err, errno, "open journal '%s'", path);
	if (fstat(fd, &st))
		return error_set(err, errno, "stat journal '%s'", path);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return error_set(err, 0, "'%s': not a kontest journal (neither a file nor a disk)",
				 path);
	return steal_fd(&fd);
}

int journal_create(const char *path, const char *run_id, const char *plan,
		   const char *context, struct error *err)
{
	struct journal_super super = { .version = JOURNAL_VERSION };
	CLEANUP(newfile_abort) struct newfile f = { .fd = -1 };
	size_t plan_len = strlen(plan), context_len = strlen(context);

	if (strlen(run_id) >= sizeof(super.run_id))
		return error_set(err, 0, "journal '%s': run id '%s' is longer than %zu characters",
				 path, run_id, sizeof(super.run_id) - 1);
	if (plan_len > JOURNAL_PLAN_MAX)
		return error_set(err, 0, "journal '%s': the guest plan has %zu bytes, %d fit: ask for fewer runs a boot",
				 path, plan_len, JOURNAL_PLAN_MAX);
	if (context_len > JOURNAL_CONTEXT_MAX)
		return error_set(err, 0, "journal '%s': the context has %zu bytes, %d fit: shorten plan or profile",
				 path, context_len, JOURNAL_CONTEXT_MAX);

	memcpy(super.magic, JOURNAL_MAGIC, sizeof(super.magic));
	super.plan_len = (uint32_t)plan_len;
	super.context_len = (uint32_t)context_len;
	memcpy(super.run_id, run_id, strlen(run_id));
	sha256_of(plan, plan_len, super.plan_digest);
	super.crc = super_crc(&super);

	if (newfile_open(&f, path, 0666, err))
		return -1;
	if (ftruncate(f.fd, JOURNAL_DISK_BYTES))
		return error_set(err, errno, "make journal '%s' %d bytes long",
				 path, JOURNAL_DISK_BYTES);
	if (full_pwrite(f.fd, &super, sizeof(super), 0, path, err) ||
	    full_pwrite(f.fd, plan, plan_len, JOURNAL_PLAN_OFF, path, err) ||
	    full_pwrite(f.fd, context, context_len, JOURNAL_CONTEXT_OFF, path,
			err))
		return -1;
	return newfile_commit(&f, err);
}

/* super_check() - names the first field that cannot be right */
static int super_check(const struct journal_super *s, const char *path,
		       struct error *err)
{
	uint32_t crc = super_crc(s);

	if (memcmp(s->magic, JOURNAL_MAGIC, sizeof(s->magic)) != 0)
		return error_set(err, 0, "'%s': not a kontest journal (header field magic is wrong)",
				 path);
	if (s->version > JOURNAL_VERSION)
		return error_set(err, 0, "journal '%s': header field version is %u, this kontest reads up to %d: use a newer kontest",
				 path, s->version, JOURNAL_VERSION);
	if (s->version == 0)
		return error_set(err, 0, "journal '%s': header field version is 0: the file is damaged",
				 path);
	if (s->plan_len > JOURNAL_PLAN_MAX)
		return error_set(err, 0, "journal '%s': header field plan_len is %u, at most %d is possible: the file is damaged",
				 path, s->plan_len, JOURNAL_PLAN_MAX);
	if (s->context_len > JOURNAL_CONTEXT_MAX)
		return error_set(err, 0, "journal '%s': header field context_len is %u, at most %d is possible: the file is damaged",
				 path, s->context_len, JOURNAL_CONTEXT_MAX);
	if (!memchr(s->run_id, 0, sizeof(s->run_id)))
		return error_set(err, 0, "journal '%s': header field run_id has no end: the file is damaged",
				 path);
	if (!memchr(s->plan_digest, 0, sizeof(s->plan_digest)))
		return error_set(err, 0, "journal '%s': header field plan_digest has no end: the file is damaged",
				 path);
	if (s->crc != crc)
		return error_set(err, 0, "journal '%s': header field crc is %08x, the header's bytes give %08x: the file is damaged",
				 path, s->crc, crc);
	return 0;
}

static int super_read(int fd, const char *path, struct journal_super *s,
		      struct error *err)
{
	ssize_t n = pread_some(fd, s, sizeof(*s), 0);

	if (n < 0)
		return error_set(err, errno, "read journal '%s'", path);
	if ((size_t)n < sizeof(*s))
		return error_set(err, 0, "'%s': not a kontest journal (%zd bytes are too few for its header)",
				 path, n);
	return super_check(s, path, err);
}

/* text_read() - plan or context, NUL-terminated and owned by the caller */
static char *text_read(int fd, const char *path, const char *field,
		       uint64_t off, uint32_t len, struct error *err)
{
	cleanup_free char *text = xmalloc((size_t)len + 1);
	ssize_t n = pread_some(fd, text, len, off);

	if (n < 0) {
		error_set(err, errno, "read journal '%s'", path);
		return NULL;
	}
	if (n < (ssize_t)len) {
		error_set(err, 0, "journal '%s': header field %s is %u, but only %zd bytes are there: the file is cut short",
			  path, field, len, n);
		return NULL;
	}
	text[len] = '\0';
	return steal_ptr(text);
}

int journal_next(struct journal_tail *t, struct journal_entry *e,
		 struct error *err)
{
	struct journal_record rec;
	cleanup_free char *payload = NULL;
	ssize_t n = pread_some(t->fd, &rec, sizeof(rec), t->off);

	if (n < 0)
		return error_set(err, errno, "read journal at byte %llu",
				 (unsigned long long)t->off);
	if (n < (ssize_t)sizeof(rec) || rec.magic != JOURNAL_RECORD_MAGIC ||
	    rec.seq != t->seq || rec.len > JOURNAL_PAYLOAD_MAX)
		return 0;

	payload = xmalloc((size_t)rec.len + 1);
	n = pread_some(t->fd, payload, rec.len, t->off + sizeof(rec));
	if (n < 0)
		return error_set(err, errno, "read journal at byte %llu",
				 (unsigned long long)t->off);
	if (n < (ssize_t)rec.len || record_crc(&rec, payload) != rec.crc)
		return 0;

	payload[rec.len] = '\0';
	*e = (struct journal_entry) {
		.type = (enum journal_type)rec.type,
		.seq = rec.seq,
		.t_ns = rec.t_ns,
		.payload = steal_ptr(payload),
		.len = rec.len,
	};
	t->off += record_size(rec.len);
	t->seq++;
	return 1;
}

/* tail_dirty() - is a byte at or behind @off not zero? Holes are skipped. */
static int tail_dirty(int fd, const char *path, uint64_t off, bool *dirty,
		      struct error *err)
{
	static const char zeros[JOURNAL_BLOCK];
	char block[JOURNAL_BLOCK];

	*dirty = false;
	for (;;) {
		off_t data = lseek(fd, (off_t)off, SEEK_DATA);
		ssize_t n;

		if (data < 0 && errno == ENXIO)
			return 0;
		if (data > (off_t)off)
			off = (uint64_t)data;
		n = pread_some(fd, block, sizeof(block), off);
		if (n < 0)
			return error_set(err, errno, "read journal '%s'", path);
		if (n == 0)
			return 0;
		if (memcmp(block, zeros, (size_t)n) != 0) {
			*dirty = true;
			return 0;
		}
		off += (uint64_t)n;
	}
}

static int journal_load(int fd, const char *path, struct journal *j,
			struct error *err)
{
	struct journal_tail tail = { .fd = fd, .off = JOURNAL_LOG_OFF };
	struct journal_entry e = { 0 };
	char digest[SHA256_HEX];
	int got;

	if (super_read(fd, path, &j->super, err))
		return -1;
	j->plan = text_read(fd, path, "plan_len", JOURNAL_PLAN_OFF,
			    j->super.plan_len, err);
	if (!j->plan)
		return -1;
	j->context = text_read(fd, path, "context_len", JOURNAL_CONTEXT_OFF,
			       j->super.context_len, err);
	if (!j->context)
		return -1;
	sha256_of(j->plan, j->super.plan_len, digest);
	if (strcmp(digest, j->super.plan_digest) != 0)
		return error_set(err, 0, "journal '%s': header field plan_digest does not match the guest plan: the file is damaged",
				 path);

	while ((got = journal_next(&tail, &e, err)) == 1)
		journal_entries_add(&j->entries, e);
	if (got < 0)
		return error_prefix(err, "journal '%s'", path);
	/* The last record's padding may be cut off: that costs nothing. */
	j->end = tail.off;
	return tail_dirty(fd, path, tail.off, &j->torn, err);
}

int journal_read(const char *path, struct journal *j, struct error *err)
{
	cleanup_close int fd = journal_open(path, O_RDONLY, err);

	*j = (struct journal) { 0 };
	if (fd < 0)
		return -1;
	if (journal_load(fd, path, j, err)) {
		journal_free(j);
		return -1;
	}
	return 0;
}

void journal_free(struct journal *j)
{
	for (size_t i = 0; i < j->entries.n; i++)
		free(j->entries.v[i].payload);
	journal_entries_free(&j->entries);
	free(j->plan);
	free(j->context);
	*j = (struct journal) { 0 };
}

/* tail_clear() - zeros from @off on: no stale bytes behind the last record */
static int tail_clear(int fd, const char *path, uint64_t off,
		      struct error *err)
{
	static const char zeros[JOURNAL_BLOCK];
	struct stat st;
	bool dirty;

	if (tail_dirty(fd, path, off, &dirty, err))
		return -1;
	if (!dirty)
		return 0;
	if (fstat(fd, &st))
		return error_set(err, errno, "stat journal '%s'", path);
	if (S_ISREG(st.st_mode) && st.st_size > (off_t)off &&
	    !fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		       (off_t)off, st.st_size - (off_t)off))
		return 0;
	/* No holes here: write the zeros, a block at a time. */
	for (;;) {
		char block[JOURNAL_BLOCK];
		ssize_t n = pread_some(fd, block, sizeof(block), off);

		if (n < 0)
			return error_set(err, errno, "read journal '%s'", path);
		if (n == 0)
			return 0;
		if (memcmp(block, zeros, (size_t)n) != 0 &&
		    full_pwrite(fd, zeros, (size_t)n, (off_t)off, path, err))
			return -1;
		off += (uint64_t)n;
	}
}

int journal_append(const char *path, enum journal_type type,
		   const char *payload, struct error *err)
{
	cleanup_close int fd = journal_open(path, O_RDWR, err);
	struct journal_tail tail = { .fd = fd, .off = JOURNAL_LOG_OFF };
	struct journal_record rec = { .magic = JOURNAL_RECORD_MAGIC };
	struct journal_super super;
	struct journal_entry e = { 0 };
	cleanup_free char *block = NULL;
	size_t len = strlen(payload);
	int got;

	if (fd < 0)
		return -1;
	if (len > JOURNAL_PAYLOAD_MAX)
		return error_set(err, 0, "journal '%s': a record of %zu bytes, %d fit",
				 path, len, JOURNAL_PAYLOAD_MAX);
	if (super_read(fd, path, &super, err))
		return -1;
	while ((got = journal_next(&tail, &e, err)) == 1)
		free(e.payload);
	if (got < 0)
		return error_prefix(err, "journal '%s'", path);

	rec.type = type;
	rec.len = (uint32_t)len;
	rec.seq = tail.seq;
	rec.crc = record_crc(&rec, payload);
	block = xcalloc(1, record_size(len));
	memcpy(block, &rec, sizeof(rec));
	memcpy(block + sizeof(rec), payload, len);

	if (tail_clear(fd, path, tail.off, err) ||
	    full_pwrite(fd, block, record_size(len), (off_t)tail.off, path,
			err))
		return -1;
	if (fsync(fd))
		return error_set(err, errno, "fsync journal '%s'", path);
	return 0;
}

/* stored_bytes() - what the store keeps of a journal: everything up to the end
 * of its last whole record, in whole blocks, so that a cut-off padding changes
 * no id */
static int stored_bytes(int fd, const char *path, const struct journal *j,
			struct buf *bytes, struct error *err)
{
	ssize_t n;

	bytes->data = xcalloc(1, j->end);
	bytes->len = bytes->cap = j->end;
	n = pread_some(fd, bytes->data, bytes->len, 0);
	if (n < 0)
		return error_set(err, errno, "read journal '%s'", path);
	return 0;
}

int journal_id(const char *path, const struct journal *j, char id[SHA256_HEX],
	       struct error *err)
{
	cleanup_close int fd = journal_open(path, O_RDONLY, err);
	CLEANUP(buf_free) struct buf bytes = { 0 };

	if (fd < 0 || stored_bytes(fd, path, j, &bytes, err))
		return -1;
	sha256_of(bytes.data, bytes.len, id);
	return 0;
}

/* write_sparse() - without the blocks of zeros, which most of the room for plan
 * and context is: 20 KiB a journal on the disk instead of 270 */
static int write_sparse(const struct newfile *f, const struct buf *bytes,
			struct error *err)
{
	static const char zeros[JOURNAL_BLOCK];

	if (ftruncate(f->fd, (off_t)bytes->len))
		return error_set(err, errno, "make '%s' %zu bytes long",
				 f->path, bytes->len);
	for (size_t off = 0; off < bytes->len; off += JOURNAL_BLOCK) {
		if (memcmp(bytes->data + off, zeros, JOURNAL_BLOCK) != 0 &&
		    full_pwrite(f->fd, bytes->data + off, JOURNAL_BLOCK,
				(off_t)off, f->path, err))
			return -1;
	}
	return 0;
}

int journal_store_copy(const char *path, const char *to, char id[SHA256_HEX],
		       struct error *err)
{
	CLEANUP(newfile_abort) struct newfile f = { .fd = -1 };
	CLEANUP(journal_free) struct journal j = { 0 };
	CLEANUP(buf_free) struct buf bytes = { 0 };
	cleanup_close int fd = journal_open(path, O_RDONLY, err);

	if (fd < 0 || journal_load(fd, path, &j, err) ||
	    stored_bytes(fd, path, &j, &bytes, err))
		return -1;
	sha256_of(bytes.data, bytes.len, id);
	if (newfile_open(&f, to, 0444, err) ||
	    write_sparse(&f, &bytes, err))
		return -1;
	return newfile_commit(&f, err);
}
