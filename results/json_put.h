/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_put.h - into JSON objects and arrays, where only want of memory can fail
 *
 * What is put is UTF-8 already, so that jansson has no other reason to refuse: a
 * refusal ends the program.
 */
#ifndef KONTEST_JSON_PUT_H
#define KONTEST_JSON_PUT_H

#include <jansson.h>

/* json_put() - a member; @value is the object's from then on */
void json_put(json_t *obj, const char *name, json_t *value);
/* json_put_last() - an element behind the others; @value is the array's */
void json_put_last(json_t *array, json_t *value);
/* json_put_text() - null for NULL */
void json_put_text(json_t *obj, const char *name, const char *text);
/* json_put_copy() - what another tree has; null for NULL */
void json_put_copy(json_t *obj, const char *name, json_t *value);
/* json_put_real() - a derived figure; null when it is not finite */
void json_put_real(json_t *obj, const char *name, double v);

#endif
