/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.h - the machine to imitate, an INI file (images/profiles/NAME.ini)
 *
 *	[profile]
 *	description = 1 x Pentium III 866 MHz, 256 MiB, two IDE disks
 *	source = contest-2.5.59-mm7; facts not stated there: ...
 *	cpus = 1
 *	memory = 256MiB
 *	swap = 256MiB
 *	cpu-model = Opteron_G1-v1	; QEMU CPU model, by name
 *	machine = pc-q35-7.2	; QEMU machine type, with its version
 *	mips = 500		; exact mode: 1000, 500, 250, 125 ...
 *	accel = exact		; auto | kvm | tcg | exact: default of a plan
 *	chat-messages = 20	; of every user: default of the benchmark chat
 *	chat-heap = 0		; bytes of its server and of its users, each
 *
 *	[disk work]		; also [disk other], [disk swap]
 *	size = 384MiB
 *	read-bytes-per-second = 40MiB	; 0 or absent: instantaneous
 *	write-bytes-per-second = 40MiB
 *	average-seek-us = 8500	; exact mode: guest/disk_model.h
 *	track-seek-us = 1000
 *	rpm = 7200
 *	read-iops = 1000	; the other modes
 *	write-iops = 1000
 *
 * The system disk is as fast as [disk work]. In exact mode both and the swap
 * area are on one disk with one head, so that [disk swap] has no speed of its
 * own there.
 *
 * Unknown sections and keys are errors, and so is a key given twice
 * (images/ini_file.h).
 */
#ifndef KONTEST_PROFILE_H
#define KONTEST_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "images/share.h"
#include "results/base/digest.h"
#include "results/base/error.h"

enum accel { ACCEL_AUTO, ACCEL_KVM, ACCEL_TCG, ACCEL_EXACT };

/**
 * struct profile_disk - one disk of the profile
 * @present: the profile has it
 * @size: bytes
 * @rbps: bytes a second read; 0: no limit. @wbps: written
 * @riops: requests a second read; 0: no limit. @wiops: written
 * @seek_us: average seek in microseconds. @settle_us: to the next track
 * @rpm: turns a minute
 */
struct profile_disk {
	bool present;
	uint64_t size;
	uint64_t rbps, wbps, riops, wiops;
	unsigned int seek_us, settle_us, rpm;
};

/**
 * struct profile - see the file format above
 * @icount_shift: 2^N ns an instruction, from mips
 * @chat_messages, @chat_heap: 0: not stated
 * @text: the file as it was read; owned
 * @digest: SHA-256 of @text
 */
struct profile {
	char name[64];
	char *description;
	char *source;
	unsigned int cpus;
	uint64_t memory;
	char cpu_model[64];
	char machine[64];
	unsigned int mips;
	unsigned int icount_shift;
	enum accel accel;
	uint64_t chat_messages, chat_heap;
	struct profile_disk work, other, swap;
	char *text;
	char digest[SHA256_HEX];
};

/* profile_load() - by name (from the profiles' directory) or by path (has a '/') */
int profile_load(const char *name_or_path, struct profile *p,
		 struct error *err);
void profile_free(struct profile *p);

/* accel_name(), accel_parse() - "auto", "kvm", "tcg", "exact" */
const char *accel_name(enum accel a);
bool accel_parse(const char *s, enum accel *out);

#endif
