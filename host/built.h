/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * built.h - kernels that `kontest kernel build` has made, by label
 */
#ifndef KONTEST_BUILT_H
#define KONTEST_BUILT_H

#include <stdio.h>

#include "images/kbuild.h"

#define BUILT_PREFIX "built:"

/* built_label_ok() - may a kernel be called so? Its label names a directory. */
int built_label_ok(const char *label, struct error *err);
/* built_dir() - directory of a label, there or not; owned by the caller */
char *built_dir(const char *label, struct error *err);
/**
 * built_publish() - put a built kernel where it can be used by name
 * @k: from kbuild()
 * @label: its label
 * @dir: directory, replaced when a kernel that was built so is there
 *
 * Return: 0, or -1: @dir has something else in it, or cannot be written.
 */
int built_publish(const struct kbuild *k, const char *label, const char *dir,
		  struct error *err);
/* built_find() - "built:LABEL" -> its directory; any other image as it is; owned
 * by the caller; NULL with the reason when none was built so */
char *built_find(const char *image, struct error *err);
/* built_list() - print the built ones, a line each: label, release, what it was
 * made from */
int built_list(FILE *out, struct error *err);

#endif
