/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preflight.h - shared by preflight.c and preflight_judge.c alone
 */
#ifndef KONTEST_PREFLIGHT_H
#define KONTEST_PREFLIGHT_H

/* KVER() - a kernel version that can be compared */
#define KVER(major, minor) ((unsigned int)(major) << 16 | (unsigned int)(minor))

/* kernel_version() - KVER of a release, "6.1.0-9-amd64" -> KVER(6, 1) */
unsigned int kernel_version(const char *release);

#endif
