/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_verify.c - manifest, list of files, FAT reader, and what an archive of a
 * root file system differs in
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>

#include "images/esp.h"
#include "images/ext4.h"
#include "images/fat.h"
#include "images/gpt.h"
#include "images/verify.h"
#include "images/verify_deep.h"
#include "images/verify_parts.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "tests/scratch_dir.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define MIB (1ull << 20)

static void ok(int ret, const struct error *err)
{
	if (ret < 0)
		fail_msg("%s", err->text);
}

/* --- the manifest -------------------------------------------------------------------- */

static void make_manifest(struct buf *out, bool package)
{
	struct base b = { 0 };
	struct kernel k = { .release = (char *)"6.1.0-test" };
	struct initramfs i = { 0 };
	char *digests[] = { b.digest, b.lock_digest, b.recipe_digest, b.files_digest,
			    k.digest, i.digest, i.guest_digest, i.plan_digest };

	for (size_t n = 0; n < sizeof(digests) / sizeof(digests[0]); n++)
		memcpy(digests[n], HEX64, SHA256_HEX);
	k.digest[0] = 'a';
	if (package) {
		k.package = (char *)"linux-image-6.1.0-test";
		k.package_version = (char *)"1:6.1.0-1~bpo+2";
	}
	manifest_write(&b, &k, &i, HEX64, HEX64, "console=ttyS0", out);
}

static void manifest_comes_back(void **state)
{
	CLEANUP(buf_free) struct buf text = { 0 }, again = { 0 };
	CLEANUP(manifest_free) struct manifest m = { 0 }, bare = { 0 };
	struct error err = { 0 };

	(void)state;
	make_manifest(&text, true);
	make_manifest(&again, true);
	assert_string_equal(text.data, again.data);
	ok(manifest_parse(text.data, text.len, "m", &m, &err), &err);
	assert_string_equal(m.package, "linux-image-6.1.0-test");
	assert_string_equal(m.version, "1:6.1.0-1~bpo+2");
	assert_string_equal(m.release, "6.1.0-test");
	assert_string_equal(m.cmdline, "console=ttyS0");
	assert_int_equal(m.kernel[0], 'a');
	assert_string_equal(m.files, HEX64);
	buf_free(&again);
	make_manifest(&again, false);
	ok(manifest_parse(again.data, again.len, "m", &bare, &err), &err);
	assert_null(bare.package);
}

/* What goes to apt and to the terminal must be names. */
static void manifest_is_not_believed(void **state)
{
	static const struct {
		const char *what, *with, *say;
	} bad[] = {
		{ "\"6.1.0-test\"", "\"6.1 \\u001b[31m\"", "kernel.release is missing" },
		{ "\"linux-image-6.1.0-test\"", "\"-o=x linux\"", "kernel.package is missing" },
		{ "\"linux-image-6.1.0-test\"", "null", "a package without a version" },
		{ "\"a123456789", "\"x123456789", "kernel.digest is no SHA-256" },
		{ "\"kontest-image 1\"", "\"kontest-image 2\"", "newer kontest" },
		{ "\"cmdline\"", "\"kontest\"", "duplicate" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CLEANUP(buf_free) struct buf text = { 0 }, changed = { 0 };
		struct manifest m;
		struct error err = { 0 };
		char *at;

		make_manifest(&text, true);
		at = strstr(text.data, bad[i].what);
		assert_non_null(at);
		buf_add(&changed, text.data, (size_t)(at - text.data));
		buf_adds(&changed, bad[i].with);
		buf_adds(&changed, at + strlen(bad[i].what));
		assert_int_equal(manifest_parse(changed.data, changed.len, "m", &m, &err), -1);
		if (!strstr(err.text, bad[i].say))
			fail_msg("no '%s' in: %s", bad[i].say, err.text);
	}
}

/* --- the list of files --------------------------------------------------------------- */

static void make_tree(struct tree *t)
{
	struct error err = { 0 };

	ok(tree_add_file(t, "/etc/a b#\\\n", 0640, xstrdup("text"), 4, &err), &err);
	ok(tree_add_symlink(t, "/etc/link", "a b#", &err), &err);
	ok(tree_add_file(t, "/usr/one", 04755, xstrdup("1"), 1, &err), &err);
	ok(tree_add_hardlink(t, "/usr/two", "/usr/one", &err), &err);
	ok(tree_add_file(t, "/usr/empty", 0600, xmalloc(1), 0, &err), &err);
}

static const struct listed *find(const struct listing *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].path, path))
			return &l->v[i];
	fail_msg("'%s' is not in the list", path);
	return NULL;
}

