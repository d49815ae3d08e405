/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict.h - how a boot or a run ended
 */
#ifndef KONTEST_VERDICT_H
#define KONTEST_VERDICT_H

#include <stdbool.h>

enum verdict {
	VERDICT_OK,
	VERDICT_BOOT_FAILED,	/* no receipt was written */
	VERDICT_PANIC,
	VERDICT_OOPS,
	VERDICT_HUNG,		/* no sign of progress until the deadline */
	VERDICT_TIMED_OUT,	/* progress, but not done in time: censored */
	VERDICT_NO_SPACE,
	VERDICT_OOM,
	VERDICT_LOAD_FAILED,
	VERDICT_JOB_FAILED,
	VERDICT_CLOCK_DRIFT,
	VERDICT_PROFILE_MISMATCH,
	VERDICT_KILLED,		/* QEMU or kontest was killed */
	VERDICT_UNFINISHED,	/* a RUN_START without RUN_END */
	VERDICT_COUNT,
};

/* verdict_name() - "ok", "boot-failed", ...; verdict_parse() the other way */
const char *verdict_name(enum verdict v);
bool verdict_parse(const char *name, enum verdict *v);
/* verdict_exit() - exit status of a `kontest run` whose worst boot ended so:
 * 0 for ok, else 10 + the verdict's number in the man page */
int verdict_exit(enum verdict v);

#endif
