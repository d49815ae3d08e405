/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expr.h - arithmetic with variables: compiled to code for a stack machine
 */
#ifndef EXPR_H
#define EXPR_H

#include <stddef.h>
#include <stdint.h>

#include "hashtab.h"
#include "quick.h"

enum expr_op {
	OP_PUSH, OP_LOAD, OP_STORE, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD,
	OP_NEG, OP_NOT, OP_LT, OP_LE, OP_EQ, OP_AND, OP_OR,
	OP_JUMP, OP_JUMP_ZERO, OP_POP,
};

struct expr_insn {
	enum expr_op op;
	int64_t arg;
};

struct expr {
	struct expr_insn *code;
	size_t len, room;
	char **names;		/* of the variables, by number */
	size_t names_count;
	const char *error;	/* NULL: it compiled */
	size_t error_at;	/* offset into the text */
};

/* Return: 0, or -1 with e->error set; expr_free() in either case */
int expr_compile(struct expr *e, const char *text);
void expr_free(struct expr *e);
/* Return: 0 with *@result, or -1 (division by zero, unknown name, no end) */
int expr_run(const struct expr *e, struct hashtab *vars, int64_t *result);

void expr_check(struct sum *s);

#endif
