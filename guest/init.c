/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * init.c - PID 1: sets the machine up, starts the driver, watches over it,
 * powers off. Whatever happens, it ends in a power-off and not in a panic.
 */
#include "guest/guest.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest/cgroup.h"
#include "guest/console.h"
#include "guest/machine.h"
#include "guest/mounts.h"
#include "guest/watchdog.h"

#define HEARTBEAT_NS (4 * NS_PER_S)
#define END_TIMEOUT_S 60	/* for sync and unmount */
#define MIB ((uint64_t)1024 * 1024)

/* Without a results disk (a person tries the image): what the runs need */
#define STANDALONE_RAM (256 * MIB)
#define TMPFS_RAM (128 * MIB)

void guest_note(struct guest *g, const char *fmt, ...)
{
	size_t used = strlen(g->notes);
	va_list ap;

	if (used > 0 && used + 1 < sizeof(g->notes))
		g->notes[used++] = '\n';
	va_start(ap, fmt);
	vsnprintf(g->notes + used, sizeof(g->notes) - used, fmt, ap);
	va_end(ap);
}

void guest_deadline(struct guest *g, unsigned int seconds, const char *phase)
{
	snprintf(g->shared->phase, sizeof(g->shared->phase), "%s", phase);
	atomic_store(&g->shared->deadline_ns,
		     seconds ? now_ns() + seconds * NS_PER_S : 0);
}

/* A forked child, so that a disk that hangs cannot keep the VM from ending */
static void end_mounts(void)
{
	uint64_t until = now_ns() + END_TIMEOUT_S * NS_PER_S;
	pid_t pid = fork();

	if (pid == 0) {
		mounts_end();
		_exit(0);
	}
	while (pid > 0 && now_ns() < until) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return;
		sleep_ms(20);
	}
}

/* What was written to a modelled disk is thrown away with the boot, and the
 * processes that serve it must not die before those that use it */
static _Noreturn void power_off(bool modelled)
{
	if (!modelled) {
		kill(-1, SIGKILL);
		end_mounts();
	}
	watchdog_disarm();
	reboot(RB_POWER_OFF);
	console_say("this kernel cannot power off: %s", strerror(errno));
	for (;;)
		pause();
}

static bool is_modelled(const struct guest *g)
{
	return g->spindles[0].server > 0 || g->spindles[1].server > 0;
}

/* The boot cannot go on: say it wherever it can be said */
static _Noreturn void give_up(struct guest *g, const char *verdict,
			      const struct fail *f)
{
	struct fail why;

	console_say("%s: %s", verdict, f->text);
	if (g->journal && jw_error(g->journal, verdict, f->text, &why) != 0)
		console_say("%s", why.text);
	power_off(is_modelled(g));
}

static void on_crash(int sig)
{
	/* Not the place for anything but the way out: a PID 1 that ends is a
	 * kernel panic */
	console_say("PID 1 crashed, signal %d", sig);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static int catch_crashes(void (*handler)(int), struct fail *f)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE,
				       SIGABRT };
	struct sigaction sa = { .sa_handler = handler,
				.sa_flags = SA_RESETHAND };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], &sa, NULL) != 0)
			return fail_set(f, errno, "catch signal %d",
					signals[i]);
	return 0;
}

static bool on_cmdline(const char *word)
{
	char text[4096], *save = NULL;

	if (read_text("/proc/cmdline", text, sizeof(text)) <= 0)
		return false;
	for (char *w = strtok_r(text, " \t\n", &save); w;
	     w = strtok_r(NULL, " \t\n", &save))
		if (strcmp(w, word) == 0)
			return true;
	return false;
}

static int read_plan(struct guest *g, struct fail *f)
{
	const struct disk *results = &g->disks[DISK_RESULTS];
	auto_free char *text = NULL;

	g->standalone = !results->present;
	if (g->standalone) {
		g->journal = jw_none(f);
		text = read_all("/plan", NULL);
		if (!text)
			return fail_set(f, errno, "no results disk, and no plan in "
					"the image ('/plan')");
	} else {
		g->journal = jw_open(results->path, &text, f);
	}
	if (!g->journal)
		return -1;
	return guest_plan_parse(text, &g->plan, f);
}

