/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_preflight.c - which kernels may boot, and what the others are told
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "images/kernel_parts.h"
#include "tests/kernel_make.h"

/* What a kernel must have, whatever its disks */
static const char base[] =
	"CONFIG_64BIT=y\nCONFIG_X86_64=y\nCONFIG_BLK_DEV_INITRD=y\n"
	"CONFIG_BINFMT_ELF=y\nCONFIG_BINFMT_SCRIPT=y\nCONFIG_PRINTK=y\n"
	"CONFIG_TTY=y\nCONFIG_SERIAL_8250=y\nCONFIG_SERIAL_8250_CONSOLE=y\n"
	"CONFIG_PROC_FS=y\nCONFIG_PROC_SYSCTL=y\nCONFIG_SYSFS=y\n"
	"CONFIG_DEVTMPFS=y\nCONFIG_SHMEM=y\nCONFIG_TMPFS=y\nCONFIG_FUTEX=y\n"
	"CONFIG_FILE_LOCKING=y\nCONFIG_POSIX_TIMERS=y\nCONFIG_ACPI=y\n"
	"CONFIG_PCI=y\nCONFIG_BLOCK=y\nCONFIG_EFI_PARTITION=y\n"
	"CONFIG_EXT4_FS=y\n";
static const char virtio[] = "CONFIG_VIRTIO_PCI=y\nCONFIG_VIRTIO_BLK=y\n";
static const char ahci[] = "CONFIG_SATA_AHCI=y\nCONFIG_BLK_DEV_SD=y\n";
static const char pmem[] = "CONFIG_ACPI_NFIT=y\nCONFIG_LIBNVDIMM=y\nCONFIG_BLK_DEV_PMEM=y\n"
	"CONFIG_NET=y\nCONFIG_UNIX=y\nCONFIG_BLK_DEV_NBD=y\n";
static const char figures[] =
	"CONFIG_SMP=y\nCONFIG_SWAP=y\nCONFIG_CGROUPS=y\nCONFIG_MEMCG=y\n"
	"CONFIG_BLK_CGROUP=y\n"
	"CONFIG_FAIR_GROUP_SCHED=y\nCONFIG_PSI=y\nCONFIG_TASK_IO_ACCOUNTING=y\n"
	"CONFIG_EFI_STUB=y\nCONFIG_VM_EVENT_COUNTERS=y\nCONFIG_HIGH_RES_TIMERS=y\n";

/* struct trial - one preflight */
struct trial {
	char *dir;
	struct kernel k;
	struct strings notes;
	struct error err;
};

static void trial_begin(struct trial *t, const char *name, const char *text)
{
	*t = (struct trial){ .dir = km_dir() };
	km_write(t->dir, name, text, strlen(text));
	t->k.spec = xstrdup("./bzImage");
	t->k.label = xstrdup("mine");
	t->k.release = xstrdup(KM_RELEASE);
	*(strcmp(name, "judged") == 0 ? &t->k.judged : &t->k.config) =
		xasprintf("%s/%s", t->dir, name);
}

static void trial_end(struct trial *t)
{
	kernel_free(&t->k);
	strings_clear(&t->notes);
	km_remove(t->dir);
}

static void config_of(struct buf *b, const char *a, const char *c, const char *d)
{
	buf_adds(b, base);
	buf_adds(b, a);
	buf_adds(b, c);
	buf_adds(b, d);
}

static void complete_kernel_passes(void **state)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	struct trial t;

	(void)state;
	config_of(&text, ahci, pmem, figures);
	trial_begin(&t, "config", text.data);
	km_ok(kernel_preflight(&t.k, 0, &t.notes, &t.err), &t.err);
	km_ok(kernel_preflight(&t.k, KERNEL_EXACT, &t.notes, &t.err), &t.err);
	assert_int_equal(t.notes.n, 0);
	trial_end(&t);
}

/* Takes each option away in turn: it, and only it, must be named. */
static void every_missing_option_is_named(void **state)
{
	CLEANUP(buf_free) struct buf all = { 0 };

	(void)state;
	config_of(&all, virtio, pmem, figures);
	for (const char *p = base; *p; p += strcspn(p, "\n") + 1) {
		size_t len = strcspn(p, "=");
		cleanup_free char *option = xstrndup(p, len);
		cleanup_free char *want = xasprintf("lacks %s;", option);
		cleanup_free char *line = xasprintf("%s=", option);
		CLEANUP(buf_free) struct buf text = { 0 };
		const char *at = strstr(all.data, line);
		struct trial t;

		buf_add(&text, all.data, (size_t)(at - all.data));
		buf_printf(&text, "# %s is not set\n", option);
		buf_adds(&text, at + strcspn(at, "\n") + 1);
		trial_begin(&t, "config", text.data);
		assert_int_equal(kernel_preflight(&t.k, KERNEL_EXACT, NULL, &t.err), -1);
		assert_non_null(strstr(t.err.text, want));
		assert_non_null(strstr(t.err.text, "./bzImage"));
		trial_end(&t);
	}
}

