/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_kernel.c - from what the user names to a layer in the cache and an
 * initramfs
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "images/kernel_parts.h"
#include "tests/kernel_make.h"

#define VERSION KM_RELEASE " (me@here) #1 SMP Thu Jan 1 00:00:00 UTC 1970"
#define OTHER "6.9.9-other"
#define CONFIG "CONFIG_64BIT=y\nCONFIG_EXT4_FS=y\n"

/* struct room - a directory with a cache and a kernel in it */
struct room {
	char *dir;
	char *image;
	struct cache cache;
	char *cache_dir;
	int made, cached;
	struct kernel k;
	struct error err;
};

static void count(void *data, const char *name, const char *detail, double s,
		  bool cached)
{
	struct room *r = data;

	(void)name;
	(void)detail;
	assert_true(s >= 0);
	*(cached ? &r->cached : &r->made) += 1;
}

static void make_image(struct room *r, const char *name, const char *version)
{
	CLEANUP(buf_free) struct buf vmlinux = { 0 }, image = { 0 };

	buf_adds(&vmlinux, "\177ELF\2 a kernel without any feature");
	km_bzimage(version, "gzip", &vmlinux, &image);
	km_write(r->dir, name, image.data, image.len);
}

static int setup(void **state)
{
	struct room *r = xcalloc(1, sizeof(*r));

	r->dir = km_dir();
	r->image = xasprintf("%s/boot/bzImage", r->dir);
	r->cache_dir = xasprintf("%s/cache", r->dir);
	r->cache = (struct cache){ r->cache_dir, count, r };
	make_image(r, "boot/bzImage", VERSION);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct room *r = *state;

	kernel_free(&r->k);
	km_remove(r->dir);
	free(r->image);
	free(r->cache_dir);
	free(r);
	return 0;
}

/* Modules below DIR/PREFIX: two that are wanted, one that is not */
static void make_modules(struct room *r, const char *prefix, const char *release)
{
	static const char *const ko[][2] = {
		{ "drivers/virtio/virtio.ko", "" },
		{ "drivers/block/virtio_blk.ko", "virtio" },
		{ "drivers/net/virtio_net.ko", "virtio" },
	};

	for (size_t i = 0; i < 3; i++) {
		cleanup_free char *name = xasprintf("%s/%s", prefix, ko[i][0]);
		cleanup_free char *info = xasprintf("depends=%s|vermagic=%s SMP", ko[i][1], release);

		km_ko(r->dir, name, info);
	}
}

static int resolve(struct room *r, const char *spec, const char *modules,
		   const char *config)
{
	struct kernel_opts opts = { .modules = modules, .config = config };

	kernel_free(&r->k);
	r->err = (struct error){ 0 };
	return kernel_resolve(&r->cache, spec, &opts, &r->k, &r->err);
}

#define assert_refused(r, want, ...) do {					\
	assert_int_equal(resolve(r, __VA_ARGS__), -1);				\
	if (!strstr((r)->err.text, want))					\
		print_error("no '%s' in: %s\n", want, (r)->err.text);		\
	assert_non_null(strstr((r)->err.text, want));				\
	assert_null(strchr((r)->err.text, '\n'));				\
} while (0)

static bool layer_has(const struct room *r, const char *name)
{
	cleanup_free char *path = xasprintf("%s/kernel/%s", r->k.modules, name);

	return path_exists(path);
}

static void image_alone(void **state)
{
	struct room *r = *state;
	char digest[SHA256_HEX], copy[SHA256_HEX];

	km_ok(resolve(r, r->image, NULL, NULL), &r->err);
	assert_string_equal(r->k.kind, "bzImage");
	assert_string_equal(r->k.release, KM_RELEASE);
	assert_string_equal(r->k.label, KM_RELEASE);
	assert_null(r->k.modules);
	assert_null(r->k.config);
	assert_non_null(r->k.judged);
	km_ok(sha256_file(r->image, digest, &r->err), &r->err);
	km_ok(sha256_file(r->k.vmlinuz, copy, &r->err), &r->err);
	assert_string_equal(r->k.digest, digest);
	assert_string_equal(copy, digest);
	assert_int_equal(r->made, 1);
	km_ok(resolve(r, r->image, NULL, NULL), &r->err);
	assert_int_equal(r->cached, 1);
	assert_int_equal(kernel_preflight(&r->k, KERNEL_EXACT, NULL, &r->err), -1);
}

