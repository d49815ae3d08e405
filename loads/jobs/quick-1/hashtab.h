/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hashtab.h - a table from text to numbers, and counting with it
 */
#ifndef HASHTAB_H
#define HASHTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quick.h"

struct hash_slot {
	char *key;		/* NULL: free */
	uint32_t hash;
	int64_t value;
};

/* Open addressing; an entry never sits farther from home than one it passed */
struct hashtab {
	struct hash_slot *slot;
	size_t size;		/* a power of two */
	size_t used;
};

typedef bool (*hashtab_visit)(const char *key, int64_t value, void *arg);

void hashtab_init(struct hashtab *t, size_t expected);
void hashtab_free(struct hashtab *t);
void hashtab_set(struct hashtab *t, const char *key, int64_t value);
int64_t hashtab_add(struct hashtab *t, const char *key, int64_t delta);
bool hashtab_get(const struct hashtab *t, const char *key, int64_t *value);
bool hashtab_remove(struct hashtab *t, const char *key);
size_t hashtab_each(const struct hashtab *t, hashtab_visit visit, void *arg);

/* Counts the words of @text into @t. Return: how many words there were */
size_t count_words(struct hashtab *t, const char *text);

void hashtab_check(struct sum *s);

#endif
