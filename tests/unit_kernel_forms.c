/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_kernel_forms.c - kernels as vmlinux, as tar of make tar-pkg, in disk images
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "images/gpt.h"
#include "images/kernel_disk.h"
#include "images/vmlinux.h"
#include "tests/kernel_make.h"

#define VERSION KM_RELEASE " (me@here) (gcc 12) #1 SMP Thu Jan 1 00:00:00 UTC 1970"
#define PADDR 0x1000000ull
#define CONFIG "CONFIG_64BIT=y\nCONFIG_EXT4_FS=y\n"

/* struct room - a directory, a cache in it, the kernel last resolved */
struct room {
	char *dir;
	char *cache_dir;
	struct cache cache;
	struct kernel k;
	struct error err;
};

static int setup(void **state)
{
	struct room *r = xcalloc(1, sizeof(*r));

	r->dir = km_dir();
	r->cache_dir = xasprintf("%s/cache", r->dir);
	r->cache = (struct cache){ .dir = r->cache_dir };
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct room *r = *state;

	kernel_free(&r->k);
	km_remove(r->dir);
	free(r->cache_dir);
	free(r);
	return 0;
}

static int resolve(struct room *r, const char *name, const struct kernel_opts *o)
{
	cleanup_free char *spec = xasprintf("%s/%s", r->dir, name);

	kernel_free(&r->k);
	r->err = (struct error){ 0 };
	return kernel_resolve(&r->cache, spec, o, &r->k, &r->err);
}

static void refused(struct room *r, const char *name, const char *want)
{
	assert_int_equal(resolve(r, name, NULL), -1);
	if (!strstr(r->err.text, want))
		fail_msg("no '%s' in: %s", want, r->err.text);
	assert_null(strchr(r->err.text, '\n'));
}

static void run(const char *const argv[])
{
	struct proc_opts opts = { .timeout_s = 120 };
	struct error err = { 0 };

	km_ok(proc_run(argv, &opts, &err), &err);
}

/* Two segments, the second one higher in memory with a hole before it and memory
 * beyond its bytes (.bss) */
static void make_vmlinux(struct buf *out, const char *banner)
{
	enum { TEXT = 0x1000, TEXT_LEN = 0x800, DATA = 0x2000, DATA_LEN = 0x123 };
	Elf64_Phdr ph[2] = {
		{ .p_type = PT_LOAD, .p_offset = TEXT, .p_paddr = PADDR,
		  .p_filesz = TEXT_LEN, .p_memsz = TEXT_LEN },
		{ .p_type = PT_LOAD, .p_offset = DATA, .p_paddr = PADDR + 0x4000,
		  .p_filesz = DATA_LEN, .p_memsz = 0x10000 },
	};
	Elf64_Ehdr eh = {
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_entry = PADDR + 0x40,
		.e_phoff = sizeof(eh), .e_phnum = 2, .e_phentsize = sizeof(ph[0]),
	};
	char image[DATA + DATA_LEN + 0x1000] = { 0 };

	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(image, &eh, sizeof(eh));
	memcpy(image + sizeof(eh), ph, sizeof(ph));
	memset(image + TEXT, 'T', TEXT_LEN);
	memcpy(image + TEXT + 0x100, "Linux version %s\n", 18);
	memcpy(image + TEXT + 0x200, banner, strlen(banner) + 1);
	memset(image + DATA, 'D', DATA_LEN);
	buf_add(out, image, sizeof(image));
}

static uint32_t get32(const struct buf *b, size_t off)
{
	uint32_t v;

	assert_true(off + 4 <= b->len);
	memcpy(&v, b->data + off, 4);
	return v;
}

static void vmlinux_becomes_an_image(void **state)
{
	CLEANUP(buf_free) struct buf elf = { 0 }, a = { 0 }, b = { 0 };
	struct error err = { 0 };
	struct bzimage bz;

	(void)state;
	make_vmlinux(&elf, "Linux version " VERSION "\n");
	km_ok(vmlinux_convert(&elf, "vmlinux", &a, &err), &err);
	km_ok(vmlinux_convert(&elf, "vmlinux", &b, &err), &err);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.data, b.data, a.len);

	km_ok(bzimage_parse(a.data, a.len, "image", &bz, &err), &err);
	assert_string_equal(bz.release, KM_RELEASE);
	assert_string_equal(bz.version, VERSION);
	/* the kernel as it lies in memory, from its first byte on */
	assert_int_equal(bz.payload_len, 0x5000);
	for (size_t i = 0; i < 0x4123; i++) {
		char want = i >= 0x100 && i < 0x300 ? bz.payload[i] : i < 0x800 ? 'T' :
			    i < 0x4000 ? 0 : 'D';

		assert_int_equal(bz.payload[i], want);
	}
	assert_int_equal(bz.payload - (uint8_t *)a.data, 2048 + 4096);
	/* to where, how much, entry; and the room that a boot loader keeps */
	assert_int_equal(get32(&a, 2048 + 0x10), PADDR);
	assert_int_equal(get32(&a, 2048 + 0x14), 0x5000);
	assert_int_equal(get32(&a, 2048 + 0x18), PADDR + 0x40);
	assert_int_equal(get32(&a, 0x260), PADDR + 0x14000 - 0x100000);
	bzimage_free(&bz);
}

