/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.h - what a boot's console and journal say about its end
 *
 * Knows no libvirt and no clock: it is told what came, and when.
 */
#ifndef KONTEST_WATCH_H
#define KONTEST_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "results/base/text.h"
#include "results/journal_file.h"
#include "results/verdict.h"

#define WATCH_TAIL_LINES 40
#define WATCH_LINE_MAX 256

/* Host seconds; the reasons are in watch_due(). */
#define WATCH_BOOT_SILENCE_S 120
#define WATCH_MIN_SILENCE_S 60
#define WATCH_SILENCE_FACTOR 10
#define WATCH_PANIC_GRACE_S 3
#define WATCH_END_GRACE_S 20
#define WATCH_STARVED_FACTOR 10

/* enum watch_end - how the VM went */
enum watch_end {
	WATCH_POWERED_OFF,	/* by the guest, or rebooted */
	WATCH_CRASHED,		/* pvpanic */
	WATCH_WATCHDOG,		/* i6300esb was not fed */
	WATCH_VANISHED,		/* QEMU ended without being asked */
	WATCH_ORPHANED,		/* kontest's process for the boot did, and QEMU with it */
	WATCH_INTERRUPTED,	/* SIGINT or SIGTERM to kontest */
	WATCH_ENDED_BY_US,	/* watch_due() said so */
};

/**
 * struct watch - what is known of a boot
 * @start_ms, @progress_ms, @receipt_ms: host time of the start, of the last
 *	console byte or record, and of the RECEIPT
 * @waited_ms, @waited_then_ms: by watch_starved(): now, and at @progress_ms
 * @deadline_s, @silence_s: as in struct boot_config
 * @receipt, @end: such a record came
 * @error: the ERROR record's verdict, else VERDICT_OK
 * @error_text: its message; owned
 * @mismatch: how the RECEIPT differs from the profile; owned
 * @verdict: the journal's VERDICT, or VERDICT_COUNT when it has none
 * @running: the load of a RUN_START without RUN_END; owned
 * @panic, @oops: first such line of the console; owned
 * @mark_ms: host time of the panic line, of ERROR or of END
 * @due: verdict of watch_due(), when that ended the boot
 * @due_text: its evidence; owned
 * @line: the console's unfinished last line
 * @tail: ring of its last whole lines; owned
 * @lines: whole lines so far
 * @bytes: bytes so far
 * @records: records so far
 */
struct watch {
	uint64_t start_ms, progress_ms, receipt_ms;
	uint64_t waited_ms, waited_then_ms;
	unsigned int deadline_s, silence_s;
	bool receipt, end;
	enum verdict error;
	char *error_text;
	char *mismatch;
	enum verdict verdict;
	char *running;
	char *panic, *oops;
	uint64_t mark_ms;
	enum verdict due;
	char *due_text;
	char line[WATCH_LINE_MAX];
	size_t line_len;
	char *tail[WATCH_TAIL_LINES];
	uint64_t lines, bytes, records;
};

void watch_init(struct watch *w, unsigned int deadline_s,
		unsigned int silence_s, uint64_t now_ms);
void watch_free(struct watch *w);

/* watch_console() - the console printed these bytes */
void watch_console(struct watch *w, const char *data, size_t len,
		   uint64_t now_ms);
/* watch_record() - the journal has this record */
void watch_record(struct watch *w, const struct journal_entry *e,
		  uint64_t now_ms);

/**
 * watch_starved() - the VM waited for a CPU of the host
 * @waited_ms: so long in all since the start: of the vCPU that waited longest
 *
 * Silence is what the guest does not say although it could: time that it had no CPU
 * is taken out, up to WATCH_STARVED_FACTOR times the time that it is allowed to be
 * silent, so that nothing waits for ever.
 */
void watch_starved(struct watch *w, uint64_t waited_ms);

/* watch_mismatch() - the RECEIPT is not what the profile promises: whatever
 * else the boot does, its figures are those of another machine */
void watch_mismatch(struct watch *w, const char *why);

/**
 * watch_due() - must the VM be ended now?
 * @w: what is known; on true @w->due and @w->due_text say why
 * @now_ms: host time
 */
bool watch_due(struct watch *w, uint64_t now_ms);

/**
 * watch_verdict() - the verdict of a boot that is over
 * @w: what is known
 * @how: the way the VM went
 * @evidence: gets one line
 */
enum verdict watch_verdict(const struct watch *w, enum watch_end how,
			   struct buf *evidence);

/* watch_tail() - call @fn for each of the console's last lines, oldest first;
 * they are UTF-8 without control characters */
void watch_tail(const struct watch *w, void (*fn)(void *arg, const char *line),
		void *arg);

#endif
