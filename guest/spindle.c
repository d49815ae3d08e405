/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spindle.c - sets up a modelled disk as a network block device
 */
#include "guest/spindle.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/blkpg.h>
#include <linux/nbd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/spindle_serve.h"

#define ALIGN_BYTES ((uint64_t)1 << 20)	/* of partitions */
#define APPEAR_MS 5000
#define APPEAR_STEP_MS 10

/*
 * How many requests the drive holds: the one at the platter and those in its
 * buffer. The kernel's I/O scheduler orders what waits beyond that. 4 is the
 * least that the kernel lets be set.
 */
#define DRIVE_REQUESTS "4"
#define DRIVE_REQUEST_KB "256"

static int set_queue(const char *name, const char *key, const char *value,
		     struct fail *f)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/block/%s/queue/%s", name, key);
	return write_text(path, value, f);
}

/* "[none] mq-deadline" -> "none" */
static int get_scheduler(const char *name, char *out, size_t size,
			 struct fail *f)
{
	char path[128], text[256];
	const char *from, *to;

	snprintf(path, sizeof(path), "/sys/class/block/%s/queue/scheduler",
		 name);
	if (read_text(path, text, sizeof(text)) < 0)
		return fail_set(f, errno, "read '%s'", path);
	from = strchr(text, '[');
	to = from ? strchr(from, ']') : NULL;
	snprintf(out, size, "%.*s", to ? (int)(to - from - 1) : 4,
		 to ? from + 1 : "none");
	return 0;
}

/*
 * The driver takes 128 requests at once, which would leave nothing to the I/O
 * scheduler. What is set while there is no scheduler is the driver's own depth,
 * and stays when the scheduler comes back.
 */
static int limit_queue(const char *name, struct fail *f)
{
	char scheduler[64];

	if (get_scheduler(name, scheduler, sizeof(scheduler), f) != 0 ||
	    set_queue(name, "max_sectors_kb", DRIVE_REQUEST_KB, f) != 0 ||
	    set_queue(name, "scheduler", "none", f) != 0 ||
	    set_queue(name, "nr_requests", DRIVE_REQUESTS, f) != 0 ||
	    set_queue(name, "scheduler", scheduler, f) != 0)
		return -1;
	return set_queue(name, "rotational", "1", f);
}

/* In the holder: the kernel's side of the device lives as long as this call */
static _Noreturn void hold(int nbd, int sock)
{
	close(sock);
	ioctl(nbd, NBD_DO_IT);
	_exit(1);
}

static pid_t start_holder(int nbd, int sock, int server_sock)
{
	pid_t pid = fork();

	if (pid == 0) {
		close(server_sock);
		hold(nbd, sock);
	}
	return pid;
}

static pid_t start_server(struct spindle_map *map, int nbd, int kernel_sock)
{
	pid_t pid = fork();

	if (pid == 0) {
		close(nbd);
		close(kernel_sock);
		spindle_serve(map);
	}
	return pid;
}

/* Half of it would be no disk: the first failure is the one that is said */
static int configure(int nbd, int sock, uint64_t bytes, struct fail *f)
{
	const struct {
		const char *what;
		unsigned long request, value;
	} calls[] = {
		{ "NBD_SET_SOCK", NBD_SET_SOCK, (unsigned long)sock },
		{ "NBD_SET_BLKSIZE", NBD_SET_BLKSIZE, SPINDLE_SECTOR },
		{ "NBD_SET_SIZE_BLOCKS", NBD_SET_SIZE_BLOCKS,
		  bytes / SPINDLE_SECTOR },
		{ "NBD_SET_FLAGS", NBD_SET_FLAGS, NBD_FLAG_HAS_FLAGS },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (ioctl(nbd, calls[i].request, calls[i].value) != 0)
			return fail_set(f, errno, "set up a modelled disk: %s",
					calls[i].what);
	return 0;
}

static int wait_for_size(const char *name, uint64_t bytes, struct fail *f)
{
	char path[128];
	uint64_t sectors;

	snprintf(path, sizeof(path), "/sys/class/block/%s/size", name);
	for (int ms = 0; ms < APPEAR_MS; ms += APPEAR_STEP_MS) {
		if (read_u64(path, &sectors) && sectors == bytes / 512)
			return 0;
		sleep_ms(APPEAR_STEP_MS);
	}
	return fail_set(f, 0, "the modelled disk '%s' has not appeared in %d s",
			name, APPEAR_MS / 1000);
}

/* Where /dev has no node for the new partition yet, devtmpfs is late */
static int wait_for_node(const char *path, struct fail *f)
{
	for (int ms = 0; ms < APPEAR_MS; ms += APPEAR_STEP_MS) {
		if (access(path, F_OK) == 0)
			return 0;
		sleep_ms(APPEAR_STEP_MS);
	}
	return fail_set(f, errno, "wait for '%s'", path);
}

/* The first open of the running device looks for a partition table and forgets
 * what was added by hand: let that be over before */
static int scan_partitions(const char *path, struct fail *f)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? fail_set(f, errno, "open '%s'", path) : 0;
}

