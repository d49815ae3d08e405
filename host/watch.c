/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/watch.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "results/base/cleanup.h"

void watch_init(struct watch *w, unsigned int deadline_s,
		unsigned int silence_s, uint64_t now_ms)
{
	*w = (struct watch){
		.start_ms = now_ms,
		.progress_ms = now_ms,
		.deadline_s = deadline_s,
		.silence_s = silence_s,
		.verdict = VERDICT_COUNT,
	};
}

void watch_free(struct watch *w)
{
	free(w->error_text);
	free(w->mismatch);
	free(w->running);
	free(w->panic);
	free(w->oops);
	free(w->due_text);
	for (size_t i = 0; i < WATCH_TAIL_LINES; i++)
		free(w->tail[i]);
	*w = (struct watch){ 0 };
}

/*
 * The kernel's way to say that it went on after a fault: "Oops: 0002 [#1] SMP",
 * "general protection fault: 0000 [#1]", "kernel BUG at mm/slub.c:1!". Soft
 * lockups and stalls are none: under emulation on a busy host they are
 * commonplace, and the silence rule sees a guest that really stopped.
 */
static bool is_oops(const char *line)
{
	const char *s;

	if (strstr(line, "kernel BUG at "))
		return true;
	for (s = line; (s = strstr(s, " [#")); s += 3)
		if (isdigit((unsigned char)s[3]))
			return true;
	return false;
}

static void progress(struct watch *w, uint64_t now_ms)
{
	w->progress_ms = now_ms;
	w->waited_then_ms = w->waited_ms;
}

void watch_starved(struct watch *w, uint64_t waited_ms)
{
	w->waited_ms = waited_ms;
}

static void line_done(struct watch *w, uint64_t now_ms)
{
	char **slot = &w->tail[w->lines % WATCH_TAIL_LINES];

	w->line[w->line_len] = '\0';
	if (!w->panic && strstr(w->line, "Kernel panic - not syncing")) {
		w->panic = xstrdup(w->line);
		w->mark_ms = now_ms;
	}
	if (!w->oops && is_oops(w->line))
		w->oops = xstrdup(w->line);
	free(*slot);
	*slot = xstrdup(w->line);
	w->lines++;
	w->line_len = 0;
}

void watch_console(struct watch *w, const char *data, size_t len,
		   uint64_t now_ms)
{
	if (!len)
		return;
	w->bytes += len;
	progress(w, now_ms);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)data[i];

		if (c == '\n')
			line_done(w, now_ms);
		else if (c == '\t')
			c = ' ';
		/* A broken guest may print anything; JSON may not have it. */
		if (c >= 0x20 && c != 0x7f && w->line_len < WATCH_LINE_MAX - 1)
			w->line[w->line_len++] = c < 0x80 ? (char)c : '?';
	}
}

static char *member(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? xstrdup(s) : NULL;
}

static void take_error(struct watch *w, const json_t *o, uint64_t now_ms)
{
	cleanup_free char *name = member(o, "verdict");

	/* An ERROR that we cannot read is still no success. */
	if (!name || !verdict_parse(name, &w->error) || w->error == VERDICT_OK)
		w->error = VERDICT_KILLED;
	free(w->error_text);
	w->error_text = member(o, "message");
	if (!w->mark_ms)
		w->mark_ms = now_ms;
}

static void take_verdict(struct watch *w, const json_t *o)
{
	cleanup_free char *name = member(o, "verdict");

	if (!name || !verdict_parse(name, &w->verdict))
		w->verdict = VERDICT_KILLED;
}

void watch_record(struct watch *w, const struct journal_entry *e,
		  uint64_t now_ms)
{
	json_t *o = json_loadb(e->payload ? e->payload : "", e->len, 0, NULL);

	progress(w, now_ms);
	w->records++;
	switch (e->type) {
	case JOURNAL_RECEIPT:
		w->receipt = true;
		w->receipt_ms = now_ms;
		break;
	case JOURNAL_RUN_START:
		free(w->running);
		w->running = member(o, json_object_get(o, "bench") ?
				    "bench" : "load");
		break;
	case JOURNAL_RUN_END:
		free(steal_ptr(w->running));
		break;
	case JOURNAL_ERROR:
		take_error(w, o, now_ms);
		break;
	case JOURNAL_VERDICT:
		take_verdict(w, o);
		break;
	case JOURNAL_END:
		w->end = true;
		w->mark_ms = now_ms;
		break;
	default:
		break;
	}
	json_decref(o);
}

void watch_mismatch(struct watch *w, const char *why)
{
	free(w->mismatch);
	w->mismatch = xstrdup(why);
}

static unsigned int silence_limit_s(const struct watch *w)
{
	uint64_t s;

	/* A kernel that was told to be quiet says nothing until it is up, and
	 * nobody knows yet how slow this host is. */
	if (!w->receipt)
		return w->silence_s > WATCH_BOOT_SILENCE_S ?
		       w->silence_s : WATCH_BOOT_SILENCE_S;
	if (w->silence_s)
		return w->silence_s;
	/* How long the boot took says how slow this host is. */
	s = WATCH_SILENCE_FACTOR * (w->receipt_ms - w->start_ms) / 1000;
	return s < WATCH_MIN_SILENCE_S ? WATCH_MIN_SILENCE_S : (unsigned int)s;
}

static bool due(struct watch *w, enum verdict v, char *text)
{
	free(w->due_text);
	w->due = v;
	w->due_text = text;
	return true;
}

