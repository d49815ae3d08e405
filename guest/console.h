/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * console.h - what the guest says to whoever watches the boot
 */
#ifndef KONTEST_GUEST_CONSOLE_H
#define KONTEST_GUEST_CONSOLE_H

/**
 * console_open() - start to use the consoles: all that the kernel uses
 * (/proc/consoles), so that serial line and screen show the same
 *
 * A boot without any console goes on in silence.
 */
void console_open(void);
/* console_print() - text as it is, to every open console */
void console_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* console_say() - one line, "kontest: ..." */
void console_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
