/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_tiobench.c - threaded file I/O, phase by phase, after tiobench
 *
 * For every number of threads: sequential write, random write, sequential read,
 * random read, each thread on a file of its own. All of a phase (open, calls,
 * fsync, close) lies between the release of its threads and the end of the last.
 * Unlike tiobench, what is in the caches is dropped before every phase.
 */
#include "loads/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "loads/histogram.h"

#define MIB ((uint64_t)1 << 20)
#define NS_PER_S 1000000000u
#define STACK_BYTES (128 * 1024)
#define BLOCK_ALIGN 4096

enum { SET_THREADS, SET_BLOCK, SET_SIZE, SET_RANDOM_OPS };

static const struct bench_setting settings[] = {
	[SET_THREADS] = { .name = "threads", .min = 1, .max = 256, .list = true },
	[SET_BLOCK] = { .name = "block", .min = 512, .max = 1 << 20,
			.size = true },
	[SET_SIZE] = { .name = "size", .min = MIB, .max = MIB << 20,
		       .size = true },
	[SET_RANDOM_OPS] = { .name = "random-ops", .min = 1,
			     .max = 100000000 },
	{ .name = NULL }
};

enum phase { SEQ_WRITE, RAND_WRITE, SEQ_READ, RAND_READ, PHASES };

static const char *const kinds[] = {
	[SEQ_WRITE] = "sequential-write", [RAND_WRITE] = "random-write",
	[SEQ_READ] = "sequential-read", [RAND_READ] = "random-read",
	[PHASES] = NULL
};

enum {
	F_THREADS, F_FILE_BYTES, F_BYTES, F_OPS, F_WALL, F_USER, F_SYSTEM,
	F_LAT_SUM, F_LAT_MAX, F_OVER_2S, F_OVER_10S, F_P50, F_P95, F_P99,
	F_P999, F_FSYNCS, F_FSYNC_SUM, F_FSYNC_MAX, FIGURES
};

static const char *const figures[] = {
	[F_THREADS] = "threads", [F_FILE_BYTES] = "file_bytes",
	[F_BYTES] = "bytes", [F_OPS] = "ops", [F_WALL] = "wall_ns",
	[F_USER] = "user_ns", [F_SYSTEM] = "system_ns",
	[F_LAT_SUM] = "lat_sum_ns", [F_LAT_MAX] = "lat_max_ns",
	[F_OVER_2S] = "over_2s", [F_OVER_10S] = "over_10s",
	[F_P50] = "lat_p50_ns", [F_P95] = "lat_p95_ns",
	[F_P99] = "lat_p99_ns", [F_P999] = "lat_p999_ns",
	[F_FSYNCS] = "fsyncs", [F_FSYNC_SUM] = "fsync_sum_ns",
	[F_FSYNC_MAX] = "fsync_max_ns", [FIGURES] = NULL
};

_Static_assert(FIGURES < BENCH_FIGURES_MAX, "figures");

/**
 * struct trial - one phase with one number of threads
 * @ops: random calls of each thread
 * @arrived, @released: the threads stand ready, and are let go together
 */
struct trial {
	const struct bench_args *a;
	enum phase phase;
	unsigned int threads;
	uint64_t block, file_bytes, ops;
	pthread_mutex_t lock;
	pthread_cond_t arrive, release;
	unsigned int arrived;
	bool released, cancelled;
};

/**
 * struct worker - a thread of a trial and what it measured
 * @end_ns: when it was done
 */
struct worker {
	struct trial *t;
	unsigned int number;
	pthread_t id;
	char *buffer;
	struct histogram lat, fsync;
	uint64_t over_2s, over_10s, bytes;
	uint64_t user_ns, system_ns, end_ns;
};

static bool is_write(enum phase p)
{
	return p == SEQ_WRITE || p == RAND_WRITE;
}

static bool is_random(enum phase p)
{
	return p == RAND_WRITE || p == RAND_READ;
}

static void file_name(const struct trial *t, unsigned int number, char *name,
		      size_t size)
{
	snprintf(name, size, "%s/tio.%u", t->a->dir, number);
}

