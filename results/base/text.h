/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.h - memory, strings, growable buffers and arrays
 *
 * The x...() functions end the program with status 1 when memory runs out:
 * nothing on the host side can go on without it, and nothing is half-written
 * by then (see file.h).
 */
#ifndef KONTEST_TEXT_H
#define KONTEST_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "results/base/error.h"

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap);

/**
 * struct buf - a growable byte buffer, always NUL-terminated
 * @data: the bytes, owned; NULL while empty and never written
 * @len: bytes in use, the terminator not counted
 * @cap: bytes allocated
 *
 * Initialise with { 0 }; end with buf_free() or CLEANUP(buf_free).
 */
struct buf {
	char *data;
	size_t len;
	size_t cap;
};

void buf_add(struct buf *b, const void *data, size_t len);
void buf_adds(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void buf_free(struct buf *b);

/**
 * DEFINE_VECTOR() - a typed growable array
 * @name: struct tag and prefix of its functions: NAME_add(), NAME_free()
 * @type: type of an element; elements are freed by their owner, not here
 */
#define DEFINE_VECTOR(name, type)					\
	struct name {							\
		type *v;						\
		size_t n;						\
		size_t cap;						\
	};								\
	__attribute__((unused))						\
	static inline type *name##_add(struct name *vec, type elem)	\
	{								\
		if (vec->n == vec->cap) {				\
			vec->cap = vec->cap ? vec->cap * 2 : 8;		\
			vec->v = xrealloc(vec->v,			\
					  vec->cap * sizeof(type));	\
		}							\
		vec->v[vec->n] = elem;					\
		return &vec->v[vec->n++];				\
	}								\
	__attribute__((unused))						\
	static inline void name##_free(struct name *vec)		\
	{								\
		free(vec->v);						\
		vec->v = NULL;						\
		vec->n = vec->cap = 0;					\
	}

DEFINE_VECTOR(strings, char *)

/* strings_clear() - free the strings and the array */
void strings_clear(struct strings *s);

/**
 * parse_u64() - a whole decimal number
 * @s: text; digits only, nothing before or behind them
 * @out: the value
 *
 * Return: true when @s was such a number and fits.
 */
bool parse_u64(const char *s, uint64_t *out);

/**
 * parse_size() - a size in bytes as people write it
 * @s: a whole number with an optional K, M, G or KiB, MiB, GiB (powers of 1024)
 * @out: bytes
 *
 * Return: true when @s was such a size and fits.
 */
bool parse_size(const char *s, uint64_t *out);

/* str_same() - strcmp() for strings of which either may be NULL: NULL is NULL alone */
bool str_same(const char *a, const char *b);
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

#endif
