/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph.h - directed graphs with weights: paths, orders, spanning trees
 */
#ifndef GRAPH_H
#define GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quick.h"

struct edge {
	uint32_t from, to;
	uint32_t weight;
};

struct graph {
	uint32_t nodes;
	struct edge *edge;	/* sorted by @from once graph_sort() was called */
	size_t edges, room;
	size_t *first;		/* of each node's edges; one more for the end */
};

#define GRAPH_FAR UINT64_MAX
#define GRAPH_NONE UINT32_MAX

void graph_init(struct graph *g, uint32_t nodes);
void graph_free(struct graph *g);
void graph_add(struct graph *g, uint32_t from, uint32_t to, uint32_t weight);
void graph_sort(struct graph *g);
/* Shortest ways from @start: their lengths, and the node before on each */
void graph_shortest(const struct graph *g, uint32_t start, uint64_t *length,
		    uint32_t *before);
/* Every node before those it points to. false: there is a circle */
bool graph_order(const struct graph *g, uint32_t *order);
/* Weight of the lightest set of edges that joins what can be joined */
uint64_t graph_spanning(const struct graph *g, uint32_t *components);

void graph_check(struct sum *s);

#endif