/* --- what a thread does --------------------------------------------------- */

static int one_call(struct worker *w, int fd, uint64_t offset)
{
	const struct trial *t = w->t;
	uint64_t before = bench_now_ns(), took;
	ssize_t n = is_write(t->phase) ?
		pwrite(fd, w->buffer, t->block, (off_t)offset) :
		pread(fd, w->buffer, t->block, (off_t)offset);

	took = bench_now_ns() - before;
	if (n != (ssize_t)t->block)
		return bench_fail(t->a->shared, n < 0 ? errno :
				  is_write(t->phase) ? ENOSPC : EIO,
				  "%s at %llu of file %u", kinds[t->phase],
				  (unsigned long long)offset, w->number);
	histogram_add(&w->lat, took);
	w->over_2s += took > (uint64_t)2 * NS_PER_S;
	w->over_10s += took > (uint64_t)10 * NS_PER_S;
	w->bytes += t->block;
	return 0;
}

static int calls(struct worker *w, int fd)
{
	const struct trial *t = w->t;
	uint64_t blocks = t->file_bytes / t->block;
	uint64_t n = is_random(t->phase) ? t->ops : blocks;
	uint64_t state = bench_seed(t->phase, w->number);

	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = is_random(t->phase) ?
			bench_random(&state) % blocks : i;

		if (one_call(w, fd, at * t->block) != 0)
			return -1;
	}
	return 0;
}

static int open_file(const struct worker *w)
{
	static const int flags[] = {
		[SEQ_WRITE] = O_WRONLY | O_CREAT | O_TRUNC,
		[RAND_WRITE] = O_WRONLY,
		[SEQ_READ] = O_RDONLY, [RAND_READ] = O_RDONLY,
	};
	const struct trial *t = w->t;
	char name[4096];
	int fd;

	file_name(t, w->number, name, sizeof(name));
	fd = open(name, flags[t->phase] | O_CLOEXEC, 0600);
	if (fd < 0)
		return bench_fail(t->a->shared, errno, "open '%s'", name);
	if (t->phase == SEQ_WRITE &&
	    ftruncate(fd, (off_t)t->file_bytes) != 0) {
		bench_fail(t->a->shared, errno, "make '%s' %llu bytes long",
			   name, (unsigned long long)t->file_bytes);
		close(fd);
		return -1;
	}
	return fd;
}

static int do_fsync(struct worker *w, int fd)
{
	uint64_t before = bench_now_ns();

	if (fsync(fd) != 0)
		return bench_fail(w->t->a->shared, errno, "fsync file %u",
				  w->number);
	histogram_add(&w->fsync, bench_now_ns() - before);
	return 0;
}

static int do_phase(struct worker *w)
{
	int fd = open_file(w), ret;

	if (fd < 0)
		return -1;
	ret = calls(w, fd);
	if (ret == 0 && is_write(w->t->phase))
		ret = do_fsync(w, fd);
	if (close(fd) != 0 && ret == 0)
		ret = bench_fail(w->t->a->shared, errno, "close file %u",
				 w->number);
	return ret;
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_usec * 1000;
}

/* Waits at the gate of its trial; false: it is off */
static bool wait_release(struct trial *t)
{
	bool off;

	pthread_mutex_lock(&t->lock);
	t->arrived++;
	pthread_cond_signal(&t->arrive);
	while (!t->released)
		pthread_cond_wait(&t->release, &t->lock);
	off = t->cancelled;
	pthread_mutex_unlock(&t->lock);
	return !off;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct rusage before, after;

	if (!wait_release(w->t) || getrusage(RUSAGE_THREAD, &before) != 0)
		return NULL;
	/* A failure is in the shared memory */
	if (do_phase(w) != 0)
		return NULL;
	w->end_ns = bench_now_ns();
	if (getrusage(RUSAGE_THREAD, &after) != 0) {
		bench_fail(w->t->a->shared, errno, "getrusage");
		return NULL;
	}
	w->user_ns = timeval_ns(&after.ru_utime) - timeval_ns(&before.ru_utime);
	w->system_ns = timeval_ns(&after.ru_stime) -
		       timeval_ns(&before.ru_stime);
	return NULL;
}

