/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_make.h - small things that look like a kernel's: bzImage, .ko, .deb
 *
 * Include it behind <cmocka.h>.
 */
#ifndef KONTEST_TESTS_KERNEL_MAKE_H
#define KONTEST_TESTS_KERNEL_MAKE_H

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/proc.h"
#include "results/base/text.h"

#define KM_RELEASE "6.1.0-test"

static inline void km_ok(int ret, const struct error *err)
{
	if (ret < 0)
		print_error("%s\n", err->text);
	assert_int_equal(ret, 0);
}

/* km_dir() - a new directory; km_remove() takes it away again */
static inline char *km_dir(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = xasprintf("%s/kontest-unit.XXXXXX", tmp ? tmp : "/tmp");

	assert_non_null(mkdtemp(dir));
	return dir;
}

static inline void km_remove(char *dir)
{
	struct error err = { 0 };

	km_ok(remove_tree(dir, &err), &err);
	free(dir);
}

/* km_write() - DIR/NAME with a text, parents made */
static inline void km_write(const char *dir, const char *name, const void *data,
			    size_t len)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);
	cleanup_free char *parent = xstrdup(path);
	struct error err = { 0 };

	*strrchr(parent, '/') = '\0';
	km_ok(make_dirs(parent, &err), &err);
	km_ok(file_write(path, data, len, &err), &err);
}

/* Literals only, one block: what an LZ4 compressor makes of noise. */
static inline void km_lz4_legacy(const struct buf *in, struct buf *out)
{
	size_t rest = in->len - 15, len = 1 + rest / 255 + 1 + in->len;
	unsigned char head[8] = { 0x02, 0x21, 0x4c, 0x18, (unsigned char)len,
				  (unsigned char)(len >> 8),
				  (unsigned char)(len >> 16) };

	assert_true(in->len > 15);
	buf_add(out, head, sizeof(head));
	buf_add(out, "\xf0", 1);
	for (; rest >= 255; rest -= 255)
		buf_add(out, "\xff", 1);
	buf_add(out, &(unsigned char){ (unsigned char)rest }, 1);
	buf_add(out, in->data, in->len);
}

/* km_pack() - compress with "gzip", "bzip2", "xz", "lzma", "zstd" or "lz4" (Linux's
 * legacy frame) */
static inline void km_pack(const char *method, const struct buf *in, struct buf *out)
{
	size_t room = in->len + 65536, used = 0;
	struct archive *a;
	struct archive_entry *e;
	void *to;

	if (strcmp(method, "lz4") == 0) {
		km_lz4_legacy(in, out);
		return;
	}
	a = archive_write_new();
	e = archive_entry_new();
	to = xmalloc(room);
	assert_int_equal(archive_write_add_filter_by_name(a, method), ARCHIVE_OK);
	assert_int_equal(archive_write_set_format_raw(a), ARCHIVE_OK);
	/* Else the last block is filled up with zeros. */
	archive_write_set_bytes_in_last_block(a, 1);
	assert_int_equal(archive_write_open_memory(a, to, room, &used), ARCHIVE_OK);
	archive_entry_set_pathname(e, "data");
	archive_entry_set_filetype(e, AE_IFREG);
	assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
	assert_int_equal(archive_write_data(a, in->data, in->len), (la_ssize_t)in->len);
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_entry_free(e);
	archive_write_free(a);
	buf_add(out, to, used);
	free(to);
}

static inline void km_put32(char *p, size_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (char)(v >> 8 * i);
}

/* km_bzimage() - a setup header (one sector of setup code behind it) and the
 * payload, compressed, in the 32-bit code at 0x100 */
static inline void km_bzimage(const char *version, const char *method,
			      const struct buf *vmlinux, struct buf *out)
{
	enum { SETUP = 2 * 512, AT = 0x100 };
	CLEANUP(buf_free) struct buf payload = { 0 };
	char head[SETUP + AT] = { 0 };
	char size[4];

	km_pack(method, vmlinux, &payload);
	km_put32(size, vmlinux->len);
	if (strcmp(method, "gzip") != 0)
		buf_add(&payload, size, sizeof(size));
	head[0x1f1] = 1;
	memcpy(head + 0x1fe, "\x55\xaa", 2);
	memcpy(head + 0x202, "HdrS\x0f\x02", 6);
	head[0x20e] = 0x60;		/* 0x260, less 0x200 */
	km_put32(head + 0x248, AT);
	km_put32(head + 0x24c, payload.len);
	memcpy(head + 0x260, version, strlen(version));
	buf_add(out, head, sizeof(head));
	buf_add(out, payload.data, payload.len);
}

/* km_ko() - compile a module that has nothing but its .modinfo: "key=value"
 * entries separated by '|' */
static inline void km_ko(const char *dir, const char *name, const char *modinfo)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);
	cleanup_free char *parent = xstrdup(path);
	CLEANUP(buf_free) struct buf c = { 0 };
	const char *argv[] = { "gcc", "-c", "-x", "assembler", "-", "-o", path, NULL };
	struct proc_opts opts = { .in = &c, .timeout_s = 60 };
	struct error err = { 0 };

	*strrchr(parent, '/') = '\0';
	km_ok(make_dirs(parent, &err), &err);
	buf_adds(&c, "\t.section .modinfo,\"a\"\n");
	while (*modinfo) {
		size_t len = strcspn(modinfo, "|");

		buf_printf(&c, "\t.asciz \"%.*s\"\n", (int)len, modinfo);
		modinfo += len + (modinfo[len] == '|');
	}
	km_ok(proc_run(argv, &opts, &err), &err);
}

/* km_deb() - a package of DIR's control file and data/, built without root */
static inline void km_deb(const char *dir, const char *deb)
{
	const char *build[] = { "dpkg-deb", "--root-owner-group", "-Zxz", "-b", dir, deb, NULL };
	struct proc_opts opts = { .timeout_s = 60 };
	struct error err = { 0 };

	km_ok(proc_run(build, &opts, &err), &err);
}

#endif