/* chat talks over TCP; a kernel without it boots everything else */
static void tcp_is_asked_for_only_where_it_is_used(void **state)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	struct trial t;

	(void)state;
	config_of(&text, virtio, pmem, figures);
	trial_begin(&t, "config", text.data);
	km_ok(kernel_preflight(&t.k, KERNEL_EXACT, NULL, &t.err), &t.err);
	assert_int_equal(kernel_preflight(&t.k, KERNEL_EXACT | KERNEL_INET,
					  NULL, &t.err), -1);
	assert_non_null(strstr(t.err.text, "lacks CONFIG_INET;"));
	buf_adds(&text, "CONFIG_INET=y\n");
	km_write(t.dir, "config", text.data, text.len);
	km_ok(kernel_preflight(&t.k, KERNEL_INET, NULL, &t.err), &t.err);
	km_ok(kernel_preflight(&t.k, KERNEL_EXACT | KERNEL_INET, NULL, &t.err),
	      &t.err);
	trial_end(&t);
}

static void options_younger_than_the_kernel_are_not_asked_for(void **state)
{
	static const char young[] = "CONFIG_POSIX_TIMERS=y\n";
	CLEANUP(buf_free) struct buf text = { 0 };
	struct trial t;
	char *at;

	(void)state;
	config_of(&text, virtio, "", figures);
	at = strstr(text.data, young);
	memset(at, '\n', strlen(young));
	trial_begin(&t, "config", text.data);
	assert_int_equal(kernel_preflight(&t.k, 0, NULL, &t.err), -1);
	free(t.k.release);
	t.k.release = xstrdup("4.4.302");
	km_ok(kernel_preflight(&t.k, 0, NULL, &t.err), &t.err);
	trial_end(&t);
}

static void a_module_counts_only_when_it_is_there(void **state)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	struct trial t;
	char *at;

	(void)state;
	config_of(&text, virtio, "", figures);
	at = strstr(text.data, "CONFIG_EXT4_FS=y");
	at[15] = 'm';
	trial_begin(&t, "config", text.data);
	assert_int_equal(kernel_preflight(&t.k, 0, NULL, &t.err), -1);
	assert_non_null(strstr(t.err.text, "CONFIG_EXT4_FS (is =m, but ext4.ko is not among its modules)"));
	assert_non_null(strstr(t.err.text, "--modules"));
	t.k.modules = xasprintf("%s/modules", t.dir);
	km_ko(t.k.modules, "kernel/fs/ext4/ext4.ko", "depends=");
	km_ok(kernel_preflight(&t.k, 0, NULL, &t.err), &t.err);
	/* a console must be there before any module is */
	at = strstr(text.data, "CONFIG_SERIAL_8250=y");
	at[19] = 'm';
	km_write(t.dir, "config", text.data, text.len);
	assert_int_equal(kernel_preflight(&t.k, 0, NULL, &t.err), -1);
	assert_non_null(strstr(t.err.text, "CONFIG_SERIAL_8250 (is =m, must be =y)"));
	trial_end(&t);
}

static void one_disk_bus_will_do(void **state)
{
	static const struct {
		const char *config;
		enum kernel_bus bus;
	} good[] = {
		{ "CONFIG_VIRTIO_PCI=y\nCONFIG_VIRTIO_BLK=y\n", KERNEL_BUS_VIRTIO },
		{ "CONFIG_SATA_AHCI=y\nCONFIG_BLK_DEV_SD=y\n", KERNEL_BUS_AHCI },
		{ "CONFIG_VIRTIO_BLK=y\nCONFIG_ATA_PIIX=y\nCONFIG_BLK_DEV_SD=y\n", KERNEL_BUS_PIIX },
	};
	struct trial t;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CLEANUP(buf_free) struct buf text = { 0 };
		unsigned int set;

		config_of(&text, good[i].config, "", "");
		trial_begin(&t, "config", text.data);
		km_ok(kernel_preflight(&t.k, 0, NULL, &t.err), &t.err);
		km_ok(kernel_disk_buses(&t.k, &set, &t.err), &t.err);
		assert_int_equal(set, 1u << good[i].bus);
		/* and none of them is an NVDIMM */
		assert_int_equal(kernel_preflight(&t.k, KERNEL_EXACT, NULL, &t.err), -1);
		assert_non_null(strstr(t.err.text, "lacks CONFIG_ACPI_NFIT, CONFIG_LIBNVDIMM, CONFIG_BLK_DEV_PMEM, CONFIG_NET, CONFIG_UNIX, CONFIG_BLK_DEV_NBD;"));
		trial_end(&t);
	}
	trial_begin(&t, "config", base);
	assert_int_equal(kernel_preflight(&t.k, 0, NULL, &t.err), -1);
	assert_non_null(strstr(t.err.text, "a disk driver (CONFIG_VIRTIO_PCI, CONFIG_VIRTIO_BLK; or CONFIG_SATA_AHCI"));
	trial_end(&t);
}

