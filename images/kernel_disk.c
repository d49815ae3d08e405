/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/kernel_disk.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "images/bzimage.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/proc.h"

#define QCOW2_MAGIC "QFI\xfb"
#define EXT_MAGIC_OFF 1080
#define CONVERT_TIMEOUT_S 900
#define HEADER_BYTES 104

bool kernel_disk_is(const void *magic, size_t len, bool *qcow2)
{
	const unsigned char *p = magic;

	*qcow2 = len >= HEADER_BYTES && memcmp(p, QCOW2_MAGIC, 4) == 0;
	if (*qcow2)
		return true;
	/* A bzImage has the boot sector's signature too. */
	if (len < 2048 || bzimage_is(magic, len))
		return false;
	return (p[510] == 0x55 && p[511] == 0xaa) ||
	       (p[EXT_MAGIC_OFF] == 0x53 && p[EXT_MAGIC_OFF + 1] == 0xef);
}

int kernel_version_cmp(const char *a, const char *b)
{
	bool rescue_a = strstr(a, "rescue"), rescue_b = strstr(b, "rescue");

	if (rescue_a != rescue_b)
		return rescue_a ? -1 : 1;
	return strverscmp(a, b);
}

static uint64_t get_be(const char *p, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v = v << 8 | (unsigned char)p[i];
	return v;
}

/*
 * A qcow2 may name other files, which qemu-img would read: an image that
 * somebody handed over must not point at files of this host.
 * Offsets: QEMU, docs/interop/qcow2.txt.
 */
static int check_qcow2(const char *path, struct error *err)
{
	CLEANUP(buf_free) struct buf head = { 0 };
	cleanup_fclose FILE *f = fopen(path, "re");
	char h[HEADER_BYTES];
	uint64_t incompatible;

	if (!f)
		return error_set(err, errno, "open '%s'", path);
	if (fread(h, 1, sizeof(h), f) != sizeof(h))
		return error_set(err, 0, "'%s': cut short; copy it again", path);
	incompatible = get_be(h + 4, 4) >= 3 ? get_be(h + 72, 8) : 0;
	if (get_be(h + 8, 8) || incompatible & 4)
		return error_set(err, 0, "'%s': a part of it is in another file; make it whole with: qemu-img convert -O qcow2 '%s' WHOLE.qcow2",
				 path, path);
	if (get_be(h + 32, 4))
		return error_set(err, 0, "'%s': encrypted; decrypt it with qemu-img convert first",
				 path);
	if (incompatible & 2)
		return error_set(err, 0, "'%s': marked as damaged; repair it with qemu-img check -r all, or copy it again",
				 path);
	return 0;
}

static int make_raw(const struct disk_source *d, struct error *err)
{
	cleanup_free char *qemu_img = proc_find("qemu-img");
	const char *argv[] = { "qemu-img", "convert", "-f", "qcow2", "-O", "raw",
			       d->path, d->scratch, NULL };
	struct proc_opts opts = { .timeout_s = CONVERT_TIMEOUT_S };

	if (!qemu_img)
		return error_set(err, 0, "there is no program 'qemu-img', which reads qcow2 images; install the Debian package qemu-utils");
	return proc_run(argv, &opts, err);
}

static int read_raw(const struct disk_source *d, const char *raw,
		    struct kernel_parts *p, struct error *err)
{
	cleanup_free char *why = NULL;
	int found = kernel_ext_read(raw, d, p, &why, err);

	if (found)
		return found < 0 ? -1 : 0;
	if (kernel_guestfs_read(d, p, err) < 0)
		return error_prefix(err, "'%s': %s, and libguestfs, which reads other file systems, did not find it either",
				    d->path, why);
	return 0;
}

int kernel_disk_read(const struct disk_source *d, struct kernel_parts *p,
		     struct error *err)
{
	int ret;

	p->modules = modules_new();
	if (!d->qcow2)
		return read_raw(d, d->path, p, err);
	if (check_qcow2(d->path, err) < 0)
		return -1;
	ret = make_raw(d, err);
	if (!ret)
		ret = read_raw(d, d->scratch, p, err);
	if (unlink(d->scratch) < 0 && errno != ENOENT && !ret)
		return error_set(err, errno, "remove '%s'", d->scratch);
	return ret;
}