static void make_list(struct listing *l)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	CLEANUP(buf_free) struct buf text = { 0 };
	struct error err = { 0 };

	make_tree(t);
	ok(manifest_files(t, &text, &err), &err);
	ok(manifest_parse_files(text.data, "list", l, &err), &err);
}

static void list_comes_back(void **state)
{
	CLEANUP(listing_clear) struct listing l = { 0 };
	char hex[SHA256_HEX];

	(void)state;
	make_list(&l);
	/* / /etc /usr, five of ours, /lost+found */
	assert_int_equal(l.n, 9);
	sha256_of("text", 4, hex);
	assert_string_equal(find(&l, "/etc/a b#\\\n")->digest, hex);
	assert_int_equal(find(&l, "/etc/a b#\\\n")->mode, S_IFREG | 0640);
	assert_string_equal(find(&l, "/etc/link")->link, "a b#");
	assert_int_equal(find(&l, "/usr/two")->mode, S_IFREG | 04755);
	assert_string_equal(find(&l, "/usr/two")->digest, find(&l, "/usr/one")->digest);
	assert_int_equal(find(&l, "/lost+found")->mode, S_IFDIR | 0700);
	assert_int_equal(find(&l, "/")->mode, S_IFDIR | 0755);
}

static void damaged_lists(void **state)
{
	static const char *const bad[] = {
		"", "./a type=file\n", "#mtree\n./a type=file mode=0644 uid=0 gid=0 size=1\n",
		"#mtree\n./a type=dir mode=99 uid=0 gid=0\n",
		"#mtree\n./a type=dir mode=0755 uid=-1 gid=0\n",
		"#mtree\n/a type=dir mode=0755\n", "#mtree\n./a\\9 type=dir mode=0755\n",
		"#mtree\n./a type=odd mode=0755\n", "#mtree\n./a type=dir nonsense\n",
		"#mtree\n./a type=dir mode=0755\n./a type=dir mode=0755\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct listing l = { 0 };
		struct error err = { 0 };

		assert_int_equal(manifest_parse_files(bad[i], "list", &l, &err), -1);
		assert_non_null(strstr(err.text, "list"));
		assert_int_equal(l.n, 0);
	}
}

/* --- an archive against it -------------------------------------------------------------- */

/* struct member - of an archive; @mode 0: a hard link to @data */
struct member {
	const char *path;
	mode_t mode;
	int uid;
	const char *data;
};

static char *write_tar(const struct member *m)
{
	char *path = xasprintf("%s/root.tar", dir);
	struct archive *a = archive_write_new();

	archive_write_set_format_gnutar(a);
	assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
	for (; m->path; m++) {
		struct archive_entry *e = archive_entry_new();
		size_t len = S_ISREG(m->mode) ? strlen(m->data) : 0;

		archive_entry_set_pathname(e, m->path);
		archive_entry_set_mode(e, m->mode ? m->mode : S_IFREG | 04755);
		archive_entry_set_uid(e, m->uid);
		archive_entry_set_size(e, (la_int64_t)len);
		if (S_ISLNK(m->mode))
			archive_entry_set_symlink(e, m->data);
		if (!m->mode)
			archive_entry_set_hardlink(e, m->data);
		assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
		if (len)
			archive_write_data(a, m->data, len);
		archive_entry_free(e);
	}
	archive_write_free(a);
	return path;
}

