/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bisect_state.c - a bisect's directories: made, found, listed, locked
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "host/bisect.h"
#include "host/progress.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define POLL_MS 200
/* The boots of a kontest that was killed are gone after that long at most. */
#define DYING_S 20

const char *bisect_status_name(enum bisect_status s)
{
	static const char *const names[BISECT_STATUSES] = {
		"running", "found", "several", "same"
	};

	return names[s];
}

char *bisect_file(const struct bisect *b, const char *name)
{
	return xasprintf("%s/%s", b->dir, name);
}

void bisect_label(const char *commit, char label[GIT_LABEL])
{
	size_t n = strnlen(commit, GIT_LABEL - 1);

	memcpy(label, commit, n);
	label[n] = '\0';
}

size_t bisect_step(struct bisect *b, const char *commit, const char *subject)
{
	struct bisect_step s = { .order = -1 };
	size_t i = 0;

	while (i < b->steps.n && strcmp(b->steps.v[i].commit, commit))
		i++;
	if (i < b->steps.n)
		return i;
	memcpy(s.commit, commit, strnlen(commit, GIT_ID - 1));
	s.subject = xstrdup(subject);
	s.call = (struct bisect_call){ .boots = 0 };
	bisect_steps_add(&b->steps, s);
	return i;
}

void bisect_free(struct bisect *b)
{
	for (size_t i = 0; i < b->steps.n; i++) {
		free(b->steps.v[i].subject);
		free(b->steps.v[i].reason);
	}
	bisect_steps_free(&b->steps);
	for (size_t i = 0; i < MACHINE_COUNT; i++)
		free(b->machine[i]);
	free(b->kbuild.config);
	strings_clear(&b->kbuild.sets);
	strings_clear(&b->left);
	free(b->dir);
	free(b->created);
	free(b->source);
	free(b->good_name);
	free(b->bad_name);
	free(b->load);
	free(b->metric);
	free(b->cmdline);
	free(b->store);
	free(b->first_bad);
	*b = (struct bisect){ 0 };
}

static int draw_id(char id[UUID_TEXT], struct error *err)
{
	uint8_t u[16];

	if (getrandom(u, sizeof(u), 0) != sizeof(u))
		return error_set(err, errno, "draw an id");
	u[6] = (uint8_t)((u[6] & 0x0f) | 0x40);
	u[8] = (uint8_t)((u[8] & 0x3f) | 0x80);
	uuid_text(u, id);
	return 0;
}

int bisect_new(struct bisect *b, const char *data_dir, int *lock, struct error *err)
{
	time_t now = time(NULL);
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	free(b->created);
	b->created = xstrdup(text);
	if (draw_id(b->id, err) < 0)
		return -1;
	free(b->dir);
	b->dir = xasprintf("%s/bisect/%s", data_dir, b->id);
	if (make_dirs(b->dir, err) < 0)
		return -1;
	*lock = bisect_lock(b->dir, err);
	return *lock < 0 ? -1 : 0;
}

/* The process that wrote it; 0: none can be read */
static int lock_owner(int fd)
{
	char text[16] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	return n > 0 ? atoi(text) : 0;
}

/* Once its owner is dead, only dying boots of it can hold it. */
static int wait_lock(int fd, const char *path, struct error *err)
{
	for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; tries++) {
		int owner = lock_owner(fd);

		if (errno != EWOULDBLOCK && errno != EINTR)
			return error_set(err, errno, "lock '%s'", path);
		if (owner > 0 && (!kill(owner, 0) || errno != ESRCH))
			return error_set(err, 0, "process %d is working on this bisect already ('%s' is locked); wait for it, or end it",
					 owner, path);
		if (tries == DYING_S * 1000 / POLL_MS)
			return error_set(err, 0, "'%s' is locked by a boot of process %d, which is gone; wait until it has ended",
					 path, owner);
		sleep_ms(POLL_MS);
	}
	return 0;
}

