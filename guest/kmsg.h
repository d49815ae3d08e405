/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg.h - has the kernel itself said that it is broken?
 */
#ifndef KONTEST_GUEST_KMSG_H
#define KONTEST_GUEST_KMSG_H

#include <stdbool.h>
#include <stddef.h>

/**
 * kmsg_line_is_bad() - is this line of /dev/kmsg an oops?
 * @line: "PRIORITY,SEQUENCE,TIME,FLAGS;TEXT"
 *
 * Only what the kernel itself printed counts, and a lock-up that the kernel
 * suspects does not: a VM that its host lets wait looks the same to it.
 */
bool kmsg_line_is_bad(const char *line);

/**
 * kmsg_scan() - look at what the kernel has printed since the last look
 * @found: gets the text of the first bad line
 *
 * Return: true when there is one. A kernel without /dev/kmsg never has.
 */
bool kmsg_scan(char *found, size_t size);

#endif