/* --- one phase ------------------------------------------------------------ */

static unsigned int start_workers(struct trial *t, struct worker *w)
{
	pthread_attr_t attr;
	unsigned int n = 0;
	int err = pthread_attr_init(&attr);

	if (err == 0)
		err = pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (; err == 0 && n < t->threads; n++) {
		w[n].t = t;
		w[n].number = n;
		err = posix_memalign((void **)&w[n].buffer, BLOCK_ALIGN,
				     t->block);
		if (err)
			break;
		memset(w[n].buffer, 'k', t->block);
		err = pthread_create(&w[n].id, &attr, worker_main, &w[n]);
		if (err) {
			free(w[n].buffer);
			break;
		}
	}
	if (err)
		bench_fail(t->a->shared, err, "start thread %u of %u", n + 1,
			   t->threads);
	return n;
}

/* Return: the time of the release */
static uint64_t release(struct trial *t, unsigned int started)
{
	uint64_t start;

	pthread_mutex_lock(&t->lock);
	while (t->arrived < started)
		pthread_cond_wait(&t->arrive, &t->lock);
	t->cancelled = started < t->threads;
	t->released = true;
	start = bench_now_ns();
	pthread_cond_broadcast(&t->release);
	pthread_mutex_unlock(&t->lock);
	return start;
}

static void fill_row(const struct trial *t, struct worker *w, uint64_t start,
		     struct bench_row *row)
{
	struct histogram *lat = &w[0].lat, *sync_lat = &w[0].fsync;
	uint64_t end = 0, bytes = 0, user = 0, system = 0, s2 = 0, s10 = 0;

	for (unsigned int i = 0; i < t->threads; i++) {
		if (i > 0) {
			histogram_merge(lat, &w[i].lat);
			histogram_merge(sync_lat, &w[i].fsync);
		}
		end = w[i].end_ns > end ? w[i].end_ns : end;
		bytes += w[i].bytes;
		user += w[i].user_ns;
		system += w[i].system_ns;
		s2 += w[i].over_2s;
		s10 += w[i].over_10s;
	}
	row->v[F_THREADS] = t->threads;
	row->v[F_FILE_BYTES] = t->file_bytes;
	row->v[F_BYTES] = bytes;
	row->v[F_OPS] = lat->n;
	row->v[F_WALL] = end - start;
	row->v[F_USER] = user;
	row->v[F_SYSTEM] = system;
	row->v[F_LAT_SUM] = lat->sum;
	row->v[F_LAT_MAX] = lat->max;
	row->v[F_OVER_2S] = s2;
	row->v[F_OVER_10S] = s10;
	row->v[F_P50] = histogram_at(lat, 500);
	row->v[F_P95] = histogram_at(lat, 950);
	row->v[F_P99] = histogram_at(lat, 990);
	row->v[F_P999] = histogram_at(lat, 999);
	if (!is_write(t->phase))
		return;
	row->v[F_FSYNCS] = sync_lat->n;
	row->v[F_FSYNC_SUM] = sync_lat->sum;
	row->v[F_FSYNC_MAX] = sync_lat->max;
}

