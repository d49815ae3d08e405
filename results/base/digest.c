/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/base/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "results/base/cleanup.h"
#include "results/base/text.h"

/* A digest cannot fail but for want of memory, and then nothing can go on. */
static void must(int ok)
{
	if (ok != 1) {
		fputs("kontest: libcrypto cannot compute a digest\n", stderr);
		exit(1);
	}
}

void sha256_init(struct sha256 *s)
{
	s->ctx = EVP_MD_CTX_new();
	must(s->ctx != NULL);
	must(EVP_DigestInit_ex(s->ctx, EVP_sha256(), NULL));
}

void sha256_add(struct sha256 *s, const void *data, size_t len)
{
	must(EVP_DigestUpdate(s->ctx, data, len));
}

void sha256_adds(struct sha256 *s, const char *str)
{
	sha256_add(s, str, strlen(str) + 1);
}

void sha256_final(struct sha256 *s, char hex[SHA256_HEX])
{
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	must(EVP_DigestFinal_ex(s->ctx, md, &len));
	EVP_MD_CTX_free(s->ctx);
	s->ctx = NULL;
	for (unsigned int i = 0; i < 32; i++)
		snprintf(hex + i * 2, 3, "%02x", md[i]);
}

void sha256_of(const void *data, size_t len, char hex[SHA256_HEX])
{
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, data, len);
	sha256_final(&s, hex);
}

static int add_file(struct sha256 *s, const char *path, struct error *err)
{
	enum { CHUNK = 1 << 18 };
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	cleanup_free char *chunk = NULL;
	ssize_t n;

	if (fd < 0)
		return error_set(err, errno, "open '%s'", path);
	chunk = xmalloc(CHUNK);
	while ((n = read(fd, chunk, CHUNK)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, errno, "read '%s'", path);
		sha256_add(s, chunk, (size_t)n);
	}
	return 0;
}

bool sha256_is(const char *s)
{
	return s && strlen(s) == SHA256_HEX - 1 &&
	       strspn(s, "0123456789abcdef") == SHA256_HEX - 1;
}

int sha256_file(const char *path, char hex[SHA256_HEX], struct error *err)
{
	struct sha256 s;
	int ret;

	sha256_init(&s);
	ret = add_file(&s, path, err);
	sha256_final(&s, hex);
	return ret;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int tree_add(struct sha256 *s, const char *dir, FTS *fts,
		    struct error *err)
{
	size_t skip = strlen(dir);
	FTSENT *e;

	while ((e = fts_read(fts))) {
		char size[32];

		if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR ||
		    e->fts_info == FTS_NS)
			return error_set(err, e->fts_errno, "read '%s'",
					 e->fts_path);
		if (e->fts_info != FTS_F)
			continue;
		sha256_adds(s, e->fts_path + skip);
		snprintf(size, sizeof(size), "%lld",
			 (long long)e->fts_statp->st_size);
		sha256_adds(s, size);
		if (add_file(s, e->fts_accpath, err) < 0)
			return -1;
	}
	return 0;
}

int sha256_tree(const char *dir, char hex[SHA256_HEX], struct error *err)
{
	char *const roots[] = { (char *)dir, NULL };
	struct sha256 s;
	FTS *fts;
	int ret;

	if (access(dir, R_OK | X_OK) < 0)
		return error_set(err, errno, "read directory '%s'", dir);
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	if (!fts)
		return error_set(err, errno, "read directory '%s'", dir);
	sha256_init(&s);
	ret = tree_add(&s, dir, fts, err);
	sha256_final(&s, hex);
	fts_close(fts);
	return ret;
}

void uuid5(const char *seed, const char *role, uint8_t uuid[16])
{
	/* kontest's name space: a random UUID, chosen once. */
	static const uint8_t space[16] = {
		0x6b, 0x0d, 0x8e, 0x7a, 0x52, 0x1c, 0x4f, 0x3d,
		0x9a, 0x4e, 0xd3, 0x58, 0x21, 0xf6, 0x70, 0xb9,
	};
	cleanup_free char *name = xasprintf("%s/%s", seed, role);
	unsigned char md[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	must(ctx != NULL);
	must(EVP_DigestInit_ex(ctx, EVP_sha1(), NULL));
	must(EVP_DigestUpdate(ctx, space, sizeof(space)));
	must(EVP_DigestUpdate(ctx, name, strlen(name)));
	must(EVP_DigestFinal_ex(ctx, md, NULL));
	EVP_MD_CTX_free(ctx);
	memcpy(uuid, md, 16);
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x50);
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

void uuid_text(const uint8_t u[16], char text[UUID_TEXT])
{
	snprintf(text, UUID_TEXT,
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7],
		 u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}
