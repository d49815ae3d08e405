/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "images/bundle.h"
#include "images/tar_header.h"
#include "results/base/cleanup.h"
#include "tests/make_bundle.h"
#include "tests/scratch_dir.h"

#define MIB (1u << 20)

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

/* Bytes that do not compress, the same for the same seed. */
static void noise(char *p, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = (char)(seed >> 24);
	}
}

static void put(const char *name, const char *data, size_t len)
{
	cleanup_free char *path = in_dir(name);
	struct error err = { 0 };

	must(file_write(path, data, len, &err), &err);
}

static void add(struct bundle_draft *d, const char *name, const char *role,
		bool embedded, uint64_t *new_bytes)
{
	cleanup_free char *path = in_dir(name);
	struct error err = { 0 };

	must(bundle_add_file(d, name, role, path, NULL, embedded, new_bytes, &err), &err);
}

/* Two system disks on one base, each with its kernel somewhere in it. */
static void make_images(void)
{
	enum { ROOT = 3 * MIB, ESP = 2 * MIB, ALL = MIB + ROOT + ESP };
	cleanup_free char *disk = xcalloc(1, ALL), *kernel = xmalloc(MIB + 700);

	noise(disk + MIB, ROOT, 1);
	for (uint32_t k = 1; k <= 2; k++) {
		cleanup_free char *name = xasprintf("vmlinuz-%u", k);
		cleanup_free char *image = xasprintf("system-%u.img", k);

		noise(kernel, MIB + 700, 10 + k);
		put(name, kernel, MIB + 700);
		memset(disk + MIB + ROOT, 0, ESP);
		memset(disk, 'a' + (int)k, 600);
		memcpy(disk + MIB + ROOT + 512 * 33, kernel, MIB + 700);
		put(image, disk, ALL);
	}
	put("empty.img", disk + MIB - 4096, 1);
}

static void make_draft(struct bundle_draft *d, uint64_t new_bytes[4])
{
	memcpy(d->m.run_id, RUN_A, UUID_TEXT);
	d->m.full = true;
	d->m.tools = xstrdup("{\"qemu\":\"7.2\"}");
	bundle_add_text(d, "plan.ini", BUNDLE_PLAN, "[plan]\n", 7);
	add(d, "vmlinuz-1", BUNDLE_VMLINUZ, true, &new_bytes[0]);
	add(d, "vmlinuz-2", BUNDLE_VMLINUZ, true, &new_bytes[1]);
	add(d, "system-1.img", BUNDLE_SYSTEM, false, &new_bytes[2]);
	add(d, "system-2.img", BUNDLE_SYSTEM, false, &new_bytes[3]);
}

static void same_bytes(const char *a, const char *b)
{
	char x[SHA256_HEX], y[SHA256_HEX];
	struct error err = { 0 };

	must(sha256_file(a, x, &err), &err);
	must(sha256_file(b, y, &err), &err);
	assert_string_equal(x, y);
}

static void goes_there_and_back(void **state)
{
	static const char *const names[] = { "vmlinuz-1", "vmlinuz-2", "system-1.img", "system-2.img" };
	CLEANUP(bundle_draft_free) struct bundle_draft d = { 0 };
	CLEANUP(bundle_close) struct bundle b = { 0 };
	cleanup_free char *file = in_dir("a.kontest"), *to = in_dir("out");
	cleanup_free char *damaged = in_dir("out/system-2.img");
	uint64_t new_bytes[4] = { 0 }, size;
	double packed[64];
	struct error err = { 0 };
	struct stat st;

	(void)state;
	make_images();
	make_draft(&d, new_bytes);
	must(bundle_write(&d, file, packed, &size, &err), &err);
	assert_int_equal(new_bytes[0], MIB + 700);
	/* The root and the boot block; the kernel was there. */
	assert_int_equal(new_bytes[2], 4 * MIB - MIB + 4096);
	/* Of the second disk nothing but the boot block. */
	assert_int_equal(new_bytes[3], 4096);

	assert_true(bundle_is(file));
	must(bundle_open(&b, file, &err), &err);
	assert_true(b.m.full);
	assert_string_equal(b.m.run_id, RUN_A);
	assert_string_equal(b.m.tools, "{\"qemu\":\"7.2\"}");
	must(bundle_check(&b, &err), &err);
	assert_false(bundle_unpacked(&b, to));
	must(bundle_unpack(&b, to, &err), &err);
	for (size_t i = 0; i < 4; i++) {
		cleanup_free char *from = in_dir(names[i]);
		cleanup_free char *made = xasprintf("%s/%s", to, names[i]);

		same_bytes(from, made);
	}
	/* A megabyte of it is zero and takes no room. */
	assert_int_equal(stat(damaged, &st), 0);
	assert_true(st.st_blocks * 512 < st.st_size - 3 * (off_t)MIB / 2);
	assert_true(bundle_unpacked(&b, to));
	assert_int_equal(bundle_unpack(&b, to, &err), -1);
	assert_int_equal(truncate(damaged, 4096), 0);
	assert_false(bundle_unpacked(&b, to));
}