static int add_partition(int nbd, const char *disk, int number,
			 const struct spindle_part *part, struct disk *d,
			 struct fail *f)
{
	struct blkpg_partition p = {
		.start = (long long)part->start,
		.length = (long long)part->bytes, .pno = number,
	};
	struct blkpg_ioctl_arg arg = {
		.op = BLKPG_ADD_PARTITION, .datalen = sizeof(p), .data = &p,
	};

	if (ioctl(nbd, BLKPG, &arg) != 0)
		return fail_set(f, errno, "add partition %d to '%s'", number,
				disk);
	snprintf(d->path, sizeof(d->path), "/dev/%sp%d", disk, number);
	snprintf(d->name, sizeof(d->name), "%s", disk);
	snprintf(d->driver, sizeof(d->driver), "nbd");
	return wait_for_node(d->path, f);
}

static int device_bytes(int fd, uint64_t *bytes)
{
	off_t end = lseek(fd, 0, SEEK_END);

	if (end <= 0)
		return -1;
	*bytes = (uint64_t)end;
	return 0;
}

/* The disks one behind the other, each on a boundary */
static int make_map(struct spindle_map *map, struct disk disks[],
		    const enum disk_role roles[], struct fail *f)
{
	uint64_t at = ALIGN_BYTES;

	for (; *roles != DISK_ROLES; roles++) {
		const struct disk *d = &disks[*roles];
		struct spindle_part *part = &map->parts[map->nparts];
		int mode = *roles == DISK_SYSTEM ? O_RDONLY : O_RDWR;

		if (!d->present)
			continue;
		part->fd = open(d->path, mode | O_DIRECT | O_CLOEXEC);
		if (part->fd < 0 || device_bytes(part->fd, &part->bytes) != 0)
			return fail_set(f, errno, "open '%s'", d->path);
		part->start = at;
		at += (part->bytes + ALIGN_BYTES - 1) / ALIGN_BYTES *
		      ALIGN_BYTES;
		map->nparts++;
	}
	map->model.bytes = at;
	return 0;
}

static int start_processes(struct spindle *s, struct spindle_map *map, int nbd,
			   const char *name, struct fail *f)
{
	int pair[2];
	int ret = -1;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return fail_set(f, errno, "make the socket of a modelled disk");
	map->sock = pair[1];
	if (configure(nbd, pair[0], map->model.bytes, f) == 0) {
		s->server = start_server(map, nbd, pair[0]);
		s->holder = s->server < 0 ? -1 :
			    start_holder(nbd, pair[0], pair[1]);
		ret = s->holder < 0 ?
		      fail_set(f, errno, "start a modelled disk") :
		      wait_for_size(name, map->model.bytes, f);
	}
	close(pair[0]);
	close(pair[1]);
	return ret;
}

int spindle_start(struct spindle *s, unsigned int number,
		  const struct plan_spindle *model,
		  struct disk disks[DISK_ROLES], const enum disk_role roles[],
		  struct fail *f)
{
	static struct spindle_map map;
	char name[32], path[64];
	auto_close int nbd = -1;
	int part = 0;

	map = (struct spindle_map){ .model = {
		.rbps = model->rbps, .wbps = model->wbps,
		.seek_ns = model->seek_us * 1000,
		.settle_ns = model->settle_us * 1000,
		.rotation_ns = model->rotation_us * 1000,
	} };
	snprintf(name, sizeof(name), "nbd%u", number);
	snprintf(path, sizeof(path), "/dev/%s", name);
	nbd = open(path, O_RDWR | O_CLOEXEC);
	if (nbd < 0)
		return fail_set(f, errno, "open '%s': the profile's disks have a "
				"speed, which exact mode gives them through this "
				"driver (CONFIG_BLK_DEV_NBD)", path);
	if (make_map(&map, disks, roles, f) != 0 ||
	    start_processes(s, &map, nbd, name, f) != 0 ||
	    limit_queue(name, f) != 0 || scan_partitions(path, f) != 0)
		return -1;
	for (; *roles != DISK_ROLES; roles++) {
		struct disk *d = &disks[*roles];

		if (!d->present)
			continue;
		if (add_partition(nbd, name, part + 1, &map.parts[part], d,
				  f) != 0)
			return -1;
		d->bytes = *roles == DISK_SYSTEM ? d->bytes :
			   map.parts[part].bytes;
		close(map.parts[part].fd);
		part++;
	}
	return 0;
}
