/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - the guest program: PID 1 of a VM, or a part of a load
 */
#include <stdio.h>
#include <unistd.h>

#include "guest/guest.h"

int main(int argc, char **argv)
{
	int part = load_reexec(argc, argv);

	if (part != -1)
		return part;
	if (getpid() != 1) {
		fprintf(stderr, "kontest-guest %s: this is PID 1 of a VM that "
			"kontest boots; it does nothing elsewhere\n",
			KONTEST_VERSION);
		return 2;
	}
	init_main();
}
