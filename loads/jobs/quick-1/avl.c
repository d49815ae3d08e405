/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * avl.c - a height-balanced search tree with subtree counts
 */
#include "avl.h"

#include <stdlib.h>

static int height(const struct avl_node *n)
{
	return n != NULL ? n->height : 0;
}

static size_t count(const struct avl_node *n)
{
	return n != NULL ? n->count : 0;
}

static void update(struct avl_node *n)
{
	int l = height(n->left), r = height(n->right);

	n->height = (l > r ? l : r) + 1;
	n->count = count(n->left) + count(n->right) + 1;
}

static struct avl_node *rotate_right(struct avl_node *n)
{
	struct avl_node *top = n->left;

	n->left = top->right;
	top->right = n;
	update(n);
	update(top);
	return top;
}

static struct avl_node *rotate_left(struct avl_node *n)
{
	struct avl_node *top = n->right;

	n->right = top->left;
	top->left = n;
	update(n);
	update(top);
	return top;
}

static struct avl_node *balance(struct avl_node *n)
{
	int lean = height(n->left) - height(n->right);

	if (lean > 1) {
		if (height(n->left->left) < height(n->left->right))
			n->left = rotate_left(n->left);
		return rotate_right(n);
	}
	if (lean < -1) {
		if (height(n->right->right) < height(n->right->left))
			n->right = rotate_right(n->right);
		return rotate_left(n);
	}
	update(n);
	return n;
}

static struct avl_node *insert(struct avl_node *n, int64_t key, uint64_t value,
			       bool *fresh)
{
	if (n == NULL) {
		n = xcalloc(1, sizeof(*n));
		n->key = key;
		n->value = value;
		n->height = 1;
		n->count = 1;
		*fresh = true;
		return n;
	}
	if (key < n->key) {
		n->left = insert(n->left, key, value, fresh);
	} else if (key > n->key) {
		n->right = insert(n->right, key, value, fresh);
	} else {
		n->value = value;
		return n;
	}
	return balance(n);
}

bool avl_insert(struct avl *t, int64_t key, uint64_t value)
{
	bool fresh = false;

	t->root = insert(t->root, key, value, &fresh);
	return fresh;
}

/* Takes the smallest node out of @n and leaves it in *@least */
static struct avl_node *take_least(struct avl_node *n, struct avl_node **least)
{
	if (n->left == NULL) {
		*least = n;
		return n->right;
	}
	n->left = take_least(n->left, least);
	return balance(n);
}

static struct avl_node *remove_key(struct avl_node *n, int64_t key, bool *hit)
{
	struct avl_node *next, *right;

	if (n == NULL)
		return NULL;
	if (key < n->key) {
		n->left = remove_key(n->left, key, hit);
		return balance(n);
	}
	if (key > n->key) {
		n->right = remove_key(n->right, key, hit);
		return balance(n);
	}
	*hit = true;
	if (n->left == NULL || n->right == NULL) {
		next = n->left != NULL ? n->left : n->right;
		free(n);
		return next;
	}
	right = take_least(n->right, &next);
	next->left = n->left;
	next->right = right;
	free(n);
	return balance(next);
}

bool avl_remove(struct avl *t, int64_t key)
{
	bool hit = false;

	t->root = remove_key(t->root, key, &hit);
	return hit;
}

const struct avl_node *avl_find(const struct avl *t, int64_t key)
{
	const struct avl_node *n = t->root;

	while (n != NULL && n->key != key)
		n = key < n->key ? n->left : n->right;
	return n;
}

const struct avl_node *avl_nth(const struct avl *t, size_t n)
{
	const struct avl_node *at = t->root;

	while (at != NULL) {
		size_t left = count(at->left);

		if (n == left)
			return at;
		if (n < left) {
			at = at->left;
		} else {
			n -= left + 1;
			at = at->right;
		}
	}
	return NULL;
}

/* Without recursion: left children are turned up until there are none */
void avl_clear(struct avl *t)
{
	struct avl_node *n = t->root, *next;

	while (n != NULL) {
		next = n->left;
		if (next != NULL) {
			n->left = next->right;
			next->right = n;
		} else {
			next = n->right;
			free(n);
		}
		n = next;
	}
	t->root = NULL;
}

static int validate(const struct avl_node *n, const int64_t *low,
		    const int64_t *high)
{
	int l, r;

	if (n == NULL)
		return 0;
	if ((low != NULL && n->key <= *low) || (high != NULL && n->key >= *high))
		return -1;
	l = validate(n->left, low, &n->key);
	r = validate(n->right, &n->key, high);
	if (l < 0 || r < 0 || l - r > 1 || r - l > 1)
		return -1;
	if (n->count != count(n->left) + count(n->right) + 1)
		return -1;
	return (l > r ? l : r) + 1;
}

int avl_validate(const struct avl *t)
{
	return validate(t->root, NULL, NULL);
}

void avl_check(struct sum *s)
{
	struct avl t = { NULL };
	struct rng r = { 7 };
	const struct avl_node *n, *last = NULL;
	size_t size = 0, steps = 0;

	for (int i = 0; i < 6000; i++) {
		int64_t key = (int64_t)rng_below(&r, 3000) - 1500;

		if (rng_below(&r, 5) < 3)
			size += avl_insert(&t, key, (uint64_t)i);
		else
			size -= avl_remove(&t, key);
		if (i % 500 == 0)
			check(avl_validate(&t) >= 0, "avl", "balance");
	}
	while ((n = avl_nth(&t, steps)) != NULL) {
		check(last == NULL || last->key < n->key, "avl", "order");
		sum_u64(s, (uint64_t)n->key ^ n->value);
		last = n;
		steps++;
	}
	check(steps == size && count(t.root) == size, "avl", "size");
	check(avl_find(&t, last->key) == last, "avl", "find");
	avl_clear(&t);
	check(avl_nth(&t, 0) == NULL, "avl", "clear");
}
