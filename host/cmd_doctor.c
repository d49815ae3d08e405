/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdarg.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/boot.h"
#include "host/cmd.h"
#include "host/paths.h"
#include "host/virt.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/proc.h"

static int missing;

static void __attribute__((format(printf, 3, 4)))
say(bool ok, const char *what, const char *fmt, ...)
{
	va_list ap;

	missing += !ok;
	printf("%-4s %-12s ", ok ? "ok" : "NO", what);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static void check_qemu(void)
{
	struct qemu_info q = { 0 };
	struct error err = { 0 };

	if (qemu_probe(&q, &err) < 0)
		say(false, "qemu", "%s", err.text);
	else
		say(true, "qemu", "%s, version %s (%s)", q.path, q.version, q.package);
	qemu_info_free(&q);
}

/* In a process of its own, as boots do: connecting may change who we are. */
static void check_libvirt(void)
{
	pid_t pid;
	int wstatus = 0;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		struct qemu_info q = { 0 };
		struct virt v = { 0 };
		struct error err = { 0 };
		bool ok = !qemu_probe(&q, &err) &&
			  !virt_open(&v, NULL, q.path, "/dev/null", &err);

		say(ok, "libvirt", "%s", ok ? "the embedded QEMU driver answers"
					    : err.text);
		virt_close(&v);
		fflush(NULL);
		_exit(ok ? 0 : 1);
	}
	if (pid < 0 || waitpid(pid, &wstatus, 0) < 0)
		say(false, "libvirt", "cannot be tried: %s", strerror(errno));
	missing += WIFEXITED(wstatus) ? WEXITSTATUS(wstatus) : 1;
}

static void check_kvm(void)
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	/* Not a fault: everything works without, only more slowly. */
	if (fd < 0)
		printf("--   %-12s /dev/kvm: %s; TCG and exact mode work without it\n",
		       "kvm", strerror(errno));
	else
		printf("ok   %-12s /dev/kvm opens; whether kernels boot under it, `kontest run --accel kvm` finds out\n",
		       "kvm");
	cleanup_closep(&fd);
}

static void check_programs(void)
{
	static const struct {
		const char *program, *package;
	} all[] = {
		{ "apt-get", "apt" }, { "mkfs.fat", "dosfstools" },
		{ "mcopy", "mtools" }, { "grub-mkimage", "grub-common" },
		{ "objcopy", "binutils" }, { "qemu-img", "qemu-utils" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		cleanup_free char *path = proc_find(all[i].program);

		if (path)
			say(true, all[i].program, "%s", path);
		else
			say(false, all[i].program, "missing: install package %s",
			    all[i].package);
	}
}

static void check_files(void)
{
	static const struct {
		const char *file, *package;
	} all[] = {
		{ "/usr/lib/grub/i386-pc/boot.img", "grub-pc-bin" },
		{ "/usr/lib/systemd/boot/efi/linuxx64.efi.stub", "systemd-boot-efi" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		say(path_exists(all[i].file), "file", "%s%s%s", all[i].file,
		    path_exists(all[i].file) ? "" : ": missing, install package ",
		    path_exists(all[i].file) ? "" : all[i].package);
}

static void check_dir(const char *what, char *dir, struct error *err)
{
	struct statvfs st;

	if (!dir) {
		say(false, what, "%s", err->text);
		return;
	}
	if (access(dir, W_OK) < 0 || statvfs(dir, &st) < 0) {
		say(false, what, "%s: %s", dir, strerror(errno));
	} else {
		uint64_t free_mib = (uint64_t)st.f_bavail * st.f_frsize >> 20;

		say(free_mib >= 2048, what, "%s, %llu MiB free%s", dir,
		    (unsigned long long)free_mib,
		    free_mib >= 2048 ? "" : ": 2048 MiB are wanted");
	}
	free(dir);
}

static int run(int argc, char **argv)
{
	struct error err = { 0 };

	if (argc == 2 && !strcmp(argv[1], "--help"))
		return cmd_help(&cmd_doctor);
	if (argc > 1)
		return cmd_usage(&cmd_doctor, "it takes no arguments");
	missing = 0;
	check_qemu();
	check_libvirt();
	check_kvm();
	check_programs();
	check_files();
	check_dir("cache", cache_home(&err), &err);
	check_dir("data", data_home(&err), &err);
	say(path_is_dir(share_dir()), "share", "%s", share_dir());
	return missing ? EXIT_USAGE : 0;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.args = "",
	.summary = "what this host can do, and the remedy for what it cannot",
	.help =
"Each line is ok, NO with the remedy, or -- for what is not needed. Exit status\n"
"2 when something is missing. `make deps` installs every Debian package needed.\n",
	.run = run,
};
