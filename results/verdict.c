/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict.c - how a boot or a run ended: names and exit statuses
 */
#include "results/verdict.h"

#include <stddef.h>
#include <string.h>

static const char *const names[VERDICT_COUNT] = {
	[VERDICT_OK] = "ok",
	[VERDICT_BOOT_FAILED] = "boot-failed",
	[VERDICT_PANIC] = "panic",
	[VERDICT_OOPS] = "oops",
	[VERDICT_HUNG] = "hung",
	[VERDICT_TIMED_OUT] = "timed-out",
	[VERDICT_NO_SPACE] = "no-space",
	[VERDICT_OOM] = "oom",
	[VERDICT_LOAD_FAILED] = "load-failed",
	[VERDICT_JOB_FAILED] = "job-failed",
	[VERDICT_CLOCK_DRIFT] = "clock-drift",
	[VERDICT_PROFILE_MISMATCH] = "profile-mismatch",
	[VERDICT_KILLED] = "killed",
	[VERDICT_UNFINISHED] = "unfinished",
};

const char *verdict_name(enum verdict v)
{
	return (unsigned int)v < VERDICT_COUNT ? names[v] : "unknown";
}

bool verdict_parse(const char *name, enum verdict *v)
{
	for (int i = 0; name && i < VERDICT_COUNT; i++) {
		if (strcmp(names[i], name) == 0) {
			*v = (enum verdict)i;
			return true;
		}
	}
	return false;
}

int verdict_exit(enum verdict v)
{
	return v == VERDICT_OK ? 0 : 10 + (int)v;
}