static double later(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 30;
}

static void compare(const struct member *m, struct deep_result *r)
{
	CLEANUP(listing_clear) struct listing l = { 0 };
	cleanup_free char *path = write_tar(m);
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct error err = { 0 };

	make_list(&l);
	ok(deep_compare_tar(fd, &l, later(), r, &err), &err);
}

static bool said(const struct deep_result *r, const char *text)
{
	for (size_t i = 0; i < r->lines.n; i++)
		if (!strcmp(r->lines.v[i], text))
			return true;
	return false;
}

static void archive_that_agrees(void **state)
{
	static const struct member all[] = {
		{ "./", S_IFDIR | 0755, 0, "" }, { "./etc/", S_IFDIR | 0755, 0, "" },
		{ "./etc/a b#\\\n", S_IFREG | 0640, 0, "text" },
		{ "./etc/link", S_IFLNK | 0777, 0, "a b#" },
		{ "./lost+found/", S_IFDIR | 0700, 0, "" },
		{ "./usr/", S_IFDIR | 0755, 0, "" },
		{ "./usr/empty", S_IFREG | 0600, 0, "" },
		{ "./usr/one", S_IFREG | 04755, 0, "1" },
		{ "./usr/two", 0, 0, "./usr/one" }, { NULL, 0, 0, NULL },
	};
	CLEANUP(deep_result_free) struct deep_result r = { 0 };

	(void)state;
	compare(all, &r);
	for (size_t i = 0; i < r.lines.n; i++)
		print_error("%s\n", r.lines.v[i]);
	assert_int_equal(r.differences, 0);
	assert_int_equal(r.files, 9);
}

static void archive_that_differs(void **state)
{
	static const struct member all[] = {
		{ "./", S_IFDIR | 0755, 0, "" }, { "./etc/", S_IFDIR | 0700, 5, "" },
		{ "./etc/a b#\\\n", S_IFREG | 0640, 0, "TEXT" },
		{ "./etc/link", S_IFLNK | 0777, 0, "elsewhere" },
		{ "./usr/", S_IFDIR | 0755, 0, "" },
		{ "./usr/empty", S_IFDIR | 0600, 0, "" },
		{ "./usr/one", S_IFREG | 04755, 0, "1" },
		{ "./usr/two", 0, 0, "./usr/empty" },
		{ "./usr/more", S_IFREG | 0644, 0, "x" }, { NULL, 0, 0, NULL },
	};
	CLEANUP(deep_result_free) struct deep_result r = { 0 };

	(void)state;
	compare(all, &r);
	assert_true(said(&r, "/etc: mode is 0700, the list says 0755"));
	assert_true(said(&r, "/etc: owner is 5, the list says 0"));
	assert_true(said(&r, "/etc/link: it points to 'elsewhere', the list says 'a b#'"));
	assert_true(said(&r, "/usr/empty: its type is 40000, the list says 100000"));
	assert_true(said(&r, "/usr/more: it is not in the list"));
	assert_true(said(&r, "/lost+found: it is not there"));
	assert_true(said(&r, "/usr/two: it is another name of /usr/empty, whose content the list says is another"));
	assert_int_equal(r.differences, 8);
}

static void archive_that_hangs(void **state)
{
	CLEANUP(listing_clear) struct listing l = { 0 };
	CLEANUP(deep_result_free) struct deep_result r = { 0 };
	struct error err = { 0 };
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(deep_compare_tar(p[0], &l, later() - 29.9, &r, &err), -1);
	assert_non_null(strstr(err.text, "took too long"));
	close(p[0]);
	close(p[1]);
}

/* --- FAT ------------------------------------------------------------------------------- */

