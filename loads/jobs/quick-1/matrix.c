/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix.c - elimination, determinants and inverses
 */
#include "matrix.h"

#include <stdlib.h>
#include <string.h>

static double absolute(double v)
{
	return v < 0 ? -v : v;
}

static double *cell(const struct matrix *m, size_t row, size_t col)
{
	return &m->at[row * m->cols + col];
}

void matrix_init(struct matrix *m, size_t rows, size_t cols)
{
	m->rows = rows;
	m->cols = cols;
	m->at = xcalloc(rows * cols, sizeof(*m->at));
}

void matrix_free(struct matrix *m)
{
	free(m->at);
	m->at = NULL;
	m->rows = m->cols = 0;
}

void matrix_copy(struct matrix *to, const struct matrix *from)
{
	matrix_init(to, from->rows, from->cols);
	memcpy(to->at, from->at, from->rows * from->cols * sizeof(*to->at));
}

void matrix_identity(struct matrix *m, size_t n)
{
	matrix_init(m, n, n);
	for (size_t i = 0; i < n; i++)
		*cell(m, i, i) = 1;
}

void matrix_multiply(struct matrix *to, const struct matrix *a,
		     const struct matrix *b)
{
	check(a->cols == b->rows, "matrix", "shape of a product");
	matrix_init(to, a->rows, b->cols);
	for (size_t i = 0; i < a->rows; i++)
		for (size_t k = 0; k < a->cols; k++) {
			double f = *cell(a, i, k);

			for (size_t j = 0; j < b->cols; j++)
				*cell(to, i, j) += f * *cell(b, k, j);
		}
}

double matrix_distance(const struct matrix *a, const struct matrix *b)
{
	double worst = 0;

	check(a->rows == b->rows && a->cols == b->cols, "matrix", "shape");
	for (size_t i = 0; i < a->rows * a->cols; i++) {
		double d = absolute(a->at[i] - b->at[i]);

		if (d > worst)
			worst = d;
	}
	return worst;
}

static void swap_rows(struct matrix *m, size_t a, size_t b)
{
	for (size_t j = 0; j < m->cols; j++) {
		double t = *cell(m, a, j);

		*cell(m, a, j) = *cell(m, b, j);
		*cell(m, b, j) = t;
	}
}

bool matrix_lu(struct matrix *m, size_t *perm, int *sign)
{
	size_t n = m->rows;

	*sign = 1;
	for (size_t i = 0; i < n; i++)
		perm[i] = i;
	for (size_t k = 0; k < n; k++) {
		size_t pivot = k;

		for (size_t i = k + 1; i < n; i++)
			if (absolute(*cell(m, i, k)) >
			    absolute(*cell(m, pivot, k)))
				pivot = i;
		if (absolute(*cell(m, pivot, k)) < 1e-12)
			return false;
		if (pivot != k) {
			size_t t = perm[k];

			perm[k] = perm[pivot];
			perm[pivot] = t;
			swap_rows(m, k, pivot);
			*sign = -*sign;
		}
		for (size_t i = k + 1; i < n; i++) {
			double f = *cell(m, i, k) /= *cell(m, k, k);

			for (size_t j = k + 1; j < n; j++)
				*cell(m, i, j) -= f * *cell(m, k, j);
		}
	}
	return true;
}

double matrix_determinant(const struct matrix *m)
{
	size_t *perm = xcalloc(m->rows, sizeof(*perm));
	struct matrix lu;
	double det = 0;
	int sign;

	matrix_copy(&lu, m);
	if (matrix_lu(&lu, perm, &sign)) {
		det = sign;
		for (size_t i = 0; i < m->rows; i++)
			det *= *cell(&lu, i, i);
	}
	matrix_free(&lu);
	free(perm);
	return det;
}

static void substitute(const struct matrix *lu, const size_t *perm,
		       const double *b, double *x)
{
	size_t n = lu->rows;

	for (size_t i = 0; i < n; i++) {
		x[i] = b[perm[i]];
		for (size_t j = 0; j < i; j++)
			x[i] -= *cell(lu, i, j) * x[j];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t j = i + 1; j < n; j++)
			x[i] -= *cell(lu, i, j) * x[j];
		x[i] /= *cell(lu, i, i);
	}
}

bool matrix_invert(struct matrix *to, const struct matrix *m)
{
	size_t n = m->rows;
	size_t *perm = xcalloc(n, sizeof(*perm));
	double *unit = xcalloc(n, sizeof(*unit));
	double *column = xcalloc(n, sizeof(*column));
	struct matrix lu;
	int sign;
	bool ok;

	matrix_copy(&lu, m);
	matrix_init(to, n, n);
	ok = matrix_lu(&lu, perm, &sign);
	for (size_t j = 0; ok && j < n; j++) {
		unit[j] = 1;
		substitute(&lu, perm, unit, column);
		unit[j] = 0;
		for (size_t i = 0; i < n; i++)
			*cell(to, i, j) = column[i];
	}
	matrix_free(&lu);
	free(column);
	free(unit);
	free(perm);
	return ok;
}

static void sum_rounded(struct sum *s, double v)
{
	sum_u64(s, (uint64_t)(int64_t)(v * 1000 + (v < 0 ? -0.5 : 0.5)));
}

void matrix_check(struct sum *s)
{
	struct matrix m, product, inverse, unit;
	struct rng r = { 3 };

	matrix_init(&m, 9, 9);
	for (size_t i = 0; i < 81; i++)
		m.at[i] = (double)rng_below(&r, 19) - 9;
	check(matrix_invert(&inverse, &m), "matrix", "inverse");
	matrix_multiply(&product, &m, &inverse);
	matrix_identity(&unit, 9);
	check(matrix_distance(&product, &unit) < 1e-9, "matrix", "product");
	sum_rounded(s, matrix_determinant(&m));
	check(matrix_distance(&m, &inverse) > 0.5, "matrix", "difference");

	matrix_free(&m);
	matrix_free(&product);
	matrix_free(&inverse);
	matrix_free(&unit);
}
