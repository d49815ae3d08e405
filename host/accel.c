/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/accel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

#include "results/base/cleanup.h"
#include "results/base/clock.h"
#include "results/base/file.h"

#define PROBE_OK "kontest probe ok"
#define OUTPUT_MAX (1 << 20)
#define ANSWER_MAX 4096

int kvm_device_check(const char *device, struct error *err)
{
	cleanup_close int fd = open(device, O_RDWR | O_CLOEXEC);
	int api;

	if (fd < 0 && errno == ENOENT)
		return error_set(err, 0,
			"there is no %s: switch on the CPU's virtualization (in a VM: nesting) and load kvm_intel or kvm_amd", device);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return error_set(err, 0,
			"you may not use %s: add yourself to the group kvm (adduser \"$USER\" kvm) and log in again", device);
	if (fd < 0)
		return error_set(err, errno, "open %s", device);
	api = ioctl(fd, KVM_GET_API_VERSION, 0);
	if (api != KVM_API_VERSION)
		return error_set(err, 0, "%s is no KVM that QEMU could use (API version %d instead of %d)",
				 device, api, KVM_API_VERSION);
	return 0;
}

static void __attribute__((noreturn))
exec_qemu(const struct kvm_probe *p, int out, pid_t parent)
{
	cleanup_free char *machine = xasprintf("%s,accel=kvm", p->profile->machine);
	cleanup_free char *mem = xasprintf("%lluK",
		(unsigned long long)(p->profile->memory / 1024));
	cleanup_free char *cpus = xasprintf("%u", p->profile->cpus);
	const char *argv[] = {
		p->qemu, "-nodefaults", "-no-user-config", "-machine", machine,
		"-cpu", p->profile->cpu_model, "-m", mem, "-smp", cpus,
		"-display", "none", "-serial", "stdio", "-no-reboot",
		"-kernel", p->vmlinuz, "-initrd", p->initrd, "-append",
		"console=ttyS0 panic=-1 kontest.probe", NULL
	};
	int null = open("/dev/null", O_RDONLY);

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
	    null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(127);
	execv(p->qemu, (char *const *)argv);
	dprintf(2, "cannot execute '%s': %s\n", p->qemu, strerror(errno));
	_exit(127);
}

/* Read until the guest has said it, QEMU has ended, or a deadline has passed.
 * Returns what passed: 0 or a number of seconds. */
static unsigned int listen_to(const struct kvm_probe *p, int fd, struct buf *out)
{
	uint64_t start = clock_now_ms(), last = start;
	char data[4096];

	for (;;) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		uint64_t now = clock_now_ms();
		ssize_t n;

		if (now - last >= p->silence_s * 1000ULL)
			return p->silence_s;
		if (now - start >= p->total_s * 1000ULL || out->len > OUTPUT_MAX)
			return p->total_s;
		if (poll(&pfd, 1, 200) <= 0)
			continue;
		n = read(fd, data, sizeof(data));
		if (n <= 0)
			return 0;
		buf_add(out, data, (size_t)n);
		if (memmem(out->data, out->len, PROBE_OK, strlen(PROBE_OK)))
			return 0;
		last = clock_now_ms();
	}
}

/* The last line with something on it, printable, cut to a readable length. */
static char *last_line(const struct buf *out)
{
	const char *end = out->data ? out->data + out->len : "";
	const char *begin;
	char *line;

	while (out->data && end > out->data && (unsigned char)end[-1] <= ' ')
		end--;
	begin = end;
	while (out->data && begin > out->data && begin[-1] != '\n' &&
	       end - begin < 200)
		begin--;
	line = xstrndup(begin, (size_t)(end - begin));
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
	return line;
}

static int explain(const struct buf *out, unsigned int late_s, struct error *err)
{
	cleanup_free char *line = last_line(out);
	const char *pvm = path_is_dir("/sys/module/kvm_pvm") ?
		" (this host's KVM is kvm_pvm, which is known for that)" : "";

	if (out->len && memmem(out->data, out->len, "failed to set MSR", 17))
		return error_set(err, 0,
			"KVM refuses a register that QEMU must set: %s%s", line, pvm);
	if (late_s && !out->len)
		return error_set(err, 0,
			"a kernel booted under KVM printed nothing for %u s%s",
			late_s, pvm);
	if (late_s)
		return error_set(err, 0,
			"a kernel booted under KVM got stuck (%u s); its last line: %s%s",
			late_s, line, pvm);
	return error_set(err, 0, "a kernel did not boot under KVM: %s%s",
			 *line ? line : "QEMU ended without a word", pvm);
}

int kvm_probe_boot(const struct kvm_probe *p, struct error *err)
{
	struct buf out CLEANUP(buf_free) = { 0 };
	cleanup_close int rd = -1, wr = -1;
	pid_t parent = getpid(), pid;
	unsigned int late_s;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_set(err, errno, "pipe");
	rd = fds[0];
	wr = fds[1];
	pid = fork();
	if (pid < 0)
		return error_set(err, errno, "fork");
	if (pid == 0)
		exec_qemu(p, wr, parent);
	close(steal_fd(&wr));
	late_s = listen_to(p, rd, &out);
	/* It has said what we wanted to hear, or never will. */
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (out.len && memmem(out.data, out.len, PROBE_OK, strlen(PROBE_OK)))
		return 0;
	return explain(&out, late_s, err);
}

