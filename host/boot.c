/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#include "host/domain.h"
#include "host/noise.h"
#include "host/virt.h"
#include "host/watch.h"
#include "results/base/cleanup.h"
#include "results/base/clock.h"
#include "results/base/file.h"
#include "results/base/proc.h"
#include "results/json_put.h"

/* Told to stop, we have this long for an orderly end; then we just die, and
 * QEMU's guard does the rest. */
#define STOP_GRACE_S 5
/* Rarely enough for the search of QEMU among all processes */
#define STARVED_LOOK_MS 5000
/* Of a VERDICT; evidence and console, whose lines have an end too, take the
 * rest. It is enough for some 65 runs. */
#define NOISE_BYTES (JOURNAL_PAYLOAD_MAX * 3 / 5)

static volatile sig_atomic_t stop_signal;

/**
 * struct boot - a boot on its way
 * @cfg: as the caller gave it, with absolute paths
 * @paths: these paths; owned
 * @qemu: that runs it
 * @virt: libvirt
 * @watch: what came so far
 * @console_fd: console.log, -1 until it is there
 * @tail: the journal; fd -1 when the boot has none
 * @noise: what the host did meanwhile
 * @followed: there is a journal, and it is read as it is written
 * @lost: why the journal cannot be followed any more
 * @start: host time
 * @stderr_fd: the caller's standard error while ours is libvirt.log
 */
struct boot {
	struct boot_config cfg;
	struct strings paths;
	struct qemu_info qemu;
	struct virt virt;
	struct watch watch;
	int console_fd;
	struct journal_tail tail;
	struct noise noise;
	bool followed;
	struct error lost;
	struct timespec start;
	int stderr_fd;
};

static void on_stop(int sig)
{
	stop_signal = sig;
	alarm(STOP_GRACE_S);
}

static int catch_signals(struct error *err)
{
	struct sigaction sa = { .sa_handler = on_stop };

	stop_signal = 0;
	if (sigaction(SIGINT, &sa, NULL) < 0 ||
	    sigaction(SIGTERM, &sa, NULL) < 0 ||
	    sigaction(SIGHUP, &sa, NULL) < 0)
		return error_set(err, errno, "catch signals");
	return 0;
}

/* The caller's death is a reason to stop like any other. Asked for twice:
 * virt_open() may change who we are, and the kernel forgets it then. */
static int die_with_parent(struct error *err)
{
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		return error_set(err, errno, "ask for the parent's death signal");
	return 0;
}

static int absolute(struct boot *b, const char **path, const char *what,
		    int mode, struct error *err)
{
	char *real;

	if (!*path)
		return 0;
	real = realpath(*path, NULL);
	if (!real)
		return error_set(err, errno, "%s '%s'", what, *path);
	strings_add(&b->paths, real);
	if (access(real, mode) < 0)
		return error_set(err, errno, "%s '%s' (see its permissions)",
				 what, *path);
	*path = real;
	return 0;
}

/* libvirt and QEMU work in other directories, and say less clearly what is
 * wrong with a file. */
static int check_files(struct boot *b, struct error *err)
{
	struct boot_config *c = &b->cfg;
	struct {
		struct boot_disk *disk;
		const char *what;
	} d[] = {
		{ &c->system, "system disk" }, { &c->work, "work disk" },
		{ &c->other, "other disk" }, { &c->swap, "swap disk" },
		{ &c->results, "results disk" },
	};

	if (absolute(b, &c->dir, "directory", W_OK | X_OK, err) < 0 ||
	    absolute(b, &c->vmlinuz, "kernel", R_OK, err) < 0 ||
	    absolute(b, &c->initrd, "initramfs", R_OK, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(d) / sizeof(*d); i++) {
		bool read = d[i].disk->readonly || d[i].disk->scratch;

		if (absolute(b, &d[i].disk->path, d[i].what,
			     read ? R_OK : R_OK | W_OK, err) < 0)
			return -1;
	}
	return 0;
}

/* In exact mode a private mapping does what these do for virtio disks. */
static int make_overlays(const struct boot *b, struct error *err)
{
	struct domain_disk d[DOMAIN_DISKS];
	size_t n = domain_disks(&b->cfg, d);

	for (size_t i = 0; b->cfg.accel != ACCEL_EXACT && i < n; i++) {
		cleanup_free char *to = domain_overlay(&b->cfg, d[i].role);
		cleanup_free char *tool = NULL;
		const char *argv[] = { NULL, "create", "-q", "-f", "qcow2",
				       "-F", "raw", "-b", d[i].disk->path, to,
				       NULL };

		if (!d[i].disk->scratch)
			continue;
		tool = proc_find("qemu-img");
		if (!tool)
			return error_set(err, 0,
				"no qemu-img in PATH: install the Debian package qemu-utils (make deps does)");
		argv[0] = tool;
		if (proc_run(argv, NULL, err) < 0)
			return -1;
	}
	return 0;
}

static void remove_overlays(const struct boot *b)
{
	struct domain_disk d[DOMAIN_DISKS];
	size_t n = domain_disks(&b->cfg, d);

	for (size_t i = 0; i < n; i++) {
		cleanup_free char *path = domain_overlay(&b->cfg, d[i].role);

		if (d[i].disk->scratch)
			(void)!unlink(path);
	}
}

/* What libvirt and its libraries print goes to a file of the boot's. Setting
 * LIBVIRT_LOG_OUTPUTS is not enough: the caller may have had libvirt read it
 * before this process was forked. */
static int divert_stderr(struct boot *b, const char *log, struct error *err)
{
	cleanup_close int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
				    0600);

	if (fd < 0)
		return error_set(err, errno, "create '%s'", log);
	b->stderr_fd = fcntl(2, F_DUPFD_CLOEXEC, 3);
	if (b->stderr_fd < 0 || dup2(fd, 2) < 0)
		return error_set(err, errno, "divert the standard error to '%s'", log);
	return 0;
}

