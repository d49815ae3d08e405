/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/grub.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/proc.h"

#define SECTOR 512u
/* Where boot.img keeps what an installer fills in; grub/i386/pc/boot.h */
#define BOOT_KERNEL_SECTOR 0x5c	/* u64: LBA of the core's first sector */
#define BOOT_DRIVE_CHECK 0x66	/* u16: a jump, or two NOPs */
#define BOOT_CODE_END 0x1b8	/* from here on the MBR belongs to the label */
/* The core's first sector ends in one { u64 LBA, u16 sectors, u16 segment }
 * that says where the rest of the core is. */
#define CORE_REST_LBA 0x1f4
#define CORE_REST_SECTORS 0x1fc

#define STR_(x) #x
#define STR(x) STR_(x)
#define PREFIX "(,gpt" STR(GRUB_ESP_PARTITION) ")/grub"
#define MISSING "; install the Debian package %s (`make deps` installs all that kontest needs)"

/* What the core is made of; what these need comes with them (moddep.lst). */
#define MODULES "biosdisk", "part_gpt", "fat", "linux"

static int read_grub(const char *name, struct buf *out, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/%s", GRUB_DIR, name);

	if (file_read(path, 4 << 20, out, err) < 0) {
		if (err && err->errnum == ENOENT)
			return error_set(err, 0, "there is no '%s', which boots the image by BIOS" MISSING,
					 path, "grub-pc-bin");
		return -1;
	}
	return 0;
}

int grub_inputs(struct sha256 *s, struct error *err)
{
	/* The module files themselves change only with these: all are built
	 * from one source, and kernel.img's exports with it. */
	static const char *const files[] = {
		"boot.img", "diskboot.img", "kernel.img",
		"lzma_decompress.img", "moddep.lst", "biosdisk.mod",
		"part_gpt.mod", "fat.mod", "linux.mod", "normal.mod",
	};
	cleanup_free char *tool = proc_find("grub-mkimage");
	char hex[SHA256_HEX];

	if (!tool)
		return error_set(err, 0, "there is no program 'grub-mkimage', which boots the image by BIOS" MISSING,
				 "grub-common");
	if (sha256_file(tool, hex, err) < 0)
		return -1;
	sha256_adds(s, hex);
	sha256_adds(s, PREFIX);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		CLEANUP(buf_free) struct buf b = { 0 };

		if (read_grub(files[i], &b, err) < 0)
			return -1;
		sha256_adds(s, files[i]);
		sha256_add(s, b.data, b.len);
	}
	return 0;
}

int grub_core(struct buf *core, struct error *err)
{
	/* grub-mkimage syncs what it writes and so refuses a pipe. */
	cleanup_close int fd = memfd_create("grub-core", MFD_CLOEXEC);
	cleanup_free char *path = xasprintf("/proc/%d/fd/%d", (int)getpid(), fd);
	const char *const argv[] = {
		"grub-mkimage", "-O", "i386-pc", "-d", GRUB_DIR, "-p", PREFIX,
		"-o", path, MODULES, NULL
	};

	if (fd < 0)
		return error_set(err, errno, "make a file in memory");
	if (proc_run(argv, NULL, err) < 0)
		return -1;
	return file_read(path, 4 << 20, core, err);
}

int grub_embed(int fd, const char *path, struct buf *core, off_t off,
	       uint64_t size, struct error *err)
{
	CLEANUP(buf_free) struct buf boot = { 0 };
	uint64_t lba = (uint64_t)off / SECTOR, start = htole64(lba),
		 rest = htole64(lba + 1);
	uint16_t sectors;

	if (read_grub("boot.img", &boot, err) < 0)
		return -1;
	if (boot.len != SECTOR || core->len < 2 * SECTOR)
		return error_set(err, 0, "'%s' holds a GRUB of an unknown layout" MISSING,
				 GRUB_DIR, "grub-pc-bin");
	memcpy(&sectors, core->data + CORE_REST_SECTORS, sizeof(sectors));
	if (le16toh(sectors) != (core->len - 1) / SECTOR)
		return error_set(err, 0, "grub-mkimage made a core image of an unknown layout" MISSING,
				 "grub-common");
	if (core->len > size)
		return error_set(err, 0, "GRUB's core image (%zu bytes) does not fit into the BIOS boot partition (%llu bytes)",
				 core->len, (unsigned long long)size);
	memcpy(boot.data + BOOT_KERNEL_SECTOR, &start, sizeof(start));
	/* Some BIOSes hand over a wrong drive number; with the jump gone, GRUB
	 * puts a hard disk's in its place. */
	memset(boot.data + BOOT_DRIVE_CHECK, 0x90, 2);
	memcpy(core->data + CORE_REST_LBA, &rest, sizeof(rest));
	if (full_pwrite(fd, core->data, core->len, off, path, err) < 0)
		return -1;
	return full_pwrite(fd, boot.data, BOOT_CODE_END, 0, path, err);
}
