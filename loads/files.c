/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loads/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loads/ops.h"

#define BLOCK_MAX (1u << 20)	/* some network file systems say far more */

uint64_t found_per_load(const struct load_args *a)
{
	return atomic_load_explicit(&a->shared->per_load, memory_order_relaxed);
}

void set_per_load(const struct load_args *a, uint64_t per_load)
{
	atomic_store_explicit(&a->shared->per_load, per_load,
			      memory_order_relaxed);
}

int load_path(const struct load_args *a, const char *name, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/%s", a->dir, name);

	if (n < 0 || n >= PATH_MAX)
		return load_fail(a->shared, ENAMETOOLONG, "'%.200s'", a->dir);
	return 0;
}

int block_get(const struct load_args *a, struct block *b, int fd,
	      const char *path)
{
	struct stat st;

	if (b->data != NULL)
		return 0;
	if (fstat(fd, &st) != 0)
		return load_fail(a->shared, errno, "stat '%s'", path);
	b->size = st.st_blksize > 0 ? (size_t)st.st_blksize : 4096;
	if (b->size > BLOCK_MAX)
		b->size = BLOCK_MAX;
	b->data = malloc(b->size);
	if (b->data == NULL)
		return load_fail(a->shared, errno, "get %zu bytes", b->size);
	/* Real pages, not the kernel's one page of zeros */
	memset(b->data, 0, b->size);
	return 0;
}

void block_free(struct block *b)
{
	free(b->data);
	*b = (struct block){ 0 };
}

int write_all(const struct load_args *a, int fd, const char *path,
	      const void *data, size_t len, bool progress)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return load_fail(a->shared, n < 0 ? errno : EIO,
					 "write '%s'", path);
		p += n;
		len -= (size_t)n;
		if (progress)
			load_progress(a, (uint64_t)n);
	}
	return 0;
}

int sync_dir(const struct load_args *a)
{
	int dir = open(a->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret = 0;

	if (dir < 0)
		return load_fail(a->shared, errno, "open '%s'", a->dir);
	if (syncfs(dir) != 0)
		ret = load_fail(a->shared, errno, "sync '%s'", a->dir);
	if (close(dir) != 0)
		ret = load_fail(a->shared, errno, "close '%s'", a->dir);
	return ret;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Behind those that are there, with its NUL; @used and @room in bytes */
static int add_name(struct names *names, const char *name, size_t *used,
		    size_t *room)
{
	size_t len = strlen(name) + 1;

	if (*used + len > *room) {
		size_t want = 2 * *room + len;
		char *more = realloc(names->text, want);

		if (more == NULL)
			return -1;
		names->text = more;
		*room = want;
	}
	memcpy(names->text + *used, name, len);
	*used += len;
	names->n++;
	return 0;
}

/* Return: 0, or an errno */
static int read_all(struct names *names, DIR *dir, bool dots)
{
	size_t used = 0, room = 0;
	struct dirent *e;
	char *p;

	while (errno = 0, (e = readdir(dir)) != NULL)
		if ((dots || !is_dots(e->d_name)) &&
		    add_name(names, e->d_name, &used, &room) != 0)
			return ENOMEM;
	if (errno != 0 || names->n == 0)
		return errno;
	names->v = calloc(names->n, sizeof(*names->v));
	if (names->v == NULL)
		return ENOMEM;
	p = names->text;
	for (size_t i = 0; i < names->n; i++, p += strlen(p) + 1)
		names->v[i] = p;
	qsort(names->v, names->n, sizeof(*names->v), compare);
	return 0;
}

int names_read(struct names *names, int dir, bool dots)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int err;

	*names = (struct names){ 0 };
	if (d == NULL) {
		err = errno;
		if (fd >= 0)
			close(fd);
		errno = err;
		return -1;
	}
	err = read_all(names, d, dots);
	if (closedir(d) != 0 && err == 0)
		err = errno;
	if (err != 0) {
		names_free(names);
		errno = err;
		return -1;
	}
	return 0;
}

void names_free(struct names *names)
{
	free(names->v);
	free(names->text);
	*names = (struct names){ 0 };
}

/* All below the directory @name of @dir */
static int empty_at(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
			O_CLOEXEC);
	struct names names;
	int err;

	if (fd < 0)
		return -1;
	err = names_read(&names, fd, false) == 0 ? 0 : errno;
	for (size_t i = 0; i < names.n && err == 0; i++)
		err = remove_at(fd, names.v[i]) == 0 ? 0 : errno;
	names_free(&names);
	if (close(fd) != 0 && err == 0)
		err = errno;
	errno = err;
	return err == 0 ? 0 : -1;
}

int remove_at(int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	if (empty_at(dir, name) != 0)
		return -1;
	return unlinkat(dir, name, AT_REMOVEDIR);
}

int tidy_up(const struct load_args *a, const char *name)
{
	int dir = open(a->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret = 0;

	if (dir < 0)
		return load_fail(a->shared, errno, "open '%s'", a->dir);
	if (remove_at(dir, name) != 0)
		ret = load_fail(a->shared, errno, "remove '%s/%s'", a->dir,
				name);
	if (close(dir) != 0)
		ret = load_fail(a->shared, errno, "close '%s'", a->dir);
	return sync_dir(a) != 0 ? -1 : ret;
}
