/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/profile.h"

#include <errno.h>
#include <string.h>

#include "images/ini_file.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/base/text.h"

#define PROFILE_MAX_BYTES (64 * 1024)
/* NVDIMMs and partitions alike want multiples of it. */
#define DISK_ALIGN ((uint64_t)2 << 20)

static const char *const accel_names[] = {
	[ACCEL_AUTO] = "auto",
	[ACCEL_KVM] = "kvm",
	[ACCEL_TCG] = "tcg",
	[ACCEL_EXACT] = "exact",
};

const char *accel_name(enum accel a)
{
	return accel_names[a];
}

bool accel_parse(const char *s, enum accel *out)
{
	for (size_t i = 0; i < sizeof(accel_names) / sizeof(*accel_names); i++) {
		if (!strcmp(s, accel_names[i])) {
			*out = (enum accel)i;
			return true;
		}
	}
	return false;
}

/* struct reading - the profile being read, and the reason why it cannot be */
struct reading {
	struct profile *p;
	struct error *err;
};

#define wrong(r, ...) error_set((r)->err, 0, __VA_ARGS__)

static bool known_mips(unsigned int mips, unsigned int *shift)
{
	/* QEMU's icount: 2^shift ns an instruction, shift 0 to 10. */
	for (unsigned int s = 0; s <= 10; s++) {
		if (mips == 1000u >> s) {
			*shift = s;
			return true;
		}
	}
	return false;
}

static bool copy_name(char *to, size_t size, const char *value)
{
	if (!*value || strlen(value) >= size ||
	    strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") !=
		    strlen(value))
		return false;
	strcpy(to, value);
	return true;
}

static int profile_key(struct reading *r, const char *key, const char *value)
{
	struct profile *p = r->p;
	uint64_t n;

	if (!strcmp(key, "description")) {
		free(p->description);
		p->description = xstrdup(value);
	} else if (!strcmp(key, "source")) {
		free(p->source);
		p->source = xstrdup(value);
	} else if (!strcmp(key, "cpus")) {
		if (!parse_u64(value, &n) || n < 1 || n > 255)
			return wrong(r, "cpus = %s: give a number from 1 to 255", value);
		p->cpus = (unsigned int)n;
	} else if (!strcmp(key, "memory")) {
		if (!parse_size(value, &n) || n < ((uint64_t)32 << 20) || n % (1 << 20))
			return wrong(r, "memory = %s: give whole MiB, at least 32MiB, such as 256MiB",
				     value);
		p->memory = n;
	} else if (!strcmp(key, "cpu-model")) {
		if (!copy_name(p->cpu_model, sizeof(p->cpu_model), value) ||
		    !strcmp(value, "host") || !strcmp(value, "max"))
			return wrong(r, "cpu-model = %s: name a QEMU CPU model that is the same everywhere, such as Opteron_G1-v1 (not host or max)",
				     value);
	} else if (!strcmp(key, "machine")) {
		if (!copy_name(p->machine, sizeof(p->machine), value) ||
		    !strpbrk(value, "0123456789"))
			return wrong(r, "machine = %s: name a QEMU machine type with its version, such as pc-q35-7.2",
				     value);
	} else if (!strcmp(key, "mips")) {
		if (!parse_u64(value, &n) || n > 1000 ||
		    !known_mips((unsigned int)n, &p->icount_shift))
			return wrong(r, "mips = %s: give 1000, 500, 250, 125, 62, 31, 15, 7, 3 or 1",
				     value);
		p->mips = (unsigned int)n;
	} else if (!strcmp(key, "accel")) {
		if (!accel_parse(value, &p->accel))
			return wrong(r, "accel = %s: give auto, kvm, tcg or exact", value);
	} else if (!strcmp(key, "chat-messages")) {
		if (!parse_u64(value, &p->chat_messages) || !p->chat_messages)
			return wrong(r, "chat-messages = %s: give a whole number", value);
	} else if (!strcmp(key, "chat-heap")) {
		if (!parse_size(value, &p->chat_heap))
			return wrong(r, "chat-heap = %s: give a size such as 64MiB", value);
	} else {
		return wrong(r, "unknown key '%s' in [profile]", key);
	}
	return 0;
}

static int disk_key(struct reading *r, struct profile_disk *d, const char *section,
		    const char *key, const char *value)
{
	static const struct {
		const char *key;
		size_t off;
	} rates[] = {
		{ "read-bytes-per-second", offsetof(struct profile_disk, rbps) },
		{ "write-bytes-per-second", offsetof(struct profile_disk, wbps) },
		{ "read-iops", offsetof(struct profile_disk, riops) },
		{ "write-iops", offsetof(struct profile_disk, wiops) },
	};

	static const struct {
		const char *key;
		size_t off;
		uint64_t max;
	} mechanics[] = {
		{ "average-seek-us", offsetof(struct profile_disk, seek_us), 1000000 },
		{ "track-seek-us", offsetof(struct profile_disk, settle_us), 1000000 },
		{ "rpm", offsetof(struct profile_disk, rpm), 100000 },
	};
	uint64_t n;

	d->present = true;
	if (!strcmp(key, "size")) {
		if (!parse_size(value, &d->size) || d->size % DISK_ALIGN || !d->size)
			return wrong(r, "size = %s: give a multiple of 2MiB, such as 384MiB",
				     value);
		return 0;
	}
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		if (strcmp(key, rates[i].key))
			continue;
		if (!parse_size(value, &n))
			return wrong(r, "%s = %s: give a whole number, such as 1000 or 40MiB",
				     key, value);
		*(uint64_t *)((char *)d + rates[i].off) = n;
		return 0;
	}
	for (size_t i = 0; i < sizeof(mechanics) / sizeof(*mechanics); i++) {
		if (strcmp(key, mechanics[i].key))
			continue;
		if (!parse_u64(value, &n) || n > mechanics[i].max)
			return wrong(r, "%s = %s: give a whole number up to %llu", key,
				     value, (unsigned long long)mechanics[i].max);
		*(unsigned int *)((char *)d + mechanics[i].off) = (unsigned int)n;
		return 0;
	}
	return wrong(r, "unknown key '%s' in [%s]", key, section);
}

