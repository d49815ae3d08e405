/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/base/cleanup.h"

#define NO_SPACE "; free some space, or choose another directory with XDG_CACHE_HOME, XDG_DATA_HOME or TMPDIR"

static int write_failed(const char *path, struct error *err)
{
	int saved = errno;

	error_set(err, saved, "write '%s'", path);
	if (saved == ENOSPC || saved == EDQUOT)
		error_add(err, NO_SPACE);
	return -1;
}

int file_read(const char *path, size_t max, struct buf *out, struct error *err)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	char chunk[65536];
	size_t total = 0;
	ssize_t n;

	if (fd < 0)
		return error_set(err, errno, "open '%s'", path);
	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, errno, "read '%s'", path);
		total += (size_t)n;
		if (total > max)
			return error_set(err, 0, "'%s' is larger than %zu bytes: not a file of this kind",
					 path, max);
		buf_add(out, chunk, (size_t)n);
	}
	buf_add(out, "", 0);
	return 0;
}

int full_pread(int fd, void *data, size_t len, off_t off, const char *path,
	       struct error *err)
{
	char *p = data;

	while (len) {
		ssize_t n = pread(fd, p, len, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, errno, "read '%s'", path);
		if (!n)
			return error_set(err, 0, "'%s' ends early, at byte %lld: it is cut short",
					 path, (long long)off);
		p += n;
		off += n;
		len -= (size_t)n;
	}
	return 0;
}

int full_pwrite(int fd, const void *data, size_t len, off_t off,
		const char *path, struct error *err)
{
	const char *p = data;

	while (len) {
		ssize_t n = pwrite(fd, p, len, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (!n)
				errno = EIO;
			return write_failed(path, err);
		}
		p += n;
		off += n;
		len -= (size_t)n;
	}
	return 0;
}

int newfile_open(struct newfile *f, const char *path, mode_t mode,
		 struct error *err)
{
	const char *slash = strrchr(path, '/');
	int dir_len = slash ? (int)(slash - path + 1) : 0;
	mode_t mask = umask(0);

	umask(mask);
	f->path = xstrdup(path);
	f->tmp = xasprintf("%.*s.%s.XXXXXX", dir_len, path,
			   slash ? slash + 1 : path);
	f->fd = mkostemp(f->tmp, O_CLOEXEC);
	if (f->fd < 0) {
		error_set(err, errno, "create a file in '%.*s'",
			  dir_len ? dir_len : 1, dir_len ? path : ".");
		free(f->path);
		free(f->tmp);
		*f = (struct newfile){ .fd = -1 };
		return -1;
	}
	if (fchmod(f->fd, mode & ~mask) < 0) {
		error_set(err, errno, "chmod '%s'", f->tmp);
		newfile_abort(f);
		return -1;
	}
	return 0;
}

int dir_sync(const char *dir, struct error *err)
{
	cleanup_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return error_set(err, errno, "sync directory '%s'", dir);
	return 0;
}

/* A rename is only lasting once its directory is on the disk as well. */
static int sync_parent(const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *dir = slash ? xstrndup(path, (size_t)(slash - path + 1))
				       : xstrdup(".");

	return dir_sync(dir, err);
}

int newfile_commit(struct newfile *f, struct error *err)
{
	int ret;

	if (fsync(f->fd) < 0) {
		ret = write_failed(f->path, err);
		newfile_abort(f);
		return ret;
	}
	if (close(steal_fd(&f->fd)) < 0) {
		ret = write_failed(f->path, err);
		newfile_abort(f);
		return ret;
	}
	if (rename(f->tmp, f->path) < 0) {
		error_set(err, errno, "rename '%s' to '%s'", f->tmp, f->path);
		newfile_abort(f);
		return -1;
	}
	ret = sync_parent(f->path, err);
	free(f->path);
	free(f->tmp);
	*f = (struct newfile){ .fd = -1 };
	return ret;
}

void newfile_abort(struct newfile *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->tmp)
		unlink(f->tmp);
	free(f->path);
	free(f->tmp);
	*f = (struct newfile){ .fd = -1 };
}

int file_write(const char *path, const void *data, size_t len,
	       struct error *err)
{
	CLEANUP(newfile_abort) struct newfile f = { .fd = -1 };

	if (newfile_open(&f, path, 0666, err) < 0 ||
	    full_pwrite(f.fd, data, len, 0, path, err) < 0)
		return -1;
	return newfile_commit(&f, err);
}

