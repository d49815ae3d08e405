/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_accel.c - the QEMU that is found, and what is made of a boot under KVM;
 * QEMU is a shell script that behaves as it was seen to
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/accel.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

static char dir[] = "/tmp/kontest-unit-XXXXXX";

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return remove_tree(dir, NULL);
}

/* A program made of shell commands; the caller owns its path. */
static char *script(const char *commands)
{
	static int n;
	char *path = xasprintf("%s/qemu-%d", dir, n++);
	cleanup_free char *text = xasprintf("#!/bin/sh\n%s\n", commands);
	struct error err = { 0 };

	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

static int probe(const char *commands, unsigned int silence_s,
		 unsigned int total_s, struct error *err)
{
	static const struct profile profile = {
		.cpus = 1, .memory = 64 << 20, .cpu_model = "Nehalem-v1",
		.machine = "pc-q35-7.2",
	};
	cleanup_free char *qemu = script(commands);
	struct kvm_probe p = {
		.qemu = qemu, .profile = &profile, .vmlinuz = "/k", .initrd = "/i",
		.silence_s = silence_s, .total_s = total_s,
	};

	*err = (struct error){ 0 };
	return kvm_probe_boot(&p, err);
}

static void says(const struct error *err, const char *text)
{
	if (!strstr(err->text, text))
		fail_msg("no '%s' in '%s'", text, err->text);
}

static void probe_boots(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(probe("echo Linux; echo kontest probe ok; sleep 60",
			       5, 10, &err), 0);
	/* It is given the machine that the boots will have. */
	assert_int_equal(probe("case \"$*\" in *pc-q35-7.2,accel=kvm*'-cpu Nehalem-v1'*kontest.probe*) echo kontest probe ok; esac",
			       5, 10, &err), 0);
}

static void probe_fails(void **state)
{
	time_t start = time(NULL);
	struct error err;

	(void)state;
	assert_int_equal(probe("exec sleep 60", 1, 10, &err), -1);
	says(&err, "printed nothing for 1 s");
	assert_int_equal(probe("echo Decompressing; exec sleep 60", 1, 10, &err), -1);
	says(&err, "Decompressing");
	assert_int_equal(probe("while :; do echo x; sleep 0.2; done", 5, 1, &err), -1);
	says(&err, "got stuck (1 s)");
	assert_int_equal(probe("echo 'error: failed to set MSR 0x10a to 0x0' >&2; exit 134",
			       5, 10, &err), -1);
	says(&err, "MSR 0x10a");
	says(&err, "refuses");
	assert_int_equal(probe("exit 1", 5, 10, &err), -1);
	says(&err, "without a word");
	/* No success that the guest did not claim. */
	assert_int_equal(probe("echo kontest probe o; exit 0", 5, 10, &err), -1);
	assert_true(time(NULL) - start < 10);
}

static void device(void **state)
{
	cleanup_free char *file = script("");
	struct error err = { 0 };

	(void)state;
	assert_int_equal(kvm_device_check("/nonexistent/kvm", &err), -1);
	says(&err, "no /nonexistent/kvm");
	assert_int_equal(kvm_device_check(file, &err), -1);
	says(&err, "API version");
	if (geteuid() != 0) {
		assert_int_equal(chmod(file, 0), 0);
		assert_int_equal(kvm_device_check(file, &err), -1);
		says(&err, "group kvm");
	}
}

/* An answer that was found with one machine says nothing of another. */
static void answers_are_of_one_machine(void **state)
{
	static const struct profile machines[] = {
		{ .cpus = 1, .memory = 64 << 20, .cpu_model = "A", .machine = "m-1" },
		{ .cpus = 2, .memory = 64 << 20, .cpu_model = "A", .machine = "m-1" },
		{ .cpus = 1, .memory = 65 << 20, .cpu_model = "A", .machine = "m-1" },
		{ .cpus = 1, .memory = 64 << 20, .cpu_model = "B", .machine = "m-1" },
		{ .cpus = 1, .memory = 64 << 20, .cpu_model = "A", .machine = "m-2" },
		{ .cpus = 1, .memory = 64 << 20, .cpu_model = "A", .machine = "m-1",
		  .name = "of another name", .mips = 500 },
	};
	enum { N = sizeof(machines) / sizeof(*machines) };
	cleanup_free char *kernel = script("");
	struct qemu_info q = { .path = kernel, .version = "7.2", .package = "" };
	struct error err = { 0 };
	char *paths[N];

	(void)state;
	for (size_t i = 0; i < N; i++) {
		struct kvm_probe p = { .profile = &machines[i], .vmlinuz = kernel };

		paths[i] = kvm_answer_path(&p, &q, dir, &err);
		assert_non_null(paths[i]);
		for (size_t k = 0; k < i && i < N - 1; k++)
			assert_string_not_equal(paths[i], paths[k]);
	}
	assert_string_equal(paths[0], paths[N - 1]);
	for (size_t i = 0; i < N; i++)
		free(paths[i]);
}

static void choose(void **state)
{
	struct profile two = { .name = "two", .cpus = 2 };
	struct profile one = { .name = "one", .cpus = 1 };
	struct error err = { 0 };
	enum accel got;
	char *why;

	(void)state;
	assert_int_equal(accel_choose(ACCEL_TCG, &two, "/k", "/i", dir, &got, &why, &err), 0);
	assert_int_equal(got, ACCEL_TCG);
	assert_null(why);
	assert_int_equal(accel_choose(ACCEL_EXACT, &one, "/k", "/i", dir, &got, &why, &err), 0);
	assert_int_equal(got, ACCEL_EXACT);
	assert_int_equal(accel_choose(ACCEL_EXACT, &two, "/k", "/i", dir, &got, &why, &err), -1);
	says(&err, "2 CPUs");
	if (access("/dev/kvm", F_OK) == 0)
		return;
	assert_int_equal(accel_choose(ACCEL_AUTO, &two, "/k", "/i", dir, &got, &why, &err), 0);
	assert_int_equal(got, ACCEL_TCG);
	assert_non_null(strstr(why, "no /dev/kvm"));
	assert_null(strchr(why, '\n'));
	free(why);
	assert_int_equal(accel_choose(ACCEL_KVM, &two, "/k", "/i", dir, &got, &why, &err), -1);
	says(&err, "no /dev/kvm");
}

static void qemu(void **state)
{
	cleanup_free char *plain = script("echo 'QEMU emulator version 9.1.50'");
	cleanup_free char *deb = script("echo 'QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)'; echo Copyright");
	cleanup_free char *odd = script("echo bash");
	struct error err = { 0 };
	struct qemu_info q;

	(void)state;
	setenv("KONTEST_QEMU", plain, 1);
	assert_int_equal(qemu_probe(&q, &err), 0);
	assert_string_equal(q.version, "9.1.50");
	assert_string_equal(q.package, "");
	qemu_info_free(&q);
	setenv("KONTEST_QEMU", deb, 1);
	assert_int_equal(qemu_probe(&q, &err), 0);
	assert_string_equal(q.path, deb);
	assert_string_equal(q.version, "7.2.22");
	assert_string_equal(q.package, "Debian 1:7.2+dfsg-7+deb12u18");
	qemu_info_free(&q);
	setenv("KONTEST_QEMU", odd, 1);
	assert_int_equal(qemu_probe(&q, &err), -1);
	says(&err, "not a QEMU");
	setenv("KONTEST_QEMU", "/nonexistent/qemu", 1);
	assert_int_equal(qemu_probe(&q, &err), -1);
	says(&err, "KONTEST_QEMU names '/nonexistent/qemu'");
	unsetenv("KONTEST_QEMU");
	setenv("PATH", dir, 1);
	if (access("/usr/sbin/qemu-system-x86_64", X_OK) < 0 &&
	    access("/sbin/qemu-system-x86_64", X_OK) < 0) {
		assert_int_equal(qemu_probe(&q, &err), -1);
		says(&err, "qemu-system-x86");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probe_boots),
		cmocka_unit_test(probe_fails),
		cmocka_unit_test(device),
		cmocka_unit_test(answers_are_of_one_machine),
		cmocka_unit_test(choose),
		cmocka_unit_test(qemu),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
