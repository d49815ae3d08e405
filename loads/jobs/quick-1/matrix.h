/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix.h - small dense matrices of real numbers
 */
#ifndef MATRIX_H
#define MATRIX_H

#include <stdbool.h>
#include <stddef.h>

#include "quick.h"

struct matrix {
	size_t rows, cols;
	double *at;		/* row by row */
};

void matrix_init(struct matrix *m, size_t rows, size_t cols);
void matrix_free(struct matrix *m);
void matrix_copy(struct matrix *to, const struct matrix *from);
void matrix_identity(struct matrix *m, size_t n);
void matrix_multiply(struct matrix *to, const struct matrix *a,
		     const struct matrix *b);
double matrix_distance(const struct matrix *a, const struct matrix *b);
/* Replaces @m by its LU parts; @perm: the rows' order. false: singular */
bool matrix_lu(struct matrix *m, size_t *perm, int *sign);
double matrix_determinant(const struct matrix *m);
bool matrix_invert(struct matrix *to, const struct matrix *m);

void matrix_check(struct sum *s);

#endif
