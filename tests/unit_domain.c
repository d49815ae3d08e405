/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_domain.c - the domain XML, whole, for each way to run
 *
 * The disks are sparse files below DIR, which the golden text names @DIR@.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/domain.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

static char dir[] = "/tmp/kontest-unit-XXXXXX";
static char *paths[5];

static const struct profile_disk rates = {
	.present = true, .rbps = 41943040, .wbps = 20971520, .riops = 1000,
};

static struct profile profile = {
	.name = "small", .cpus = 1, .memory = 256 << 20, .mips = 500,
	.icount_shift = 1, .cpu_model = "Nehalem-v1", .machine = "pc-q35-7.2",
};

static int setup(void **state)
{
	static const char *const names[] = {
		"system", "work", "other", "swap", "results"
	};
	static const unsigned int mib[] = { 400, 384, 64, 256, 32 };

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	for (size_t i = 0; i < 5; i++) {
		cleanup_fclose FILE *f = NULL;

		paths[i] = xasprintf("%s/%s.img", dir, names[i]);
		f = fopen(paths[i], "w");
		if (!f || ftruncate(fileno(f), (off_t)mib[i] << 20) < 0)
			return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < 5; i++)
		free(paths[i]);
	return remove_tree(dir, NULL);
}

static struct boot_config config(enum accel accel)
{
	return (struct boot_config){
		.name = "golden", .dir = dir, .emulator = "/root/emulator",
		.profile = &profile, .accel = accel,
		.vmlinuz = "/k/vmlinuz", .initrd = "/k/initrd",
		.cmdline = "console=ttyS0 nokaslr",
		.system = { .path = paths[0], .readonly = true },
		.work = { .path = paths[1], .scratch = true, .rates = &rates },
		.swap = { .path = paths[3], .scratch = true },
		.results = { .path = paths[4] },
	};
}

/* The XML with @DIR@ for the directory, and "none" for the cache mode: what
 * /tmp is made of is no business of this test. */
static char *xml_of(const struct boot_config *cfg)
{
	struct error err = { 0 };
	cleanup_free char *xml = domain_xml(cfg, &err);
	struct buf b = { 0 };
	const char *s = xml;

	if (!xml)
		fail_msg("%s", err.text);
	while (*s) {
		if (str_starts(s, dir)) {
			buf_adds(&b, "@DIR@");
			s += strlen(dir);
		} else if (str_starts(s, "cache='writeback'")) {
			buf_adds(&b, "cache='none'");
			s += strlen("cache='writeback'");
		} else {
			buf_add(&b, s++, 1);
		}
	}
	return b.data;
}

static void check_golden(const struct boot_config *cfg, const char *path)
{
	cleanup_free char *xml = xml_of(cfg);
	struct buf want CLEANUP(buf_free) = { 0 };
	struct error err = { 0 };

	if (file_read(path, 65536, &want, &err) < 0)
		fail_msg("%s", err.text);
	if (strcmp(xml, want.data ? want.data : "") != 0) {
		fprintf(stderr, "%s", xml);
		fail_msg("the XML above is not as in %s", path);
	}
}

static void golden(void **state)
{
	static const struct {
		enum accel accel;
		const char *path;
	} cases[] = {
		{ ACCEL_EXACT, "tests/golden/domain-exact.xml" },
		{ ACCEL_TCG, "tests/golden/domain-tcg.xml" },
		{ ACCEL_KVM, "tests/golden/domain-kvm.xml" },
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct boot_config cfg = config(cases[i].accel);

		check_golden(&cfg, cases[i].path);
	}
}

/* Where a kernel has no virtio: the same disks elsewhere, none read-only. */
static void other_buses(void **state)
{
	struct boot_config cfg = config(ACCEL_TCG);

	(void)state;
	cfg.system = (struct boot_disk){ .path = paths[0], .scratch = true };
	cfg.bus = KERNEL_BUS_AHCI;
	check_golden(&cfg, "tests/golden/domain-sata.xml");
	cfg.bus = KERNEL_BUS_PIIX;
	check_golden(&cfg, "tests/golden/domain-ide.xml");
	/* exact mode has NVDIMMs, whatever bus there is */
	cfg = config(ACCEL_EXACT);
	cfg.bus = KERNEL_BUS_AHCI;
	check_golden(&cfg, "tests/golden/domain-exact.xml");
}