static void config_beside_the_image(void **state)
{
	struct room *r = *state;
	CLEANUP(buf_free) struct buf text = { 0 };

	km_write(r->dir, "boot/config-" KM_RELEASE, CONFIG, strlen(CONFIG));
	km_ok(resolve(r, r->image, NULL, NULL), &r->err);
	assert_null(r->k.judged);
	km_ok(file_read(r->k.config, 1000, &text, &r->err), &r->err);
	assert_string_equal(text.data, CONFIG);
}

static void modules_in_any_of_three_places(void **state)
{
	struct room *r = *state;
	cleanup_free char *root = xasprintf("%s/root", r->dir);
	cleanup_free char *parent = xasprintf("%s/lib/modules", root);
	cleanup_free char *own = xasprintf("%s/" KM_RELEASE, parent);
	const char *given[] = { root, parent, own };

	make_modules(r, "root/lib/modules/" KM_RELEASE "/kernel", KM_RELEASE);
	for (size_t i = 0; i < 3; i++) {
		km_ok(resolve(r, r->image, given[i], NULL), &r->err);
		assert_true(layer_has(r, "drivers/virtio/virtio.ko"));
		assert_true(layer_has(r, "drivers/block/virtio_blk.ko"));
		assert_false(layer_has(r, "drivers/net/virtio_net.ko"));
	}
	assert_int_equal(r->made, 1);
	assert_int_equal(r->cached, 2);
}

static void modules_of_another_release_are_refused(void **state)
{
	struct room *r = *state;
	cleanup_free char *root = xasprintf("%s/root", r->dir);
	cleanup_free char *own = xasprintf("%s/lib/modules/" OTHER, root);
	cleanup_free char *none = xasprintf("%s/boot", r->dir);
	cleanup_free char *gone = xasprintf("%s/gone", r->dir);

	make_modules(r, "root/lib/modules/" OTHER "/kernel", OTHER);
	assert_refused(r, "release " OTHER ", but kernel", r->image, root, NULL);
	assert_non_null(strstr(r->err.text, "release " KM_RELEASE));
	assert_refused(r, "release " OTHER ", but kernel", r->image, own, NULL);
	assert_non_null(strstr(r->err.text, "release " KM_RELEASE));
	assert_refused(r, "no module (.ko)", r->image, none, NULL);
	assert_refused(r, "No such file", r->image, gone, NULL);
	assert_refused(r, "No such file", r->image, NULL, gone);
}

static void make_tree(struct room *r)
{
	static const char order[] = "kernel/drivers/virtio/virtio.ko\n"
		"drivers/block/virtio_blk.o\ndrivers/net/virtio_net.ko\nfs/not_built.ko\n";

	make_image(r, "linux/arch/x86/boot/bzImage", VERSION);
	make_modules(r, "linux", KM_RELEASE);
	km_write(r->dir, "linux/modules.order", order, strlen(order));
	km_write(r->dir, "linux/.config", CONFIG, strlen(CONFIG));
	km_write(r->dir, "linux/include/config/kernel.release", KM_RELEASE "\n",
		 sizeof(KM_RELEASE));
}

