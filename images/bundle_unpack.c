/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bundle_unpack.c - a bundle's members and files written to a directory
 */
#include "images/bundle_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"

#define ZERO_BLOCK 4096u

/* struct place - a piece's place in a file that is being made */
struct place {
	size_t member, file;
	uint64_t off;
};
DEFINE_VECTOR(places, struct place)

/**
 * struct unpack - a bundle on its way to a directory
 * @dir: open directory
 * @fds: of the files
 * @places: sorted by member
 * @next: of them
 * @out: where the present member goes, or -1
 */
struct unpack {
	struct bundle *b;
	int dir;
	int *fds;
	struct places places;
	size_t next;
	int out;
	const struct bundle_member *m;
};

static void unpack_free(struct unpack *u)
{
	for (size_t i = 0; u->fds && i < u->b->m.files.n; i++)
		cleanup_closep(&u->fds[i]);
	free(u->fds);
	places_free(&u->places);
	cleanup_closep(&u->dir);
	cleanup_closep(&u->out);
}

static int by_member(const void *a, const void *b)
{
	const struct place *p = a, *q = b;

	if (p->member != q->member)
		return p->member < q->member ? -1 : 1;
	return p->file < q->file ? -1 : p->file > q->file ? 1 :
	       p->off < q->off ? -1 : p->off > q->off;
}

static int create(const struct unpack *u, const char *path, unsigned int mode,
		  struct error *err)
{
	int fd = openat(u->dir, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			mode);

	if (fd < 0)
		error_set(err, errno, "create '%s'", path);
	return fd;
}

static int create_files(struct unpack *u, struct error *err)
{
	const struct bundle_files *files = &u->b->m.files;

	u->fds = xcalloc(files->n + 1, sizeof(*u->fds));
	for (size_t i = 0; i < files->n; i++)
		u->fds[i] = -1;
	for (size_t i = 0; i < files->n; i++) {
		const struct bundle_file *f = &files->v[i];

		u->fds[i] = create(u, f->path, 0644, err);
		if (u->fds[i] < 0)
			return -1;
		if (ftruncate(u->fds[i], (off_t)f->size) < 0)
			return error_set(err, errno, "make '%s' %llu bytes large",
					 f->path, (unsigned long long)f->size);
		for (size_t e = 0; e < f->extents.n; e++)
			places_add(&u->places, (struct place){
				.member = f->extents.v[e].member, .file = i,
				.off = f->extents.v[e].off });
	}
	if (u->places.n)
		qsort(u->places.v, u->places.n, sizeof(*u->places.v), by_member);
	return 0;
}

/* Zeros are there already. */
static int write_sparse(int fd, const char *bytes, size_t n, uint64_t off,
			const char *path, struct error *err)
{
	static const char zero[ZERO_BLOCK];

	for (size_t at = 0; at < n; ) {
		size_t start, len = 0;

		while (at < n && n - at >= ZERO_BLOCK && !memcmp(bytes + at, zero, ZERO_BLOCK))
			at += ZERO_BLOCK;
		for (start = at; at < n; at += len) {
			len = n - at < ZERO_BLOCK ? n - at : ZERO_BLOCK;
			if (len == ZERO_BLOCK && !memcmp(bytes + at, zero, ZERO_BLOCK))
				break;
		}
		if (at > start && full_pwrite(fd, bytes + start, at - start,
					      (off_t)(off + start), path, err) < 0)
			return -1;
	}
	return 0;
}

static int place_piece(void *data, const char *bytes, size_t n, uint64_t off,
		       struct error *err)
{
	struct unpack *u = data;
	size_t member = (size_t)(u->m - u->b->m.members.v);

	(void)off;
	for (; u->next < u->places.n && u->places.v[u->next].member == member; u->next++) {
		const struct place *p = &u->places.v[u->next];

		if (write_sparse(u->fds[p->file], bytes, n, p->off,
				 u->b->m.files.v[p->file].path, err) < 0)
			return -1;
	}
	return 0;
}

static int write_member(void *data, const char *bytes, size_t n, uint64_t off,
			struct error *err)
{
	struct unpack *u = data;

	return full_pwrite(u->out, bytes, n, (off_t)off, u->m->path, err);
}

static int create_member(struct unpack *u, struct error *err)
{
	const char *slash = strchr(u->m->path, '/');

	if (slash) {
		cleanup_free char *dir = xstrndup(u->m->path, (size_t)(slash - u->m->path));

		if (mkdirat(u->dir, dir, 0777) < 0 && errno != EEXIST)
			return error_set(err, errno, "make directory '%s'", dir);
	}
	cleanup_closep(&u->out);
	u->out = create(u, u->m->path, u->m->mode, err);
	return u->out < 0 ? -1 : 0;
}

static int unpack_members(struct unpack *u, struct error *err)
{
	for (size_t i = 0; i < u->b->m.members.n; i++) {
		bool piece;

		u->m = &u->b->m.members.v[i];
		piece = !strcmp(u->m->role, BUNDLE_PIECE);
		if (!piece && create_member(u, err) < 0)
			return -1;
		if (bundle_take(u->b, u->m, piece ? place_piece : write_member, u, err) < 0)
			return -1;
	}
	return bundle_end(u->b, err);
}

