/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/minisign.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"

#define FILE_MAX_BYTES 16384u
#define UNTRUSTED "untrusted comment: "
#define TRUSTED "trusted comment: "
#define SIGNATURE "signature from kontest's minisign secret key"

/* struct public_blob, ... - minisign's files, base64 removed */
struct public_blob {
	uint8_t alg[2], id[8], key[MINISIGN_PUBLIC_BYTES];
} __attribute__((packed));

struct secret_blob {
	uint8_t alg[2], kdf[2], sum_alg[2], salt[32], ops[8], mem[8];
	struct secret_part {
		uint8_t id[8], key[MINISIGN_SECRET_BYTES], sum[32];
	} __attribute__((packed)) part;
} __attribute__((packed));

struct signature_blob {
	uint8_t alg[2], id[8], sig[crypto_sign_BYTES];
} __attribute__((packed));

_Static_assert(sizeof(struct public_blob) == 42, "minisign public key");
_Static_assert(sizeof(struct secret_blob) == 158, "minisign secret key");
_Static_assert(sizeof(struct signature_blob) == 74, "minisign signature");
_Static_assert(sizeof(((struct secret_blob *)0)->salt) ==
	       crypto_pwhash_scryptsalsa208sha256_SALTBYTES, "scrypt salt");

/* More than minisign ever asks for. */
#define SCRYPT_MEM_MAX (2ull << 30)
#define SCRYPT_OPS_MAX (1ull << 28)

static int start(struct error *err)
{
	return sodium_init() < 0 ? error_set(err, 0, "libsodium does not start") : 0;
}

void minisign_id(const uint8_t id[8], char text[MINISIGN_ID_HEX])
{
	uint64_t v;

	memcpy(&v, id, sizeof(v));
	snprintf(text, MINISIGN_ID_HEX, "%016llX", (unsigned long long)le64toh(v));
}

/* The next line of @text, ended in place; NULL when there is none. */
static char *next_line(char **text)
{
	char *line = *text, *end;

	if (!line || !*line)
		return NULL;
	end = line + strcspn(line, "\n");
	*text = *end ? end + 1 : end;
	*end = '\0';
	if (end > line && end[-1] == '\r')
		end[-1] = '\0';
	return line;
}

static bool decode(const char *text, void *out, size_t size)
{
	size_t n;

	return text && !sodium_base642bin(out, size, text, strlen(text), NULL, &n,
					  NULL, sodium_base64_VARIANT_ORIGINAL) &&
	       n == size;
}

static int no_public(const char *what, struct error *err)
{
	return error_set(err, 0, "'%s' is no public key of minisign: `minisign -G` makes one, minisign.pub, and the base64 line in it will do, too",
			 what);
}

int minisign_public_read(const char *file_or_text, struct minisign_public *p,
			 struct error *err)
{
	CLEANUP(buf_free) struct buf b = { 0 };
	struct public_blob blob;

	if (start(err) < 0)
		return -1;
	if (!decode(file_or_text, &blob, sizeof(blob))) {
		char *text, *comment;

		if (file_read(file_or_text, FILE_MAX_BYTES, &b, err) < 0)
			return error_prefix(err, "public key");
		text = b.data;
		comment = next_line(&text);
		if (!comment || !decode(str_starts(comment, UNTRUSTED) ? next_line(&text) : comment,
					&blob, sizeof(blob)))
			return no_public(file_or_text, err);
	}
	if (memcmp(blob.alg, "Ed", 2))
		return no_public(file_or_text, err);
	memcpy(p->id, blob.id, sizeof(p->id));
	memcpy(p->key, blob.key, sizeof(p->key));
	return 0;
}