/* Somebody else's tools open it: they see the members and nothing else. */
static void is_tar_and_zstd(void **state)
{
	CLEANUP(bundle_draft_free) struct bundle_draft d = { 0 };
	cleanup_free char *file = in_dir("b.kontest");
	struct archive *a = archive_read_new();
	struct archive_entry *e;
	struct error err = { 0 };
	uint64_t new_bytes[4], size;
	size_t n = 0;

	(void)state;
	make_draft(&d, new_bytes);
	must(bundle_write(&d, file, NULL, &size, &err), &err);
	archive_read_support_filter_zstd(a);
	archive_read_support_format_tar(a);
	assert_int_equal(archive_read_open_filename(a, file, 1 << 16), ARCHIVE_OK);
	while (archive_read_next_header(a, &e) == ARCHIVE_OK) {
		cleanup_free char *data = NULL;
		char hex[SHA256_HEX];
		size_t len = (size_t)archive_entry_size(e);

		assert_int_equal(archive_entry_filetype(e), AE_IFREG);
		if (!n++) {
			assert_string_equal(archive_entry_pathname(e), BUNDLE_MANIFEST);
			continue;
		}
		assert_string_equal(archive_entry_pathname(e), d.m.members.v[n - 2].path);
		data = xmalloc(len + 1);
		assert_int_equal(archive_read_data(a, data, len), len);
		sha256_of(data, len, hex);
		assert_string_equal(hex, d.m.members.v[n - 2].sha256);
	}
	assert_int_equal(n, d.m.members.n + 1);
	archive_read_free(a);
}

/* One member of it costs the frames that it lies in. */
static void seeks(void **state)
{
	CLEANUP(bundle_close) struct bundle b = { 0 };
	CLEANUP(buf_free) struct buf out = { 0 };
	cleanup_free char *file = in_dir("a.kontest");
	struct error err = { 0 };
	const struct bundle_member *last;

	(void)state;
	must(bundle_open(&b, file, &err), &err);
	assert_true(b.in.frames.n >= 3);
	/* The manifest has a frame of its own. */
	assert_int_equal(b.m.members.v[0].off, b.in.frames.v[1].plain_off);
	last = &b.m.members.v[b.m.members.n - 1];
	must(bundle_read(&b, last, &out, &err), &err);
	assert_int_equal(out.len, last->size);
	assert_int_equal(b.in.loaded, b.in.frames.n - 1);
	must(bundle_read(&b, &b.m.members.v[0], &out, &err), &err);
	assert_memory_equal(out.data + last->size, "[plan]\n", 7);
}

