/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hashtab.c - a table from text to numbers by Robin Hood hashing
 */
#include "hashtab.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strbuf.h"

static uint32_t rotl(uint32_t v, int by)
{
	return v << by | v >> (32 - by);
}

/* Four bytes at a time, then the rest, then stir */
static uint32_t hash_text(const char *text)
{
	size_t len = strlen(text);
	uint32_t h = 0x2f0b4a17u ^ (uint32_t)len;

	while (len >= 4) {
		uint32_t word;

		memcpy(&word, text, 4);
		h = rotl(h ^ word * 0xcc9e2d51u, 13) * 5 + 0xe6546b64u;
		text += 4;
		len -= 4;
	}
	while (len-- > 0)
		h = rotl(h ^ (unsigned char)*text++ * 0x1b873593u, 11);
	h ^= h >> 16;
	h *= 0x85ebca6bu;
	h ^= h >> 13;
	h *= 0xc2b2ae35u;
	return h ^ h >> 16;
}

static size_t distance(const struct hashtab *t, size_t at, uint32_t hash)
{
	return (at - hash) & (t->size - 1);
}

void hashtab_init(struct hashtab *t, size_t expected)
{
	t->size = 8;
	while (t->size * 3 / 4 < expected)
		t->size *= 2;
	t->slot = xcalloc(t->size, sizeof(*t->slot));
	t->used = 0;
}

void hashtab_free(struct hashtab *t)
{
	for (size_t i = 0; i < t->size; i++)
		free(t->slot[i].key);
	free(t->slot);
	t->slot = NULL;
	t->size = t->used = 0;
}

static struct hash_slot *lookup(const struct hashtab *t, const char *key,
				uint32_t hash)
{
	size_t at = hash & (t->size - 1);

	for (size_t d = 0; d < t->size; d++) {
		struct hash_slot *slot = &t->slot[at];

		if (slot->key == NULL || distance(t, at, slot->hash) < d)
			return NULL;
		if (slot->hash == hash && strcmp(slot->key, key) == 0)
			return slot;
		at = (at + 1) & (t->size - 1);
	}
	return NULL;
}

/* @entry is not in the table, and there is room */
static void place(struct hashtab *t, struct hash_slot entry)
{
	size_t at = entry.hash & (t->size - 1);
	size_t d = 0;

	while (t->slot[at].key != NULL) {
		size_t theirs = distance(t, at, t->slot[at].hash);

		if (theirs < d) {
			struct hash_slot poorer = t->slot[at];

			t->slot[at] = entry;
			entry = poorer;
			d = theirs;
		}
		at = (at + 1) & (t->size - 1);
		d++;
	}
	t->slot[at] = entry;
}

static void grow(struct hashtab *t)
{
	struct hash_slot *old = t->slot;
	size_t old_size = t->size;

	t->size *= 2;
	t->slot = xcalloc(t->size, sizeof(*t->slot));
	for (size_t i = 0; i < old_size; i++)
		if (old[i].key != NULL)
			place(t, old[i]);
	free(old);
}

static struct hash_slot *find_or_make(struct hashtab *t, const char *key)
{
	uint32_t hash = hash_text(key);
	struct hash_slot *slot = lookup(t, key, hash);
	struct hash_slot fresh = { NULL, hash, 0 };

	if (slot != NULL)
		return slot;
	if ((t->used + 1) * 4 > t->size * 3)
		grow(t);
	fresh.key = xstrdup(key);
	place(t, fresh);
	t->used++;
	return lookup(t, key, hash);
}

void hashtab_set(struct hashtab *t, const char *key, int64_t value)
{
	find_or_make(t, key)->value = value;
}

int64_t hashtab_add(struct hashtab *t, const char *key, int64_t delta)
{
	return find_or_make(t, key)->value += delta;
}

bool hashtab_get(const struct hashtab *t, const char *key, int64_t *value)
{
	const struct hash_slot *slot = lookup(t, key, hash_text(key));

	if (slot != NULL && value != NULL)
		*value = slot->value;
	return slot != NULL;
}

/* What follows moves one back, until something is at home already */
bool hashtab_remove(struct hashtab *t, const char *key)
{
	struct hash_slot *slot = lookup(t, key, hash_text(key));
	size_t at, next;

	if (slot == NULL)
		return false;
	free(slot->key);
	at = (size_t)(slot - t->slot);
	for (;;) {
		next = (at + 1) & (t->size - 1);
		if (t->slot[next].key == NULL ||
		    distance(t, next, t->slot[next].hash) == 0)
			break;
		t->slot[at] = t->slot[next];
		at = next;
	}
	t->slot[at].key = NULL;
	t->used--;
	return true;
}

size_t hashtab_each(const struct hashtab *t, hashtab_visit visit, void *arg)
{
	size_t seen = 0;

	for (size_t i = 0; i < t->size; i++) {
		if (t->slot[i].key == NULL)
			continue;
		seen++;
		if (!visit(t->slot[i].key, t->slot[i].value, arg))
			break;
	}
	return seen;
}

size_t count_words(struct hashtab *t, const char *text)
{
	struct strbuf word;
	size_t words = 0;

	strbuf_init(&word);
	for (;; text++) {
		if (isalpha((unsigned char)*text) ||
		    (*text == '\'' && word.len > 0)) {
			strbuf_putc(&word, (char)tolower((unsigned char)*text));
			continue;
		}
		if (word.len > 0) {
			hashtab_add(t, word.text, 1);
			strbuf_clear(&word);
			words++;
		}
		if (*text == '\0')
			break;
	}
	strbuf_free(&word);
	return words;
}

static bool add_up(const char *key, int64_t value, void *arg)
{
	int64_t *total = arg;

	*total += value + (int64_t)strlen(key);
	return true;
}

void hashtab_check(struct sum *s)
{
	static const char text[] =
		"It was the best of times, it was the worst of times; it was "
		"the age of wisdom, it was the age of foolishness. Don't ask.";
	struct hashtab t;
	struct rng r = { 1 };
	char key[32];
	int64_t value, total = 0;

	hashtab_init(&t, 0);
	check(count_words(&t, text) == 26, "hashtab", "words");
	check(hashtab_get(&t, "of", &value) && value == 4, "hashtab", "of");
	check(hashtab_get(&t, "don't", &value) && value == 1, "hashtab", "get");
	hashtab_free(&t);

	hashtab_init(&t, 100);
	for (int i = 0; i < 5000; i++) {
		snprintf(key, sizeof(key), "key-%u", rng_below(&r, 2000));
		if (rng_below(&r, 3) == 0)
			hashtab_remove(&t, key);
		else
			hashtab_set(&t, key, i);
	}
	check(hashtab_each(&t, add_up, &total) == t.used, "hashtab", "each");
	sum_u64(s, (uint64_t)total);
	sum_u64(s, t.used);
	hashtab_free(&t);
}
