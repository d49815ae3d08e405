/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expr.c - a precedence-climbing compiler and a stack machine
 */
#include "expr.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STACK 64
#define STEPS_MAX 100000

enum token {
	T_END, T_NUMBER, T_NAME, T_OPEN, T_CLOSE, T_QUESTION, T_COLON,
	T_ASSIGN, T_OR, T_AND, T_EQ, T_NE, T_LT, T_LE, T_GT, T_GE,
	T_PLUS, T_MINUS, T_STAR, T_SLASH, T_PERCENT, T_NOT,
	T_SEMICOLON, T_BAD,
};

struct compiler {
	struct expr *e;
	const char *text, *at;
	const char *start;	/* of the current token */
	size_t len;
	enum token token;
	int64_t number;
};

static const struct {
	char text[3];
	enum token token;
} marks[] = {
	/* the longer ones first */
	{ "==", T_EQ }, { "!=", T_NE }, { "<=", T_LE }, { ">=", T_GE },
	{ "<", T_LT }, { ">", T_GT },
	{ "(", T_OPEN }, { ")", T_CLOSE }, { "?", T_QUESTION },
	{ ":", T_COLON }, { "=", T_ASSIGN }, { "|", T_OR },
	{ "&", T_AND }, { "+", T_PLUS }, { "-", T_MINUS }, { "*", T_STAR },
	{ "/", T_SLASH }, { "%", T_PERCENT }, { "!", T_NOT },
	{ ";", T_SEMICOLON },
};

static void next(struct compiler *c)
{
	while (isspace((unsigned char)*c->at))
		c->at++;
	c->start = c->at;
	c->token = T_BAD;
	if (*c->at == '\0') {
		c->token = T_END;
	} else if (isdigit((unsigned char)*c->at)) {
		char *end;

		c->number = (int64_t)strtoull(c->at, &end, 0);
		c->at = end;
		c->token = T_NUMBER;
	} else if (isalpha((unsigned char)*c->at) || *c->at == '_') {
		while (isalnum((unsigned char)*c->at) || *c->at == '_')
			c->at++;
		c->token = T_NAME;
	} else {
		for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
			size_t len = strlen(marks[i].text);

			if (strncmp(c->at, marks[i].text, len) == 0) {
				c->at += len;
				c->token = marks[i].token;
				break;
			}
		}
	}
	c->len = (size_t)(c->at - c->start);
}

static void fail(struct compiler *c, const char *what)
{
	if (c->e->error != NULL)
		return;
	c->e->error = what;
	c->e->error_at = (size_t)(c->start - c->text);
	c->token = T_END;
	c->at = c->start + strlen(c->start);
}

static size_t emit(struct compiler *c, enum expr_op op, int64_t arg)
{
	struct expr *e = c->e;

	if (e->len == e->room) {
		e->room = e->room * 2 + 16;
		e->code = xrealloc(e->code, e->room * sizeof(*e->code));
	}
	e->code[e->len].op = op;
	e->code[e->len].arg = arg;
	return e->len++;
}

static int64_t name_number(struct compiler *c, const char *name, size_t len)
{
	struct expr *e = c->e;
	char *copy;

	for (size_t i = 0; i < e->names_count; i++)
		if (strlen(e->names[i]) == len &&
		    memcmp(e->names[i], name, len) == 0)
			return (int64_t)i;
	copy = xmalloc(len + 1);
	memcpy(copy, name, len);
	copy[len] = '\0';
	e->names = xrealloc(e->names, (e->names_count + 1) * sizeof(*e->names));
	e->names[e->names_count] = copy;
	return (int64_t)e->names_count++;
}

static void expect(struct compiler *c, enum token token, const char *what)
{
	if (c->token == token)
		next(c);
	else
		fail(c, what);
}

static void ternary(struct compiler *c);

static void primary(struct compiler *c)
{
	const char *name = c->start;
	size_t len = c->len;

	switch (c->token) {
	case T_NUMBER:
		emit(c, OP_PUSH, c->number);
		next(c);
		break;
	case T_NAME:
		next(c);
		if (c->token == T_ASSIGN) {
			next(c);
			ternary(c);
			emit(c, OP_STORE, name_number(c, name, len));
		} else {
			emit(c, OP_LOAD, name_number(c, name, len));
		}
		break;
	case T_OPEN:
		next(c);
		ternary(c);
		expect(c, T_CLOSE, "')' expected");
		break;
	case T_MINUS:
		next(c);
		primary(c);
		emit(c, OP_NEG, 0);
		break;
	case T_NOT:
		next(c);
		primary(c);
		emit(c, OP_NOT, 0);
		break;
	default:
		fail(c, "a value was expected");
	}
}

static const struct {
	int precedence;
	enum expr_op op;
	bool negate;		/* a > b is !(a <= b) */
} binaries[T_BAD + 1] = {
	[T_OR] = { 1, OP_OR, false },
	[T_AND] = { 2, OP_AND, false },
	[T_EQ] = { 3, OP_EQ, false },
	[T_NE] = { 3, OP_EQ, true },
	[T_LT] = { 4, OP_LT, false },
	[T_LE] = { 4, OP_LE, false },
	[T_GT] = { 4, OP_LE, true },
	[T_GE] = { 4, OP_LT, true },
	[T_PLUS] = { 5, OP_ADD, false },
	[T_MINUS] = { 5, OP_SUB, false },
	[T_STAR] = { 6, OP_MUL, false },
	[T_SLASH] = { 6, OP_DIV, false },
	[T_PERCENT] = { 6, OP_MOD, false },
};