static void seekable_any_place(void **state)
{
	enum { LEN = 9 * MIB + 123 };
	cleanup_free char *plain = xmalloc(LEN), *part = xmalloc(LEN), *file = in_dir("seek");
	struct seekable_reader r;
	struct error err = { 0 };

	(void)state;
	noise(plain, LEN, 5);
	bundle_of_tar(file, plain, LEN);
	must(seekable_open(&r, file, &err), &err);
	assert_int_equal(r.size, LEN);
	for (uint64_t off = 0; off < LEN; off += 777777) {
		size_t n = LEN - off < 5000000 ? (size_t)(LEN - off) : 5000000;

		must(seekable_read(&r, off, part, n, &err), &err);
		assert_memory_equal(part, plain + off, n);
	}
	assert_int_equal(seekable_read(&r, LEN - 1, part, 2, &err), -1);
	assert_int_equal(seekable_read(&r, UINT64_MAX, part, 2, &err), -1);
	seekable_close(&r);
}

static void changed_image_is_noticed(void **state)
{
	CLEANUP(bundle_draft_free) struct bundle_draft d = { 0 };
	cleanup_free char *file = in_dir("c.kontest"), *image = in_dir("system-1.img");
	char hex[SHA256_HEX];
	struct error err = { 0 };
	uint64_t size;
	int fd;

	(void)state;
	memset(hex, '0', sizeof(hex) - 1);
	hex[sizeof(hex) - 1] = '\0';
	memcpy(d.m.run_id, RUN_A, UUID_TEXT);
	d.m.full = true;
	assert_int_equal(bundle_add_file(&d, "s", BUNDLE_SYSTEM, image, hex, false, NULL, &err), -1);
	assert_non_null(strstr(err.text, "no longer what was booted"));
	add(&d, "system-1.img", BUNDLE_SYSTEM, false, NULL);
	fd = open(image, O_WRONLY);
	assert_int_equal(pwrite(fd, "X", 1, 2 * MIB), 1);
	close(fd);
	assert_int_equal(bundle_write(&d, file, NULL, &size, &err), -1);
	assert_non_null(strstr(err.text, "was changed while it was read"));
	assert_false(path_exists(file));
}

/* --- what must be refused ------------------------------------------------- */

static size_t count_names(void)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Unpacking must fail, say @why in one line, and leave nothing. */
static void refused(const char *file, const char *why)
{
	cleanup_free char *to = in_dir("target");
	struct bundle b = { 0 };
	struct error err = { 0 };
	size_t before = count_names();
	int ret = bundle_open(&b, file, &err);

	if (!ret) {
		struct error check = { 0 };

		ret = bundle_unpack(&b, to, &err);
		assert_int_equal(ret, -1);
		/* Whoever only checks is told the same, but of their own disk. */
		assert_int_equal(bundle_check(&b, &check), -1);
		if (!strstr(why, "free"))
			assert_string_equal(check.text, err.text);
		bundle_close(&b);
	}
	assert_int_equal(ret, -1);
	if (!strstr(err.text, why))
		fail_msg("'%s' is not in: %s", why, err.text);
	assert_null(strchr(err.text, '\n'));
	assert_non_null(strstr(err.text, file));
	assert_false(path_exists(to));
	assert_int_equal(count_names(), before);
	assert_int_equal(unlink(file), 0);
}

/* A manifest with "a" and "b", and an archive that has other things beside. */
static void refuse_members(const struct entry *extra, size_t n, bool with_b, const char *why)
{
	cleanup_free char *a = member_line("a", "plan", "aaa");
	cleanup_free char *b = member_line("b", "plan", "bbb");
	cleanup_free char *both = xasprintf("%s,%s", a, b);
	cleanup_free char *text = manifest_of("results-only", both, "");
	cleanup_free char *file = in_dir("hostile.kontest");
	struct entry e[8] = { { "manifest.json", text, 0, 0 }, { "a", "aaa", 0, 0 } };
	size_t all = 2;

	for (size_t i = 0; i < n; i++)
		e[all++] = extra[i];
	if (with_b)
		e[all++] = (struct entry){ "b", "bbb", 0, 0 };
	bundle_of(file, e, all);
	refused(file, why);
}