static void build_tree(void **state)
{
	struct room *r = *state;
	cleanup_free char *tree = xasprintf("%s/linux", r->dir);

	make_tree(r);
	km_ok(resolve(r, tree, NULL, NULL), &r->err);
	assert_string_equal(r->k.kind, "tree");
	assert_string_equal(r->k.release, KM_RELEASE);
	assert_non_null(r->k.config);
	cleanup_free char *one = xasprintf("%s/drivers/virtio/virtio.ko", r->k.modules);
	cleanup_free char *two = xasprintf("%s/drivers/block/virtio_blk.ko", r->k.modules);
	assert_true(path_exists(one));
	assert_true(path_exists(two));
	assert_refused(r, "brings its own", tree, tree, NULL);
	km_write(r->dir, "linux/include/config/kernel.release", OTHER "\n", sizeof(OTHER));
	assert_refused(r, "release " KM_RELEASE ", the tree is at " OTHER, tree, NULL, NULL);
	cleanup_free char *image = xasprintf("%s/arch/x86/boot/bzImage", tree);
	assert_int_equal(unlink(image), 0);
	assert_refused(r, "make bzImage", tree, NULL, NULL);
}

static void make_deb(struct room *r, const char *deb, const char *arch)
{
	cleanup_free char *pkg = xasprintf("%s/pkg", r->dir);
	cleanup_free char *control = xasprintf(
		"Package: linux-image-test\nVersion: 1-2\nArchitecture: %s\n"
		"Maintainer: me <me@example.org>\nDescription: test\n", arch);

	km_write(r->dir, "pkg/DEBIAN/control", control, strlen(control));
	make_image(r, "pkg/boot/vmlinuz-" KM_RELEASE, VERSION);
	km_write(r->dir, "pkg/boot/config-" KM_RELEASE, CONFIG, strlen(CONFIG));
	make_modules(r, "pkg/usr/lib/modules/" KM_RELEASE "/kernel", KM_RELEASE);
	km_write(r->dir, "pkg/usr/lib/modules/" KM_RELEASE "/modules.builtin",
		 "kernel/fs/ext4/ext4.ko\n", 23);
	km_deb(pkg, deb);
}

static void debian_package(void **state)
{
	struct room *r = *state;
	cleanup_free char *deb = xasprintf("%s/is-not-named-so", r->dir);

	make_deb(r, deb, "amd64");
	km_ok(resolve(r, deb, NULL, NULL), &r->err);
	assert_string_equal(r->k.kind, "deb");
	assert_string_equal(r->k.package, "linux-image-test");
	assert_string_equal(r->k.package_version, "1-2");
	assert_string_equal(r->k.release, KM_RELEASE);
	assert_non_null(r->k.config);
	assert_non_null(r->k.builtin);
	assert_true(layer_has(r, "drivers/block/virtio_blk.ko"));
	assert_false(layer_has(r, "drivers/net/virtio_net.ko"));
	assert_refused(r, "brings its own", deb, r->dir, NULL);
	make_deb(r, deb, "arm64");
	assert_refused(r, "is for arm64", deb, NULL, NULL);
}

/* Wherever a package is cut, it is refused, and no layer is left. */
static void cut_package_is_refused(void **state)
{
	struct room *r = *state;
	cleanup_free char *deb = xasprintf("%s/whole.deb", r->dir);
	cleanup_free char *cut = xasprintf("%s/cut.deb", r->dir);
	CLEANUP(buf_free) struct buf whole = { 0 };

	make_deb(r, deb, "amd64");
	km_ok(file_read(deb, 1 << 24, &whole, &r->err), &r->err);
	for (size_t len = 100; len + 8 < whole.len; len += 211) {
		km_write(r->dir, "cut.deb", whole.data, len);
		assert_refused(r, "cut short", cut, NULL, NULL);
		assert_non_null(strstr(r->err.text, cut));
	}
	/* one byte flipped in the middle of data.tar */
	whole.data[whole.len * 3 / 4] ^= 1;
	km_write(r->dir, "cut.deb", whole.data, whole.len);
	assert_refused(r, "damaged", cut, NULL, NULL);
	assert_int_equal(r->made, 0);
}

