/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/progress.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/journal_file.h"
#include "results/store.h"

#define POLL_MS 200
/* A boot whose kontest was killed is gone after that long at most. */
#define DYING_S 20
#define LOCKLESS_OLD_S 600

bool journal_verdict(const char *journal, enum verdict *v, char **evidence,
			 struct error *err)
{
	struct journal j = { 0 };
	bool found = false;

	if (journal_read(journal, &j, err) < 0)
		return false;
	if (j.entries.n) {
		struct journal_entry *last = &j.entries.v[j.entries.n - 1];
		json_t *o = last->type == JOURNAL_VERDICT
				    ? json_loadb(last->payload, last->len, 0, NULL)
				    : NULL;
		const char *name = json_string_value(json_object_get(o, "verdict"));
		const char *why = json_string_value(json_object_get(o, "evidence"));

		found = name && verdict_parse(name, v);
		if (found && evidence)
			*evidence = xstrdup(why ? why : "");
		json_decref(o);
	}
	journal_free(&j);
	return found;
}

static int append_killed(const char *journal, const char *evidence,
			 struct error *err)
{
	json_t *o = json_pack("{s:s, s:s, s:[]}", "verdict",
			      verdict_name(VERDICT_KILLED), "evidence",
			      evidence, "console");
	char *text = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
	int ret = journal_append(journal, JOURNAL_VERDICT, text, err);

	free(text);
	json_decref(o);
	return ret;
}

static int recover_journal(const char *journal, struct store *s,
			   struct error *err)
{
	enum verdict v;
	char id[SHA256_HEX];
	struct error unreadable = { 0 };
	struct journal j = { 0 };

	/* A journal that was not even made whole holds nothing to keep. */
	if (journal_read(journal, &j, &unreadable) < 0)
		return 0;
	journal_free(&j);
	if (!journal_verdict(journal, &v, NULL, NULL) &&
	    append_killed(journal, "kontest itself was killed", err) < 0)
		return -1;
	return store_add(s, journal, id, err);
}

/* struct owner - the kontest that made a directory in running/, and its store */
struct owner {
	pid_t pid;
	char *store;
};

static bool read_owner(const char *lock, struct owner *o)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	char *store;

	if (file_read(lock, 65536, &text, NULL) < 0)
		return false;
	store = strchr(text.data, '\n');
	if (!store || !store[1])
		return false;
	store++;
	o->pid = atoi(text.data);
	o->store = xstrndup(store, strcspn(store, "\n"));
	return o->pid > 0;
}

/* A dead kontest's boots end within seconds: wait for the last of them. */
static bool take_over(int fd, const struct owner *o)
{
	for (int tries = 0; ; tries++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return true;
		if (tries == DYING_S * 1000 / POLL_MS || !kill(o->pid, 0) ||
		    errno != ESRCH)
			return false;
		sleep_ms(POLL_MS);
	}
}

static bool is_old(const char *path)
{
	struct stat st;

	return !stat(path, &st) && time(NULL) - st.st_mtime > LOCKLESS_OLD_S;
}

static int recover_journals(const char *dir, const char *store, struct error *err)
{
	cleanup_closedir DIR *d = opendir(dir);
	struct store *s = NULL;
	struct dirent *e;
	int ret = 0;

	if (store_open(store, &s, err) < 0)
		return -1;
	while (!ret && d && (e = readdir(d))) {
		cleanup_free char *journal = xasprintf("%s/%s/journal", dir,
						       e->d_name);

		if (e->d_name[0] != '.' && path_exists(journal))
			ret = recover_journal(journal, s, err);
	}
	store_close(s);
	return ret;
}

static int recover_run(const char *dir, struct error *err)
{
	cleanup_free char *lock = xasprintf("%s/lock", dir);
	cleanup_close int fd = open(lock, O_RDWR | O_CLOEXEC);
	struct owner o = { 0 };
	int ret = 0;

	/* No lock yet: its owner is just making it, or was killed doing so. */
	if (fd < 0 || !read_owner(lock, &o)) {
		free(o.store);
		return is_old(dir) ? remove_tree(dir, err) : 0;
	}
	if (take_over(fd, &o)) {
		ret = recover_journals(dir, o.store, err);
		if (ret < 0)
			error_prefix(err, "store what is in '%s'", dir);
		else
			ret = remove_tree(dir, err);
	}
	free(o.store);
	return ret;
}

void recover_boots(const char *data_dir)
{
	cleanup_free char *running = xasprintf("%s/running", data_dir);
	cleanup_closedir DIR *d = opendir(running);
	struct dirent *e;
	struct error failed = { 0 };

	while (d && (e = readdir(d))) {
		cleanup_free char *dir = xasprintf("%s/%s", running, e->d_name);

		if (e->d_name[0] != '.' && path_is_dir(dir) &&
		    recover_run(dir, &failed) < 0)
			fprintf(stderr, "kontest: warning: %s; it can be removed if nobody wants it\n",
				failed.text);
	}
}