static void members_that_are_no_files(void **state)
{
	static const struct {
		unsigned int type;
		const char *why;
	} cases[] = {
		{ AE_IFLNK, "member 'evil' is a symbolic link" },
		{ AE_IFCHR, "member 'evil' is a character device" },
		{ AE_IFBLK, "member 'evil' is a block device" },
		{ AE_IFIFO, "member 'evil' is a FIFO" },
		{ AE_IFDIR, "member 'evil/' is a directory" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct entry e = { "evil", "/etc/passwd", cases[i].type, 0 };

		refuse_members(&e, 1, true, cases[i].why);
	}
}

/* Type and checksum of a member's header set by hand. */
static void refuse_type(char type, const char *why)
{
	cleanup_free char *a = member_line("a", "plan", "aaa");
	cleanup_free char *text = manifest_of("results-only", a, "");
	cleanup_free char *file = in_dir("hostile.kontest");
	const struct entry e[] = { { "manifest.json", text, 0, 0 }, { "a", "aaa", 0, 0 } };
	size_t len = 0, at;
	cleanup_free char *tar = tar_of(e, 2, &len);
	unsigned int sum = 0;

	at = TAR_BLOCK + strlen(text) + tar_padding(strlen(text));
	tar[at + 156] = type;
	memset(tar + at + 148, ' ', 8);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)tar[at + i];
	snprintf(tar + at + 148, 8, "%06o", sum);
	bundle_of_tar(file, tar, len);
	refused(file, why);
}

static void members_of_other_types(void **state)
{
	(void)state;
	refuse_type('1', "member 'a' is a hard link");
	refuse_type('x', "member 'a' is an extended header");
	refuse_type('L', "member 'a' is a long name");
	refuse_type('S', "member 'a' is a sparse file");
	refuse_type('7', "member 'a' is no regular file");
}

static void members_that_do_not_belong(void **state)
{
	const struct entry more = { "c", "ccc", 0, 0 }, again = { "a", "aaa", 0, 0 };
	const struct entry manifest = { "manifest.json", "{}", 0, 0 };
	const struct entry up = { "../../evil", "x", 0, 0 }, root = { "/etc/evil", "x", 0, 0 };
	const struct entry other = { "b", "bbbb", 0, 0 }, wrong = { "b", "bbx", 0, 0 };
	const struct entry suid = { "b", "bbb", 0, 04755 };
	const struct entry late[] = { { "b", "bbb", 0, 0 }, { "c", "ccc", 0, 0 } };
	const struct entry twice[] = { { "b", "bbb", 0, 0 }, { "a", "aaa", 0, 0 } };

	(void)state;
	refuse_members(&more, 1, true, "member 'c' is not in the manifest");
	refuse_members(&again, 1, true, "member 'a' is there twice");
	refuse_members(&manifest, 1, true, "member 'manifest.json' is there twice");
	refuse_members(&up, 1, true, "member '../../evil' is not in the manifest");
	refuse_members(&root, 1, true, "member '/etc/evil' is not in the manifest");
	refuse_members(NULL, 0, false, "member 'b' is missing");
	refuse_members(&other, 1, false, "member 'b' has 4 bytes, the manifest says 3");
	refuse_members(&wrong, 1, false, "member 'b' has the SHA-256");
	refuse_members(&suid, 1, false, "member 'b' has mode 4755, the manifest says 0644");
	refuse_members(late, 2, false, "member 'c' is not in the manifest");
	refuse_members(twice, 2, false, "member 'a' is there twice");
}

/* @members and @files as a manifest has them; the archive holds "a" = "aaa". */
static void refuse_manifest(const char *members, const char *files, const char *why)
{
	cleanup_free char *text = manifest_of("full", members, files);
	cleanup_free char *file = in_dir("hostile.kontest");
	const struct entry e[] = { { "manifest.json", text, 0, 0 }, { "a", "aaa", 0, 0 } };

	bundle_of(file, e, 2);
	refused(file, why);
}

static void refuse_path(const char *path, const char *why)
{
	cleanup_free char *m = member_line(path, "plan", "aaa");

	refuse_manifest(m, "", why);
}

