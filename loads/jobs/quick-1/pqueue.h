/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pqueue.h - a queue by priority whose entries can be moved, and timers
 */
#ifndef PQUEUE_H
#define PQUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quick.h"

/* Items are numbers from 0 to room - 1; each is in the queue once at most */
struct pqueue {
	size_t room, len;
	uint32_t *heap;		/* items, the least key first */
	uint32_t *place;	/* of an item in the heap; PQUEUE_OUT: not in it */
	uint64_t *key;
};

#define PQUEUE_OUT UINT32_MAX

void pqueue_init(struct pqueue *q, size_t room);
void pqueue_free(struct pqueue *q);
/* Puts @item in, or moves it when it is in already */
void pqueue_set(struct pqueue *q, uint32_t item, uint64_t key);
bool pqueue_remove(struct pqueue *q, uint32_t item);
/* Takes the item with the least key out. false: the queue is empty */
bool pqueue_pop(struct pqueue *q, uint32_t *item, uint64_t *key);
bool pqueue_valid(const struct pqueue *q);

/* Tasks that share one processor: each runs for a slice, then waits */
struct task {
	uint32_t weight;
	uint64_t virtual_time, ran, wakes_at, sleeps;
};

/* Return: switches from one task to another within @ticks */
uint64_t simulate(struct task *tasks, uint32_t count, uint64_t ticks);

void pqueue_check(struct sum *s);

#endif
