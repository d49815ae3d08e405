/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error.h - how every fallible function of the host side reports a failure
 *
 * A function that can fail returns int: 0, or -1 with the reason in *err.
 * It fails in one line:
 *
 *	return error_set(err, errno, "open '%s'", path);
 *
 * The text names the file, the line or field, what is wrong and, where one
 * is known, the remedy. It ends without a full stop or newline.
 */
#ifndef KONTEST_ERROR_H
#define KONTEST_ERROR_H

#define ERROR_TEXT_MAX 2048

/**
 * struct error - the reason of a failure
 * @errnum: the errno behind it, 0 when there is none
 * @text: one line for the user, never NULL, "" when there was no failure
 *
 * Lives on the caller's stack, initialised with { 0 }; owns nothing.
 */
struct error {
	int errnum;
	char text[ERROR_TEXT_MAX];
};

/**
 * error_set() - record a failure
 * @err: where to record it; NULL when the caller does not want the reason
 * @errnum: an errno whose description is appended as ": ...", or 0
 * @fmt: printf format of the text
 *
 * Return: -1, always, so that "return error_set(...)" fails the caller.
 */
int error_set(struct error *err, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * error_prefix() - put where it happened before a recorded failure
 * @err: a recorded failure; NULL is allowed
 * @fmt: printf format of the prefix; ": " is added behind it
 *
 * Return: -1, always.
 */
int error_prefix(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * error_add() - put something behind a recorded failure, for instance a remedy
 * @err: a recorded failure; NULL is allowed
 * @text: appended as it is
 *
 * Return: -1, always.
 */
int error_add(struct error *err, const char *text);

#endif
