/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bundle_parts.h - what checking and unpacking a bundle have in common
 */
#ifndef KONTEST_BUNDLE_PARTS_H
#define KONTEST_BUNDLE_PARTS_H

#include "images/bundle.h"

/* bundle_sink - what to do with a stretch of a member's content */
typedef int (*bundle_sink)(void *data, const char *bytes, size_t n, uint64_t off,
			   struct error *err);

/* bundle_take() - read and check one member; @take, which may be NULL, gets its
 * content: of up to a piece's size only when its digest is right */
int bundle_take(struct bundle *b, const struct bundle_member *m,
		bundle_sink take, void *data, struct error *err);
/* bundle_end() - does the archive end behind its last member? */
int bundle_end(struct bundle *b, struct error *err);
/* bundle_file_is() - has a file that was put together this digest? */
int bundle_file_is(const struct bundle_file *f, const char *hex, struct error *err);
/* bundle_error() - name the bundle before a recorded failure; returns -1 */
int bundle_error(const struct bundle *b, struct error *err);

#endif
