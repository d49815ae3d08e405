/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disks.c - finds the disks of a boot
 */
#include "guest/disks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/journal.h"

#define SCAN_MS 50
#define WAIT_MS 10000
#define SETTLE_MS 500
#define SETTLE_NO_RESULTS_MS 2000
#define DEVICES_MAX 256

/* ext4: superblock at byte 1024; swap: header at byte 1024, signature at the
 * end of the first page */
#define EXT4_MAGIC_OFF (1024 + 56)
#define EXT4_LABEL_OFF (1024 + 120)
#define SWAP_SIGNATURE "SWAPSPACE2"
#define SWAP_SIGNATURE_OFF (4096 - 10)
#define SWAP_LABEL_OFF (1024 + 28)
#define LABEL_LEN 16

static const char *const role_names[DISK_ROLES] = {
	[DISK_SYSTEM] = "system", [DISK_WORK] = "work",
	[DISK_OTHER] = "other", [DISK_SWAP] = "swap",
	[DISK_RESULTS] = "results",
};

const char *disk_role_name(enum disk_role role)
{
	return role_names[role];
}

static bool label_is(const unsigned char *at, const char *label)
{
	char want[LABEL_LEN] = { 0 };

	memcpy(want, label, strlen(label));
	return memcmp(at, want, LABEL_LEN) == 0;
}

static bool recognise_block(const unsigned char *block, enum disk_role *role)
{
	static const struct {
		const char *label;
		enum disk_role role;
	} ext4[] = {
		{ "kontest-root", DISK_SYSTEM },
		{ "kontest-work", DISK_WORK },
		{ "kontest-other", DISK_OTHER },
	};

	if (memcmp(block, JOURNAL_MAGIC, strlen(JOURNAL_MAGIC)) == 0) {
		*role = DISK_RESULTS;
		return true;
	}
	if (memcmp(block + SWAP_SIGNATURE_OFF, SWAP_SIGNATURE,
		   strlen(SWAP_SIGNATURE)) == 0) {
		*role = DISK_SWAP;
		return label_is(block + SWAP_LABEL_OFF, "kontest-swap");
	}
	if (block[EXT4_MAGIC_OFF] != 0x53 || block[EXT4_MAGIC_OFF + 1] != 0xef)
		return false;
	for (size_t i = 0; i < sizeof(ext4) / sizeof(ext4[0]); i++) {
		*role = ext4[i].role;
		if (label_is(block + EXT4_LABEL_OFF, ext4[i].label))
			return true;
	}
	return false;
}

bool disk_recognise(int fd, enum disk_role *role)
{
	unsigned char block[4096];
	ssize_t n = pread(fd, block, sizeof(block), 0);

	return n == (ssize_t)sizeof(block) && recognise_block(block, role);
}

/* The whole disk's name: a partition's directory is below its disk's */
static bool whole_name(const char *name, char *out, size_t size)
{
	char path[PATH_MAX], real[PATH_MAX];
	const char *base;

	snprintf(path, sizeof(path), "/sys/class/block/%s/partition", name);
	if (access(path, F_OK) != 0) {
		snprintf(out, size, "%s", name);
		return true;
	}
	snprintf(path, sizeof(path), "/sys/class/block/%s/..", name);
	if (!realpath(path, real))
		return false;
	base = strrchr(real, '/');
	snprintf(out, size, "%.60s", base ? base + 1 : real);
	return true;
}

static void link_name(const char *path, char *out, size_t size)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	const char *base;

	out[0] = '\0';
	if (n <= 0)
		return;
	target[n] = '\0';
	base = strrchr(target, '/');
	snprintf(out, size, "%.60s", base ? base + 1 : target);
}

