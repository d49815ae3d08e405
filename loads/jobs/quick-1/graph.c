/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph.c - searches over an array of edges sorted by their start
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "pqueue.h"

void graph_init(struct graph *g, uint32_t nodes)
{
	memset(g, 0, sizeof(*g));
	g->nodes = nodes;
	g->first = xcalloc((size_t)nodes + 1, sizeof(*g->first));
}

void graph_free(struct graph *g)
{
	free(g->edge);
	free(g->first);
	memset(g, 0, sizeof(*g));
}

void graph_add(struct graph *g, uint32_t from, uint32_t to, uint32_t weight)
{
	struct edge edge = { from, to, weight };

	check(from < g->nodes && to < g->nodes, "graph", "no such node");
	if (g->edges == g->room) {
		g->room = g->room * 2 + 16;
		g->edge = xrealloc(g->edge, g->room * sizeof(*g->edge));
	}
	g->edge[g->edges++] = edge;
}

static int by_start(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->weight > y->weight) - (x->weight < y->weight);
}

static int by_weight(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	return by_start(a, b);
}

void graph_sort(struct graph *g)
{
	size_t at = 0;

	qsort(g->edge, g->edges, sizeof(*g->edge), by_start);
	for (uint32_t n = 0; n <= g->nodes; n++) {
		while (at < g->edges && g->edge[at].from < n)
			at++;
		g->first[n] = at;
	}
}

void graph_shortest(const struct graph *g, uint32_t start, uint64_t *length,
		    uint32_t *before)
{
	struct pqueue q;
	uint64_t so_far;
	uint32_t n;

	for (n = 0; n < g->nodes; n++) {
		length[n] = GRAPH_FAR;
		before[n] = GRAPH_NONE;
	}
	pqueue_init(&q, g->nodes);
	length[start] = 0;
	pqueue_set(&q, start, 0);
	while (pqueue_pop(&q, &n, &so_far)) {
		for (size_t i = g->first[n]; i < g->first[n + 1]; i++) {
			const struct edge *e = &g->edge[i];

			if (so_far + e->weight >= length[e->to])
				continue;
			length[e->to] = so_far + e->weight;
			before[e->to] = n;
			pqueue_set(&q, e->to, length[e->to]);
		}
	}
	pqueue_free(&q);
}

bool graph_order(const struct graph *g, uint32_t *order)
{
	uint32_t *waits_for = xcalloc(g->nodes, sizeof(*waits_for));
	uint32_t head = 0, tail = 0;

	for (size_t i = 0; i < g->edges; i++)
		waits_for[g->edge[i].to]++;
	for (uint32_t n = 0; n < g->nodes; n++)
		if (waits_for[n] == 0)
			order[tail++] = n;
	while (head < tail) {
		uint32_t n = order[head++];

		for (size_t i = g->first[n]; i < g->first[n + 1]; i++)
			if (--waits_for[g->edge[i].to] == 0)
				order[tail++] = g->edge[i].to;
	}
	free(waits_for);
	return tail == g->nodes;
}

/* Who stands for the set that @n is in; paths are halved on the way */
static uint32_t find_set(uint32_t *parent, uint32_t n)
{
	while (parent[n] != n) {
		parent[n] = parent[parent[n]];
		n = parent[n];
	}
	return n;
}

uint64_t graph_spanning(const struct graph *g, uint32_t *components)
{
	struct edge *edge = xmalloc((g->edges + 1) * sizeof(*edge));
	uint32_t *parent = xcalloc(g->nodes, sizeof(*parent));
	uint64_t weight = 0;

	memcpy(edge, g->edge, g->edges * sizeof(*edge));
	qsort(edge, g->edges, sizeof(*edge), by_weight);
	for (uint32_t n = 0; n < g->nodes; n++)
		parent[n] = n;
	*components = g->nodes;
	for (size_t i = 0; i < g->edges; i++) {
		uint32_t a = find_set(parent, edge[i].from);
		uint32_t b = find_set(parent, edge[i].to);

		if (a == b)
			continue;
		parent[a] = b;
		weight += edge[i].weight;
		--*components;
	}
	free(parent);
	free(edge);
	return weight;
}

void graph_check(struct sum *s)
{
	enum { NODES = 300 };
	uint32_t before[NODES], order[NODES], components;
	uint64_t length[NODES];
	struct rng r = { 21 };
	struct graph g;

	graph_init(&g, NODES);
	for (uint32_t i = 0; i < 4 * NODES; i++) {
		uint32_t a = rng_below(&r, NODES), b = rng_below(&r, NODES);

		if (a != b)
			graph_add(&g, a < b ? a : b, a < b ? b : a,
				  1 + rng_below(&r, 90));
	}
	graph_sort(&g);
	check(graph_order(&g, order), "graph", "order");
	graph_shortest(&g, order[0], length, before);
	for (uint32_t n = 0; n < NODES; n++) {
		check((length[n] == GRAPH_FAR) == (before[n] == GRAPH_NONE) ||
		      n == order[0], "graph", "reach");
		if (before[n] != GRAPH_NONE)
			check(length[before[n]] < length[n], "graph", "way");
		sum_u64(s, length[n]);
		sum_u64(s, order[n]);
	}
	sum_u64(s, graph_spanning(&g, &components));
	sum_u64(s, components);
	graph_add(&g, order[NODES - 1], order[0], 1);
	graph_add(&g, order[0], order[NODES - 1], 1);
	graph_sort(&g);
	check(!graph_order(&g, order), "graph", "circle");
	graph_free(&g);
}