static int start(struct boot *b, struct error *err)
{
	cleanup_free char *log = xasprintf("%s/libvirt.log", b->cfg.dir);
	cleanup_free char *console = xasprintf("%s/console.log", b->cfg.dir);
	cleanup_free char *xml_path = xasprintf("%s/domain.xml", b->cfg.dir);
	cleanup_free char *xml = NULL;

	if (b->cfg.results.path) {
		b->tail.fd = open(b->cfg.results.path, O_RDONLY | O_CLOEXEC);
		if (b->tail.fd < 0)
			return error_set(err, errno, "open '%s'",
					 b->cfg.results.path);
		noise_init(&b->noise, "/proc", "/sys", b->cfg.name,
			   b->cfg.accel == ACCEL_EXACT, b->cfg.results.path,
			   b->tail.fd);
		b->followed = true;
	}
	/* Old ones would be taken for this boot's. */
	if (unlink(console) < 0 && errno != ENOENT)
		return error_set(err, errno, "remove '%s'", console);
	if (unlink(log) < 0 && errno != ENOENT)
		return error_set(err, errno, "remove '%s'", log);
	if (make_overlays(b, err) < 0 || divert_stderr(b, log, err) < 0 ||
	    virt_open(&b->virt, b->cfg.uri, b->qemu.path, log, err) < 0 ||
	    die_with_parent(err) < 0)
		return -1;
	b->cfg.emulator = b->virt.embedded ? b->virt.embed.emulator
					   : b->qemu.path;
	xml = domain_xml(&b->cfg, err);
	if (!xml || file_write(xml_path, xml, strlen(xml), err) < 0)
		return -1;
	clock_gettime(CLOCK_REALTIME, &b->start);
	watch_init(&b->watch, b->cfg.deadline_s, b->cfg.silence_s, clock_now_ms());
	if (b->followed)
		virt_wake_for(&b->virt, b->cfg.results.path);
	return virt_start(&b->virt, xml, err);
}

