/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_kernel_build.h - `kontest kernel build` and `kontest kernel list`
 */
#ifndef KONTEST_CMD_KERNEL_BUILD_H
#define KONTEST_CMD_KERNEL_BUILD_H

/* Both get argv from their own name on and return the exit status. */
int kernel_build_main(int argc, char **argv);
int kernel_list_main(int argc, char **argv);

#define KERNEL_BUILD_HELP \
"kernel build\n" \
"  --source SOURCE   a kernel source tree, or debian:linux-source-6.1\n" \
"  --config CONFIG   tinyconfig, defconfig, or a file\n" \
"  --fragment FILE   options on top of it (default with tinyconfig: kontest.config,\n" \
"                    what a boot and every figure need; none: no fragment)\n" \
"  --set NAME=VALUE  one more option; refused when it does not survive\n" \
"  --label LABEL     how it is called: image = built:LABEL in a plan\n" \
"  --jobs N          make -j (default: CPUs)\n" \
"  -o DIR            put it there instead of among the user's kernels\n" \
"The same request compiles once, and gives the same bytes everywhere.\n\n"

#endif