static void what_is_no_kernel_is_refused(void **state)
{
	struct room *r = *state;
	cleanup_free char *gone = xasprintf("%s/gone", r->dir);
	cleanup_free char *odd = xasprintf("%s/odd", r->dir);
	unsigned char arm[64] = { 'M', 'Z' };

	assert_refused(r, "No such file", gone, NULL, NULL);
	assert_refused(r, "a directory, but no kernel tree", r->dir, NULL, NULL);
	assert_refused(r, "not a regular file", "/dev/null", NULL, NULL);
	assert_refused(r, "an ELF file, but no kernel (vmlinux)", "/proc/self/exe", NULL, NULL);
	km_write(r->dir, "odd", "hello", 5);
	assert_refused(r, "none of a bzImage, a vmlinux", odd, NULL, NULL);
	km_write(r->dir, "odd", "", 0);
	assert_refused(r, "empty file", odd, NULL, NULL);
	km_write(r->dir, "odd", "!<arch>\nlibx.o/", 15);
	assert_refused(r, "no Debian package", odd, NULL, NULL);
	memcpy(arm + 56, "ARM\x64", 4);
	km_write(r->dir, "odd", arm, sizeof(arm));
	assert_refused(r, "arm64", odd, NULL, NULL);
	assert_refused(r, "not a kernel package", "debian:bash", NULL, NULL);
	assert_int_equal(r->made, 0);
}

static void initramfs_lists_modules_in_load_order(void **state)
{
	static const char list[] = "/modules/000-virtio.ko\n/modules/001-virtio_blk.ko\n";
	struct room *r = *state;
	cleanup_free char *guest = xasprintf("%s/guest", r->dir);
	cleanup_free char *root = xasprintf("%s/root", r->dir);
	CLEANUP(buf_free) struct buf cpio = { 0 };
	struct initramfs a, b, c;

	make_modules(r, "root/lib/modules/" KM_RELEASE "/kernel", KM_RELEASE);
	km_write(r->dir, "guest", "the guest program", 17);
	km_ok(resolve(r, r->image, root, NULL), &r->err);
	r->made = r->cached = 0;
	km_ok(initramfs_build(&r->cache, &r->k, guest, "format=1\n", &a, &r->err), &r->err);
	km_ok(initramfs_build(&r->cache, &r->k, guest, "format=1\n", &b, &r->err), &r->err);
	assert_int_equal(r->made, 1);
	assert_int_equal(r->cached, 1);
	km_ok(file_read(a.path, 1 << 24, &cpio, &r->err), &r->err);
	assert_int_equal(cpio.len, a.size);
	assert_memory_equal(cpio.data, "070701", 6);
	assert_non_null(memmem(cpio.data, cpio.len, list, strlen(list)));
	assert_non_null(memmem(cpio.data, cpio.len, "the guest program", 17));
	assert_null(memmem(cpio.data, cpio.len, "virtio_net", 10));
	assert_string_equal(a.digest, b.digest);
	/* the same from an empty cache, later, to the byte */
	km_ok(remove_tree(r->cache_dir, &r->err), &r->err);
	umask(077);
	km_ok(resolve(r, r->image, root, NULL), &r->err);
	km_ok(initramfs_build(&r->cache, &r->k, guest, "format=1\n", &c, &r->err), &r->err);
	umask(022);
	assert_string_equal(a.digest, c.digest);
	initramfs_free(&c);
	km_ok(initramfs_build(&r->cache, &r->k, guest, "format=1\nx=1\n", &c, &r->err), &r->err);
	assert_string_not_equal(a.digest, c.digest);
	initramfs_free(&a);
	initramfs_free(&b);
	initramfs_free(&c);
}

#define room_test(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		room_test(image_alone),
		room_test(config_beside_the_image),
		room_test(modules_in_any_of_three_places),
		room_test(modules_of_another_release_are_refused),
		room_test(build_tree),
		room_test(debian_package),
		room_test(cut_package_is_refused),
		room_test(what_is_no_kernel_is_refused),
		room_test(initramfs_lists_modules_in_load_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
