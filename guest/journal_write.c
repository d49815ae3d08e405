/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal_write.c - appends records to the results disk
 */
#include "guest/journal_write.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/json.h"
#include "results/crc32c.h"

#define LOCK_TIMEOUT_S 60	/* a write that takes longer never comes back */
#define RECORD_MAX (JOURNAL_PAYLOAD_MAX + JOURNAL_BLOCK)

/**
 * struct jw - shared state
 * @fd: -1 without a results disk
 * @off: where the next record goes. @size: of the disk, bytes
 * @record: a whole record, aligned for O_DIRECT
 */
struct jw {
	int fd;
	uint64_t off, size;
	uint64_t seq;
	bool ended;
	pthread_mutex_t lock;
	_Alignas(JOURNAL_BLOCK) unsigned char record[RECORD_MAX];
};

_Static_assert(RECORD_MAX % JOURNAL_BLOCK == 0, "records are whole blocks");

static struct jw *map_state(struct fail *f)
{
	struct jw *j = mmap(NULL, sizeof(*j), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;
	int ret;

	if (j == MAP_FAILED) {
		fail_set(f, errno, "map %zu bytes for the journal", sizeof(*j));
		return NULL;
	}
	j->fd = -1;
	ret = pthread_mutexattr_init(&attr);
	if (ret == 0)
		ret = pthread_mutexattr_setpshared(&attr,
						   PTHREAD_PROCESS_SHARED);
	if (ret == 0)
		ret = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (ret == 0)
		ret = pthread_mutex_init(&j->lock, &attr);
	if (ret == 0)
		return j;
	fail_set(f, ret, "make the journal's lock");
	munmap(j, sizeof(*j));
	return NULL;
}

struct jw *jw_none(struct fail *f)
{
	return map_state(f);
}

bool jw_present(const struct jw *j)
{
	return j->fd >= 0;
}

uint64_t jw_room(const struct jw *j)
{
	return j->size - j->off;
}

bool jw_ended(const struct jw *j)
{
	return j->ended;
}

static int read_at(int fd, void *buf, size_t len, off_t off, const char *what,
		   struct fail *f)
{
	ssize_t n = pread(fd, buf, len, off);

	if (n < 0)
		return fail_set(f, errno, "results disk: read the %s", what);
	if ((size_t)n != len)
		return fail_set(f, 0, "results disk: too small for its %s", what);
	return 0;
}

static int check_super(int fd, struct journal_super *s, struct fail *f)
{
	struct journal_super zero;
	struct journal_record first;

	if (read_at(fd, s, sizeof(*s), 0, "superblock", f) != 0)
		return -1;
	zero = *s;
	zero.crc = 0;
	if (memcmp(s->magic, JOURNAL_MAGIC, sizeof(s->magic)) != 0 ||
	    s->crc != crc32c(0, &zero, sizeof(zero)))
		return fail_set(f, 0, "results disk: its superblock is damaged");
	if (s->version != JOURNAL_VERSION)
		return fail_set(f, 0, "results disk: version %u, this guest knows %u: "
				"use images and kontest of one version",
				s->version, JOURNAL_VERSION);
	if (s->plan_len == 0 || s->plan_len > JOURNAL_PLAN_MAX)
		return fail_set(f, 0, "results disk: a plan of %u bytes",
				s->plan_len);
	if (read_at(fd, &first, sizeof(first), JOURNAL_LOG_OFF, "first record",
		    f) != 0)
		return -1;
	if (first.magic == JOURNAL_RECORD_MAGIC)
		return fail_set(f, 0, "results disk: it already holds the journal of "
				"another boot: give each boot a fresh one");
	return 0;
}

/* O_DIRECT where the disk can, so that nothing waits in a cache */
static int open_append(const char *path)
{
	int fd = open(path, O_RDWR | O_DIRECT | O_DSYNC | O_CLOEXEC);

	if (fd < 0 && errno == EINVAL)
		fd = open(path, O_RDWR | O_DSYNC | O_CLOEXEC);
	return fd;
}

static int read_plan(int fd, const struct journal_super *s, char **plan,
		     struct fail *f)
{
	auto_free char *text = malloc(s->plan_len + 1);

	if (!text)
		return fail_set(f, errno, "a plan of %u bytes", s->plan_len);
	if (read_at(fd, text, s->plan_len, JOURNAL_PLAN_OFF, "plan", f) != 0)
		return -1;
	text[s->plan_len] = '\0';
	if (strlen(text) != s->plan_len)
		return fail_set(f, 0, "results disk: its plan is damaged");
	*plan = text;
	text = NULL;
	return 0;
}

/* What the host has written, and the disk's size in bytes */
static int read_head(const char *path, uint64_t *size, char **plan,
		     struct fail *f)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct journal_super s;
	off_t end;

