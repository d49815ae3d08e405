/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/receipt.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "host/domain.h"
#include "results/base/cleanup.h"
#include "results/base/text.h"
#include "results/journal.h"

/* Firmware keeps some RAM back (ACPI tables, the hole below 1 MiB). */
#define RAM_SLACK ((int64_t)2 << 20)
#define KERNEL_MAX ((int64_t)64 << 20)

static int64_t number(json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static const char *string(json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static json_t *find_disk(json_t *receipt, const char *role)
{
	size_t i;
	json_t *disk;

	json_array_foreach(json_object_get(receipt, "disks"), i, disk)
		if (!strcmp(string(disk, "role"), role))
			return disk;
	return NULL;
}

static bool disk_matches(json_t *receipt, const char *role, bool wanted,
			 uint64_t size, char *why, size_t why_len)
{
	json_t *disk = find_disk(receipt, role);

	if (wanted && !disk) {
		snprintf(why, why_len, "the guest found no %s disk", role);
		return false;
	}
	if (!wanted && disk) {
		snprintf(why, why_len, "the guest found %s %s disk that the profile does not have",
			 strchr("aeiou", *role) ? "an" : "a", role);
		return false;
	}
	if (wanted && number(disk, "bytes") != (int64_t)size) {
		snprintf(why, why_len, "the guest's %s disk has %lld bytes, not %llu",
			 role, (long long)number(disk, "bytes"),
			 (unsigned long long)size);
		return false;
	}
	return true;
}

/*
 * Of RAM the kernel keeps its own image and 1/64 for page structures. More than
 * that is missing where something else was set aside, such as the 64 MiB of
 * bounce buffers that exact mode avoids.
 */
static bool total_matches(json_t *o, char *why, size_t why_len)
{
	int64_t ram = number(o, "ram_bytes"), total = number(o, "mem_total_bytes");

	if (total > ram || total < ram - ram / 64 - KERNEL_MAX) {
		snprintf(why, why_len, "of %lld bytes of RAM the guest's kernel leaves %lld to use",
			 (long long)ram, (long long)total);
		return false;
	}
	return true;
}

/* With these the guest's clock moves in ticks: its nanoseconds mean nothing. */
static bool clock_matches(json_t *o, char *why, size_t why_len)
{
	const char *source = string(o, "clocksource");

	if (*source && strcmp(source, "jiffies") && strcmp(source, "refined-jiffies"))
		return true;
	snprintf(why, why_len, "the guest's clocksource is '%s': its time is too coarse",
		 source);
	return false;
}

/* A kernel may have a command line built in (CONFIG_CMDLINE): ours follows it. */
static bool cmdline_matches(json_t *o, const struct receipt_check *c, char *why,
			    size_t why_len)
{
	cleanup_free char *wanted = c->accel == ACCEL_EXACT
					    ? exact_cmdline(c->cmdline)
					    : xstrdup(c->cmdline);
	const char *got = string(o, "cmdline");
	size_t len = strlen(wanted), got_len = strlen(got);

	if (str_ends(got, wanted) &&
	    (got_len == len || got[got_len - len - 1] == ' '))
		return true;
	snprintf(why, why_len, "the kernel's command line is '%s', not '%s'", got,
		 wanted);
	return false;
}

static bool disks_match(json_t *o, const struct receipt_check *c, char *why,
			size_t why_len)
{
	const struct profile *p = c->profile;

	return disk_matches(o, "system", true, c->system_bytes, why, why_len) &&
	       disk_matches(o, "work", true, p->work.size, why, why_len) &&
	       disk_matches(o, "other", p->other.present, p->other.size, why, why_len) &&
	       disk_matches(o, "swap", p->swap.present, p->swap.size, why, why_len) &&
	       disk_matches(o, "results", true, JOURNAL_DISK_BYTES, why, why_len);
}

static bool memory_matches(json_t *o, const struct receipt_check *c, char *why,
			   size_t why_len)
{
	const struct profile *p = c->profile;
	int64_t promised = (int64_t)p->memory, ram = number(o, "ram_bytes");
	int64_t swap = p->swap.present ? (int64_t)p->swap.size - 4096 : 0;

	if (ram > promised || ram < promised - RAM_SLACK) {
		snprintf(why, why_len, "the guest has %lld bytes of RAM, not %lld",
			 (long long)ram, (long long)promised);
		return false;
	}
	/* The first page of a swap area is its header. */
	if (number(o, "swap_bytes") != swap) {
		snprintf(why, why_len, "the guest has %lld bytes of swap, not %lld",
			 (long long)number(o, "swap_bytes"), (long long)swap);
		return false;
	}
	return true;
}

bool receipt_matches(const char *payload, void *data, char *why, size_t why_len)
{
	const struct receipt_check *c = data;
	json_t *o = json_loads(payload, 0, NULL);
	bool same = false;

	if (!json_is_object(o))
		snprintf(why, why_len, "the receipt is not a JSON object");
	else if (number(o, "cpus_online") != c->profile->cpus)
		snprintf(why, why_len, "the guest has %lld CPUs online, not %u",
			 (long long)number(o, "cpus_online"), c->profile->cpus);
	else if (strcmp(string(o, "release"), c->release))
		snprintf(why, why_len, "the guest runs kernel %s, not %s",
			 string(o, "release"), c->release);
	else
		same = cmdline_matches(o, c, why, why_len) &&
		       memory_matches(o, c, why, why_len) &&
		       total_matches(o, why, why_len) &&
		       clock_matches(o, why, why_len) &&
		       disks_match(o, c, why, why_len);
	json_decref(o);
	return same;
}