static void figures_that_are_lost_are_noted(void **state)
{
	CLEANUP(buf_free) struct buf text = { 0 };
	struct trial t;

	(void)state;
	config_of(&text, ahci, "", figures);
	memset(strstr(text.data, "CONFIG_PSI=y\n"), '\n', 13);
	trial_begin(&t, "config", text.data);
	km_ok(kernel_preflight(&t.k, 0, &t.notes, &t.err), &t.err);
	assert_int_equal(t.notes.n, 1);
	assert_non_null(strstr(t.notes.v[0], "mine: CONFIG_PSI"));
	trial_end(&t);
}

/* Without a configuration: the strings that a whole kernel and one without the
 * feature differ in. */
static void image_gives_features_away(void **state)
{
	static const char elf64[] = "\177ELF\2";
	static const char strings[] =
		"%sconsole [%s%d] enabled\n\0retain_initrd\0self/mounts\0drop_caches\0"
		"sysfs\0devtmpfs\0nr_blocks\0Couldn't register /dev/tty driver\n\0"
		"serial8250\0uart8250\0futex\0file_lock_cache\0posix_timers_cache\0"
		"LNXSYBUS\0PCI conf1\0kblockd\0\0014Primary GPT is invalid, using\0"
		"Uhuuh, elf segment at\0virtio-pci\0virtio_blk";
	CLEANUP(buf_free) struct buf vmlinux = { 0 }, judged = { 0 };
	struct trial t;

	(void)state;
	buf_add(&vmlinux, elf64, sizeof(elf64));
	buf_add(&vmlinux, strings, sizeof(strings));
	preflight_judge(&vmlinux, KM_RELEASE, &judged);
	trial_begin(&t, "judged", judged.data);
	assert_int_equal(kernel_preflight(&t.k, 0, NULL, &t.err), -1);
	assert_non_null(strstr(t.err.text, "lacks CONFIG_EXT4_FS;"));
	assert_non_null(strstr(t.err.text, "judged by its image"));
	trial_end(&t);

	buf_adds(&vmlinux, "ext4_inode_cache");
	buf_free(&judged);
	preflight_judge(&vmlinux, KM_RELEASE, &judged);
	trial_begin(&t, "judged", judged.data);
	km_ok(kernel_preflight(&t.k, 0, &t.notes, &t.err), &t.err);
	assert_non_null(strstr(t.notes.v[0], "no configuration was found"));
	trial_end(&t);
}

static void bare_image_lacks_it_all(void **state)
{
	static const char *const want[] = {
		"CONFIG_64BIT,", "CONFIG_BLK_DEV_INITRD,", "CONFIG_PRINTK,",
		"CONFIG_TTY,", "CONFIG_SERIAL_8250,", "CONFIG_SERIAL_8250_CONSOLE,",
		"CONFIG_PROC_FS,", "CONFIG_SYSFS,", "CONFIG_DEVTMPFS,",
		"CONFIG_TMPFS,", "CONFIG_FUTEX,", "CONFIG_ACPI,", "CONFIG_PCI,",
		"CONFIG_BLOCK,", "CONFIG_EFI_PARTITION,", "CONFIG_EXT4_FS,",
		"CONFIG_ACPI_NFIT,", "CONFIG_LIBNVDIMM,", "CONFIG_BLK_DEV_PMEM;",
	};
	CLEANUP(buf_free) struct buf vmlinux = { 0 }, judged = { 0 };
	struct trial t;

	(void)state;
	buf_add(&vmlinux, "\177ELF\1", 6);
	preflight_judge(&vmlinux, KM_RELEASE, &judged);
	trial_begin(&t, "judged", judged.data);
	assert_int_equal(kernel_preflight(&t.k, KERNEL_EXACT, NULL, &t.err), -1);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_non_null(strstr(t.err.text, want[i]));
	/* a printk's text proves nothing where there is no printk */
	assert_null(strstr(t.err.text, "BINFMT_ELF"));
	trial_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(complete_kernel_passes),
		cmocka_unit_test(every_missing_option_is_named),
		cmocka_unit_test(tcp_is_asked_for_only_where_it_is_used),
		cmocka_unit_test(options_younger_than_the_kernel_are_not_asked_for),
		cmocka_unit_test(a_module_counts_only_when_it_is_there),
		cmocka_unit_test(one_disk_bus_will_do),
		cmocka_unit_test(figures_that_are_lost_are_noted),
		cmocka_unit_test(image_gives_features_away),
		cmocka_unit_test(bare_image_lacks_it_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
