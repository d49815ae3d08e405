/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/kconfig.h"

#include <stdlib.h>
#include <string.h>

#include "results/base/text.h"

struct kconfig_option {
	char *name;	/* owned; the value is behind its NUL */
	const char *value;
	size_t line;
};

DEFINE_VECTOR(option_list, struct kconfig_option)

static const char prefix[] = "CONFIG_";
static const char unset[] = " is not set";

/* The last of two lines for one option counts, as in the kernel's own reader. */
static int by_name(const void *a, const void *b)
{
	const struct kconfig_option *x = a, *y = b;
	int d = strcmp(x->name, y->name);

	return d ? d : (x->line < y->line) - (x->line > y->line);
}

static void add(struct option_list *list, const char *name, size_t len,
		const char *value, size_t value_len, size_t line)
{
	struct kconfig_option o = { .line = line };

	o.name = xmalloc(len + value_len + 2);
	memcpy(o.name, name, len);
	o.name[len] = '\0';
	memcpy(o.name + len + 1, value, value_len);
	o.name[len + 1 + value_len] = '\0';
	o.value = o.name + len + 1;
	option_list_add(list, o);
}

static size_t name_len(const char *p)
{
	return strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
}

/* One line of @len bytes; false when it cannot be one of a .config. */
static bool take_line(struct option_list *list, const char *p, size_t len,
		      size_t line)
{
	const size_t plen = sizeof(prefix) - 1, ulen = sizeof(unset) - 1;
	size_t n;

	if (len && p[len - 1] == '\r')
		len--;
	if (len >= plen + 2 && p[0] == '#' && p[1] == ' ' &&
	    memcmp(p + 2, prefix, plen) == 0) {
		n = name_len(p + 2 + plen);
		if (len == 2 + plen + n + ulen &&
		    memcmp(p + 2 + plen + n, unset, ulen) == 0)
			add(list, p + 2 + plen, n, "n", 1, line);
		return true;
	}
	if (len == 0 || p[0] == '#')
		return true;
	if (len < plen || memcmp(p, prefix, plen) != 0)
		return false;
	n = name_len(p + plen);
	if (n == 0 || plen + n >= len || p[plen + n] != '=')
		return false;
	add(list, p + plen, n, p + plen + n + 1, len - plen - n - 1, line);
	return true;
}

int kconfig_parse(const char *text, const char *name, struct kconfig *kc,
		  struct error *err)
{
	struct option_list list = { 0 };
	size_t line = 0;
	bool good = true;

	*kc = (struct kconfig){ 0 };
	while (*text && good) {
		size_t len = strcspn(text, "\n");

		good = take_line(&list, text, len, ++line);
		text += len + (text[len] == '\n');
	}
	kc->v = list.v;
	kc->n = list.n;
	if (!good) {
		kconfig_free(kc);
		return error_set(err, 0, "%s:%zu: not a line of a kernel configuration; give the .config that the kernel was built with",
				 name, line);
	}
	if (!kc->n)
		return error_set(err, 0, "%s: no CONFIG_ line in it; give the .config that the kernel was built with",
				 name);
	qsort(kc->v, kc->n, sizeof(kc->v[0]), by_name);
	return 0;
}

void kconfig_free(struct kconfig *kc)
{
	for (size_t i = 0; i < kc->n; i++)
		free(kc->v[i].name);
	free(kc->v);
	*kc = (struct kconfig){ 0 };
}

static int find(const void *key, const void *elem)
{
	return strcmp(key, ((const struct kconfig_option *)elem)->name);
}

const char *kconfig_get(const struct kconfig *kc, const char *option)
{
	const struct kconfig_option *o;

	o = kc->n ? bsearch(option, kc->v, kc->n, sizeof(kc->v[0]), find) : NULL;
	if (!o)
		return NULL;
	while (o > kc->v && strcmp(o[-1].name, option) == 0)
		o--;
	return o->value;
}