static void paths_that_lead_out(void **state)
{
	cleanup_free char *longer = xmalloc(102);

	(void)state;
	memset(longer, 'a', 101);
	longer[101] = '\0';
	refuse_path("../evil", "member '../evil' leads out of the directory by '..'");
	refuse_path("x/../evil", "leads out of the directory by '..'");
	refuse_path("x/..", "leads out of the directory by '..'");
	refuse_path("/etc/evil", "member '/etc/evil' is an absolute path");
	refuse_path("", "is empty or longer");
	refuse_path(longer, "is empty or longer");
	refuse_path("./a", "an empty or a hidden part");
	refuse_path(".evil", "an empty or a hidden part");
	refuse_path("a//b", "an empty or a hidden part");
	refuse_path("a/", "an empty or a hidden part");
	refuse_path("a/b/c", "more than two parts");
	refuse_path("a\\u001b[2J", "member 'a?[2J' has a character");
	refuse_path("a b", "has a character");
	refuse_path("manifest.json", "member 'manifest.json' is in the manifest twice");
}

#define SHA "9834876dcfb05cb167a5c24953eba58c4ac89b1adf57f28f2f9d09af107ee8f0"	/* aaa */
#define MEMBER(size, mode) \
	"{\"path\":\"a\",\"role\":\"plan\",\"size\":" size ",\"mode\":\"" mode "\",\"sha256\":\"" SHA "\"}"
#define PIECE(name, size) \
	"{\"path\":\"" name "\",\"role\":\"piece\",\"size\":" size ",\"mode\":\"0644\",\"sha256\":\"" SHA "\"}"
#define FILE_OF(name, size, pieces) \
	"{\"path\":\"" name "\",\"role\":\"work\",\"size\":" size ",\"sha256\":\"" SHA "\",\"pieces\":[" pieces "]}"

static void manifests_that_lie(void **state)
{
	(void)state;
	refuse_manifest(MEMBER("3", "0644") "," MEMBER("3", "0644"), "", "member 'a' is in the manifest twice");
	refuse_manifest(MEMBER("2", "0644"), "", "member 'a' has 3 bytes, the manifest says 2");
	refuse_manifest(MEMBER("4", "0644"), "", "member 'a' has 3 bytes, the manifest says 4");
	refuse_manifest(MEMBER("-1", "0644"), "", "member 'a': its size is not a number");
	refuse_manifest(MEMBER("99999999999", "0644"), "", "member 'a': its size is not a number");
	refuse_manifest(MEMBER("3", "4755"), "", "member 'a': its mode 4755");
	refuse_manifest(MEMBER("3", "0666"), "", "member 'a': its mode 0666");
	refuse_manifest(MEMBER("3", "9"), "", "its mode is not four octal digits");
	refuse_manifest("7", "", "no string 'path'");
	refuse_manifest(PIECE("a", "2097152"), "", "no piece is empty or larger");
	refuse_manifest(PIECE("a", "3"), FILE_OF("w", "2", "[0,0]"), "member 'w': the piece at byte 0 lies behind its end");
	refuse_manifest(PIECE("a", "3"), FILE_OF("w", "9", "[-4096,0]"), "is not [offset, number of a member]");
	refuse_manifest(PIECE("a", "3"), FILE_OF("w", "9", "[0,1]"), "is not [offset, number of a member]");
	refuse_manifest(PIECE("a", "3"), FILE_OF("w", "9", "[9223372036854775807,0]"), "lies behind its end");
	refuse_manifest(PIECE("a", "3"), FILE_OF("w", "9", "[0,0],[2,0]"), "member 'w': its pieces overlap at byte 2");
	refuse_manifest(PIECE("a", "3"), FILE_OF("../w", "9", ""), "leads out of the directory");
	refuse_manifest(PIECE("a", "3"), FILE_OF("a", "9", ""), "member 'a' is in the manifest twice");
	refuse_manifest(PIECE("a/b", "3"), FILE_OF("a", "9", ""), "is in a directory that is a file, too");
	refuse_manifest(MEMBER("3", "0644"), FILE_OF("w", "9", "[0,0]"), "'a', which should be a piece of it, is none");
	refuse_manifest(PIECE("a", "3"), FILE_OF("w", "9", "[0,0]"), "member 'w', put together from its pieces, has the SHA-256");
	refuse_manifest(PIECE("a", "3"), FILE_OF("w", "1073741824", "[1073741821,0]"),
			"member 'w', put together from its pieces, has the SHA-256");
	refuse_manifest(PIECE("a", "3"), FILE_OF("w", "274877906945", "[0,0]"), "its size is not a number");
	refuse_manifest(PIECE("a", "3"), FILE_OF("w", "200000000000", "") "," FILE_OF("v", "200000000000", ""),
			"all files together would be larger");
}