void minisign_wipe(struct minisign_secret *s)
{
	sodium_memzero(s, sizeof(*s));
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

/* A key without a password has no checksum (minisign 0.11): there its two
 * halves, seed and public key, must belong together. */
static bool matches(const uint8_t key[MINISIGN_SECRET_BYTES])
{
	uint8_t public[MINISIGN_PUBLIC_BYTES], again[MINISIGN_SECRET_BYTES];
	bool same;

	crypto_sign_seed_keypair(public, again, key);
	same = !sodium_memcmp(again, key, sizeof(again));
	sodium_memzero(again, sizeof(again));
	return same;
}

/* The key's own checksum tells whether the password was right. */
static bool intact(const struct secret_blob *b)
{
	crypto_generichash_state st;
	uint8_t sum[32];

	crypto_generichash_init(&st, NULL, 0, sizeof(sum));
	crypto_generichash_update(&st, b->alg, sizeof(b->alg));
	crypto_generichash_update(&st, b->part.id, sizeof(b->part.id));
	crypto_generichash_update(&st, b->part.key, sizeof(b->part.key));
	crypto_generichash_final(&st, sum, sizeof(sum));
	return !sodium_memcmp(sum, b->part.sum, sizeof(sum));
}

static int decrypt(struct secret_blob *b, const char *path, const char *password,
		   struct error *err)
{
	uint8_t stream[sizeof(b->part)], *p = (uint8_t *)&b->part;
	uint64_t ops = get64(b->ops), mem = get64(b->mem);
	int ret;

	if (ops > SCRYPT_OPS_MAX || mem > SCRYPT_MEM_MAX)
		return error_set(err, 0, "secret key '%s' asks for more memory or time than any of minisign's", path);
	ret = crypto_pwhash_scryptsalsa208sha256(stream, sizeof(stream), password,
						 strlen(password), b->salt, ops,
						 (size_t)mem);
	if (ret)
		return error_set(err, ENOMEM, "secret key '%s': its password needs %llu MiB of memory",
				 path, (unsigned long long)(mem >> 20));
	for (size_t i = 0; i < sizeof(stream); i++)
		p[i] ^= stream[i];
	sodium_memzero(stream, sizeof(stream));
	return 0;
}

static int unlock(struct secret_blob *b, const char *path,
		  char *(*ask)(void *data, struct error *err), void *data,
		  struct error *err)
{
	bool locked = memcmp(b->kdf, "\0\0", 2);

	if (memcmp(b->alg, "Ed", 2) || memcmp(b->sum_alg, "B2", 2) ||
	    (locked && memcmp(b->kdf, "Sc", 2)))
		return error_set(err, 0, "'%s' is a secret key of a kind that only a newer minisign knows", path);
	if (locked) {
		char *password = ask ? ask(data, err) : NULL;
		int ret;

		if (!password)
			return ask ? -1 : error_set(err, 0, "secret key '%s' has a password: give it with --password-file", path);
		ret = decrypt(b, path, password, err);
		sodium_memzero(password, strlen(password));
		free(password);
		if (ret < 0)
			return -1;
	}
	if (locked ? !intact(b) : !matches(b->part.key))
		return error_set(err, 0, locked ? "secret key '%s': that is not its password" :
				 "secret key '%s' is damaged: its halves do not belong together", path);
	return 0;
}

int minisign_secret_read(const char *path,
			 char *(*ask)(void *data, struct error *err),
			 void *data, struct minisign_secret *s,
			 struct error *err)
{
	CLEANUP(buf_free) struct buf b = { 0 };
	struct secret_blob blob = { 0 };
	char *text, *comment;
	bool good;
	int ret;

	if (start(err) < 0)
		return -1;
	if (file_read(path, FILE_MAX_BYTES, &b, err) < 0)
		return error_prefix(err, "secret key");
	text = b.data;
	comment = next_line(&text);
	good = comment && str_starts(comment, UNTRUSTED) &&
	       decode(next_line(&text), &blob, sizeof(blob));
	sodium_memzero(b.data, b.len);
	if (!good)
		return error_set(err, 0, "'%s' is no secret key of minisign: `minisign -G` makes one, or `minisign -G -W` one without a password", path);
	ret = unlock(&blob, path, ask, data, err);
	if (!ret) {
		memcpy(s->id, blob.part.id, sizeof(s->id));
		memcpy(s->key, blob.part.key, sizeof(s->key));
	}
	sodium_memzero(&blob, sizeof(blob));
	return ret;
}

static int digest(const char *path, uint8_t out[crypto_generichash_BYTES_MAX],
		  struct error *err)
{
	enum { CHUNK = 1 << 18 };
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	cleanup_free char *chunk = NULL;
	crypto_generichash_state st;
	struct stat sb;
	off_t off = 0;

	if (fd < 0 || fstat(fd, &sb) < 0)
		return error_set(err, errno, "open '%s'", path);
	if (!S_ISREG(sb.st_mode))
		return error_set(err, 0, "'%s' is not a regular file", path);
	chunk = xmalloc(CHUNK);
	crypto_generichash_init(&st, NULL, 0, crypto_generichash_BYTES_MAX);
	while (off < sb.st_size) {
		size_t n = sb.st_size - off < CHUNK ? (size_t)(sb.st_size - off) : CHUNK;

		if (full_pread(fd, chunk, n, off, path, err) < 0)
			return -1;
		crypto_generichash_update(&st, (const uint8_t *)chunk, n);
		off += (off_t)n;
	}
	crypto_generichash_final(&st, out, crypto_generichash_BYTES_MAX);
	return 0;
}

static char *encode(const void *data, size_t len)
{
	size_t size = sodium_base64_encoded_len(len, sodium_base64_VARIANT_ORIGINAL);
	char *text = xmalloc(size);

	return sodium_bin2base64(text, size, data, len, sodium_base64_VARIANT_ORIGINAL);
}

/* What the second signature is over: the first one and the trusted comment. */
static void both(const struct signature_blob *b, const char *comment, struct buf *out)
{
	buf_add(out, b->sig, sizeof(b->sig));
	buf_adds(out, comment);
}

int minisign_sign(const char *path, const struct minisign_secret *s,
		  int64_t time, struct error *err)
{
	cleanup_free char *file = xasprintf("%s" MINISIGN_SUFFIX, path);
	const char *base = strrchr(path, '/');
	cleanup_free char *comment = xasprintf("timestamp:%lld\tfile:%s\thashed",
					       (long long)time, base ? base + 1 : path);
	cleanup_free char *first = NULL, *second = NULL, *text = NULL;
	CLEANUP(buf_free) struct buf signed_too = { 0 };
	struct signature_blob b = { .alg = { 'E', 'D' } };
	uint8_t hash[crypto_generichash_BYTES_MAX], global[crypto_sign_BYTES];

	if (start(err) < 0 || digest(path, hash, err) < 0)
		return -1;
	if (strpbrk(comment, "\r\n") || strlen(comment) >= MINISIGN_COMMENT_MAX)
		return error_set(err, 0, "the name of '%s' does not fit into one line of a signature: choose another", path);
	memcpy(b.id, s->id, sizeof(b.id));
	if (crypto_sign_detached(b.sig, NULL, hash, sizeof(hash), s->key))
		return error_set(err, 0, "sign '%s': libsodium fails", path);
	both(&b, comment, &signed_too);
	if (crypto_sign_detached(global, NULL, (const uint8_t *)signed_too.data,
				 signed_too.len, s->key))
		return error_set(err, 0, "sign '%s': libsodium fails", path);
	first = encode(&b, sizeof(b));
	second = encode(global, sizeof(global));
	text = xasprintf(UNTRUSTED SIGNATURE "\n%s\n" TRUSTED "%s\n%s\n", first,
			 comment, second);
	return file_write(file, text, strlen(text), err);
}

/**
 * struct signature - FILE.minisig
 * @text: the file; @comment points into it
 */
struct signature {
	struct buf text;
	struct signature_blob blob;
	const char *comment;
	uint8_t global[crypto_sign_BYTES];
};

static void signature_free(struct signature *s)
{
	buf_free(&s->text);
}

static int signature_read(const char *path, struct signature *s, struct error *err)
{
	cleanup_free char *file = xasprintf("%s" MINISIGN_SUFFIX, path);
	char *text, *line;

	if (start(err) < 0 || file_read(file, FILE_MAX_BYTES, &s->text, err) < 0)
		return -1;
	text = s->text.data;
	line = next_line(&text);
	if (!line || !str_starts(line, UNTRUSTED) ||
	    !decode(next_line(&text), &s->blob, sizeof(s->blob)))
		return error_set(err, 0, "'%s' is no signature of minisign", file);
	if (!memcmp(s->blob.alg, "Ed", 2))
		return error_set(err, 0, "'%s' is in minisign's old format, without a hash: have it signed again by a current minisign or kontest", file);
	line = next_line(&text);
	if (memcmp(s->blob.alg, "ED", 2) || !line || !str_starts(line, TRUSTED) ||
	    !decode(next_line(&text), s->global, sizeof(s->global)) || *text)
		return error_set(err, 0, "'%s' is no signature of minisign", file);
	s->comment = line + strlen(TRUSTED);
	return 0;
}

int minisign_signer(const char *path, char id[MINISIGN_ID_HEX],
		    struct error *err)
{
	cleanup_free char *file = xasprintf("%s" MINISIGN_SUFFIX, path);
	CLEANUP(signature_free) struct signature s = { 0 };

	if (!path_exists(file))
		return 0;
	if (signature_read(path, &s, err) < 0)
		return -1;
	minisign_id(s.blob.id, id);
	return 1;
}

static void printable(const char *s, char out[MINISIGN_COMMENT_MAX])
{
	size_t n = 0;

	for (; n < MINISIGN_COMMENT_MAX - 1 && s[n]; n++)
		out[n] = s[n] == '\t' ? ' ' : s[n] < 0x20 || s[n] > 0x7e ? '?' : s[n];
	out[n] = '\0';
}

int minisign_verify(const char *path, const struct minisign_public *p,
		    char comment[MINISIGN_COMMENT_MAX], struct error *err)
{
	CLEANUP(signature_free) struct signature s = { 0 };
	CLEANUP(buf_free) struct buf signed_too = { 0 };
	uint8_t hash[crypto_generichash_BYTES_MAX];
	char theirs[MINISIGN_ID_HEX], ours[MINISIGN_ID_HEX];

	if (signature_read(path, &s, err) < 0)
		return -1;
	if (memcmp(s.blob.id, p->id, sizeof(p->id))) {
		minisign_id(s.blob.id, theirs);
		minisign_id(p->id, ours);
		return error_set(err, 0, "'%s' was signed by the key %s, not by %s", path, theirs, ours);
	}
	if (digest(path, hash, err) < 0)
		return -1;
	if (crypto_sign_verify_detached(s.blob.sig, hash, sizeof(hash), p->key))
		return error_set(err, 0, "'%s' is not what was signed: the signature does not fit", path);
	both(&s.blob, s.comment, &signed_too);
	if (crypto_sign_verify_detached(s.global, (const uint8_t *)signed_too.data,
					signed_too.len, p->key))
		return error_set(err, 0, "'%s" MINISIGN_SUFFIX "': its trusted comment is not what was signed", path);
	printable(s.comment, comment);
	return 0;
}
