/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * no_load.c - nothing in the background: what every Ratio is taken against
 */
#include "loads/ops.h"

static uint64_t per_load(const struct load_args *a)
{
	(void)a;
	return 1;
}

const struct load_ops no_load_ops = {
	.name = "no_load",
	.unit = "nothing runs",
	.per_load = per_load,
};