static void odd_vmlinux_is_refused(void **state)
{
	static const struct {
		size_t off;
		unsigned char value;
		const char *want;
	} odd[] = {
		{ offsetof(Elf64_Ehdr, e_machine), EM_386, "32-bit x86" },
		{ offsetof(Elf64_Ehdr, e_machine), EM_AARCH64, "another architecture" },
		{ EI_CLASS, ELFCLASS32, "another architecture" },
		{ offsetof(Elf64_Ehdr, e_type), ET_DYN, "no kernel (vmlinux)" },
		{ offsetof(Elf64_Ehdr, e_phnum) + 1, 0xff, "cut short" },
		{ offsetof(Elf64_Ehdr, e_phoff) + 7, 0xff, "cut short" },
		{ offsetof(Elf64_Ehdr, e_entry) + 3, 9, "its entry" },
		{ 64 + offsetof(Elf64_Phdr, p_offset) + 7, 0xff, "cut short" },
		{ 64 + offsetof(Elf64_Phdr, p_filesz) + 7, 0xff, "cut short" },
		{ 64 + offsetof(Elf64_Phdr, p_memsz) + 5, 1, "no kernel lies there" },
		{ 64 + offsetof(Elf64_Phdr, p_paddr) + 7, 0xff, "no kernel lies there" },
		{ 64 + offsetof(Elf64_Phdr, p_paddr) + 3, 0, "no kernel lies there" },
		{ 0x1000 + 0x200 + 14, 'x', "it does not say" },
	};
	CLEANUP(buf_free) struct buf elf = { 0 };

	(void)state;
	make_vmlinux(&elf, "Linux version " VERSION "\n");
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		CLEANUP(buf_free) struct buf copy = { 0 }, out = { 0 };
		struct error err = { 0 };

		buf_add(&copy, elf.data, elf.len);
		copy.data[odd[i].off] = (char)odd[i].value;
		assert_int_equal(vmlinux_convert(&copy, "vmlinux", &out, &err), -1);
		if (!strstr(err.text, odd[i].want))
			fail_msg("%zu: no '%s' in: %s", i, odd[i].want, err.text);
		assert_int_equal(out.len, 0);
	}
	/* wherever it is cut */
	for (size_t len = 0; len < 0x2123; len += 61) {
		CLEANUP(buf_free) struct buf copy = { 0 }, out = { 0 };

		buf_add(&copy, elf.data, len);
		assert_int_equal(vmlinux_convert(&copy, "vmlinux", &out, NULL), -1);
	}
}

/* A module that has nothing but its .modinfo ("key=value" NUL ...): three sections,
 * made without an assembler, for there are many of them here. */
static void make_ko(const char *modinfo, size_t len, struct buf *out)
{
	static const char names[] = "\0.modinfo\0.shstrtab";
	Elf64_Ehdr eh = {
		.e_type = ET_REL, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(eh), .e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3, .e_shstrndx = 2, .e_shoff = sizeof(eh),
	};
	size_t data = sizeof(eh) + 3 * sizeof(Elf64_Shdr);
	Elf64_Shdr sh[3] = {
		{ .sh_type = SHT_NULL },
		{ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = data,
		  .sh_size = len, .sh_addralign = 1 },
		{ .sh_name = 10, .sh_type = SHT_STRTAB, .sh_offset = data + len,
		  .sh_size = sizeof(names), .sh_addralign = 1 },
	};

	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	buf_add(out, &eh, sizeof(eh));
	buf_add(out, sh, sizeof(sh));
	buf_add(out, modinfo, len);
	buf_add(out, names, sizeof(names));
}

/* Below DIR/root: boot/ and lib/modules, with modules compressed in all the ways
 * that there are; "odd" and "unneeded" are not wanted in a boot. */
