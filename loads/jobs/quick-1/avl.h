/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * avl.h - a balanced search tree that can also count
 */
#ifndef AVL_H
#define AVL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quick.h"

struct avl_node {
	struct avl_node *left, *right;
	int64_t key;
	uint64_t value;
	int height;
	size_t count;		/* nodes below, itself included */
};

struct avl {
	struct avl_node *root;
};

bool avl_insert(struct avl *t, int64_t key, uint64_t value);
bool avl_remove(struct avl *t, int64_t key);
const struct avl_node *avl_find(const struct avl *t, int64_t key);
/* The node with @n keys before it */
const struct avl_node *avl_nth(const struct avl *t, size_t n);
void avl_clear(struct avl *t);
/* Height of the tree; -1 when it is out of order or out of balance */
int avl_validate(const struct avl *t);

void avl_check(struct sum *s);

#endif
