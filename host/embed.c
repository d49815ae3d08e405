/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/embed.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <sched.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "results/base/cleanup.h"
#include "results/base/digest.h"
#include "results/base/file.h"
#include "results/base/text.h"

#define PREFIX "kontest-vm-"
#define SEED_MAX (4 << 20)
#define EMULATOR_MARK "@EMULATOR@"	/* in a seed, for e->emulator */
#define CAPS_DIR "cache/qemu/capabilities"

/* The longest path of a socket below a root: libvirt cuts a domain's name there,
 * its number is that of the boot. */
#define LONGEST_SOCKET "/" PREFIX "XXXXXX/lib/qemu/domain-99999-12345678901234567890/monitor.sock"
#define BASES 3

static bool usable(const char *dir)
{
	struct stat st;

	return *dir == '/' &&
	       strlen(dir) + sizeof(LONGEST_SOCKET) <= sizeof(((struct sockaddr_un *)0)->sun_path) &&
	       stat(dir, &st) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == geteuid() && access(dir, W_OK | X_OK) == 0;
}

/* The parents a root may have, best first; NULL when there is no I-th one, else
 * owned by the caller. */
static char *base_dir(int i)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	cleanup_free char *run = NULL;

	if (i == 2)
		return xstrdup("/tmp");
	run = i == 1 ? xasprintf("/run/user/%u", (unsigned int)geteuid())
		     : xstrdup(xdg ? xdg : "");
	return usable(run) ? steal_ptr(run) : NULL;
}

/* Is the process of this root dead? A root without a lock is just being made,
 * or its process died in the middle of that, ten minutes ago or more. */
static bool is_stale(const char *root)
{
	cleanup_free char *path = xasprintf("%s/lock", root);
	cleanup_close int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (lstat(root, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid())
		return false;
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
		return flock(fd, LOCK_EX | LOCK_NB) == 0;
	return time(NULL) - st.st_mtime > 600;
}

static int sweep_dir(const char *base)
{
	cleanup_closedir DIR *d = opendir(base);
	struct dirent *de;
	int n = 0;

	while (d && (de = readdir(d))) {
		cleanup_free char *root = NULL;

		if (!str_starts(de->d_name, PREFIX))
			continue;
		root = xasprintf("%s/%s", base, de->d_name);
		/* Somebody else may be sweeping too: a failure is theirs. */
		if (is_stale(root) && remove_tree(root, NULL) == 0)
			n++;
	}
	return n;
}

int embed_sweep(void)
{
	int n = 0;

	for (int i = 0; i < BASES; i++) {
		cleanup_free char *base = base_dir(i);

		if (base)
			n += sweep_dir(base);
	}
	return n;
}

static int write_text(const char *path, const char *text, struct error *err)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return error_set(err, errno, "open '%s'", path);
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return error_set(err, errno, "write '%s'", path);
	return 0;
}

int embed_user(struct error *err)
{
	struct error why = { 0 };

	/* There are no threads yet that could ask too. */
	/* cppcheck-suppress getpwnamCalled */
	if (geteuid() != 0 || getpwnam("libvirt-qemu"))
		return 0;
	if (unshare(CLONE_NEWUSER) == 0 &&
	    write_text("/proc/self/setgroups", "deny", &why) == 0 &&
	    write_text("/proc/self/uid_map", "1000 0 1", &why) == 0 &&
	    write_text("/proc/self/gid_map", "1000 0 1", &why) == 0)
		return 0;
	return error_set(err, 0,
		"when run by root, libvirt wants a user libvirt-qemu, and there is none: make deps adds it, or: adduser --system --group --no-create-home --home /nonexistent libvirt-qemu; or run kontest as an ordinary user");
}

static int make_root(struct embed *e, struct error *err)
{
	for (int i = 0; i < BASES; i++) {
		cleanup_free char *base = base_dir(i);

		if (!base)
			continue;
		e->root = xasprintf("%s/" PREFIX "XXXXXX", base);
		if (mkdtemp(e->root))
			return 0;
		error_set(err, errno, "make a directory in '%s'", base);
		free(steal_ptr(e->root));
	}
	return -1;
}