static void no_manifest(void **state)
{
	cleanup_free char *file = in_dir("hostile.kontest");
	cleanup_free char *big = xmalloc(BUNDLE_MANIFEST_MAX + 2);
	cleanup_free char *deep = xmalloc(100001);
	struct entry e = { "a", "aaa", 0, 0 };

	(void)state;
	bundle_of(file, &e, 1);
	refused(file, "member 'a' comes first, where 'manifest.json' must be");
	memset(big, ' ', BUNDLE_MANIFEST_MAX + 1);
	big[BUNDLE_MANIFEST_MAX + 1] = '\0';
	e = (struct entry){ "manifest.json", big, 0, 0 };
	bundle_of(file, &e, 1);
	refused(file, "member 'manifest.json' has 4194305 bytes");
	memset(deep, '[', 100000);
	deep[100000] = '\0';
	e.data = deep;
	bundle_of(file, &e, 1);
	refused(file, "member 'manifest.json' is no JSON");
	e.data = "{\"format\":\"kontest-bundle\",\"format\":\"x\"}";
	bundle_of(file, &e, 1);
	refused(file, "member 'manifest.json' is no JSON");
	e.data = "{\"format\":\"kontest-bundle\",\"version\":2,\"kind\":\"full\",\"run\":\"" RUN_A "\",\"members\":[],\"files\":[]}";
	bundle_of(file, &e, 1);
	refused(file, "its version is 2, and this kontest knows 1");
}

/* A good bundle's bytes, to be spoilt. */
static char *good_bytes(size_t *len)
{
	cleanup_free char *a = member_line("a", "plan", "aaa");
	cleanup_free char *text = manifest_of("results-only", a, "");
	cleanup_free char *file = in_dir("good.kontest");
	const struct entry e[] = { { "manifest.json", text, 0, 0 }, { "a", "aaa", 0, 0 } };
	struct buf b = { 0 };
	struct error err = { 0 };

	bundle_of(file, e, 2);
	must(file_read(file, 1 << 20, &b, &err), &err);
	*len = b.len;
	unlink(file);
	return b.data;
}

static void cut_and_garbage(void **state)
{
	cleanup_free char *file = in_dir("hostile.kontest");
	CLEANUP(buf_free) struct buf b = { 0 };
	size_t len;
	cleanup_free char *good = good_bytes(&len);

	(void)state;
	for (size_t n = 0; n < len; n++) {
		put("hostile.kontest", good, n);
		refused(file, "");
	}
	put("hostile.kontest", good, len - 1);
	refused(file, "it is cut short, something follows its end");
	buf_add(&b, good, len);
	buf_adds(&b, "garbage");
	put("hostile.kontest", b.data, b.len);
	refused(file, "something follows its end");
	/* In front of the table, where no frame of it reaches. */
	b.len = 0;
	buf_add(&b, good, len - 8 - 8 - 9);
	buf_adds(&b, "garbage");
	buf_add(&b, good + len - 8 - 8 - 9, 8 + 8 + 9);
	put("hostile.kontest", b.data, b.len);
	refused(file, "belong to nothing");
	put("hostile.kontest", "hello\n", 6);
	assert_false(bundle_is(file));
	refused(file, "or kontest did not make it");
}

/* Every single byte counts: whatever is changed, it is refused, or it was the
 * part of a frame that carries nothing. */
