/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quick.c - runs the self-check of every module and prints the checksum
 */
#include "quick.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "avl.h"
#include "bignum.h"
#include "expr.h"
#include "graph.h"
#include "hashtab.h"
#include "json.h"
#include "lz.h"
#include "matrix.h"
#include "pqueue.h"
#include "strbuf.h"
#include "textfmt.h"

#define EXPECTED UINT64_C(0x1b77f191ef449a8f)

struct part {
	const char *name;
	void (*check)(struct sum *s);
};

static const struct part parts[] = {
	{ "strbuf", strbuf_check },
	{ "hashtab", hashtab_check },
	{ "avl", avl_check },
	{ "json", json_check },
	{ "expr", expr_check },
	{ "matrix", matrix_check },
	{ "lz", lz_check },
	{ "pqueue", pqueue_check },
	{ "bignum", bignum_check },
	{ "textfmt", textfmt_check },
	{ "graph", graph_check },
};

void sum_bytes(struct sum *s, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++) {
		s->value ^= p[i];
		s->value *= UINT64_C(0x100000001b3);
	}
}

void sum_u64(struct sum *s, uint64_t v)
{
	unsigned char bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(v >> (8 * i));
	sum_bytes(s, bytes, sizeof(bytes));
}

void sum_text(struct sum *s, const char *text)
{
	sum_bytes(s, text, strlen(text) + 1);
}

void check(int ok, const char *part, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "quick: %s: %s\n", part, what);
	exit(1);
}

static void *there(void *p, size_t size)
{
	if (p == NULL && size != 0) {
		fprintf(stderr, "quick: %zu bytes of memory: %s\n", size,
			strerror(errno));
		exit(1);
	}
	return p;
}

void *xmalloc(size_t size)
{
	return there(malloc(size), size);
}

void *xcalloc(size_t n, size_t size)
{
	return there(calloc(n, size), n * size);
}

void *xrealloc(void *p, size_t size)
{
	return there(realloc(p, size), size);
}

char *xstrdup(const char *text)
{
	size_t len = strlen(text) + 1;

	return memcpy(xmalloc(len), text, len);
}

int main(int argc, char **argv)
{
	struct sum total = { UINT64_C(0xcbf29ce484222325) };
	int verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	size_t count = sizeof(parts) / sizeof(parts[0]);

	for (size_t i = 0; i < count; i++) {
		struct sum s = { UINT64_C(0xcbf29ce484222325) };

		parts[i].check(&s);
		sum_u64(&total, s.value);
		if (verbose)
			printf("%-8s %016" PRIx64 "\n", parts[i].name, s.value);
	}
	printf("quick-1: %zu parts, checksum %016" PRIx64 "\n", count,
	       total.value);
	if (total.value != EXPECTED) {
		fprintf(stderr, "quick: the checksum should be %016" PRIx64
			"\n", EXPECTED);
		return 1;
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "quick: write: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}