/* Zeros that no file system stores need not be read from it. */
static int hash_fd(int fd, uint64_t size, char hex[SHA256_HEX], const char *path,
		   struct error *err)
{
	enum { CHUNK = 1 << 18 };
	cleanup_free char *chunk = xmalloc(CHUNK);
	cleanup_free char *zeros = xcalloc(1, CHUNK);
	struct sha256 s;
	int ret = 0;

	sha256_init(&s);
	for (uint64_t off = 0; !ret && off < size; ) {
		size_t n = size - off < CHUNK ? (size_t)(size - off) : CHUNK;
		off_t data = lseek(fd, (off_t)off, SEEK_DATA);
		bool hole = data < 0 ? errno == ENXIO : (uint64_t)data >= off + n;

		if (!hole)
			ret = full_pread(fd, chunk, n, (off_t)off, path, err);
		sha256_add(&s, hole ? zeros : chunk, n);
		off += n;
	}
	sha256_final(&s, hex);
	return ret;
}

static int check_files(struct unpack *u, struct error *err)
{
	for (size_t i = 0; i < u->b->m.files.n; i++) {
		const struct bundle_file *f = &u->b->m.files.v[i];
		char hex[SHA256_HEX];

		if (hash_fd(u->fds[i], f->size, hex, f->path, err) < 0 ||
		    bundle_file_is(f, hex, err) < 0)
			return -1;
	}
	return 0;
}

static int check_space(const struct unpack *u, const char *dir, struct error *err)
{
	const struct bundle_manifest *m = &u->b->m;
	uint64_t need = u->b->text_len, have;
	struct statvfs v;

	for (size_t i = 0; i < m->members.n; i++)
		if (strcmp(m->members.v[i].role, BUNDLE_PIECE))
			need += m->members.v[i].size;
	for (size_t i = 0; i < m->files.n; i++)
		for (size_t e = 0; e < m->files.v[i].extents.n; e++)
			need += m->members.v[m->files.v[i].extents.v[e].member].size;
	if (fstatvfs(u->dir, &v) < 0)
		return error_set(err, errno, "ask '%s' for its free space", dir);
	have = (uint64_t)v.f_bavail * v.f_frsize;
	if (need <= have)
		return 0;
	return error_set(err, 0, "unpacked it has %llu MiB, and there are %llu MiB free in '%s': free some space, or name another place with --dir or XDG_CACHE_HOME",
			 (unsigned long long)(need >> 20),
			 (unsigned long long)(have >> 20), dir);
}

static int unpack_into(struct bundle *b, const char *dir, struct error *err)
{
	CLEANUP(unpack_free) struct unpack u = { .b = b, .dir = -1, .out = -1 };
	cleanup_close int fd = -1;

	u.dir = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (u.dir < 0)
		return error_set(err, errno, "open directory '%s'", dir);
	if (check_space(&u, dir, err) < 0)
		return -1;
	fd = create(&u, BUNDLE_MANIFEST, 0644, err);
	if (fd < 0 || full_pwrite(fd, b->text, b->text_len, 0, BUNDLE_MANIFEST, err) < 0 ||
	    create_files(&u, err) < 0 || unpack_members(&u, err) < 0 ||
	    check_files(&u, err) < 0)
		return -1;
	return put_sync(dir, err);
}

int bundle_unpack(struct bundle *b, const char *dir, struct error *err)
{
	const char *slash = strrchr(dir, '/');
	cleanup_free char *parent = slash ? xstrndup(dir, (size_t)(slash - dir)) : xstrdup(".");
	cleanup_free char *tmp = xasprintf("%s/.%s.XXXXXX", parent, slash ? slash + 1 : dir);
	int ret;

	if (path_exists(dir))
		return error_set(err, EEXIST, "unpack to '%s'", dir);
	if ((*parent && make_dirs(parent, err) < 0))
		return -1;
	if (!mkdtemp(tmp))
		return error_set(err, errno, "make a directory in '%s'", parent);
	ret = unpack_into(b, tmp, err) < 0 ? bundle_error(b, err) : 0;
	if (!ret && rename(tmp, dir) < 0)
		ret = error_set(err, errno, "rename '%s' to '%s'", tmp, dir);
	if (ret < 0) {
		(void)remove_tree(tmp, NULL);
		return -1;
	}
	return dir_sync(*parent ? parent : "/", err);
}

static bool same_file(const char *dir, const char *path, const char *sha256)
{
	cleanup_free char *full = xasprintf("%s/%s", dir, path);
	cleanup_close int fd = open(full, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char hex[SHA256_HEX];
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       !hash_fd(fd, (uint64_t)st.st_size, hex, full, NULL) &&
	       !strcmp(hex, sha256);
}

bool bundle_unpacked(const struct bundle *b, const char *dir)
{
	if (!same_file(dir, BUNDLE_MANIFEST, b->digest))
		return false;
	for (size_t i = 0; i < b->m.members.n; i++) {
		const struct bundle_member *m = &b->m.members.v[i];

		if (strcmp(m->role, BUNDLE_PIECE) && !same_file(dir, m->path, m->sha256))
			return false;
	}
	for (size_t i = 0; i < b->m.files.n; i++)
		if (!same_file(dir, b->m.files.v[i].path, b->m.files.v[i].sha256))
			return false;
	return true;
}