static void binary(struct compiler *c, int least)
{
	primary(c);
	for (;;) {
		enum token t = c->token;
		int p = binaries[t].precedence;

		if (p == 0 || p < least)
			return;
		next(c);
		binary(c, p + 1);
		emit(c, binaries[t].op, 0);
		if (binaries[t].negate)
			emit(c, OP_NOT, 0);
	}
}

static void ternary(struct compiler *c)
{
	size_t to_else, to_end;

	binary(c, 1);
	if (c->token != T_QUESTION)
		return;
	next(c);
	to_else = emit(c, OP_JUMP_ZERO, 0);
	ternary(c);
	expect(c, T_COLON, "':' expected");
	to_end = emit(c, OP_JUMP, 0);
	c->e->code[to_else].arg = (int64_t)c->e->len;
	ternary(c);
	c->e->code[to_end].arg = (int64_t)c->e->len;
}

int expr_compile(struct expr *e, const char *text)
{
	struct compiler c = { .e = e, .text = text, .at = text };

	memset(e, 0, sizeof(*e));
	next(&c);
	ternary(&c);
	while (c.token == T_SEMICOLON) {
		emit(&c, OP_POP, 0);
		next(&c);
		ternary(&c);
	}
	if (c.token != T_END)
		fail(&c, "something behind the end");
	return e->error == NULL ? 0 : -1;
}

void expr_free(struct expr *e)
{
	for (size_t i = 0; i < e->names_count; i++)
		free(e->names[i]);
	free(e->names);
	free(e->code);
	memset(e, 0, sizeof(*e));
}

/* Two's complement throughout. Return: false for what cannot be worked out */
static bool apply(enum expr_op op, int64_t x, int64_t y, int64_t *out)
{
	uint64_t a = (uint64_t)x, b = (uint64_t)y;

	switch (op) {
	case OP_ADD: *out = (int64_t)(a + b); return true;
	case OP_SUB: *out = (int64_t)(a - b); return true;
	case OP_MUL: *out = (int64_t)(a * b); return true;
	case OP_DIV:
	case OP_MOD:
		if (y == 0 || (x == INT64_MIN && y == -1))
			return false;
		*out = op == OP_DIV ? x / y : x % y;
		return true;
	case OP_LT: *out = x < y; return true;
	case OP_LE: *out = x <= y; return true;
	case OP_EQ: *out = x == y; return true;
	case OP_AND: *out = x & y; return true;
	case OP_OR: *out = x | y; return true;
	default: return false;
	}
}

int expr_run(const struct expr *e, struct hashtab *vars, int64_t *result)
{
	int64_t stack[STACK];
	size_t top = 0, at = 0;

	for (int steps = 0; at < e->len; steps++) {
		const struct expr_insn *insn = &e->code[at++];

		if (steps == STEPS_MAX || top + 1 >= STACK)
			return -1;
		switch (insn->op) {
		case OP_PUSH:
			stack[top++] = insn->arg;
			break;
		case OP_LOAD:
			if (!hashtab_get(vars, e->names[insn->arg], &stack[top]))
				return -1;
			top++;
			break;
		case OP_STORE:
			hashtab_set(vars, e->names[insn->arg], stack[top - 1]);
			break;
		case OP_POP:
			top--;
			break;
		case OP_JUMP:
			at = (size_t)insn->arg;
			break;
		case OP_JUMP_ZERO:
			if (stack[--top] == 0)
				at = (size_t)insn->arg;
			break;
		case OP_NEG:
			stack[top - 1] = (int64_t)(0 - (uint64_t)stack[top - 1]);
			break;
		case OP_NOT:
			stack[top - 1] = !stack[top - 1];
			break;
		default:
			top--;
			if (!apply(insn->op, stack[top - 1], stack[top],
				   &stack[top - 1]))
				return -1;
		}
	}
	if (top != 1)
		return -1;
	*result = stack[0];
	return 0;
}

void expr_check(struct sum *s)
{
	static const struct {
		const char *text;
		int64_t value;
	} good[] = {
		{ "1 + 2 * 3 - 4 / 2", 5 },
		{ "(1 + 2) * -(3 - 10) % 5", 1 },
		{ "x = 6; y = x * 7; y > 41 ? y : 0", 42 },
		{ "a = (b = 6) + 1; a * b", 42 },
		{ "1024 | 0xff & 0x0c", 1024 | 12 },
		{ "!(1 == 2) + (2 != 3) + (3 <= 3) + (4 >= 5)", 3 },
		{ "10 - 4 - 3", 3 },
		{ "0 ? 1 : 0 ? 2 : 3", 3 },
	};
	static const char *const bad[] = {
		"", "1 +", "(1", "a(1)", "* 1", "1 2", "a = ", "$", "1 ? 2",
	};
	struct hashtab vars;
	struct expr e;
	int64_t v;

	hashtab_init(&vars, 8);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		check(expr_compile(&e, good[i].text) == 0, "expr", good[i].text);
		check(expr_run(&e, &vars, &v) == 0 && v == good[i].value,
		      "expr", good[i].text);
		sum_u64(s, (uint64_t)v);
		sum_u64(s, e.len);
		expr_free(&e);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		check(expr_compile(&e, bad[i]) != 0, "expr", bad[i]);
		sum_text(s, e.error);
		sum_u64(s, e.error_at);
		expr_free(&e);
	}
	check(expr_compile(&e, "1 / (x - x)") == 0, "expr", "compile");
	check(expr_run(&e, &vars, &v) != 0, "expr", "division by zero");
	expr_free(&e);
	hashtab_free(&vars);
}