static int take_lock(struct embed *e, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/lock", e->root);
	cleanup_free char *pid = xasprintf("%d\n", (int)getpid());

	e->lock_fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (e->lock_fd < 0)
		return error_set(err, errno, "create '%s'", path);
	/* Locked before it has content: a sweeper looks at the content first. */
	if (flock(e->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return error_set(err, errno, "lock '%s'", path);
	return full_pwrite(e->lock_fd, pid, strlen(pid), 0, path, err);
}

static int write_conf(const struct embed *e, struct error *err)
{
	cleanup_free char *dir = xasprintf("%s/etc", e->root);
	cleanup_free char *path = xasprintf("%s/qemu.conf", dir);
	/*
	 * file: no virtlogd. none, []: we confine nothing and need no daemon
	 * for it. dynamic_ownership: image files keep their owner. user, group:
	 * QEMU runs as who called us and can read what the caller can.
	 */
	cleanup_free char *conf = xasprintf(
		"stdio_handler = \"file\"\n"
		"security_driver = \"none\"\n"
		"security_default_confined = 0\n"
		"namespaces = [ ]\n"
		"dynamic_ownership = 0\n"
		"remember_owner = 0\n"
		"user = \"+%u\"\n"
		"group = \"+%u\"\n"
		"cgroup_controllers = [ ]\n"
		"auto_dump_path = \"%s\"\n",
		(unsigned int)geteuid(), (unsigned int)getegid(), e->root);

	if (make_dirs(dir, err) < 0)
		return -1;
	return file_write(path, conf, strlen(conf), err);
}

/* The file that we were started from may have been replaced since, by the next make:
 * then a copy of what runs here. */
static int link_self(const struct embed *e, struct error *err)
{
	cleanup_free char *self = realpath("/proc/self/exe", NULL);

	if (self)
		return symlink(self, e->emulator) < 0 ?
		       error_set(err, errno, "link '%s'", e->emulator) : 0;
	if (file_put_copy("/proc/self/exe", e->emulator, err) < 0)
		return -1;
	if (chmod(e->emulator, 0700) < 0)
		return error_set(err, errno, "chmod '%s'", e->emulator);
	return 0;
}

static int link_programs(struct embed *e, const char *qemu, struct error *err)
{
	cleanup_free char *real = realpath(qemu, NULL);
	cleanup_free char *to = xasprintf("%s/qemu", e->root);

	if (!real)
		return error_set(err, errno, "QEMU '%s'", qemu);
	if (link_self(e, err) < 0)
		return -1;
	if (symlink(real, to) < 0)
		return error_set(err, errno, "link '%s'", to);
	return 0;
}

static char *cache_home(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	if (xdg && *xdg == '/')
		return xasprintf("%s/kontest/libvirt", xdg);
	if (home && *home == '/')
		return xasprintf("%s/.cache/kontest/libvirt", home);
	return NULL;
}

/*
 * libvirt asks QEMU what it can do, which takes seconds, and keeps the answer
 * under its root. libvirt itself sees to it that an answer does not outlive a
 * change of its own, of the kernel or of this program (which it takes for
 * QEMU); the name of our copy has what it cannot see, the real QEMU.
 */
static char *seed_path(const char *qemu)
{
	cleanup_free char *dir = cache_home();
	cleanup_free char *id = NULL;
	struct stat st;
	char hex[SHA256_HEX];

	if (!dir || stat(qemu, &st) < 0)
		return NULL;
	id = xasprintf("%s %lld %lld.%09ld", qemu, (long long)st.st_size,
		       (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	sha256_of(id, strlen(id), hex);
	return xasprintf("%s/%.32s.xml", dir, hex);
}

/* Append @text to @out with every @from replaced by @to. */
static void replace(struct buf *out, const char *text, const char *from,
		    const char *to)
{
	const char *next;

	while ((next = strstr(text, from))) {
		buf_add(out, text, (size_t)(next - text));
		buf_adds(out, to);
		text = next + strlen(from);
	}
	buf_adds(out, text);
}

/* Where libvirt will look: it names the file after the emulator's path. If a
 * libvirt does otherwise, it just asks QEMU again. */
static void use_seed(const struct embed *e)
{
	struct buf seed CLEANUP(buf_free) = { 0 }, text CLEANUP(buf_free) = { 0 };
	cleanup_free char *dir = xasprintf("%s/" CAPS_DIR, e->root);
	cleanup_free char *path = NULL;
	char hex[SHA256_HEX];

	if (!e->seed || file_read(e->seed, SEED_MAX, &seed, NULL) < 0 ||
	    !seed.len || make_dirs(dir, NULL) < 0)
		return;
	replace(&text, seed.data, EMULATOR_MARK, e->emulator);
	sha256_of(e->emulator, strlen(e->emulator), hex);
	path = xasprintf("%s/%s.xml", dir, hex);
	if (file_write(path, text.data, text.len, NULL) < 0)
		return;
}

void embed_keep(const struct embed *e)
{
	struct buf caps CLEANUP(buf_free) = { 0 }, text CLEANUP(buf_free) = { 0 };
	struct buf old CLEANUP(buf_free) = { 0 };
	cleanup_free char *path = NULL, *dir = cache_home();
	char hex[SHA256_HEX];

	if (!e->seed || !dir)
		return;
	sha256_of(e->emulator, strlen(e->emulator), hex);
	path = xasprintf("%s/" CAPS_DIR "/%s.xml", e->root, hex);
	if (file_read(path, SEED_MAX, &caps, NULL) < 0 || !caps.len)
		return;
	replace(&text, caps.data, e->emulator, EMULATOR_MARK);
	if (file_read(e->seed, SEED_MAX, &old, NULL) == 0 &&
	    old.len == text.len && !memcmp(old.data, text.data, old.len))
		return;
	if (make_dirs(dir, NULL) == 0)
		(void)!file_write(e->seed, text.data, text.len, NULL);
}

int embed_open(struct embed *e, const char *qemu, struct error *err)
{
	*e = (struct embed){ .lock_fd = -1 };
	embed_sweep();
	if (make_root(e, err) < 0)
		return -1;
	e->emulator = xasprintf("%s/emulator", e->root);
	e->uri = xasprintf("qemu:///embed?root=%s", e->root);
	e->seed = seed_path(qemu);
	if (take_lock(e, err) < 0 || write_conf(e, err) < 0 ||
	    link_programs(e, qemu, err) < 0) {
		embed_close(e);
		return -1;
	}
	use_seed(e);
	return 0;
}

void embed_close(struct embed *e)
{
	if (e->root)
		(void)!remove_tree(e->root, NULL);
	cleanup_closep(&e->lock_fd);
	free(e->root);
	free(e->emulator);
	free(e->uri);
	free(e->seed);
	*e = (struct embed){ .lock_fd = -1 };
}
