/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pqueue.c - a binary heap with places, and a little scheduler on two of them
 */
#include "pqueue.h"

#include <stdlib.h>
#include <string.h>

#define SLICE 6

void pqueue_init(struct pqueue *q, size_t room)
{
	q->room = room;
	q->len = 0;
	q->heap = xcalloc(room, sizeof(*q->heap));
	q->place = xmalloc(room * sizeof(*q->place));
	q->key = xcalloc(room, sizeof(*q->key));
	memset(q->place, 0xff, room * sizeof(*q->place));
}

void pqueue_free(struct pqueue *q)
{
	free(q->heap);
	free(q->place);
	free(q->key);
	memset(q, 0, sizeof(*q));
}

/* Ties go to the smaller number, so that the order is always the same */
static bool less(const struct pqueue *q, uint32_t a, uint32_t b)
{
	if (q->key[a] != q->key[b])
		return q->key[a] < q->key[b];
	return a < b;
}

static void put(struct pqueue *q, size_t at, uint32_t item)
{
	q->heap[at] = item;
	q->place[item] = (uint32_t)at;
}

static void sift_up(struct pqueue *q, size_t at)
{
	uint32_t item = q->heap[at];

	while (at > 0) {
		size_t parent = (at - 1) / 2;

		if (!less(q, item, q->heap[parent]))
			break;
		put(q, at, q->heap[parent]);
		at = parent;
	}
	put(q, at, item);
}

static void sift_down(struct pqueue *q, size_t at)
{
	uint32_t item = q->heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= q->len)
			break;
		if (child + 1 < q->len &&
		    less(q, q->heap[child + 1], q->heap[child]))
			child++;
		if (!less(q, q->heap[child], item))
			break;
		put(q, at, q->heap[child]);
		at = child;
	}
	put(q, at, item);
}

void pqueue_set(struct pqueue *q, uint32_t item, uint64_t key)
{
	check(item < q->room, "pqueue", "item");
	q->key[item] = key;
	if (q->place[item] == PQUEUE_OUT)
		put(q, q->len++, item);
	sift_up(q, q->place[item]);
	sift_down(q, q->place[item]);
}

bool pqueue_remove(struct pqueue *q, uint32_t item)
{
	uint32_t at = q->place[item], last;

	if (at == PQUEUE_OUT)
		return false;
	last = q->heap[--q->len];
	q->place[item] = PQUEUE_OUT;
	if (last == item)
		return true;
	put(q, at, last);
	sift_up(q, at);
	sift_down(q, q->place[last]);
	return true;
}

bool pqueue_pop(struct pqueue *q, uint32_t *item, uint64_t *key)
{
	if (q->len == 0)
		return false;
	*item = q->heap[0];
	*key = q->key[*item];
	return pqueue_remove(q, *item);
}

bool pqueue_valid(const struct pqueue *q)
{
	for (size_t i = 0; i < q->len; i++) {
		if (q->place[q->heap[i]] != i)
			return false;
		if (i > 0 && less(q, q->heap[i], q->heap[(i - 1) / 2]))
			return false;
	}
	return true;
}

static void wake(struct pqueue *asleep, struct pqueue *ready,
		 struct task *tasks, uint64_t now, uint64_t least)
{
	uint32_t i;
	uint64_t at;

	while (asleep->len > 0 && asleep->key[asleep->heap[0]] <= now) {
		if (!pqueue_pop(asleep, &i, &at))
			return;
		/* Whoever slept long does not get all of it back */
		if (tasks[i].virtual_time + SLICE * 1024 < least)
			tasks[i].virtual_time = least - SLICE * 1024;
		pqueue_set(ready, i, tasks[i].virtual_time);
	}
}

uint64_t simulate(struct task *tasks, uint32_t count, uint64_t ticks)
{
	struct pqueue ready, asleep;
	uint64_t now = 0, switches = 0, key;
	uint32_t current, last = count;

	pqueue_init(&ready, count);
	pqueue_init(&asleep, count);
	for (uint32_t i = 0; i < count; i++)
		pqueue_set(&ready, i, tasks[i].virtual_time);
	while (now < ticks) {
		struct task *t;

		if (!pqueue_pop(&ready, &current, &key)) {
			now = asleep.key[asleep.heap[0]];
			wake(&asleep, &ready, tasks, now, 0);
			continue;
		}
		t = &tasks[current];
		switches += current != last;
		last = current;
		now += SLICE;
		t->ran += SLICE;
		t->virtual_time += SLICE * 1024 / t->weight;
		if (t->sleeps != 0 && t->ran % (4 * SLICE) == 0) {
			t->wakes_at = now + t->sleeps;
			pqueue_set(&asleep, current, t->wakes_at);
		} else {
			pqueue_set(&ready, current, t->virtual_time);
		}
		wake(&asleep, &ready, tasks, now, key);
	}
	pqueue_free(&ready);
	pqueue_free(&asleep);
	return switches;
}

void pqueue_check(struct sum *s)
{
	struct task tasks[5] = {
		{ .weight = 1 }, { .weight = 2 }, { .weight = 4 },
		{ .weight = 1, .sleeps = 50 }, { .weight = 8, .sleeps = 900 },
	};
	struct pqueue q;
	struct rng r = { 5 };
	uint64_t key, last = 0, total = 0;
	uint32_t item;

	pqueue_init(&q, 500);
	for (int i = 0; i < 4000; i++) {
		item = rng_below(&r, 500);
		if (rng_below(&r, 4) == 0)
			pqueue_remove(&q, item);
		else
			pqueue_set(&q, item, rng_below(&r, 100000));
	}
	check(pqueue_valid(&q), "pqueue", "heap");
	while (pqueue_pop(&q, &item, &key)) {
		check(last <= key, "pqueue", "order");
		last = key;
		sum_u64(s, key * 1000 + item);
	}
	pqueue_free(&q);

	sum_u64(s, simulate(tasks, 5, 60000));
	for (int i = 0; i < 5; i++) {
		sum_u64(s, tasks[i].ran);
		total += tasks[i].ran;
	}
	check(total == 60000, "pqueue", "time that nobody got");
	check(tasks[1].ran > tasks[0].ran && tasks[2].ran > tasks[1].ran,
	      "pqueue", "weights");
}