static void make_root(struct room *r, const char *root, const char *release)
{
	static const char *const ko[][3] = {
		{ "drivers/virtio/virtio.ko", "", NULL },
		{ "drivers/block/virtio_blk.ko", "virtio", "gzip" },
		{ "drivers/ata/ahci.ko", "", "xz" },
		{ "fs/ext4/ext4.ko", "", "zstd" },
		{ "drivers/net/unneeded.ko", "", NULL },
		{ "drivers/misc/odd.ko", "", NULL },
	};
	CLEANUP(buf_free) struct buf vmlinux = { 0 }, image = { 0 };
	cleanup_free char *name = xasprintf("%s/boot/vmlinuz-%s", root, release);
	cleanup_free char *config = xasprintf("%s/boot/config-%s", root, release);
	cleanup_free char *version = xasprintf("%s (me@here) #1", release);

	buf_adds(&vmlinux, "\177ELF\2 a kernel without any feature");
	km_bzimage(version, "gzip", &vmlinux, &image);
	km_write(r->dir, name, image.data, image.len);
	km_write(r->dir, config, CONFIG, strlen(CONFIG));
	for (size_t i = 0; i < sizeof(ko) / sizeof(ko[0]); i++) {
		const char *suffix = !ko[i][2] ? "" : ko[i][2][0] == 'g' ? ".gz" :
				     ko[i][2][0] == 'x' ? ".xz" : ".zst";
		cleanup_free char *path = xasprintf("%s/lib/modules/%s/kernel/%s%s", root,
						    release, ko[i][0], suffix);
		cleanup_free char *info = xasprintf("depends=%s|vermagic=%s SMP|",
						    ko[i][1], release);
		size_t len = strlen(info);
		CLEANUP(buf_free) struct buf in = { 0 }, out = { 0 };

		for (char *c = info; (c = strchr(c, '|')); )
			*c = '\0';
		make_ko(info, len, &in);
		if (ko[i][2])
			km_pack(ko[i][2], &in, &out);
		km_write(r->dir, path, ko[i][2] ? out.data : in.data,
			 ko[i][2] ? out.len : in.len);
	}
}

static bool has(const struct room *r, const char *name)
{
	cleanup_free char *path = xasprintf("%s/kernel/%s", r->k.modules, name);
	CLEANUP(buf_free) struct buf b = { 0 };

	return !file_read(path, 1 << 20, &b, NULL) && !memcmp(b.data, ELFMAG, 4);
}

static void check_kernel(const struct room *r, const char *kind, const char *release)
{
	assert_string_equal(r->k.kind, kind);
	assert_string_equal(r->k.release, release);
	assert_non_null(r->k.config);
	assert_true(has(r, "drivers/virtio/virtio.ko"));
	assert_true(has(r, "drivers/block/virtio_blk.ko"));
	assert_true(has(r, "drivers/ata/ahci.ko"));
	assert_true(has(r, "fs/ext4/ext4.ko"));
	assert_false(has(r, "drivers/net/unneeded.ko"));
	assert_false(has(r, "drivers/misc/odd.ko"));
}

static void vmlinux_with_modules_and_config(void **state)
{
	struct room *r = *state;
	cleanup_free char *root = xasprintf("%s/root", r->dir);
	cleanup_free char *config = xasprintf("%s/boot/config-" KM_RELEASE, root);
	struct kernel_opts o = { .modules = root, .config = config };
	CLEANUP(buf_free) struct buf elf = { 0 };

	make_root(r, "root", KM_RELEASE);
	make_vmlinux(&elf, "Linux version " VERSION "\n");
	km_write(r->dir, "vmlinux", elf.data, elf.len);
	km_ok(resolve(r, "vmlinux", &o), &r->err);
	check_kernel(r, "vmlinux", KM_RELEASE);
	/* alone, it is judged by what it gives away */
	km_ok(resolve(r, "vmlinux", NULL), &r->err);
	assert_non_null(r->k.judged);
	assert_null(r->k.modules);
}

static void tar_in_every_compression(void **state)
{
	static const char *const flags[][2] = {
		{ "k.tar", "-c" }, { "k.tar.gz", "-cz" }, { "k.tar.xz", "-cJ" },
		{ "k.tar.bz2", "-cj" }, { "k.tar.zst", "--zstd" },
	};
	struct room *r = *state;
	cleanup_free char *root = xasprintf("%s/root", r->dir);

	make_root(r, "root", KM_RELEASE);
	for (size_t i = 0; i < 5; i++) {
		cleanup_free char *to = xasprintf("%s/%s", r->dir, flags[i][0]);

		run((const char *[]){ "tar", "-C", root, flags[i][1], "-c", "-f", to,
				      ".", NULL });
		km_ok(resolve(r, flags[i][0], NULL), &r->err);
		check_kernel(r, "tar", KM_RELEASE);
	}
}