static void any_byte_changed(void **state)
{
	cleanup_free char *file = in_dir("hostile.kontest"), *to = in_dir("target");
	size_t len, passed = 0;
	cleanup_free char *good = good_bytes(&len);

	(void)state;
	for (size_t i = 0; i < len; i++) {
		struct bundle b = { 0 };
		struct error err = { 0 };

		good[i] = (char)(good[i] ^ 0x5a);
		put("hostile.kontest", good, len);
		if (!bundle_open(&b, file, &err) && !bundle_unpack(&b, to, &err)) {
			passed++;
			must(remove_tree(to, &err), &err);
		}
		bundle_close(&b);
		good[i] = (char)(good[i] ^ 0x5a);
	}
	assert_int_equal(passed, 0);
}

static void behind_the_end(void **state)
{
	cleanup_free char *a = member_line("a", "plan", "aaa");
	cleanup_free char *text = manifest_of("results-only", a, "");
	cleanup_free char *file = in_dir("hostile.kontest");
	const struct entry e[] = { { "manifest.json", text, 0, 0 }, { "a", "aaa", 0, 0 } };
	size_t len = 0;
	cleanup_free char *tar = tar_of(e, 2, &len);

	(void)state;
	bundle_of_tar(file, tar, len - 512);
	refused(file, "ends early");
	memcpy(tar + len, "hidden", 6);
	bundle_of_tar(file, tar, len + 6);
	refused(file, "6 bytes follow the end");
	tar[len - 1024 - 100] = 'x';
	bundle_of_tar(file, tar, len);
	refused(file, "member 'a': something is hidden behind its end");
}

/* struct table - frames and a table that says what it likes of them */
static void lying_table(const char *file, const char *plain, size_t len,
			uint32_t said_packed, uint32_t said_plain)
{
	CLEANUP(buf_free) struct buf b = { 0 };
	struct buf frame = { 0 };
	struct error err = { 0 };
	uint32_t word[4] = { 0x184D2A5E, 17, 0, 0 }, packed;

	bundle_of_tar(file, plain, len);
	must(file_read(file, 16 << 20, &frame, &err), &err);
	memcpy(&packed, frame.data + frame.len - 17, 4);
	buf_add(&b, frame.data, packed);
	word[2] = said_packed ? said_packed : packed;
	word[3] = said_plain;
	buf_add(&b, word, sizeof(word));
	word[0] = 1;
	word[1] = 0x8F92EAB1;
	buf_add(&b, word, 4);
	buf_add(&b, "", 1);
	buf_add(&b, word + 1, 4);
	buf_free(&frame);
	must(file_write(file, b.data, b.len, &err), &err);
}

static void frames_that_lie(void **state)
{
	cleanup_free char *file = in_dir("hostile.kontest");
	cleanup_free char *zeros = xcalloc(1, SEEKABLE_FRAME_BYTES);

	(void)state;
	/* It unfolds to 4 MiB and says 1 KiB: a bomb in small. */
	lying_table(file, zeros, SEEKABLE_FRAME_BYTES, 0, 1024);
	refused(file, "does not unfold to 1024 bytes");
	lying_table(file, zeros, 1000, 0, 2000);
	refused(file, "unfolds to 1000 bytes, its table says 2000");
	lying_table(file, zeros, 1000, 0, SEEKABLE_FRAME_BYTES + 1);
	refused(file, "no frame is empty or holds more than");
	lying_table(file, zeros, 1000, 0, 0);
	refused(file, "no frame is empty or holds more than");
	lying_table(file, zeros, 1000, 1000000, 1000);
	refused(file, "its table has more frames than the file");
	lying_table(file, zeros, 1000, 4, 1000);
	refused(file, "belong to nothing");
}

