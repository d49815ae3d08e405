/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kconfig.h - a kernel's configuration (.config)
 */
#ifndef KONTEST_KCONFIG_H
#define KONTEST_KCONFIG_H

#include <stddef.h>

#include "results/base/error.h"

/* struct kconfig - options by name; struct kconfig_option is kconfig.c's own */
struct kconfig {
	struct kconfig_option *v;
	size_t n;
};

/**
 * kconfig_parse() - take in the text of a .config
 * @text: the file, NUL-terminated
 * @name: for error texts
 * @kc: result; kconfig_free() ends it
 * @err: names the file and line that is no line of a .config
 */
int kconfig_parse(const char *text, const char *name, struct kconfig *kc,
		  struct error *err);
void kconfig_free(struct kconfig *kc);

/* kconfig_get() - "y", "m", "n" (not set), a number or "a string"; NULL when
 * the file does not mention the option, named without CONFIG_ */
const char *kconfig_get(const struct kconfig *kc, const char *option);

#endif
