/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_modules.c - dependencies and load order of real .ko files
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "images/modules.h"
#include "tests/kernel_make.h"

#define MAGIC "|vermagic=" KM_RELEASE " SMP mod_unload"

static void modules_freep(struct modules **m)
{
	modules_free(*m);
}

static void ko(const char *dir, const char *path, const char *modinfo)
{
	cleanup_free char *all = xasprintf("%s" MAGIC, modinfo);

	km_ko(dir, path, all);
}

/* The closure of @roots below @dir as "a b c", or the error's text. */
static char *closure(const char *dir, const char *const roots[], const char *builtin)
{
	CLEANUP(modules_freep) struct modules *m = modules_new();
	CLEANUP(module_list_free) struct module_list out = { 0 };
	struct buf text = { 0 };
	struct error err = { 0 };

	km_ok(modules_add_dir(m, dir, &err), &err);
	modules_set_builtin(m, builtin);
	if (modules_closure(m, roots, &out, &err) < 0)
		return xstrdup(err.text);
	buf_adds(&text, "");
	for (size_t i = 0; i < out.n; i++)
		buf_printf(&text, "%s%s", i ? " " : "", out.v[i]->name);
	return text.data;
}

#define assert_closure(dir, want, builtin, ...) do {				\
	cleanup_free char *got_ = closure(dir,					\
		(const char *const[]){ __VA_ARGS__, NULL }, builtin);		\
	assert_string_equal(got_, want);					\
} while (0)

#define assert_refused(dir, want, ...) do {					\
	cleanup_free char *got_ = closure(dir,					\
		(const char *const[]){ __VA_ARGS__, NULL }, "");		\
	if (!strstr(got_, want))						\
		print_error("no '%s' in: %s\n", want, got_);			\
	assert_non_null(strstr(got_, want));					\
} while (0)

static void dependencies_come_first(void **state)
{
	char *d = km_dir();

	(void)state;
	ko(d, "kernel/drivers/block/virtio_blk.ko", "depends=virtio_ring,virtio");
	ko(d, "kernel/drivers/virtio/virtio_ring.ko", "depends=virtio");
	ko(d, "kernel/drivers/virtio/virtio.ko", "depends=");
	ko(d, "kernel/drivers/other/unwanted.ko", "depends=virtio");
	ko(d, "kernel/drivers/misc/pvpanic-pci.ko", "depends=pvpanic");
	ko(d, "kernel/drivers/misc/pvpanic.ko", "depends=");
	assert_closure(d, "virtio virtio_ring virtio_blk", "", "virtio_blk");
	/* '-' and '_' are equal; what is not there is skipped */
	assert_closure(d, "pvpanic pvpanic_pci", "", "nothing", "pvpanic_pci", "pvpanic");
	assert_closure(d, "pvpanic pvpanic_pci", "", "pvpanic-pci");
	/* what is built in is not loaded */
	assert_closure(d, "virtio_ring virtio_blk",
		       "kernel/drivers/virtio/virtio.ko\n", "virtio_blk");
	assert_closure(d, "", "kernel/drivers/block/virtio-blk.ko\n", "virtio_blk");
	km_remove(d);
}

static void softdeps_are_found_by_alias(void **state)
{
	char *d = km_dir();

	(void)state;
	ko(d, "kernel/fs/ext4/ext4.ko", "softdep=pre: crc32c post: helper|depends=jbd2");
	ko(d, "kernel/fs/jbd2/jbd2.ko", "depends=");
	ko(d, "kernel/lib/helper.ko", "depends=");
	ko(d, "kernel/crypto/crc32c_generic.ko", "alias=crypto-crc32c|alias=crc32c|depends=");
	ko(d, "kernel/arch/x86/crypto/crc32c-intel.ko", "alias=crc32c|depends=");
	ko(d, "kernel/crypto/md5.ko", "alias=md5|depends=");
	assert_closure(d, "crc32c_generic crc32c_intel jbd2 ext4 helper", "", "ext4");
	assert_closure(d, "crc32c_intel jbd2 ext4 helper",
		       "kernel/crypto/crc32c_generic.ko\n", "ext4");
	km_remove(d);
}

static void missing_softdep_is_no_failure(void **state)
{
	char *d = km_dir();

	(void)state;
	ko(d, "kernel/a.ko", "softdep=pre: nowhere|depends=");
	ko(d, "kernel/b.ko", "softdep=post: c|depends=");
	ko(d, "kernel/c.ko", "softdep=pre: b|depends=");
	assert_closure(d, "a b c", "", "a", "b");
	km_remove(d);
}

static void what_is_wrong_is_named(void **state)
{
	char *d = km_dir();

	(void)state;
	ko(d, "kernel/lonely.ko", "depends=gone");
	ko(d, "kernel/x.ko", "depends=y");
	ko(d, "kernel/y.ko", "depends=x");
	km_write(d, "kernel/text.ko", "hello, this is no ELF file", 26);
	km_write(d, "kernel/empty.ko", "", 0);
	km_write(d, "kernel/torn.ko.xz", "\xfd" "7zXZ\0\0\4\xe6", 9);
	assert_refused(d, "'gone'", "lonely");
	assert_refused(d, "depends on itself", "x");
	assert_refused(d, "text.ko': not a kernel module", "text");
	assert_refused(d, "empty.ko", "empty");
	assert_refused(d, "torn.ko.xz: damaged", "torn");
	km_remove(d);
}

static void compressed_modules_are_read(void **state)
{
	static const char *const methods[][2] = { { "gzip", "gz" }, { "xz", "xz" }, { "zstd", "zst" } };
	char *d = km_dir();

	(void)state;
	ko(d, "plain/virtio.ko", "depends=");
	for (size_t i = 0; i < 3; i++) {
		CLEANUP(modules_freep) struct modules *m = modules_new();
		CLEANUP(buf_free) struct buf plain = { 0 }, packed = { 0 };
		cleanup_free char *from = xasprintf("%s/plain/virtio.ko", d);
		cleanup_free char *name = xasprintf("%s/virtio.ko.%s", methods[i][0], methods[i][1]);
		cleanup_free char *dir = xasprintf("%s/%s/", d, methods[i][0]);
		struct error err = { 0 };
		struct module *mod;

		km_ok(file_read(from, 1 << 20, &plain, &err), &err);
		km_pack(methods[i][0], &plain, &packed);
		km_write(d, name, packed.data, packed.len);
		km_ok(modules_add_dir(m, dir, &err), &err);
		mod = modules_find(m, "virtio");
		assert_non_null(mod);
		km_ok(module_load(mod, &err), &err);
		assert_string_equal(mod->path, "virtio.ko");
		assert_string_equal(mod->release, KM_RELEASE);
		assert_int_equal(mod->size, plain.len);
		assert_memory_equal(mod->data, plain.data, plain.len);
	}
	km_remove(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dependencies_come_first),
		cmocka_unit_test(softdeps_are_found_by_alias),
		cmocka_unit_test(missing_softdep_is_no_failure),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(compressed_modules_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
