/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_bus.c - one bus for the disks of all kernels of a run
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/bus.h"
#include "tests/kernel_make.h"

#define VIRTIO "CONFIG_VIRTIO_PCI=y\nCONFIG_VIRTIO_BLK=y\n"
#define AHCI "CONFIG_SATA_AHCI=y\nCONFIG_BLK_DEV_SD=y\n"
#define IDE "CONFIG_ATA_PIIX=y\nCONFIG_BLK_DEV_SD=y\n"

/* struct trial - up to three kernels, by their configurations */
struct trial {
	char *dir;
	struct kernel k[3];
	const struct kernel *v[3];
	size_t n;
	struct profile p;
	enum kernel_bus bus;
	char *note;
	struct error err;
};

static int choose(struct trial *t, const char *const configs[])
{
	*t = (struct trial){ .dir = km_dir() };
	strcpy(t->p.name, "mine");
	strcpy(t->p.machine, "pc-q35-7.2");
	t->p.swap.present = true;
	for (; configs[t->n]; t->n++) {
		cleanup_free char *name = xasprintf("config%zu", t->n);
		struct kernel *k = &t->k[t->n];

		km_write(t->dir, name, configs[t->n], strlen(configs[t->n]));
		k->spec = xstrdup("./bzImage");
		k->label = xasprintf("k%zu", t->n);
		k->release = xstrdup(KM_RELEASE);
		k->config = xasprintf("%s/%s", t->dir, name);
		t->v[t->n] = k;
	}
	return bus_choose(t->v, t->n, &t->p, &t->bus, &t->note, &t->err);
}

static void trial_end(struct trial *t)
{
	for (size_t i = 0; i < t->n; i++)
		kernel_free(&t->k[i]);
	free(t->note);
	km_remove(t->dir);
}

static void the_fastest_that_all_have(void **state)
{
	static const struct {
		const char *configs[4];
		enum kernel_bus bus;
		const char *note;
	} cases[] = {
		{ { VIRTIO }, KERNEL_BUS_VIRTIO, NULL },
		{ { VIRTIO AHCI, VIRTIO AHCI IDE }, KERNEL_BUS_VIRTIO, NULL },
		{ { AHCI IDE }, KERNEL_BUS_AHCI, "kernel k0 has no driver for virtio" },
		{ { VIRTIO AHCI, AHCI, VIRTIO AHCI }, KERNEL_BUS_AHCI, "disks are on AHCI: kernel k1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trial t;

		km_ok(choose(&t, cases[i].configs), &t.err);
		assert_int_equal(t.bus, cases[i].bus);
		if (cases[i].note)
			assert_non_null(strstr(t.note, cases[i].note));
		else
			assert_null(t.note);
		trial_end(&t);
	}
}

static void refused(const char *const configs[], const char *want)
{
	struct trial t;

	assert_int_equal(choose(&t, configs), -1);
	if (!strstr(t.err.text, want))
		fail_msg("no '%s' in: %s", want, t.err.text);
	trial_end(&t);
}

static void what_cannot_be_compared_is_refused(void **state)
{
	(void)state;
	refused((const char *[]){ VIRTIO, AHCI, NULL },
		"kernel 'k1' has drivers for disks on AHCI, the ones before it for virtio");
	refused((const char *[]){ "CONFIG_64BIT=y\n", NULL },
		"no driver for a virtio, AHCI or IDE disk");
}

static void ide_needs_a_machine_that_has_it(void **state)
{
	const char *const configs[] = { IDE, NULL };
	struct trial t;

	(void)state;
	refused(configs, "machine pc-q35-7.2 of profile 'mine' has no IDE");
	assert_int_equal(choose(&t, configs), -1);
	strcpy(t.p.machine, "pc-i440fx-7.2");
	km_ok(bus_choose(t.v, t.n, &t.p, &t.bus, &t.note, &t.err), &t.err);
	assert_int_equal(t.bus, KERNEL_BUS_PIIX);
	assert_non_null(strstr(t.note, "disks are on IDE"));
	free(t.note);
	t.p.other.present = true;
	assert_int_equal(bus_choose(t.v, t.n, &t.p, &t.bus, &t.note, &t.err), -1);
	assert_non_null(strstr(t.err.text, "which can be 4, and profile 'mine' has 5"));
	trial_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fastest_that_all_have),
		cmocka_unit_test(what_cannot_be_compared_is_refused),
		cmocka_unit_test(ide_needs_a_machine_that_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
