/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watchdog.h - the VM's watchdog, when there is one
 */
#ifndef KONTEST_GUEST_WATCHDOG_H
#define KONTEST_GUEST_WATCHDOG_H

/* watchdog_arm() - start it; none in this VM: nothing happens */
void watchdog_arm(void);
/* watchdog_kick() - PID 1 is alive */
void watchdog_kick(void);
/* watchdog_disarm() - before an orderly power-off */
void watchdog_disarm(void);

#endif