static void fat_reads_what_mtools_wrote(void **state)
{
	CLEANUP(buf_free) struct buf text = { 0 }, big = { 0 }, got = { 0 };
	cleanup_free char *path = xasprintf("%s/disk", dir);
	struct esp_layout l;
	struct error err = { 0 };
	struct sha256 s;
	char hex[SHA256_HEX];
	int tools;

	(void)state;
	sha256_init(&s);
	tools = esp_inputs(&s, &err);
	sha256_final(&s, hex);
	if (tools < 0)
		skip();
	buf_adds(&text, "hello");
	for (int i = 0; i < 30000; i++)
		buf_printf(&big, "%d\n", i);
	{
		const struct esp_file files[] = {
			{ "kontest/manifest.json", NULL, &text, text.len },
			{ "initrd", NULL, &big, big.len },
		};
		cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		CLEANUP(fat_close) struct fat f = { 0 };

		ok(esp_plan(files, 2, &l, &err), &err);
		assert_int_equal(ftruncate(fd, (off_t)(MIB + l.size)), 0);
		ok(esp_write(path, MIB, &l, 1, 1767225600, files, 2, &err), &err);
		ok(fat_open(&f, fd, path, MIB, l.size, &err), &err);
		ok(fat_read(&f, "kontest/manifest.json", 100, &got, &err), &err);
		assert_string_equal(got.data, "hello");
		buf_free(&got);
		ok(fat_read(&f, "INITRD", 1 << 20, &got, &err), &err);
		assert_int_equal(got.len, big.len);
		assert_memory_equal(got.data, big.data, big.len);
		assert_int_equal(fat_read(&f, "kontest/manifest.json", 4, &got, &err), -1);
		assert_int_equal(fat_read(&f, "kontest/none", 4, &got, &err), -1);
		assert_int_equal(err.errnum, ENOENT);
	}
}

/* --- ext4 ------------------------------------------------------------------------------- */

/* The map alone, on a small file system: fields and places by name */
static void explain_at(const struct ext4_map *m, const char *path, uint64_t off,
		       uint8_t to, char **text)
{
	CLEANUP(buf_free) struct buf ref = { 0 }, image = { 0 };
	struct finding f = { 0 };
	struct error err = { 0 };
	uint64_t blk = off / VERIFY_BLOCK * VERIFY_BLOCK;

	ok(file_read(path, 64 * MIB, &ref, &err), &err);
	buf_add(&image, ref.data, ref.len);
	assert_int_not_equal((uint8_t)image.data[off], to);
	image.data[off] = (char)to;
	ext4_explain(m, &(struct spot){ blk, (uint8_t *)ref.data + blk,
					(uint8_t *)image.data + blk, VERIFY_BLOCK }, &f);
	assert_non_null(f.text);
	*text = f.text;
}

static void expect_at(const struct ext4_map *m, const char *path, uint64_t off,
		      uint8_t to, const char *want)
{
	cleanup_free char *text = NULL;

	explain_at(m, path, off, to, &text);
	if (!str_starts(text, want))
		fail_msg("'%s', not '%s'", text, want);
}

static uint64_t inode_off(ext2_filsys fs, ext2_ino_t ino)
{
	uint32_t index = (ino - 1) % EXT2_INODES_PER_GROUP(fs->super);
	dgrp_t g = (ino - 1) / EXT2_INODES_PER_GROUP(fs->super);

	return ext2fs_inode_table_loc(fs, g) * VERIFY_BLOCK +
	       (uint64_t)index * EXT2_INODE_SIZE(fs->super);
}

