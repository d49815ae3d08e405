/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/provenance.h"

#include <errno.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/columns.h"
#include "results/json_put.h"

/* struct wanted - a member and where a context has it; @group NULL: at its top */
struct wanted {
	const char *name;
	const char *group, *member;
	const char *title;
};

static const struct wanted common[] = {
	{ "kontest", NULL, "kontest", "kontest" },
	{ "accel", NULL, "accel", "accelerator" },
	{ "order_seed", "plan", "order_seed", "seed of the order" },
	{ "plan", "plan", "digest", "plan" },
	{ "profile", "profile", "digest", "profile" },
	{ "job", "job", "digest", "job" },
	{ "guest", "image", "guest", "guest program" },
	{ "lock", "image", "lock", "package lock" },
	{ "base", "image", "base", "root file system" },
	{ "work", "image", "work", "work disk" },
	{ "swap", "image", "swap", "swap disk" },
	{ "other", "image", "other", "other disk" },
	{ NULL, NULL, NULL, NULL },
};

static const struct wanted qemu[] = {
	{ "version", "qemu", "version", "QEMU" },
	{ "package", "qemu", "package", "QEMU package" },
	{ "machine", "qemu", "machine", "machine type" },
	{ "cpu", "qemu", "cpu", "CPU model" },
	{ NULL, NULL, NULL, NULL },
};

static const struct wanted kernel[] = {
	{ "label", "kernel", "label", "kernel" },
	{ "release", "kernel", "release", "  release" },
	{ "package", "kernel", "package", "  package" },
	{ "version", "kernel", "version", "  version" },
	{ "digest", "kernel", "digest", "  kernel image" },
	{ "system", "image", "system", "  system image" },
	{ "initramfs", "image", "initramfs", "  initramfs" },
	{ "cmdline", "image", "cmdline", "  command line" },
	{ NULL, NULL, NULL, NULL },
};

static const struct wanted host[] = {
	{ "libvirt", "host", "libvirt", "libvirt" },
	{ "kernel", "host", "kernel", "host kernel" },
	{ "cpu", "host", "cpu", "host CPU" },
	{ "machine", "host", "machine", "host architecture" },
	{ "nested", "host", "nested", "host is a virtual machine" },
	{ NULL, NULL, NULL, NULL },
};

static json_t *look_up(const json_t *context, const struct wanted *w)
{
	const json_t *from = w->group ? json_object_get(context, w->group) : context;
	json_t *v = json_object_get(from, w->member);

	return v ? json_incref(v) : json_null();
}

static json_t *group(const json_t *context, const struct wanted *w)
{
	json_t *o = json_object();

	for (; w->name; w++)
		json_put(o, w->name, look_up(context, w));
	return o;
}

static bool first_of_kernel(const struct boot_records *boots, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (boots->v[k].order == boots->v[i].order)
			return false;
	return true;
}

json_t *provenance_json(const struct boot_records *boots)
{
	const json_t *context = boots->n ? boots->v[0].context : NULL;
	json_t *o = group(context, common), *kernels = json_array();

	for (size_t i = 0; i < boots->n; i++)
		if (first_of_kernel(boots, i))
			json_put_last(kernels, group(boots->v[i].context, kernel));
	json_put(o, "qemu", group(context, qemu));
	json_put(o, "kernels", kernels);
	json_put(o, "host", group(context, host));
	return o;
}

/* --- for people ----------------------------------------------------------------- */

static void put_lines(const json_t *o, const struct wanted *w, struct buf *b)
{
	for (; w->name; w++) {
		const json_t *v = json_object_get(o, w->name);

		if (json_is_null(v))
			continue;
		put_left(b, w->title, 0);
		buf_adds(b, ": ");
		if (json_is_string(v))
			/* what a terminal would obey comes from a stranger's journal */
			put_left(b, json_string_value(v), 0);
		else if (json_is_boolean(v))
			buf_adds(b, json_is_true(v) ? "yes" : "no");
		else
			buf_printf(b, "%lld", (long long)json_integer_value(v));
		buf_adds(b, "\n");
	}
}

void provenance_put(const struct boot_records *boots, struct buf *b)
{
	json_t *o = provenance_json(boots);
	const json_t *kernels = json_object_get(o, "kernels");

	buf_adds(b, "Where this comes from (digests are SHA-256):\n");
	put_lines(o, common, b);
	put_lines(json_object_get(o, "qemu"), qemu, b);
	for (size_t i = 0; i < json_array_size(kernels); i++)
		put_lines(json_array_get(kernels, i), kernel, b);
	put_lines(json_object_get(o, "host"), host, b);
	json_decref(o);
}

int provenance_print(struct store *s, const char *run_id, FILE *out,
		     struct error *err)
{
	CLEANUP(boot_records_clear) struct boot_records boots = { 0 };
	CLEANUP(buf_free) struct buf text = { 0 };

	if (store_load_run(s, run_id, &boots, err) < 0)
		return -1;
	provenance_put(&boots, &text);
	if (fwrite(text.data, 1, text.len, out) != text.len || fflush(out))
		return error_set(err, errno, "print the report");
	return 0;
}