int bisect_lock(const char *dir, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/lock", dir);
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	cleanup_free char *text = xasprintf("%d\n", (int)getpid());

	if (fd < 0)
		return error_set(err, errno, "open '%s'", path);
	if (wait_lock(fd, path, err) < 0)
		return -1;
	if (ftruncate(fd, 0) < 0)
		return error_set(err, errno, "truncate '%s'", path);
	if (full_pwrite(fd, text, strlen(text), 0, path, err) < 0)
		return -1;
	return steal_fd(&fd);
}

/* --- finding and listing ----------------------------------------------------------- */

/* struct found - what is known of a bisect without reading all of it */
struct found {
	char *dir, *name;
	bool readable;
	struct bisect b;
};
DEFINE_VECTOR(founds, struct found)

static void founds_clear(struct founds *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].dir);
		free(f->v[i].name);
		bisect_free(&f->v[i].b);
	}
	founds_free(f);
}

static int newest_first(const void *pa, const void *pb)
{
	const struct found *a = pa, *b = pb;

	if (a->readable != b->readable)
		return a->readable ? -1 : 1;
	if (a->readable && strcmp(a->b.created, b->b.created))
		return strcmp(b->b.created, a->b.created);
	return strcmp(a->name, b->name);
}

/* A directory without a state is of a kontest that was killed before it had one. */
static int find_all(const char *data_dir, struct founds *f, struct error *err)
{
	cleanup_free char *home = xasprintf("%s/bisect", data_dir);
	struct dirent **list;
	int n = scandir(home, &list, dirent_visible, alphasort);

	if (n < 0)
		return errno == ENOENT ? 0 : error_set(err, errno,
						       "read directory '%s'", home);
	for (int i = 0; i < n; i++) {
		struct found one = {
			.dir = xasprintf("%s/%s", home, list[i]->d_name),
			.name = xstrdup(list[i]->d_name),
		};
		cleanup_free char *state = xasprintf("%s/state.json", one.dir);

		if (path_exists(state)) {
			one.readable = bisect_load(&one.b, one.dir, NULL) == 0;
			founds_add(f, one);
		} else {
			free(one.dir);
			free(one.name);
		}
		free(list[i]);
	}
	free(list);
	if (f->n)
		qsort(f->v, f->n, sizeof(f->v[0]), newest_first);
	return 0;
}

char *bisect_find(const char *data_dir, const char *prefix, struct error *err)
{
	CLEANUP(founds_clear) struct founds f = { 0 };
	const struct found *hit = NULL;

	if (find_all(data_dir, &f, err) < 0)
		return NULL;
	for (size_t i = 0; prefix && i < f.n; i++) {
		if (!str_starts(f.v[i].name, prefix))
			continue;
		if (hit) {
			error_set(err, 0, "'%s' is the beginning of several bisects, %s and %s: give more of it",
				  prefix, hit->name, f.v[i].name);
			return NULL;
		}
		hit = &f.v[i];
	}
	for (size_t i = 0; !prefix && !hit && i < f.n; i++)
		if (f.v[i].readable && f.v[i].b.status == BISECT_RUNNING)
			hit = &f.v[i];
	if (!prefix && !hit && f.n)
		hit = &f.v[0];
	if (hit)
		return xstrdup(hit->dir);
	if (prefix)
		error_set(err, 0, "there is no bisect '%s'; `kontest bisect --list` lists them",
			  prefix);
	else
		error_set(err, 0, "there is no bisect yet; `kontest help bisect` says how to begin one");
	return NULL;
}

int bisect_list(const char *data_dir, FILE *out, struct error *err)
{
	CLEANUP(founds_clear) struct founds f = { 0 };

	if (find_all(data_dir, &f, err) < 0)
		return -1;
	for (size_t i = 0; i < f.n; i++) {
		const struct bisect *b = &f.v[i].b;

		if (f.v[i].readable)
			fprintf(out, "%s  %s  %-7s  %3zu commits  %s..%s  %s of %s  %s\n",
				b->id, b->created, bisect_status_name(b->status),
				b->steps.n, b->good_name, b->bad_name, b->metric,
				b->load, b->source);
		else
			fprintf(out, "%s  its state.json cannot be read\n", f.v[i].name);
	}
	if (fflush(out) || ferror(out))
		return error_set(err, errno, "print the list of bisects");
	return 0;
}