/* Host time without a word from a guest that had a CPU to say it */
static uint64_t silent_ms(const struct watch *w, uint64_t now_ms)
{
	uint64_t silent = now_ms - w->progress_ms;
	uint64_t starved = w->waited_ms > w->waited_then_ms ?
			   w->waited_ms - w->waited_then_ms : 0;

	if (silent >= WATCH_STARVED_FACTOR * 1000ULL * silence_limit_s(w))
		return silent;
	return silent > starved ? silent - starved : 0;
}

bool watch_due(struct watch *w, uint64_t now_ms)
{
	uint64_t silent_s = silent_ms(w, now_ms) / 1000;
	uint64_t age_s = (now_ms - w->start_ms) / 1000;
	unsigned int limit_s = silence_limit_s(w);

	if (w->mismatch)
		return due(w, VERDICT_PROFILE_MISMATCH, xstrdup(w->mismatch));
	/* All is said; a guest that cannot power off changes nothing. */
	if (w->end || w->error != VERDICT_OK)
		return now_ms - w->mark_ms >= WATCH_END_GRACE_S * 1000 &&
		       due(w, w->error, xasprintf("%s was written, but the guest did not power off",
						  w->end ? "END" : "ERROR"));
	/* The rest of the panic's text is evidence; then the guest just spins. */
	if (w->panic)
		return now_ms - w->mark_ms >= WATCH_PANIC_GRACE_S * 1000 &&
		       due(w, VERDICT_PANIC, xstrdup(w->panic));
	if (w->deadline_s && age_s >= w->deadline_s)
		return due(w, w->receipt ? VERDICT_TIMED_OUT : VERDICT_BOOT_FAILED,
			   xasprintf("not done after %u s%s", w->deadline_s,
				     w->receipt ? "" : ", and no receipt was written"));
	if (silent_s < limit_s)
		return false;
	if (!w->receipt)
		return due(w, VERDICT_BOOT_FAILED,
			   xasprintf("no receipt, and nothing on the console for %u s", limit_s));
	return due(w, VERDICT_HUNG,
		   xasprintf("no record and nothing on the console for %u s", limit_s));
}

static const char *last_line(const struct watch *w)
{
	for (uint64_t i = w->lines; i-- > 0 && w->lines - i <= WATCH_TAIL_LINES;)
		if (*w->tail[i % WATCH_TAIL_LINES])
			return w->tail[i % WATCH_TAIL_LINES];
	return "nothing";
}

/* Where the guest was, for every evidence of a boot that did not get to END. */
static void add_where(const struct watch *w, struct buf *b)
{
	if (w->running)
		buf_printf(b, "; running: %s", w->running);
	if (!w->receipt)
		buf_printf(b, "; last on the console: %s", last_line(w));
}

/* An END was written: the boot did all that was asked. */
static enum verdict finished(const struct watch *w, enum watch_end how,
			     struct buf *evidence)
{
	/* The kernel went on, but what it measured afterwards is in doubt. */
	if (w->oops) {
		buf_printf(evidence, "END was written, but: %s", w->oops);
		return VERDICT_OOPS;
	}
	if (how == WATCH_ENDED_BY_US && w->due_text)
		buf_adds(evidence, w->due_text);
	else
		buf_adds(evidence, "END was written");
	if (w->panic)
		buf_printf(evidence, "; afterwards: %s", w->panic);
	return VERDICT_OK;
}

static enum verdict unfinished(const struct watch *w, enum watch_end how,
			       struct buf *evidence)
{
	if (w->error != VERDICT_OK) {
		buf_printf(evidence, "the guest: %s",
			   w->error_text ? w->error_text : "gave up, without a reason");
		return w->error;
	}
	if (w->panic || how == WATCH_CRASHED) {
		buf_adds(evidence, w->panic ? w->panic : "the guest reported a panic");
		return VERDICT_PANIC;
	}
	if (how == WATCH_INTERRUPTED) {
		buf_adds(evidence, "kontest was told to stop");
		return VERDICT_KILLED;
	}
	if (w->oops) {
		buf_adds(evidence, w->oops);
		return VERDICT_OOPS;
	}
	switch (how) {
	case WATCH_ENDED_BY_US:
		buf_adds(evidence, w->due_text);
		return w->due;
	case WATCH_WATCHDOG:
		buf_adds(evidence, "the guest stopped feeding its watchdog");
		return VERDICT_HUNG;
	case WATCH_ORPHANED:
		buf_adds(evidence, "kontest's process for this boot was killed");
		return VERDICT_KILLED;
	case WATCH_VANISHED:
		buf_adds(evidence, "QEMU ended unasked (killed?)");
		return VERDICT_KILLED;
	default:
		buf_adds(evidence, "the guest powered off or rebooted without END");
		return w->receipt ? VERDICT_KILLED : VERDICT_BOOT_FAILED;
	}
}

enum verdict watch_verdict(const struct watch *w, enum watch_end how,
			   struct buf *evidence)
{
	enum verdict v;

	if (w->mismatch) {
		buf_adds(evidence, w->mismatch);
		return VERDICT_PROFILE_MISMATCH;
	}
	if (w->end)
		return finished(w, how, evidence);
	v = unfinished(w, how, evidence);
	add_where(w, evidence);
	return v;
}

void watch_tail(const struct watch *w, void (*fn)(void *arg, const char *line),
		void *arg)
{
	uint64_t n = w->lines < WATCH_TAIL_LINES ? w->lines : WATCH_TAIL_LINES;
	char last[WATCH_LINE_MAX];

	for (uint64_t i = w->lines - n; i < w->lines; i++)
		fn(arg, w->tail[i % WATCH_TAIL_LINES]);
	if (!w->line_len)
		return;
	memcpy(last, w->line, w->line_len);
	last[w->line_len] = '\0';
	fn(arg, last);
}
