/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mounts.c - modules and file systems
 */
#include "guest/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEW_ROOT "/root"

int mounts_early(struct fail *f)
{
	static const struct {
		const char *type, *dir;
		unsigned long flags;
	} early[] = {
		{ "devtmpfs", "/dev", MS_NOSUID },
		{ "proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC },
		{ "sysfs", "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC },
	};

	for (size_t i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
		if (make_dir(early[i].dir, 0755, f) != 0)
			return -1;
		if (mount(early[i].type, early[i].dir, early[i].type,
			  early[i].flags, NULL) != 0 && errno != EBUSY)
			return fail_set(f, errno, "mount %s on '%s'",
					early[i].type, early[i].dir);
	}
	return 0;
}

/* nbd makes 16 devices otherwise, each with its requests in memory */
static const char *module_options(const char *path)
{
	const char *base = strrchr(path, '/');

	return base && strcmp(base, "/nbd.ko") == 0 ? "nbds_max=2" : "";
}

static int load_module(const char *path, struct fail *f)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return fail_set(f, errno, "open module '%s'", path);
	/* No such device is no failure: there may be no watchdog, for example */
	if (syscall(SYS_finit_module, fd, module_options(path), 0) != 0 && errno != EEXIST &&
	    errno != ENODEV)
		return fail_set(f, errno, "load module '%s'", path);
	return 0;
}

void modules_load(struct guest *g)
{
	auto_free char *list = read_all("/modules.list", NULL);
	char *save = NULL;

	/* A kernel with everything built in needs no list */
	if (!list)
		return;
	for (char *line = strtok_r(list, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		struct fail f;
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s%s", *line == '/' ? "" : "/",
			 line);
		if (load_module(path, &f) != 0)
			guest_note(g, "%s", f.text);
	}
}

static int move_mounts(struct fail *f)
{
	static const char *const dirs[] = { "/dev", "/proc", "/sys" };
	char to[64];

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(to, sizeof(to), NEW_ROOT "%s", dirs[i]);
		if (mount(dirs[i], to, NULL, MS_MOVE, NULL) != 0)
			return fail_set(f, errno, "move '%s' to the root file "
					"system (has it this directory?)",
					dirs[i]);
	}
	return 0;
}

static int empty_initramfs(struct fail *f)
{
	static const char *const paths[] = { "/plan", "/modules.list",
					     "/modules" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (delete_tree(paths[i], f) != 0)
			return -1;
	return 0;
}

/* What shells expect in /dev and no kernel makes */
static int link_fds(struct fail *f)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "/dev/fd" },
		{ "/proc/self/fd/0", "/dev/stdin" },
		{ "/proc/self/fd/1", "/dev/stdout" },
		{ "/proc/self/fd/2", "/dev/stderr" },
	};

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i][0], links[i][1]) != 0 && errno != EEXIST)
			return fail_set(f, errno, "make link '%s'",
					links[i][1]);
	return 0;
}

int mounts_root(const struct disk *system, struct fail *f)
{
	if (make_dir(NEW_ROOT, 0755, f) != 0)
		return -1;
	if (mount(system->path, NEW_ROOT, "ext4", MS_RDONLY, NULL) != 0)
		return fail_set(f, errno, "mount the root file system '%s'",
				system->path);
	if (move_mounts(f) != 0 || empty_initramfs(f) != 0)
		return -1;
	/* pivot_root() refuses an initramfs: move the mount over it instead */
	if (chdir(NEW_ROOT) != 0 || mount(".", "/", NULL, MS_MOVE, NULL) != 0 ||
	    chroot(".") != 0 || chdir("/") != 0)
		return fail_set(f, errno, "change to the root file system");
	if (mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV,
		  "mode=755") != 0)
		return fail_set(f, errno, "mount a tmpfs on '/run'");
	return link_fds(f);
}

static int mount_ext4(const struct disk *d, const char *dir, struct fail *f)
{
	if (mount(d->path, dir, "ext4", 0, "noinit_itable") != 0)
		return fail_set(f, errno, "mount '%s' on '%s' of the root file "
				"system", d->path, dir);
	return 0;
}

static int tmpfs_work(struct guest *g, struct fail *f)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (mount("tmpfs", WORK_DIR, "tmpfs", 0, "mode=755") != 0)
		return fail_set(f, errno, "mount a tmpfs on '" WORK_DIR "'");
	if (strcmp(g->plan.job, "none") == 0)
		return 0;
	snprintf(from, sizeof(from), JOB_SOURCES "/%s", g->plan.job);
	snprintf(to, sizeof(to), WORK_DIR "/%s", g->plan.job);
	return copy_tree(from, to, f);
}

/* The note of what the kernel made of our mount options */
static void note_options(struct guest *g)
{
	auto_free char *text = read_all("/proc/self/mounts", NULL);
	char *save = NULL;

	if (!text)
		return;
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		if (strstr(line, " " WORK_DIR " ") ||
		    strstr(line, " " OTHER_DIR " "))
			guest_note(g, "mounted: %s", line);
}

static int make_dirs(struct fail *f)
{
	if (make_dir(WORK_DIR "/tmp", 01777, f) != 0)
		return -1;
	/* The umask took some of it away */
	if (chmod(WORK_DIR "/tmp", 01777) != 0)
		return fail_set(f, errno, "chmod '" WORK_DIR "/tmp'");
	if (mount(WORK_DIR "/tmp", "/tmp", NULL, MS_BIND, NULL) != 0)
		return fail_set(f, errno, "bind '" WORK_DIR "/tmp' to '/tmp'");
	return 0;
}

int mounts_work(struct guest *g, struct fail *f)
{
	int ret;

	if (access(WORK_DIR, F_OK) != 0)
		return fail_set(f, errno, "the root file system has no directory '"
				WORK_DIR "'");
	g->no_work_disk = !g->disks[DISK_WORK].present;
	ret = g->no_work_disk ? tmpfs_work(g, f) :
	      mount_ext4(&g->disks[DISK_WORK], WORK_DIR, f);
	if (ret != 0 || make_dirs(f) != 0)
		return -1;
	if (g->disks[DISK_OTHER].present &&
	    mount_ext4(&g->disks[DISK_OTHER], OTHER_DIR, f) != 0)
		return -1;
	note_options(g);
	return 0;
}

void mounts_end(void)
{
	static const char *const dirs[] = { "/tmp", OTHER_DIR, WORK_DIR };

	sync();
	/* At the very end nobody could act on a failure, and sync() has
	 * already brought everything to the disk */
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (umount2(dirs[i], 0) != 0)
			continue;
}