static uint64_t ram_bytes(void)
{
	auto_free char *iomem = read_all("/proc/iomem", NULL);

	return iomem ? machine_ram_bytes(iomem) : 0;
}

static int check_ram(struct guest *g, struct fail *f)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t ram = ram_bytes();
	uint64_t need = g->plan.mem > STANDALONE_RAM ? g->plan.mem :
			STANDALONE_RAM;
	uint64_t mib = 128;

	guest_plan_fill(&g->plan, cpus > 0 ? (unsigned int)cpus : 1, ram);
	if (!g->disks[DISK_WORK].present)
		need += TMPFS_RAM;
	/* The firmware keeps a little of what QEMU was told */
	if (!g->standalone || ram == 0 || ram + 8 * MIB >= need)
		return 0;
	while (mib * MIB < need)
		mib *= 2;
	return fail_set(f, 0, "this machine has %" PRIu64 " MiB of RAM, the plan "
			"needs %" PRIu64 " MiB%s: start QEMU with -m %" PRIu64,
			ram / MIB, need / MIB, g->disks[DISK_WORK].present ?
			"" : " (there is no work disk, its files are in RAM)",
			mib);
}

/* The disks of a machine of the profile: one with system, work and swap on it,
 * and perhaps a second one */
static int start_spindles(struct guest *g, struct fail *f)
{
	static const enum disk_role main_disk[] = {
		DISK_SYSTEM, DISK_WORK, DISK_SWAP, DISK_ROLES
	};
	static const enum disk_role other_disk[] = { DISK_OTHER, DISK_ROLES };
	const struct plan *p = &g->plan;

	if (guest_plan_modelled(&p->main_spindle) &&
	    spindle_start(&g->spindles[0], 0, &p->main_spindle, g->disks,
			  main_disk, f) != 0)
		return -1;
	if (guest_plan_modelled(&p->other_spindle) &&
	    g->disks[DISK_OTHER].present &&
	    spindle_start(&g->spindles[1], 1, &p->other_spindle, g->disks,
			  other_disk, f) != 0)
		return -1;
	return 0;
}

static void count_io(struct guest *g)
{
	static const enum disk_role roles[] = { DISK_SYSTEM, DISK_WORK,
						DISK_OTHER, DISK_SWAP };

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		struct fail note;

		if (machine_count_io(&g->disks[roles[i]], &note) != 0)
			guest_note(g, "requests are not counted: %s",
				   note.text);
	}
}

