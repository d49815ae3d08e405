/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disk_model.c - seek, rotation, transfer
 */
#include "guest/disk_model.h"

#define NS 1000000000u
#define ROOT_BITS 20		/* square roots are kept in 1/2^20 */

/* a * b / c, which fits where a * b does not */
static uint64_t mul_div(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)((unsigned __int128)a * b / c);
}

/* Whole numbers alone: the same on every compiler and CPU model */
static uint64_t square_root(uint64_t v)
{
	uint64_t root = 0, bit = UINT64_C(1) << 62;

	while (bit > v)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (v >= root + bit) {
			v -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

static uint64_t rate(const struct disk_model *m, bool write)
{
	return write ? m->wbps : m->rbps;
}

static uint64_t transfer_ns(const struct disk_model *m, uint64_t len, bool write)
{
	uint64_t bps = rate(m, write);

	return bps ? mul_div(len, NS, bps) : 0;
}

/* 0 when there is no platter that turns */
static uint64_t track_bytes(const struct disk_model *m)
{
	uint64_t bps = m->rbps > m->wbps ? m->rbps : m->wbps;

	return mul_div(bps, m->rotation_ns, NS);
}

static bool same_track(const struct disk_model *m, uint64_t a, uint64_t b)
{
	uint64_t track = track_bytes(m);

	return a == b || (track && a / track == b / track);
}

static uint64_t seek_ns(const struct disk_model *m, uint64_t off)
{
	uint64_t distance = off > m->head ? off - m->head : m->head - off;
	uint64_t root;

	if (same_track(m, off, m->head))
		return 0;
	if (m->seek_ns <= m->settle_ns || m->bytes == 0)
		return m->seek_ns;
	if (distance > m->bytes)
		distance = m->bytes;
	root = square_root(mul_div(distance, UINT64_C(1) << 2 * ROOT_BITS,
				   m->bytes));
	return m->settle_ns +
	       mul_div(m->seek_ns - m->settle_ns, root * 15,
		       UINT64_C(8) << ROOT_BITS);
}

static uint64_t wait_ns(const struct disk_model *m, uint64_t at_ns, uint64_t off)
{
	uint64_t track = track_bytes(m);
	uint64_t there, here;

	if (track == 0)
		return 0;
	there = mul_div(off % track, m->rotation_ns, track);
	here = at_ns % m->rotation_ns;
	return there >= here ? there - here : there + m->rotation_ns - here;
}

/* Where the head went on from, had it never stopped; the buffer bounds it */
static uint64_t went_on(const struct disk_model *m, uint64_t now_ns, bool write)
{
	uint64_t ahead = transfer_ns(m, DISK_MODEL_BUFFER_BYTES, write);

	return m->free_ns + ahead >= now_ns ? m->free_ns : now_ns - ahead;
}

uint64_t disk_model_serve(struct disk_model *m, uint64_t now_ns, uint64_t off,
			  uint64_t len, bool write)
{
	uint64_t t;

	if (off == m->head) {
		t = went_on(m, now_ns, write);
	} else {
		t = m->free_ns > now_ns ? m->free_ns : now_ns;
		t += seek_ns(m, off);
		t += wait_ns(m, t, off);
	}
	t += transfer_ns(m, len, write);
	m->head = off + len;
	m->free_ns = t;
	return t > now_ns ? t : now_ns;
}