static void ext4_is_explained(void **state)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	cleanup_free char *path = xasprintf("%s/fs", dir);
	struct ext4_opts opts = { .label = "unit", .time = 1767225600 };
	struct error err = { 0 };
	struct ext4_map *m;
	ext2_filsys fs;
	ext2_ino_t ino, etc;
	blk64_t blk;

	(void)state;
	make_tree(t);
	opts.size = tree_ext4_size(t, &opts, 0);
	ok(tree_write_ext4(t, path, &opts, &err), &err);
	m = ext4_map_new(path, 0, opts.size, &err);
	if (!m)
		fail_msg("%s", err.text);
	assert_int_equal(ext2fs_open(path, EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &fs), 0);
	assert_int_equal(ext2fs_namei(fs, 2, 2, "/usr/one", &ino), 0);
	assert_int_equal(ext2fs_namei(fs, 2, 2, "/etc", &etc), 0);
	/* 04755 is 0x89ed with the type; low byte 0xed -> 0xec: 04754 */
	expect_at(m, path, inode_off(fs, ino), 0xec,
		  "/usr/one: mode is 0104754, built anew it is 0104755");
	expect_at(m, path, inode_off(fs, ino) + 2, 9, "/usr/one: owner (uid) is 9, built anew it is 0");
	expect_at(m, path, inode_off(fs, ino) + 4, 2, "/usr/one: size is 2, built anew it is 1");
	expect_at(m, path, inode_off(fs, ino) + 0x10, 1, "/usr/one: time of modification is ");
	expect_at(m, path, inode_off(fs, ino) + 0x20, 1, "/usr/one: flags is 0x");
	expect_at(m, path, inode_off(fs, ino) + 0x28, 1, "/usr/one: extents ");
	assert_int_equal(ext2fs_bmap2(fs, ino, NULL, NULL, 0, 0, NULL, &blk), 0);
	expect_at(m, path, blk * VERIFY_BLOCK, '2',
		  "/usr/one: byte 0 is 0x32, built anew it is 0x31");
	assert_int_equal(ext2fs_bmap2(fs, etc, NULL, NULL, 0, 0, NULL, &blk), 0);
	expect_at(m, path, blk * VERIFY_BLOCK + 24, 99, "directory /etc: entry ");
	expect_at(m, path, 1024 + 4, 1, "superblock or group descriptors: byte 1028 is ");
	ext2fs_free(fs);
	ext4_map_free(m);
}

/* --- a whole disk ------------------------------------------------------------------------ */

#define BIOS_OFF MIB
#define ROOT_OFF (2 * MIB)

/* struct disk - what is where */
struct disk {
	char *path;
	uint64_t size, esp_off, file_off;
};

static void make_disk(struct disk *d)
{
	CLEANUP(tree_freep) struct tree *t = tree_new();
	CLEANUP(buf_free) struct buf root = { 0 }, text = { 0 };
	cleanup_free char *fs = xasprintf("%s/root", dir);
	struct ext4_opts opts = { .label = "unit", .time = 1767225600 };
	const struct esp_file file = { "kontest/hello.txt", NULL, &text, 5 };
	struct esp_layout l;
	struct error err = { 0 };
	cleanup_close int fd = -1;

	buf_adds(&text, "hello");
	make_tree(t);
	opts.size = tree_ext4_size(t, &opts, 0);
	ok(tree_write_ext4(t, fs, &opts, &err), &err);
	ok(file_read(fs, 64 * MIB, &root, &err), &err);
	ok(esp_plan(&file, 1, &l, &err), &err);
	d->path = xasprintf("%s/disk.img", dir);
	d->esp_off = ROOT_OFF + opts.size;
	d->size = d->esp_off + l.size + MIB;
	fd = open(d->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, (off_t)d->size), 0);
	ok(gpt_write(fd, d->path, (const uint8_t *)"0123456789abcdef", (struct gpt_part[]){
		{ BIOS_OFF, MIB, GPT_TYPE_BIOS_BOOT, "kontest-bios", "1" },
		{ d->esp_off, l.size, GPT_TYPE_ESP, "kontest-esp", "2" },
		{ ROOT_OFF, opts.size, GPT_TYPE_ROOT_X86_64, "kontest-root", "3" },
	}, 3, &err), &err);
	ok(full_pwrite(fd, root.data, root.len, ROOT_OFF, d->path, &err), &err);
	ok(esp_write(d->path, d->esp_off, &l, 1, 1767225600, &file, 1, &err), &err);
	buf_free(&root);
	ok(file_read(d->path, 256 * MIB, &root, &err), &err);
	for (size_t i = d->esp_off; !d->file_off && i + 5 <= root.len; i++)
		if (!memcmp(root.data + i, "hello", 5))
			d->file_off = i;
	assert_true(d->file_off > 0);
}