int file_put(const char *path, const void *data, size_t len, struct error *err)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
				    0666);

	if (fd < 0)
		return error_set(err, errno, "create '%s'", path);
	if (full_pwrite(fd, data, len, 0, path, err) < 0)
		return -1;
	if (close(steal_fd(&fd)) < 0)
		return write_failed(path, err);
	return 0;
}

int put_sync(const char *dir, struct error *err)
{
	cleanup_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return error_set(err, errno, "open directory '%s'", dir);
	if (syncfs(fd) < 0)
		return write_failed(dir, err);
	return 0;
}

static int copy_by_hand(int in, off_t in_off, int out, off_t out_off,
			uint64_t len, const char *what, struct error *err)
{
	enum { CHUNK = 1 << 20 };
	cleanup_free char *chunk = xmalloc(CHUNK);

	while (len) {
		size_t want = len < CHUNK ? (size_t)len : CHUNK;

		if (full_pread(in, chunk, want, in_off, what, err) < 0 ||
		    full_pwrite(out, chunk, want, out_off, what, err) < 0)
			return -1;
		in_off += (off_t)want;
		out_off += (off_t)want;
		len -= want;
	}
	return 0;
}

/* One stretch of data, without holes. */
static int copy_data(int in, off_t in_off, int out, off_t out_off, uint64_t len,
		     const char *what, struct error *err)
{
	while (len) {
		ssize_t n = copy_file_range(in, &in_off, out, &out_off, len, 0);

		if (n > 0) {
			len -= (uint64_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EXDEV && errno != EINVAL &&
		    errno != EOPNOTSUPP && errno != ENOSYS && errno != EBADF)
			return write_failed(what, err);
		return copy_by_hand(in, in_off, out, out_off, len, what, err);
	}
	return 0;
}

int file_copy_range(int in, off_t in_off, int out, off_t out_off, uint64_t len,
		    const char *what, struct error *err)
{
	off_t end = in_off + (off_t)len, pos = in_off;

	while (pos < end) {
		off_t data = lseek(in, pos, SEEK_DATA), hole;

		if (data < 0 && errno == ENXIO)
			return 0;	/* nothing but a hole up to the end */
		if (data < 0)
			return copy_data(in, pos, out, out_off + pos - in_off,
					 (uint64_t)(end - pos), what, err);
		if (data >= end)
			return 0;
		hole = lseek(in, data, SEEK_HOLE);
		if (hole < 0 || hole > end)
			hole = end;
		if (copy_data(in, data, out, out_off + data - in_off,
			      (uint64_t)(hole - data), what, err) < 0)
			return -1;
		pos = hole;
	}
	return 0;
}

int file_put_copy(const char *from, const char *path, struct error *err)
{
	cleanup_close int in = open(from, O_RDONLY | O_CLOEXEC);
	cleanup_close int out = -1;
	struct stat st;

	if (in < 0 || fstat(in, &st) < 0)
		return error_set(err, errno, "open '%s'", from);
	out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (out < 0)
		return error_set(err, errno, "create '%s'", path);
	/* Its end may be a hole, which is not written. */
	if (ftruncate(out, st.st_size) < 0)
		return write_failed(path, err);
	if (file_copy_range(in, 0, out, 0, (uint64_t)st.st_size, path, err) < 0)
		return -1;
	return close(steal_fd(&out)) < 0 ? write_failed(path, err) : 0;
}

int dirent_visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

int make_dirs(const char *path, struct error *err)
{
	cleanup_free char *copy = xstrdup(path);

	for (char *p = copy + 1; ; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST) {
			int saved = errno;

			if (!path_is_dir(copy))
				return error_set(err, saved,
						 "make directory '%s'", copy);
		}
		*p = c;
		if (!c)
			break;
	}
	if (!path_is_dir(path))
		return error_set(err, ENOTDIR, "make directory '%s'", path);
	return 0;
}

int remove_tree(const char *path, struct error *err)
{
	char *const roots[] = { (char *)path, NULL };
	FTS *fts;
	FTSENT *e;
	int ret = 0;

	if (!path_exists(path))
		return 0;
	fts = fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	if (!fts)
		return error_set(err, errno, "read directory '%s'", path);
	while ((e = fts_read(fts))) {
		if (e->fts_info == FTS_D)
			continue;
		if (remove(e->fts_accpath) < 0 && errno != ENOENT && !ret)
			ret = error_set(err, errno, "remove '%s'", e->fts_path);
	}
	fts_close(fts);
	return ret;
}

bool path_exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

bool path_is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}