/* 256 GiB of holes are allowed; what has content must fit. */
static void no_room(void **state)
{
	CLEANUP(buf_free) struct buf files = { 0 };
	cleanup_free char *zeros = xmalloc(MIB + 1), *m = NULL, *text = NULL;
	cleanup_free char *file = in_dir("hostile.kontest");
	struct entry e[2];
	struct statvfs v;

	(void)state;
	assert_int_equal(statvfs(dir, &v), 0);
	if ((uint64_t)v.f_bavail * v.f_frsize > 180000ull << 20)
		skip();		/* there is room, and the test is not worth filling it */
	memset(zeros, 'z', MIB);
	zeros[MIB] = '\0';
	m = member_line("p", "piece", zeros);
	buf_adds(&files, "{\"path\":\"w\",\"role\":\"work\",\"size\":270000000000,\"sha256\":\"" SHA "\",\"pieces\":[");
	for (unsigned long long i = 0; i < 180000; i++)
		buf_printf(&files, "%s[%llu,0]", i ? "," : "", i << 20);
	buf_adds(&files, "]}");
	text = manifest_of("full", m, files.data);
	e[0] = (struct entry){ "manifest.json", text, 0, 0 };
	e[1] = (struct entry){ "p", zeros, 0, 0 };
	bundle_of(file, e, 2);
	refused(file, "MiB free in");
}

/* Checking alone: nothing is written, so nothing but a bound holds it up. */
static void refused_check(const char *file, const char *why)
{
	CLEANUP(bundle_close) struct bundle b = { 0 };
	struct error err = { 0 };

	must(bundle_open(&b, file, &err), &err);
	assert_int_equal(bundle_check(&b, &err), -1);
	if (!strstr(err.text, why))
		fail_msg("'%s' is not in: %s", why, err.text);
	assert_null(strchr(err.text, '\n'));
	assert_int_equal(unlink(file), 0);
}

/* What a small manifest makes of a small archive, in hours */
static void too_much_work(void **state)
{
	enum { FRAME = SEEKABLE_FRAME_BYTES };
	CLEANUP(buf_free) struct buf files = { 0 };
	cleanup_free char *file = in_dir("hostile.kontest"), *filler = xmalloc(FRAME + 1);
	cleanup_free char *p = member_line("p", "piece", "a"), *q = member_line("q", "piece", "b");
	cleanup_free char *f = NULL, *members = NULL, *text = NULL;
	struct entry e[4];

	(void)state;
	memset(filler, 'f', FRAME);
	filler[FRAME] = '\0';
	f = member_line("f", "plan", filler);
	members = xasprintf("%s,%s,%s", p, f, q);

	/* 65 GiB of nothing */
	text = manifest_of("full", members, FILE_OF("w", "69793218560", ""));
	e[0] = (struct entry){ "manifest.json", text, 0, 0 };
	e[1] = (struct entry){ "p", "a", 0, 0 };
	e[2] = (struct entry){ "f", filler, 0, 0 };
	e[3] = (struct entry){ "q", "b", 0, 0 };
	bundle_of(file, e, 4);
	refused_check(file, "its files have 65 GiB put together, out of 0 GiB of unfolded frames: more than the 64 GiB");
	free(text);

	/* 40,000 bytes, each from another frame than the one before it */
	buf_adds(&files, "{\"path\":\"w\",\"role\":\"work\",\"size\":40000,\"sha256\":\"" SHA "\",\"pieces\":[");
	for (int i = 0; i < 40000; i++)
		buf_printf(&files, "%s[%d,%d]", i ? "," : "", i, i % 2 ? 2 : 0);
	buf_adds(&files, "]}");
	text = manifest_of("full", members, files.data);
	e[0] = (struct entry){ "manifest.json", text, 0, 0 };
	bundle_of(file, e, 4);
	refused_check(file, "its files have 0 GiB put together, out of 85 GiB of unfolded frames");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_there_and_back),
		cmocka_unit_test(is_tar_and_zstd),
		cmocka_unit_test(seeks),
		cmocka_unit_test(seekable_any_place),
		cmocka_unit_test(changed_image_is_noticed),
		cmocka_unit_test(members_that_are_no_files),
		cmocka_unit_test(members_of_other_types),
		cmocka_unit_test(members_that_do_not_belong),
		cmocka_unit_test(paths_that_lead_out),
		cmocka_unit_test(manifests_that_lie),
		cmocka_unit_test(no_manifest),
		cmocka_unit_test(cut_and_garbage),
		cmocka_unit_test(any_byte_changed),
		cmocka_unit_test(behind_the_end),
		cmocka_unit_test(frames_that_lie),
		cmocka_unit_test(no_room),
		cmocka_unit_test(too_much_work),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