static int profile_line(void *data, const char *section, const char *key,
			const char *value, struct error *err)
{
	struct reading reading = { .p = data, .err = err }, *r = &reading;

	if (!strcmp(section, "profile"))
		return profile_key(r, key, value);
	if (!strcmp(section, "disk work"))
		return disk_key(r, &r->p->work, section, key, value);
	if (!strcmp(section, "disk other"))
		return disk_key(r, &r->p->other, section, key, value);
	if (!strcmp(section, "disk swap"))
		return disk_key(r, &r->p->swap, section, key, value);
	return wrong(r, "unknown section [%s]: there are [profile], [disk work], [disk other] and [disk swap]",
		     section);
}

/* A platter has both: a seek alone would find its sector at once */
static int mechanics_whole(const struct profile_disk *d, const char *role,
			   const char *path, struct error *err)
{
	if (!d->seek_us && !d->settle_us && !d->rpm)
		return 0;
	if (!d->seek_us || !d->rpm || !d->rbps || !d->wbps)
		return error_set(err, 0, "profile '%s': [disk %s] needs average-seek-us, rpm, read-bytes-per-second and write-bytes-per-second together",
				 path, role);
	if (d->settle_us > d->seek_us)
		return error_set(err, 0, "profile '%s': [disk %s]: track-seek-us = %u is longer than average-seek-us = %u",
				 path, role, d->settle_us, d->seek_us);
	return 0;
}

static int no_mechanics(const struct profile_disk *swap, const char *path,
			struct error *err)
{
	if (!swap->seek_us && !swap->settle_us && !swap->rpm)
		return 0;
	return error_set(err, 0, "profile '%s': [disk swap] is on the same disk as [disk work]: give average-seek-us, track-seek-us and rpm there",
			 path);
}

static int complete(const struct profile *p, const char *path, struct error *err)
{
	const struct {
		const char *name;
		bool there;
	} needed[] = {
		{ "cpus", p->cpus > 0 },
		{ "memory", p->memory > 0 },
		{ "cpu-model", *p->cpu_model },
		{ "machine", *p->machine },
		{ "mips", p->mips > 0 },
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!needed[i].there)
			return error_set(err, 0, "profile '%s': key '%s' is missing in [profile]",
					 path, needed[i].name);
	if (!p->work.present)
		return error_set(err, 0, "profile '%s': section [disk work] is missing", path);
	if (!p->work.size || (p->other.present && !p->other.size) ||
	    (p->swap.present && !p->swap.size))
		return error_set(err, 0, "profile '%s': a disk has no key 'size'", path);
	return mechanics_whole(&p->work, "work", path, err) < 0 ||
	       mechanics_whole(&p->other, "other", path, err) < 0 ? -1 :
	       no_mechanics(&p->swap, path, err);
}

static char *profile_path(const char *name)
{
	if (strchr(name, '/'))
		return xstrdup(name);
	return xasprintf("%s/images/profiles/%s.ini", share_dir(), name);
}

static void set_name(struct profile *p, const char *path)
{
	const char *base = strrchr(path, '/');
	size_t len;

	base = base ? base + 1 : path;
	len = strlen(base) - (str_ends(base, ".ini") ? 4 : 0);
	snprintf(p->name, sizeof(p->name), "%.*s", (int)len, base);
}

int profile_load(const char *name, struct profile *p, struct error *err)
{
	cleanup_free char *path = profile_path(name);
	CLEANUP(buf_free) struct buf text = { 0 };
	const struct ini_format format = {
		.what = "profile", .max_bytes = PROFILE_MAX_BYTES, .unique = true,
		.key = profile_line,
	};
	struct error why = { 0 };

	*p = (struct profile){ 0 };
	if (ini_file_read(path, &format, p, &text, &why) < 0) {
		profile_free(p);
		if (why.errnum == ENOENT && !strchr(name, '/'))
			return error_set(err, 0, "there is no profile '%s' in '%s/images/profiles'; `kontest profile list` shows them, a path with a '/' names your own",
					 name, share_dir());
		if (err)
			*err = why;
		return -1;
	}
	if (complete(p, path, err) < 0) {
		profile_free(p);
		return -1;
	}
	set_name(p, path);
	p->text = xstrndup(text.data, text.len);
	sha256_of(text.data, text.len, p->digest);
	return 0;
}

void profile_free(struct profile *p)
{
	free(p->description);
	free(p->source);
	free(p->text);
	*p = (struct profile){ 0 };
}