static int describe(struct disk *d, const char *name, struct fail *f)
{
	char path[PATH_MAX];
	uint64_t sectors;
	size_t n;

	snprintf(d->path, sizeof(d->path), "/dev/%.60s", name);
	if (!whole_name(name, d->name, sizeof(d->name)))
		return fail_set(f, errno, "find the disk of '%s'", name);
	snprintf(path, sizeof(path), "/sys/class/block/%s/size", d->name);
	if (!read_u64(path, &sectors))
		return fail_set(f, errno, "read '%s'", path);
	d->bytes = sectors * 512;
	snprintf(path, sizeof(path), "/sys/class/block/%s/serial", d->name);
	if (read_text(path, d->serial, sizeof(d->serial)) < 0) {
		snprintf(path, sizeof(path), "/sys/class/block/%s/device/serial",
			 d->name);
		if (read_text(path, d->serial, sizeof(d->serial)) < 0)
			d->serial[0] = '\0';
	}
	for (n = strlen(d->serial); n > 0 && d->serial[n - 1] == ' '; n--)
		d->serial[n - 1] = '\0';
	snprintf(path, sizeof(path), "/sys/class/block/%s/device/driver",
		 d->name);
	link_name(path, d->driver, sizeof(d->driver));
	d->present = true;
	return 0;
}

/* struct scan - names that were looked at already */
struct scan {
	char seen[DEVICES_MAX][64];
	int count;
};

static bool was_seen(const struct scan *s, const char *name)
{
	for (int i = 0; i < s->count; i++)
		if (strcmp(s->seen[i], name) == 0)
			return true;
	return s->count == DEVICES_MAX || strlen(name) >= sizeof(s->seen[0]);
}

static void mark_seen(struct scan *s, const char *name)
{
	memcpy(s->seen[s->count++], name, strlen(name) + 1);
}

static int look_at(struct scan *s, const char *name, struct disk disks[],
		   struct fail *f)
{
	char path[PATH_MAX];
	auto_close int fd = -1;
	enum disk_role role;
	uint64_t sectors;

	snprintf(path, sizeof(path), "/sys/class/block/%s/size", name);
	if (!read_u64(path, &sectors) || sectors == 0)
		return 0;
	snprintf(path, sizeof(path), "/dev/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	/* Its node appears a moment after its name: look again */
	if (fd < 0 && errno == ENOENT)
		return 0;
	mark_seen(s, name);
	/* A drive without a medium is none of ours */
	if (fd < 0 || !disk_recognise(fd, &role))
		return 0;
	if (disks[role].present)
		return fail_set(f, 0, "two disks claim to be '%s', %s and %s: "
				"start the VM with one of them",
				role_names[role], disks[role].path, path);
	return describe(&disks[role], name, f);
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Return: how many new devices, or -1 */
static int scan_once(struct scan *s, struct disk disks[], struct fail *f)
{
	struct dirent **list;
	int n = scandir("/sys/class/block", &list, NULL, compare_names);
	int fresh = 0, ret = 0;

	if (n < 0)
		return errno == ENOENT ? 0 :
		       fail_set(f, errno, "read '/sys/class/block'");
	for (int i = 0; i < n; i++) {
		if (ret == 0 && list[i]->d_name[0] != '.' &&
		    !was_seen(s, list[i]->d_name)) {
			int before = s->count;

			ret = look_at(s, list[i]->d_name, disks, f);
			fresh += s->count - before;
		}
		free(list[i]);
	}
	free(list);
	return ret == 0 ? fresh : -1;
}

int disks_find(struct disk disks[DISK_ROLES], struct fail *f)
{
	unsigned int quiet_ms = 0;
	static struct scan s;

	memset(&s, 0, sizeof(s));
	memset(disks, 0, DISK_ROLES * sizeof(disks[0]));
	for (unsigned int ms = 0; ms < WAIT_MS; ms += SCAN_MS) {
		unsigned int settle_ms = disks[DISK_RESULTS].present ?
					 SETTLE_MS : SETTLE_NO_RESULTS_MS;
		int fresh = scan_once(&s, disks, f);

		if (fresh < 0)
			return -1;
		quiet_ms = fresh > 0 ? 0 : quiet_ms + SCAN_MS;
		if (disks[DISK_SYSTEM].present && quiet_ms >= settle_ms)
			return 0;
		sleep_ms(SCAN_MS);
	}
	if (disks[DISK_SYSTEM].present)
		return 0;
	return fail_set(f, 0, "no disk with the root file system (ext4, label "
			"kontest-root) among %d block devices after %d s: the "
			"kernel lacks the driver of the VM's disks, or the system "
			"image is not attached", s.count, WAIT_MS / 1000);
}
