/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * receipt.h - does the guest have the machine that was promised?
 */
#ifndef KONTEST_RECEIPT_H
#define KONTEST_RECEIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "images/profile.h"

/* struct receipt_check - what the receipt is held against */
struct receipt_check {
	const struct profile *profile;
	const char *release;
	const char *cmdline;
	uint64_t system_bytes;
	enum accel accel;
};

/**
 * receipt_matches() - check a RECEIPT against profile and kernel
 * @payload: the record's JSON
 * @data: a struct receipt_check
 * @why: gets the first difference, in words
 * @why_len: bytes of @why
 *
 * CPUs online, RAM, MemTotal, swap, every disk and its size, clocksource,
 * release and command line.
 *
 * Return: true when all of them are as promised.
 */
bool receipt_matches(const char *payload, void *data, char *why, size_t why_len);

#endif