static void add_cpu(struct sha256 *s)
{
	cleanup_fclose FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512];

	/* Name and microcode of the first CPU; not its present clock rate. */
	while (f && fgets(line, sizeof(line), f) && *line != '\n')
		if (str_starts(line, "model name") ||
		    str_starts(line, "microcode") || str_starts(line, "flags"))
			sha256_adds(s, line);
}

char *kvm_answer_path(const struct kvm_probe *p, const struct qemu_info *q,
		      const char *dir, struct error *err)
{
	cleanup_free char *size = xasprintf("%u CPUs, %llu bytes",
		p->profile->cpus, (unsigned long long)p->profile->memory);
	struct sha256 s;
	struct utsname u;
	char hex[SHA256_HEX];

	if (sha256_file(p->vmlinuz, hex, err) < 0)
		return NULL;
	if (uname(&u) < 0) {
		error_set(err, errno, "uname");
		return NULL;
	}
	sha256_init(&s);
	sha256_adds(&s, u.release);
	sha256_adds(&s, u.version);
	sha256_adds(&s, q->path);
	sha256_adds(&s, q->version);
	sha256_adds(&s, q->package);
	sha256_adds(&s, p->profile->cpu_model);
	sha256_adds(&s, p->profile->machine);
	sha256_adds(&s, size);
	sha256_adds(&s, hex);
	add_cpu(&s);
	sha256_final(&s, hex);
	return xasprintf("%s/kvm-%.32s", dir, hex);
}

static char *boot_id(void)
{
	struct buf b CLEANUP(buf_free) = { 0 };

	if (file_read("/proc/sys/kernel/random/boot_id", 256, &b, NULL) < 0)
		return xstrdup("?");
	return xstrndup(b.data, strcspn(b.data, "\n"));
}

/*
 * An answer is "ok" or the reason, below the id of the host's boot: a "no" is
 * believed until the host is booted anew, for it may have come from something
 * that passes. Returns 1: yes, -1: no, 0: not known.
 */
static int read_answer(const char *path, struct error *err)
{
	struct buf b CLEANUP(buf_free) = { 0 };
	cleanup_free char *id = boot_id();
	char *reason;

	if (file_read(path, ANSWER_MAX, &b, NULL) < 0 || !b.len)
		return 0;
	reason = strchr(b.data, '\n');
	if (!reason)
		return 0;
	*reason++ = '\0';
	reason[strcspn(reason, "\n")] = '\0';
	if (!strcmp(reason, "ok"))
		return 1;
	if (!*reason || strcmp(b.data, id) != 0)
		return 0;
	return error_set(err, 0, "%s", reason);
}

static int write_answer(const char *dir, const char *path, const char *answer,
			struct error *err)
{
	cleanup_free char *id = boot_id();
	cleanup_free char *text = xasprintf("%s\n%s\n", id, answer);

	if (make_dirs(dir, err) < 0)
		return -1;
	return file_write(path, text, strlen(text), err);
}

/* 0: KVM works here. 1: it does not, *why says so. -1: it could not be found
 * out, and that is an error of its own. */
static int ask_kvm(const struct profile *profile, const char *vmlinuz,
		   const char *initrd, const char *cache_dir,
		   struct error *why, struct error *err)
{
	struct qemu_info q CLEANUP(qemu_info_free) = { 0 };
	struct kvm_probe p = {
		.profile = profile, .vmlinuz = vmlinuz, .initrd = initrd,
		.silence_s = ACCEL_PROBE_SILENCE_S, .total_s = ACCEL_PROBE_S,
	};
	cleanup_free char *path = NULL;
	int known, got;

	if (kvm_device_check("/dev/kvm", why) < 0)
		return 1;
	if (qemu_probe(&q, err) < 0)
		return -1;
	p.qemu = q.path;
	path = kvm_answer_path(&p, &q, cache_dir, err);
	if (!path)
		return -1;
	known = read_answer(path, why);
	if (known)
		return known < 0;
	got = kvm_probe_boot(&p, why);
	if (write_answer(cache_dir, path, got < 0 ? why->text : "ok", err) < 0)
		return -1;
	return got < 0;
}

int accel_choose(enum accel wanted, const struct profile *profile,
		 const char *vmlinuz, const char *initrd, const char *cache_dir,
		 enum accel *got, char **why, struct error *err)
{
	struct error reason = { 0 };
	int answer;

	*why = NULL;
	*got = wanted;
	if (wanted == ACCEL_EXACT && profile->cpus != 1)
		return error_set(err, 0,
			"profile '%s' has %u CPUs, and exact mode can do one only: choose accel = auto or another profile",
			profile->name, profile->cpus);
	if (wanted == ACCEL_TCG || wanted == ACCEL_EXACT)
		return 0;
	answer = ask_kvm(profile, vmlinuz, initrd, cache_dir, &reason, err);
	if (answer < 0)
		return -1;
	if (!answer) {
		*got = ACCEL_KVM;
		return 0;
	}
	if (wanted == ACCEL_KVM)
		return error_set(err, 0,
			"KVM was asked for, and does not work here: %s; or choose accel = auto, tcg or exact",
			reason.text);
	*got = ACCEL_TCG;
	*why = xasprintf("emulating (TCG, slow) because KVM does not work here: %s",
			 reason.text);
	return 0;
}
