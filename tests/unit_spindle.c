/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_spindle.c - the process behind a modelled disk, spoken to as the kernel
 * speaks to it
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/nbd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/spindle_serve.h"

#define MIB ((uint64_t)1 << 20)
#define PART_BYTES (4 * MIB)

/* Two disks of 4 MiB on one spindle, at 1 and at 6 MiB */
struct fixture {
	struct spindle_map map;
	FILE *files[2];
	int kernel;
	void *buf;
};

static int set_up(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	int pair[2];

	assert_non_null(x);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	x->kernel = pair[0];
	x->map.sock = pair[1];
	x->map.nparts = 2;
	x->map.model.bytes = 16 * MIB;
	for (int i = 0; i < 2; i++) {
		x->files[i] = tmpfile();
		assert_non_null(x->files[i]);
		assert_int_equal(ftruncate(fileno(x->files[i]),
					   (off_t)PART_BYTES), 0);
		x->map.parts[i] = (struct spindle_part){
			.fd = fileno(x->files[i]),
			.start = (1 + 5 * (uint64_t)i) * MIB,
			.bytes = PART_BYTES };
	}
	x->buf = aligned_alloc(4096, SPINDLE_REQUEST_MAX);
	assert_non_null(x->buf);
	*state = x;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *x = *state;

	fclose(x->files[0]);
	fclose(x->files[1]);
	close(x->kernel);
	close(x->map.sock);
	free(x->buf);
	free(x);
	return 0;
}

static void ask(struct fixture *x, uint32_t type, uint64_t off, uint32_t len,
		const void *data)
{
	struct nbd_request req = {
		.magic = htonl(NBD_REQUEST_MAGIC), .type = htonl(type),
		.from = htobe64(off), .len = htonl(len),
	};

	memcpy(&req.handle, "handle12", sizeof(req.handle));
	assert_int_equal(write(x->kernel, &req, sizeof(req)), sizeof(req));
	if (data)
		assert_int_equal(write(x->kernel, data, len), len);
}

/* The errno that the answer carries */
static uint32_t answered(struct fixture *x)
{
	struct nbd_reply reply;

	assert_int_equal(recv(x->kernel, &reply, sizeof(reply), MSG_WAITALL),
			 sizeof(reply));
	assert_int_equal(ntohl(reply.magic), NBD_REPLY_MAGIC);
	assert_memory_equal(&reply.handle, "handle12", 8);
	return ntohl(reply.error);
}

static void test_data_lands_on_its_disk(void **state)
{
	struct fixture *x = *state;
	char data[8192], back[8192], onfile[8192];

	memset(data, 'k', sizeof(data));
	ask(x, NBD_CMD_WRITE, 6 * MIB + 4096, sizeof(data), data);
	assert_int_equal(spindle_serve_one(&x->map, x->buf), 1);
	assert_int_equal(answered(x), 0);
	assert_int_equal(pread(x->map.parts[1].fd, onfile, sizeof(onfile), 4096),
			 sizeof(onfile));
	assert_memory_equal(onfile, data, sizeof(data));
	assert_int_equal(pread(x->map.parts[0].fd, onfile, sizeof(onfile), 4096),
			 sizeof(onfile));
	assert_int_equal(onfile[0], 0);

	ask(x, NBD_CMD_READ, 6 * MIB + 4096, sizeof(back), NULL);
	assert_int_equal(spindle_serve_one(&x->map, x->buf), 1);
	assert_int_equal(answered(x), 0);
	assert_int_equal(recv(x->kernel, back, sizeof(back), MSG_WAITALL),
			 sizeof(back));
	assert_memory_equal(back, data, sizeof(data));
}

static void test_between_the_disks(void **state)
{
	struct fixture *x = *state;
	char data[4096] = { 1 };

	ask(x, NBD_CMD_READ, 0, sizeof(data), NULL);
	assert_int_equal(spindle_serve_one(&x->map, x->buf), 1);
	assert_int_equal(answered(x), 0);
	assert_int_equal(recv(x->kernel, data, sizeof(data), MSG_WAITALL),
			 sizeof(data));
	assert_int_equal(data[0], 0);
	ask(x, NBD_CMD_WRITE, 5 * MIB, sizeof(data), data);
	assert_int_equal(spindle_serve_one(&x->map, x->buf), 1);
	assert_int_equal(answered(x), EIO);
	/* Over a disk's end, too */
	ask(x, NBD_CMD_READ, 5 * MIB - 4096, 8192, NULL);
	assert_int_equal(spindle_serve_one(&x->map, x->buf), 1);
	assert_int_equal(answered(x), EIO);
}

static void test_it_takes_its_time(void **state)
{
	struct fixture *x = *state;
	struct timespec a, b;
	char data[4096];
	int64_t ns;

	x->map.model.rbps = MIB;
	clock_gettime(CLOCK_MONOTONIC, &a);
	ask(x, NBD_CMD_READ, 2 * MIB, MIB / 16, NULL);
	assert_int_equal(spindle_serve_one(&x->map, x->buf), 1);
	clock_gettime(CLOCK_MONOTONIC, &b);
	assert_int_equal(answered(x), 0);
	for (size_t i = 0; i < MIB / 16 / sizeof(data); i++)
		assert_int_equal(recv(x->kernel, data, sizeof(data),
				      MSG_WAITALL), sizeof(data));
	ns = (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec;
	assert_true(ns >= 1000000000 / 16);
}

static void test_ends_and_failures(void **state)
{
	struct fixture *x = *state;

	ask(x, NBD_CMD_FLUSH, 0, 0, NULL);
	assert_int_equal(spindle_serve_one(&x->map, x->buf), 1);
	assert_int_equal(answered(x), 0);
	ask(x, NBD_CMD_TRIM, 0, 4096, NULL);
	assert_int_equal(spindle_serve_one(&x->map, x->buf), 1);
	assert_int_equal(answered(x), EINVAL);
	ask(x, NBD_CMD_READ, 0, SPINDLE_REQUEST_MAX + 512, NULL);
	assert_int_equal(spindle_serve_one(&x->map, x->buf), -1);
	assert_int_equal(errno, EPROTO);
	ask(x, NBD_CMD_DISC, 0, 0, NULL);
	assert_int_equal(spindle_serve_one(&x->map, x->buf), 0);
	shutdown(x->kernel, SHUT_WR);
	assert_int_equal(spindle_serve_one(&x->map, x->buf), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_data_lands_on_its_disk,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_between_the_disks, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_it_takes_its_time, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_ends_and_failures, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