	if (fd < 0)
		return fail_set(f, errno, "open results disk '%s'", path);
	if (check_super(fd, &s, f) != 0 || read_plan(fd, &s, plan, f) != 0)
		return -1;
	end = lseek(fd, 0, SEEK_END);
	if (end < JOURNAL_LOG_OFF + RECORD_MAX)
		return fail_set(f, 0, "results disk '%s' is too small", path);
	*size = (uint64_t)end;
	return 0;
}

struct jw *jw_open(const char *path, char **plan, struct fail *f)
{
	uint64_t size = 0;
	struct jw *j;

	*plan = NULL;
	if (read_head(path, &size, plan, f) != 0)
		return NULL;
	j = map_state(f);
	if (!j)
		return NULL;
	j->off = JOURNAL_LOG_OFF;
	j->size = size;
	j->fd = open_append(path);
	if (j->fd < 0) {
		fail_set(f, errno, "open results disk '%s' for writing", path);
		return NULL;
	}
	return j;
}

static size_t build_record(struct jw *j, enum journal_type type,
			   const char *payload, size_t len)
{
	struct journal_record *r = (struct journal_record *)j->record;
	size_t used = sizeof(*r) + len;
	size_t whole = (used + JOURNAL_BLOCK - 1) / JOURNAL_BLOCK *
		       JOURNAL_BLOCK;

	*r = (struct journal_record){
		.magic = JOURNAL_RECORD_MAGIC, .type = type,
		.len = (uint32_t)len, .seq = j->seq, .t_ns = now_ns(),
	};
	memcpy(j->record + sizeof(*r), payload, len);
	memset(j->record + used, 0, whole - used);
	r->crc = crc32c(0, j->record, used);
	return whole;
}

static int append_locked(struct jw *j, enum journal_type type,
			 const char *payload, struct fail *f)
{
	size_t len = strlen(payload);
	size_t whole;
	ssize_t n;

	if (len > JOURNAL_PAYLOAD_MAX)
		return fail_set(f, 0, "a record of %zu bytes is too long", len);
	whole = build_record(j, type, payload, len);
	if (j->off + whole > j->size)
		return fail_set(f, ENOSPC, "results disk, record %llu",
				(unsigned long long)j->seq);
	do
		n = pwrite(j->fd, j->record, whole, (off_t)j->off);
	while (n < 0 && errno == EINTR);
	if (n < 0 || (size_t)n != whole)
		return fail_set(f, n < 0 ? errno : EIO,
				"write record %llu to the results disk",
				(unsigned long long)j->seq);
	j->off += whole;
	j->seq++;
	return 0;
}

int jw_append(struct jw *j, enum journal_type type, const char *payload,
	      struct fail *f)
{
	struct timespec until;
	int ret;

	if (type == JOURNAL_END || type == JOURNAL_ERROR)
		j->ended = true;
	if (j->fd < 0)
		return 0;
	if (clock_gettime(CLOCK_MONOTONIC, &until) != 0)
		return fail_set(f, errno, "read the clock");
	until.tv_sec += LOCK_TIMEOUT_S;
	ret = pthread_mutex_clocklock(&j->lock, CLOCK_MONOTONIC, &until);
	/* The holder died: at worst its record was not counted, and the next
	 * one is written over it */
	if (ret == EOWNERDEAD)
		ret = pthread_mutex_consistent(&j->lock);
	if (ret != 0)
		return fail_set(f, ret, "the journal is locked for more than %d s",
				LOCK_TIMEOUT_S);
	ret = append_locked(j, type, payload, f);
	if (pthread_mutex_unlock(&j->lock) != 0)
		return fail_set(f, 0, "unlock the journal");
	return ret;
}

int jw_log(struct jw *j, struct fail *f, const char *fmt, ...)
{
	char text[8192], payload[32768];
	struct jsonw w;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	jsonw_begin(&w, payload, sizeof(payload));
	jsonw_open(&w, NULL, '{');
	jsonw_string(&w, "text", text);
	jsonw_close(&w, '}');
	if (!jsonw_ok(&w))
		return fail_set(f, 0, "a LOG record is too long");
	return jw_append(j, JOURNAL_LOG, payload, f);
}

int jw_error(struct jw *j, const char *verdict, const char *message,
	     struct fail *f)
{
	char payload[8192];
	struct jsonw w;

	jsonw_begin(&w, payload, sizeof(payload));
	jsonw_open(&w, NULL, '{');
	jsonw_string(&w, "verdict", verdict);
	jsonw_string(&w, "message", message);
	jsonw_close(&w, '}');
	if (!jsonw_ok(&w))
		return fail_set(f, 0, "an ERROR record is too long");
	return jw_append(j, JOURNAL_ERROR, payload, f);
}
