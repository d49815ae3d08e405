/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watchdog.c - i6300esb or any other behind /dev/watchdog
 */
#include "guest/watchdog.h"

#include <fcntl.h>
#include <unistd.h>

#include "guest/console.h"
#include "guest/util.h"

static int dog = -1;

void watchdog_arm(void)
{
	dog = open("/dev/watchdog", O_WRONLY | O_CLOEXEC);
}

void watchdog_kick(void)
{
	if (dog >= 0 && write_full(dog, "k", 1) != 0)
		console_say("the watchdog cannot be kicked");
}

void watchdog_disarm(void)
{
	/* 'V': closed on purpose; without it the watchdog goes on counting */
	if (dog >= 0 && write_full(dog, "V", 1) != 0)
		console_say("the watchdog cannot be disarmed");
	if (dog >= 0)
		close(dog);
	dog = -1;
}