static int set_up(struct guest *g, struct fail *f)
{
	struct fail note;

	g->shared = mmap(NULL, sizeof(*g->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (g->shared == MAP_FAILED)
		return fail_set(f, errno, "map shared memory");
	modules_load(g);
	if (disks_find(g->disks, f) != 0 || read_plan(g, f) != 0 ||
	    machine_seed(g->plan.seed, f) != 0 || check_ram(g, f) != 0 ||
	    start_spindles(g, f) != 0 ||
	    mounts_root(&g->disks[DISK_SYSTEM], f) != 0 ||
	    mounts_work(g, f) != 0 ||
	    cgroup_setup(&g->cgroup2, &note, f) != 0 ||
	    machine_swap_on(&g->disks[DISK_SWAP], f) != 0)
		return -1;
	if (note.text[0])
		guest_note(g, "%s", note.text);
	count_io(g);
	knobs_apply("", &g->plan, g->disks, &g->knobs);
	return 0;
}

static pid_t start_driver(struct guest *g, struct fail *f)
{
	pid_t pid = fork();

	if (pid < 0)
		return fail_set(f, errno, "start the driver");
	if (pid == 0) {
		const char *verdict = "boot-failed";

		/* The driver may crash: PID 1 sees it and says so */
		if (catch_crashes(SIG_DFL, f) == 0 &&
		    driver_main(g, &verdict, f) == 0)
			_exit(0);
		console_say("%s: %s", verdict, f->text);
		if (jw_error(g->journal, verdict, f->text, f) != 0)
			console_say("%s", f->text);
		_exit(1);
	}
	return pid;
}

static void heartbeat(const struct guest *g)
{
	struct fail f;

	watchdog_kick();
	if (!jw_ended(g->journal) &&
	    jw_append(g->journal, JOURNAL_HEARTBEAT, "{}", &f) != 0)
		console_say("heartbeat: %s", f.text);
}

static bool is_late(const struct guest *g)
{
	uint64_t deadline = atomic_load(&g->shared->deadline_ns);

	return deadline != 0 && now_ns() > deadline;
}

static bool is_spindle(const struct guest *g, pid_t pid)
{
	for (size_t i = 0; i < sizeof(g->spindles) / sizeof(g->spindles[0]); i++)
		if (pid == g->spindles[i].server || pid == g->spindles[i].holder)
			return true;
	return false;
}

/*
 * Reaps everybody. Return: 1 when the driver was among them, 0 when not, -1
 * when a modelled disk was: nothing that needs a disk can end now.
 */
static int reap_all(const struct guest *g, pid_t driver, int *status,
		    struct fail *f)
{
	int ended = 0;
	int s;

	for (;;) {
		pid_t pid = waitpid(-1, &s, WNOHANG);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return ended;
		if (is_spindle(g, pid))
			return fail_set(f, 0, "the process behind a modelled disk has "
					"ended, status 0x%x", (unsigned int)s);
		if (pid == driver) {
			*status = s;
			ended = 1;
		}
	}
}

static void sleep_until_child(uint64_t until_ns)
{
	uint64_t now = now_ns();
	uint64_t left = until_ns > now ? until_ns - now : 0;
	struct timespec ts = { .tv_sec = (time_t)(left / NS_PER_S),
			       .tv_nsec = (long)(left % NS_PER_S) };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	/* A child, the time or some other signal: the caller looks at all */
	if (sigtimedwait(&set, NULL, &ts) < 0 && errno == EINVAL)
		sleep_ms(100);
}

/* Return: 0 when the driver ended by itself, its status in *status; else -1 with
 * the verdict */
static int watch(struct guest *g, pid_t driver, int *status,
		 const char **verdict, struct fail *f)
{
	uint64_t next = now_ns() + HEARTBEAT_NS;
	int ended;

	*verdict = "boot-failed";
	while ((ended = reap_all(g, driver, status, f)) == 0) {
		if (now_ns() < next) {
			sleep_until_child(next);
			continue;
		}
		next += HEARTBEAT_NS;
		heartbeat(g);
		if (is_late(g)) {
			*verdict = "hung";
			return fail_set(f, 0, "no end of '%s'",
					g->shared->phase);
		}
	}
	return ended == 1 ? 0 : -1;
}

static void supervise(struct guest *g, struct fail *f)
{
	const char *verdict;
	int status = 0;
	pid_t driver;
	sigset_t set;

	if (sigemptyset(&set) != 0 || sigaddset(&set, SIGCHLD) != 0 ||
	    sigprocmask(SIG_BLOCK, &set, NULL) != 0) {
		fail_set(f, errno, "block SIGCHLD");
		give_up(g, "boot-failed", f);
	}
	driver = start_driver(g, f);
	if (driver < 0)
		give_up(g, "boot-failed", f);
	watchdog_arm();
	if (watch(g, driver, &status, &verdict, f) != 0)
		give_up(g, verdict, f);
	if (jw_ended(g->journal))
		return;
	if (WIFSIGNALED(status))
		fail_set(f, 0, "the driver died of signal %d in '%s'",
			 WTERMSIG(status), g->shared->phase);
	else
		fail_set(f, 0, "the driver ended with status %d in '%s'",
			 WEXITSTATUS(status), g->shared->phase);
	give_up(g, "boot-failed", f);
}

_Noreturn void init_main(void)
{
	static struct guest g;
	struct fail f = { "" };
	int ret = catch_crashes(on_crash, &f);

	umask(022);
	if (ret == 0)
		ret = mounts_early(&f);
	console_open();
	console_print("\nkontest guest %s\n", KONTEST_VERSION);
	if (ret != 0)
		give_up(&g, "boot-failed", &f);
	if (on_cmdline("kontest.probe")) {
		console_print("kontest probe ok\n");
		power_off(false);
	}
	if (set_up(&g, &f) != 0)
		give_up(&g, "boot-failed", &f);
	supervise(&g, &f);
	power_off(is_modelled(&g));
}
