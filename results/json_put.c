/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/json_put.h"

#include <math.h>
#include <stdlib.h>

void json_put(json_t *obj, const char *name, json_t *value)
{
	if (!value || json_object_set_new(obj, name, value))
		abort();
}

void json_put_last(json_t *array, json_t *value)
{
	if (!value || json_array_append_new(array, value))
		abort();
}

void json_put_text(json_t *obj, const char *name, const char *text)
{
	json_put(obj, name, text ? json_string(text) : json_null());
}

void json_put_copy(json_t *obj, const char *name, json_t *value)
{
	json_put(obj, name, value ? json_incref(value) : json_null());
}

void json_put_real(json_t *obj, const char *name, double v)
{
	/* -0.0 and 0.0 are the same figure and shall be the same bytes */
	json_put(obj, name, isfinite(v) ? json_real(v == 0 ? 0 : v) : json_null());
}
