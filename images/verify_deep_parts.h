/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_deep_parts.h - between the parts of verify_deep()
 */
#ifndef KONTEST_VERIFY_DEEP_PARTS_H
#define KONTEST_VERIFY_DEEP_PARTS_H

#include "images/verify_deep.h"

/* deep_differ() - count a difference, keep its sentence while there is room */
void deep_differ(struct deep_result *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* deep_guestfs() - open the image, write its root file system to @tar; blocks */
int deep_guestfs(const char *image, const struct deep_opts *o, bool kvm,
		 int tar, struct error *err);

#endif