/* Change one byte of a copy, and what is said of it begins so */
static void expect(const struct disk *d, uint64_t off, const char *want)
{
	CLEANUP(buf_free) struct buf b = { 0 };
	CLEANUP(verify_result_free) struct verify_result r = { 0 };
	cleanup_free char *copy = xasprintf("%s/copy.img", dir);
	struct error err = { 0 };

	ok(file_read(d->path, 256 * MIB, &b, &err), &err);
	b.data[off] ^= 1;
	ok(file_write(copy, b.data, b.len, &err), &err);
	ok(verify_compare(d->path, copy, &r, &err), &err);
	assert_false(r.identical);
	if (!str_starts(r.difference, want))
		fail_msg("'%s', not '%s'", r.difference, want);
	assert_true(str_ends(r.where, " 1"));
}

static void disks_are_compared(void **state)
{
	struct disk d = { 0 };
	CLEANUP(verify_result_free) struct verify_result same = { 0 }, longer = { 0 };
	struct error err = { 0 };

	(void)state;
	if (access("/usr/sbin/mkfs.fat", X_OK) && access("/sbin/mkfs.fat", X_OK))
		skip();
	make_disk(&d);
	ok(verify_compare(d.path, d.path, &same, &err), &err);
	assert_true(same.identical);
	assert_null(same.difference);
	expect(&d, 7, "partition table: MBR: GRUB's boot code: byte 7 is 0x01, built anew it is 0x00");
	expect(&d, 446, "partition table: MBR: protective partition: byte 0 ");
	expect(&d, 512 + 57, "partition table: GPT header: disk id: byte 1 ");
	expect(&d, 512 + 16, "partition table: GPT header: checksum of the header is 0x");
	expect(&d, 1024 + 128 + 40, "partition table: GPT entry 2 (kontest-esp): last sector is ");
	expect(&d, 1024 + 56, "partition table: GPT entry 1 (kontest-bios): name: byte 0 ");
	expect(&d, 100000, "partition table: unused space beside the partitions: byte 100000 ");
	expect(&d, d.size - 512 + 60, "partition table: backup GPT at the end of the disk: byte ");
	expect(&d, BIOS_OFF + 424, "BIOS boot partition: GRUB's core: byte 424 is 0x01");
	expect(&d, d.file_off + 1, "ESP: kontest/hello.txt: byte 1 is 0x64, built anew it is 0x65");
	expect(&d, d.file_off + 9, "ESP: kontest/hello.txt: byte 9 ");
	expect(&d, d.esp_off + 3, "ESP: boot sector: byte 3 ");
	expect(&d, d.esp_off + 512 + 9, "ESP: file allocation table: byte 9 ");
	assert_int_equal(truncate(d.path, (off_t)d.size), 0);
	{
		cleanup_free char *copy = xasprintf("%s/copy.img", dir);

		assert_int_equal(truncate(copy, (off_t)(d.size + 4096)), 0);
		ok(verify_compare(d.path, copy, &longer, &err), &err);
		assert_true(strstr(longer.difference, " bytes long, built anew it is ") != NULL);
		assert_true(strstr(longer.difference, "; ESP: file allocation table") != NULL);
	}
	free(d.path);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(manifest_comes_back), T(manifest_is_not_believed),
		T(list_comes_back), T(damaged_lists), T(archive_that_agrees),
		T(archive_that_differs), T(archive_that_hangs),
		T(fat_reads_what_mtools_wrote), T(ext4_is_explained), T(disks_are_compared),
	};

	return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