static int drop_caches(const struct bench_args *a)
{
	int fd, ret = 0;

	sync();
	if (!a->drop_caches)
		return 0;
	fd = open(a->drop_caches, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return bench_fail(a->shared, errno, "open '%s'",
				  a->drop_caches);
	if (write(fd, "3", 1) != 1)
		ret = bench_fail(a->shared, errno, "write '%s'",
				 a->drop_caches);
	if (close(fd) != 0 && ret == 0)
		ret = bench_fail(a->shared, errno, "close '%s'",
				 a->drop_caches);
	return ret;
}

static int do_trial(struct trial *t)
{
	struct worker *w = calloc(t->threads, sizeof(*w));
	unsigned int started;
	uint64_t start;

	if (!w)
		return bench_fail(t->a->shared, errno, "%u threads", t->threads);
	started = start_workers(t, w);
	start = release(t, started);
	for (unsigned int i = 0; i < started; i++) {
		/* Fails for a thread that is none, which these are not */
		pthread_join(w[i].id, NULL);
		free(w[i].buffer);
	}
	if (atomic_load(&t->a->shared->failed) == 0)
		fill_row(t, w, start,
			 bench_add_row(t->a->shared, t->phase));
	free(w);
	return atomic_load(&t->a->shared->failed) ? -1 : 0;
}

static int remove_files(const struct trial *t)
{
	char name[4096];

	for (unsigned int i = 0; i < t->threads; i++) {
		file_name(t, i, name, sizeof(name));
		if (unlink(name) != 0)
			return bench_fail(t->a->shared, errno, "remove '%s'",
					  name);
	}
	return 0;
}

static int do_threads(const struct bench_args *a, unsigned int threads)
{
	const struct bench_settings *s = a->set;
	struct trial t;

	for (int phase = 0; phase < PHASES; phase++) {
		t = (struct trial){
			.a = a, .phase = (enum phase)phase, .threads = threads,
			.block = bench_value(s, SET_BLOCK),
			.file_bytes = bench_value(s, SET_SIZE) / MIB / threads *
				      MIB,
			.ops = bench_value(s, SET_RANDOM_OPS) / threads,
			.lock = PTHREAD_MUTEX_INITIALIZER,
			.arrive = PTHREAD_COND_INITIALIZER,
			.release = PTHREAD_COND_INITIALIZER,
		};
		if (drop_caches(a) != 0 || do_trial(&t) != 0)
			return -1;
	}
	return remove_files(&t);
}

static int run(const struct bench_args *a)
{
	const struct bench_values *threads = &a->set->of[SET_THREADS];

	bench_ready(a->shared);
	for (size_t i = 0; i < threads->n; i++)
		if (do_threads(a, (unsigned int)threads->v[i]) != 0)
			return -1;
	return 0;
}

/* --- settings ------------------------------------------------------------- */

/* As tiobench: twice the RAM, so that not all of it stays cached; but no more
 * than the disk holds, in whole MiB */
static void defaults(const struct bench_machine *m, struct bench_settings *s)
{
	struct bench_values *threads = &s->of[SET_THREADS];
	uint64_t size = 2 * m->mem < m->work_bytes ? 2 * m->mem : m->work_bytes;

	if (threads->n == 0)
		*threads = (struct bench_values){ .v = { 1, 2, 4, 8 }, .n = 4 };
	bench_default(s, SET_BLOCK, 4096);
	bench_default(s, SET_SIZE, size / MIB * MIB);
	bench_default(s, SET_RANDOM_OPS, 4000);
}

static int check(const struct bench_machine *m, const struct bench_settings *s,
		 char *why, size_t why_len)
{
	const struct bench_values *threads = &s->of[SET_THREADS];
	uint64_t size = bench_value(s, SET_SIZE), most = 0;

	for (size_t i = 0; i < threads->n; i++)
		most = threads->v[i] > most ? threads->v[i] : most;
	if (size > m->work_bytes) {
		snprintf(why, why_len, "size is %llu MiB, and the work disk has room for %llu MiB: give a smaller size, or make [disk work] larger",
			 (unsigned long long)(size / MIB),
			 (unsigned long long)(m->work_bytes / MIB));
		return -1;
	}
	if (size / MIB < most || bench_value(s, SET_RANDOM_OPS) < most) {
		snprintf(why, why_len, "%llu threads need a size of as many MiB and as many random-ops: give more of both, or fewer threads",
			 (unsigned long long)most);
		return -1;
	}
	return 0;
}

const struct bench_ops tiobench_ops = {
	.name = "tiobench",
	.settings = settings,
	.kinds = kinds,
	.figures = figures,
	.defaults = defaults,
	.check = check,
	.run = run,
	.work_disk = true,
};