static void read_console(struct boot *b)
{
	cleanup_free char *path = NULL;
	char data[16384];
	ssize_t n;

	if (b->console_fd < 0) {
		path = xasprintf("%s/console.log", b->cfg.dir);
		b->console_fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	while (b->console_fd >= 0 &&
	       (n = read(b->console_fd, data, sizeof(data))) > 0)
		watch_console(&b->watch, data, (size_t)n, clock_now_ms());
}

static void take_record(struct boot *b, const struct journal_entry *e)
{
	char why[512] = "";

	if (b->followed)
		noise_record(&b->noise, e);
	watch_record(&b->watch, e, clock_now_ms());
	if (e->type == JOURNAL_RECEIPT && b->cfg.receipt &&
	    !b->cfg.receipt(e->payload, b->cfg.receipt_data, why, sizeof(why)))
		watch_mismatch(&b->watch, why);
}

static void read_journal(struct boot *b)
{
	struct journal_entry e = { 0 };
	uint64_t before_ns = clock_now_ns();
	int got = 0;

	while (b->tail.fd >= 0 && !*b->lost.text &&
	       (got = journal_next(&b->tail, &e, &b->lost)) > 0) {
		take_record(b, &e);
		free(e.payload);
		e = (struct journal_entry){ 0 };
		before_ns = clock_now_ns();
	}
	noise_absent(&b->noise, before_ns);
	if (got < 0 && !*b->lost.text)
		error_set(&b->lost, 0, "the journal cannot be read");
}

/* How long the guest had no CPU, once in a while */
static void look_at_cpu(struct boot *b, uint64_t *looked_ms)
{
	uint64_t now = clock_now_ms();

	if (!b->followed || now - *looked_ms < STARVED_LOOK_MS)
		return;
	*looked_ms = now;
	watch_starved(&b->watch, noise_starved_ms(&b->noise));
}

static enum watch_end supervise(struct boot *b)
{
	uint64_t looked_ms = clock_now_ms();

	for (;;) {
		if (virt_wait(&b->virt, &b->lost) < 0)
			return WATCH_VANISHED;
		read_journal(b);
		read_console(b);
		look_at_cpu(b, &looked_ms);
		if (stop_signal)
			return WATCH_INTERRUPTED;
		if (b->virt.gone)
			return b->virt.how;
		if (*b->lost.text || watch_due(&b->watch, clock_now_ms()))
			return WATCH_ENDED_BY_US;
	}
}

static void add_line(void *arg, const char *line)
{
	json_array_append_new(arg, json_string(line));
}

static char *verdict_payload(const struct boot *b, enum verdict v,
			     const char *evidence)
{
	json_t *lines = json_array(), *host = json_object();
	struct timespec end;
	struct tm tm;
	char iso[32];
	char *text;
	json_t *o;

	clock_gettime(CLOCK_REALTIME, &end);
	gmtime_r(&b->start.tv_sec, &tm);
	strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%SZ", &tm);
	watch_tail(&b->watch, add_line, lines);
	json_put(host, "start", json_string(iso));
	json_put(host, "seconds",
		 json_real((double)(end.tv_sec - b->start.tv_sec) +
			   (double)(end.tv_nsec - b->start.tv_nsec) / 1e9));
	if (b->followed)
		noise_json(&b->noise, host, NOISE_BYTES);
	o = json_pack("{s:s, s:s, s:o, s:o}", "verdict", verdict_name(v),
		      "evidence", evidence, "console", lines, "host", host);
	text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	return text;
}

static int conclude(struct boot *b, enum watch_end how, enum verdict *verdict,
		    struct error *err)
{
	struct buf evidence CLEANUP(buf_free) = { 0 };
	struct buf text CLEANUP(buf_free) = { 0 };
	cleanup_free char *payload = NULL;

	if (*b->lost.text && !b->watch.end) {
		*verdict = VERDICT_KILLED;
		buf_printf(&evidence, "the boot could not be followed: %s",
			   b->lost.text);
	} else {
		*verdict = watch_verdict(&b->watch, how, &evidence);
	}
	if (b->followed)
		noise_judge(&b->noise, verdict, &evidence);
	/* Journals are UTF-8, whatever a path in an error text may be. */
	for (size_t i = 0; i < evidence.len; i++) {
		char c = evidence.data[i];

		buf_add(&text, (unsigned char)c < 0x80 ? &c : "?", 1);
	}
	payload = verdict_payload(b, *verdict, text.data);
	if (!payload)
		return error_set(err, 0, "the verdict's text could not be made");
	if (!b->cfg.results.path)
		return 0;
	return journal_append(b->cfg.results.path, JOURNAL_VERDICT, payload,
			      err);
}

/* Nothing open yet: what boot_free() takes and leaves alone. */
static struct boot boot_of(const struct boot_config *cfg)
{
	return (struct boot){
		.cfg = *cfg,
		.virt.embed.lock_fd = -1,
		.console_fd = -1,
		.stderr_fd = -1,
		.tail = { .fd = -1, .off = JOURNAL_LOG_OFF },
	};
}

static void boot_free(struct boot *b)
{
	virt_close(&b->virt);
	remove_overlays(b);
	noise_free(&b->noise);
	watch_free(&b->watch);
	cleanup_closep(&b->console_fd);
	cleanup_closep(&b->tail.fd);
	qemu_info_free(&b->qemu);
	strings_clear(&b->paths);
	if (b->stderr_fd >= 0)
		(void)!dup2(b->stderr_fd, 2);
	cleanup_closep(&b->stderr_fd);
	alarm(0);
}

int boot_bury(const struct boot_config *cfg, enum verdict *verdict,
	      struct error *err)
{
	struct boot b CLEANUP(boot_free) = boot_of(cfg);
	struct stat st;

	remove_overlays(&b);
	b.tail.fd = open(cfg->results.path, O_RDONLY | O_CLOEXEC);
	if (b.tail.fd < 0 || fstat(b.tail.fd, &st) < 0)
		return error_set(err, errno, "open '%s'", cfg->results.path);
	b.start = st.st_mtim;
	watch_init(&b.watch, 0, 0, clock_now_ms());
	read_journal(&b);
	read_console(&b);
	if (b.watch.verdict != VERDICT_COUNT) {
		*verdict = b.watch.verdict;
		return 0;
	}
	return conclude(&b, WATCH_ORPHANED, verdict, err);
}

int boot_run(const struct boot_config *cfg, enum verdict *verdict,
	     struct error *err)
{
	struct boot b CLEANUP(boot_free) = boot_of(cfg);
	enum watch_end how;

	if (catch_signals(err) < 0 || die_with_parent(err) < 0 ||
	    qemu_probe(&b.qemu, err) < 0 ||
	    check_files(&b, err) < 0 || start(&b, err) < 0)
		return -1;
	how = supervise(&b);
	/* Nobody may write any more when the last records are read. */
	virt_close(&b.virt);
	read_journal(&b);
	read_console(&b);
	return conclude(&b, how, verdict, err);
}
