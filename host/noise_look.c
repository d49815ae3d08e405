/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/noise_look.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "results/base/cleanup.h"
#include "results/base/clock.h"
#include "results/columns.h"

#define NS_PER_S INT64_C(1000000000)
/* More than any file here has before what we look for. */
#define FILE_MAX 16384

static bool __attribute__((format(printf, 2, 3)))
read_file(char text[FILE_MAX], const char *fmt, ...)
{
	cleanup_free char *path = NULL;
	cleanup_close int fd = -1;
	size_t len = 0;
	ssize_t n;
	va_list ap;

	va_start(ap, fmt);
	path = xvasprintf(fmt, ap);
	va_end(ap);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return false;
	/* Some files of /proc give a line at a time. */
	while (len < FILE_MAX - 1 &&
	       (n = read(fd, text + len, FILE_MAX - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	return len > 0;
}

static DIR *open_dir(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
static DIR *open_dir(const char *fmt, ...)
{
	cleanup_free char *path = NULL;
	va_list ap;

	va_start(ap, fmt);
	path = xvasprintf(fmt, ap);
	va_end(ap);
	return opendir(path);
}

static pid_t number_of(const char *name)
{
	uint64_t v;

	return parse_u64(name, &v) && v && v <= INT32_MAX ? (pid_t)v : 0;
}

/* --- which threads ---------------------------------------------------------- */

/* runs_domain() - its command line has an argument guest=NAME[,...] */
static bool runs_domain(const char *proc, pid_t pid, const char *domain)
{
	cleanup_free char *path = xasprintf("%s/%d/cmdline", proc, (int)pid);
	cleanup_free char *want = xasprintf("guest=%s", domain);
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	char args[FILE_MAX];
	ssize_t n = fd < 0 ? -1 : read(fd, args, sizeof(args) - 1);
	size_t len = strlen(want);

	if (n <= 0)
		return false;
	args[n] = '\0';
	for (const char *a = args; a < args + n; a += strlen(a) + 1)
		if (str_starts(a, want) && (a[len] == '\0' || a[len] == ','))
			return true;
	return false;
}

static void find_vcpus(const char *proc, pid_t pid, struct tids *out)
{
	cleanup_closedir DIR *d = open_dir("%s/%d/task", proc, (int)pid);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		pid_t tid = number_of(e->d_name);
		char comm[FILE_MAX];

		if (tid && read_file(comm, "%s/%d/task/%d/comm", proc, (int)pid,
				     (int)tid) &&
		    (str_starts(comm, "CPU ") || str_starts(comm, "ALL CPUs/")))
			tids_add(out, tid);
	}
}

void noise_find_qemu(const char *proc, const char *domain,
		     struct noise_qemu *q)
{
	cleanup_closedir DIR *d = opendir(proc);
	const struct dirent *e;

	*q = (struct noise_qemu){ 0 };
	while (d && (e = readdir(d))) {
		pid_t pid = number_of(e->d_name);

		if (!pid || !runs_domain(proc, pid, domain))
			continue;
		/* QEMU's guard (embed.h) has the same arguments, but no CPU. */
		find_vcpus(proc, pid, &q->vcpus);
		if (q->vcpus.n) {
			q->pid = pid;
			return;
		}
	}
}

void noise_qemu_free(struct noise_qemu *q)
{
	tids_free(&q->vcpus);
	*q = (struct noise_qemu){ 0 };
}

/* --- counters ---------------------------------------------------------------- */

static struct noise_thread look_thread(const char *proc, pid_t pid, pid_t tid)
{
	static const char name[] = "\nnonvoluntary_ctxt_switches:";
	struct noise_thread t = { FIGURE_NONE, FIGURE_NONE, FIGURE_NONE,
				  FIGURE_NONE };
	int64_t run, wait, slices;
	char text[FILE_MAX];
	const char *line;

	if (read_file(text, "%s/%d/task/%d/schedstat", proc, (int)pid,
		      (int)tid) &&
	    sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64, &run, &wait,
		   &slices) == 3)
		t = (struct noise_thread){ run, wait, slices, FIGURE_NONE };
	if (!read_file(text, "%s/%d/task/%d/status", proc, (int)pid, (int)tid))
		return t;
	line = strstr(text, name);
	if (line && sscanf(line + strlen(name), "%" SCNd64, &run) == 1)
		t.involuntary = run;
	return t;
}

uint64_t noise_waited_ns(const char *proc, const struct noise_qemu *q)
{
	int64_t most = 0;

	for (size_t i = 0; i < q->vcpus.n; i++) {
		struct noise_thread t = look_thread(proc, q->pid, q->vcpus.v[i]);

		most = t.wait_ns > most ? t.wait_ns : most;
	}
	return (uint64_t)most;
}

static int64_t ticks_ns(int64_t ticks)
{
	return ticks * (NS_PER_S / sysconf(_SC_CLK_TCK));
}

/* CPU time of a process: utime and stime, the 12th and 13th field behind its
 * name, which may have any character in it */
static int64_t process_ns(const char *proc, pid_t pid)
{
	int64_t user, system;
	char text[FILE_MAX];
	const char *p;

	if (!read_file(text, "%s/%d/stat", proc, (int)pid))
		return FIGURE_NONE;
	p = strrchr(text, ')');
	if (!p || sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %"
			 SCNd64 " %" SCNd64, &user, &system) != 2)
		return FIGURE_NONE;
	return ticks_ns(user + system);
}

static void look_cpus(const char *proc, struct noise_look *l)
{
	int64_t user, nice, system, idle, iowait, irq, softirq, steal;
	char text[FILE_MAX];

	if (!read_file(text, "%s/stat", proc) ||
	    sscanf(text, "cpu %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
		   " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &user,
		   &nice, &system, &idle, &iowait, &irq, &softirq, &steal) != 8)
		return;
	l->busy_ns = ticks_ns(user + nice + system + irq + softirq);
	l->idle_ns = ticks_ns(idle + iowait);
	l->steal_ns = ticks_ns(steal);
}

static int64_t look_psi(const char *proc, const char *what)
{
	int64_t total;
	char text[FILE_MAX];
	const char *p;

	if (!read_file(text, "%s/pressure/%s", proc, what) ||
	    !str_starts(text, "some "))
		return FIGURE_NONE;
	p = strstr(text, " total=");
	return p && sscanf(p, " total=%" SCNd64, &total) == 1 ? total
							      : FIGURE_NONE;
}

static int64_t look_load(const char *proc)
{
	unsigned int whole, hundredths;
	char text[FILE_MAX];

	/* Always two digits behind the point. */
	if (!read_file(text, "%s/loadavg", proc) ||
	    sscanf(text, "%6u.%2u", &whole, &hundredths) != 2)
		return FIGURE_NONE;
	return (int64_t)whole * 1000 + (int64_t)hundredths * 10;
}

void noise_look(const char *proc, const struct noise_qemu *q,
		struct noise_look *l)
{
	*l = (struct noise_look){
		.t_ns = (int64_t)clock_now_ns(),
		.main = { FIGURE_NONE, FIGURE_NONE, FIGURE_NONE, FIGURE_NONE },
		.qemu_ns = FIGURE_NONE, .busy_ns = FIGURE_NONE,
		.idle_ns = FIGURE_NONE, .steal_ns = FIGURE_NONE,
	};
	/* What changes quickest first. */
	for (size_t i = 0; i < q->vcpus.n; i++)
		noise_threads_add(&l->vcpus,
				  look_thread(proc, q->pid, q->vcpus.v[i]));
	if (q->pid) {
		l->main = look_thread(proc, q->pid, q->pid);
		l->qemu_ns = process_ns(proc, q->pid);
	}
	look_cpus(proc, l);
	l->psi_cpu_us = look_psi(proc, "cpu");
	l->psi_io_us = look_psi(proc, "io");
	l->psi_memory_us = look_psi(proc, "memory");
	l->load_milli = look_load(proc);
}

void noise_look_free(struct noise_look *l)
{
	noise_threads_free(&l->vcpus);
}

/* --- differences --------------------------------------------------------------- */

/* diff() - counters only grow: one that did not is not to be believed */
static int64_t diff(int64_t a, int64_t b)
{
	return a == FIGURE_NONE || b == FIGURE_NONE || b < a ? FIGURE_NONE
							     : b - a;
}

static void add(int64_t *sum, int64_t v)
{
	*sum = *sum == FIGURE_NONE || v == FIGURE_NONE ? FIGURE_NONE : *sum + v;
}

static void vcpus_between(const struct noise_look *a,
			  const struct noise_look *b, int64_t *fig)
{
	if (!a->vcpus.n || a->vcpus.n != b->vcpus.n)
		return;
	fig[NOISE_VCPUS] = (int64_t)a->vcpus.n;
	fig[NOISE_VCPU_RUN_NS] = fig[NOISE_VCPU_WAIT_NS] = 0;
	fig[NOISE_VCPU_INVOLUNTARY] = 0;
	for (size_t i = 0; i < a->vcpus.n; i++) {
		const struct noise_thread *x = &a->vcpus.v[i];
		const struct noise_thread *y = &b->vcpus.v[i];
		int64_t wait = diff(x->wait_ns, y->wait_ns);

		add(&fig[NOISE_VCPU_RUN_NS], diff(x->run_ns, y->run_ns));
		add(&fig[NOISE_VCPU_WAIT_NS], wait);
		add(&fig[NOISE_VCPU_INVOLUNTARY],
		    diff(x->involuntary, y->involuntary));
		if (wait != FIGURE_NONE && wait >= fig[NOISE_WORST_WAIT_NS]) {
			fig[NOISE_WORST_WAIT_NS] = wait;
			fig[NOISE_WORST_SLICES] = diff(x->slices, y->slices);
		}
	}
}

void noise_between(const struct noise_look *a, const struct noise_look *b,
		   struct run_noise *n)
{
	int64_t *fig = n->fig, qemu_ns = diff(a->qemu_ns, b->qemu_ns);

	for (int f = 0; f < NOISE_COUNT; f++)
		fig[f] = FIGURE_NONE;
	fig[NOISE_WINDOW_NS] = diff(a->t_ns, b->t_ns);
	vcpus_between(a, b, fig);
	fig[NOISE_MAIN_WAIT_NS] = diff(a->main.wait_ns, b->main.wait_ns);
	fig[NOISE_MAIN_SLICES] = diff(a->main.slices, b->main.slices);
	fig[NOISE_HOST_BUSY_NS] = diff(a->busy_ns, b->busy_ns);
	fig[NOISE_HOST_IDLE_NS] = diff(a->idle_ns, b->idle_ns);
	fig[NOISE_HOST_STEAL_NS] = diff(a->steal_ns, b->steal_ns);
	/* The kernel counts the host's time in ticks and a process's more
	 * finely: QEMU may seem to have used a little more than all. */
	if (fig[NOISE_HOST_BUSY_NS] != FIGURE_NONE && qemu_ns != FIGURE_NONE)
		fig[NOISE_OTHERS_BUSY_NS] = fig[NOISE_HOST_BUSY_NS] > qemu_ns ?
			fig[NOISE_HOST_BUSY_NS] - qemu_ns : 0;
	fig[NOISE_PSI_CPU_SOME_US] = diff(a->psi_cpu_us, b->psi_cpu_us);
	fig[NOISE_PSI_IO_SOME_US] = diff(a->psi_io_us, b->psi_io_us);
	fig[NOISE_PSI_MEMORY_SOME_US] = diff(a->psi_memory_us,
					     b->psi_memory_us);
	fig[NOISE_LOAD_1MIN_MILLI] = b->load_milli;
}

/* --- once a boot ---------------------------------------------------------------- */

static int flag(const char *sys, const char *file)
{
	char text[FILE_MAX];

	if (!read_file(text, "%s/devices/system/cpu/%s", sys, file))
		return -1;
	return *text == '0' ? 0 : *text == '1' ? 1 : -1;
}

void noise_host(const char *sys, struct noise_host *h)
{
	int no_turbo = flag(sys, "intel_pstate/no_turbo");
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	char text[FILE_MAX];

	*h = (struct noise_host){
		.cpus = cpus > 0 ? (unsigned int)cpus : 0,
		/* intel_pstate's file forbids, the other drivers' allows. */
		.turbo = no_turbo >= 0 ? !no_turbo
				       : flag(sys, "cpufreq/boost"),
	};
	if (read_file(text, "%s/devices/system/cpu/cpu0/cpufreq/scaling_governor",
		      sys)) {
		text[strcspn(text, "\n")] = '\0';
		if (*text)
			h->governor = text_clean(text, NULL);
	}
}

void noise_host_free(struct noise_host *h)
{
	free(h->governor);
	*h = (struct noise_host){ 0 };
}