static void odd_tar_is_refused(void **state)
{
	struct room *r = *state;
	cleanup_free char *root = xasprintf("%s/root", r->dir);
	cleanup_free char *to = xasprintf("%s/k.tar.gz", r->dir);
	CLEANUP(buf_free) struct buf whole = { 0 }, text = { 0 }, packed = { 0 };

	make_root(r, "root", KM_RELEASE);
	run((const char *[]){ "tar", "-C", root, "-czf", to, ".", NULL });
	km_ok(file_read(to, 1 << 24, &whole, &r->err), &r->err);
	for (size_t len = 64; len + 8 < whole.len; len += 1999) {
		km_write(r->dir, "cut", whole.data, len);
		refused(r, "cut", "cut");
	}
	run((const char *[]){ "tar", "-C", root, "-czf", to, "lib", NULL });
	refused(r, "k.tar.gz", "no boot/vmlinuz-*");
	make_root(r, "root", "6.9.9");
	run((const char *[]){ "tar", "-C", root, "-czf", to, ".", NULL });
	refused(r, "k.tar.gz", "two kernels in it");
	buf_adds(&text, "what is compressed need not be a tar");
	km_pack("gzip", &text, &packed);
	km_write(r->dir, "text.gz", packed.data, packed.len);
	refused(r, "text.gz", "text.gz");
}

/* An ext4 file system with what is in DIR/root, @off bytes into DIR/disk.raw */
static void make_disk(struct room *r, uint64_t off)
{
	static const uint8_t id[16] = { 1 };
	cleanup_free char *root = xasprintf("%s/root", r->dir);
	cleanup_free char *disk = xasprintf("%s/disk.raw", r->dir);
	cleanup_free char *offset = xasprintf("offset=%llu", (unsigned long long)off);
	struct gpt_part parts[] = {
		{ 1 << 20, 1 << 20, GPT_TYPE_BIOS_BOOT, "bios", { 2 } },
		{ off, 20 << 20, GPT_TYPE_ROOT_X86_64, "root", { 3 } },
	};
	cleanup_fclose FILE *f = fopen(disk, "w+");

	assert_non_null(f);
	assert_int_equal(ftruncate(fileno(f), 24 << 20), 0);
	if (off)
		km_ok(gpt_write(fileno(f), disk, id, parts, 2, &r->err), &r->err);
	run((const char *[]){ "mke2fs", "-q", "-F", "-t", "ext4", "-d", root, "-E",
			      offset, disk, "20480k", NULL });
}

static void disk_image_by_its_newest_kernel(void **state)
{
	struct room *r = *state;
	cleanup_free char *raw = xasprintf("%s/disk.raw", r->dir);
	cleanup_free char *qcow2 = xasprintf("%s/disk.qcow2", r->dir);
	cleanup_free char *over = xasprintf("%s/over.qcow2", r->dir);
	cleanup_free char *kernels = xasprintf("%s/kernels", r->cache_dir);

	make_root(r, "root", "6.1.0-9-test");
	make_root(r, "root", "6.1.0-10-test");
	make_root(r, "root", "0-rescue-6.1");
	make_disk(r, 2 << 20);
	km_ok(resolve(r, "disk.raw", NULL), &r->err);
	check_kernel(r, "disk", "6.1.0-10-test");
	km_ok(resolve(r, "disk.raw:6.1.0-9-test", NULL), &r->err);
	check_kernel(r, "disk", "6.1.0-9-test");
	refused(r, "disk.raw:6.6.6", "no kernel 6.6.6 in it; there is ");
	assert_non_null(strstr(r->err.text, "6.1.0-9-test"));

	run((const char *[]){ "qemu-img", "convert", "-c", "-O", "qcow2", raw, qcow2, NULL });
	km_ok(resolve(r, "disk.qcow2", NULL), &r->err);
	check_kernel(r, "disk", "6.1.0-10-test");
	assert_true(path_is_dir(kernels));
	/* the raw copy is gone */
	run((const char *[]){ "sh", "-c", "! ls -A \"$0\" | grep raw", kernels, NULL });

	run((const char *[]){ "qemu-img", "create", "-q", "-f", "qcow2", "-b", raw,
			      "-F", "raw", over, NULL });
	refused(r, "over.qcow2", "in another file; make it whole");
	/* without a partition table */
	make_disk(r, 0);
	km_ok(resolve(r, "disk.raw", NULL), &r->err);
	check_kernel(r, "disk", "6.1.0-10-test");
}

static void versions_as_people_count(void **state)
{
	static const char *const rising[] = {
		"0-rescue-9", "5.10.0-33-amd64", "6.1.0-9-amd64", "6.1.0-10-amd64",
		"6.9.12", "6.12.1", "6.12.10",
	};

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(rising) / sizeof(rising[0]); i++) {
		assert_true(kernel_version_cmp(rising[i], rising[i + 1]) < 0);
		assert_true(kernel_version_cmp(rising[i + 1], rising[i]) > 0);
	}
}

#define room_test(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vmlinux_becomes_an_image),
		cmocka_unit_test(odd_vmlinux_is_refused),
		room_test(vmlinux_with_modules_and_config),
		room_test(tar_in_every_compression),
		room_test(odd_tar_is_refused),
		room_test(disk_image_by_its_newest_kernel),
		cmocka_unit_test(versions_as_people_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