/* What the guest can see of exact mode must not depend on the boot's name. */
static void same_machine(void **state)
{
	struct boot_config a = config(ACCEL_EXACT), b = config(ACCEL_EXACT);
	cleanup_free char *xa = NULL, *xb = NULL;

	(void)state;
	b.name = "another";
	xa = xml_of(&a);
	xb = xml_of(&b);
	assert_string_not_equal(xa, xb);
	assert_string_equal(strstr(xa, "<memory"), strstr(xb, "<memory"));
}

static void escapes(void **state)
{
	struct boot_config cfg = config(ACCEL_TCG);
	cleanup_free char *xml = NULL;

	(void)state;
	cfg.cmdline = "a='<\">' b=&c";
	cfg.vmlinuz = "/k/'</kernel>";
	xml = xml_of(&cfg);
	assert_non_null(strstr(xml,
		"<cmdline>a=&apos;&lt;&quot;&gt;&apos; b=&amp;c</cmdline>"));
	assert_non_null(strstr(xml, "<kernel>/k/&apos;&lt;/kernel&gt;</kernel>"));
}

/* QEMU's options end at a comma. */
static void comma(void **state)
{
	struct boot_config cfg = config(ACCEL_EXACT);
	cleanup_free char *path = xasprintf("%s/a,share=on", dir);
	cleanup_free char *xml = NULL;

	(void)state;
	assert_int_equal(link(paths[1], path), 0);
	cfg.work.path = path;
	xml = xml_of(&cfg);
	assert_non_null(strstr(xml,
		"mem-path=@DIR@/a,,share=on,size=402653184,share=off"));
	assert_int_equal(unlink(path), 0);
}

static void refused(const struct boot_config *cfg, const char *text)
{
	struct error err = { 0 };

	assert_null(domain_xml(cfg, &err));
	if (!strstr(err.text, text))
		fail_msg("no '%s' in '%s'", text, err.text);
}

static void refuses(void **state)
{
	struct profile two = profile;
	struct boot_config cfg = config(ACCEL_EXACT);
	cleanup_free char *odd = xasprintf("%s/odd.img", dir);
	struct error err = { 0 };

	(void)state;
	two.cpus = 2;
	cfg.profile = &two;
	refused(&cfg, "2 CPUs");
	cfg.accel = ACCEL_TCG;
	free(xml_of(&cfg));

	cfg = config(ACCEL_EXACT);
	cfg.work.path = "/nonexistent/work.img";
	refused(&cfg, "/nonexistent/work.img");
	assert_int_equal(file_write(odd, "12345", 5, &err), 0);
	cfg.work.path = odd;
	refused(&cfg, "multiple of 4096");
	cfg = config(ACCEL_AUTO);
	refused(&cfg, "accelerator");
	cfg = config(ACCEL_KVM);
	cfg.cmdline = "a\nb";
	refused(&cfg, "control character");

	cfg = config(ACCEL_TCG);
	cfg.bus = KERNEL_BUS_AHCI;
	refused(&cfg, "'system' cannot be read-only on sata");
	cfg.system = (struct boot_disk){ .path = paths[0], .scratch = true };
	free(xml_of(&cfg));
	cfg.other = (struct boot_disk){ .path = paths[2], .scratch = true };
	free(xml_of(&cfg));
	cfg.bus = KERNEL_BUS_PIIX;
	refused(&cfg, "5 disks, and IDE takes 4");
}

static void cmdline(void **state)
{
	cleanup_free char *a = exact_cmdline(""), *b = exact_cmdline("x y");
	cleanup_free char *c = exact_cmdline("swiotlb=4096 x");

	(void)state;
	assert_string_equal(a, "swiotlb=noforce");
	assert_string_equal(b, "x y swiotlb=noforce");
	assert_string_equal(c, "swiotlb=4096 x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),
		cmocka_unit_test(other_buses),
		cmocka_unit_test(same_machine),
		cmocka_unit_test(escapes),
		cmocka_unit_test(comma),
		cmocka_unit_test(refuses),
		cmocka_unit_test(cmdline),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
