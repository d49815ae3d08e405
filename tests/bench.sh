#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bench.sh KONTEST - what building and reading cost, side by side with cp.
# Figures for people: nothing is asserted here.
set -eu
cd "$(dirname "$0")/.."
KONTEST=$1
export XDG_CACHE_HOME="${KONTEST_TEST_CACHE:-$PWD/build/test-cache}"
work=$(mktemp -d "$XDG_CACHE_HOME/bench.XXXXXX" 2>/dev/null || mktemp -d)
trap 'rm -rf "$work"' EXIT
ms() { date +%s%N | cut -c1-13; }
KERNEL=debian:linux-image-6.12-cloud-amd64

echo "base and packages, so that they are in the cache:"
"$KONTEST" build debian:linux-image-cloud-amd64 >/dev/null
"$KONTEST" build $KERNEL -o "$work/image" >/dev/null 2>&1

echo
echo "a new kernel with the base cached, five times, each beside cp of its image:"
for i in 1 2 3 4 5; do
	# New to the cache: its layers and images are taken away, the .deb stays.
	rm -rf "$XDG_CACHE_HOME"/kontest/{kernels,initramfs,images}
	t0=$(ms)
	"$KONTEST" build $KERNEL >/dev/null 2>"$work/steps"
	t1=$(ms)
	cp "$work/image" "$work/copy"
	t2=$(ms)
	rm "$work/copy"
	echo "  build $((t1 - t0)) ms, cp $((t2 - t1)) ms, ratio $(awk "BEGIN { printf \"%.2f\", ($t1 - $t0) / ($t2 - $t1) }")"
done
cat "$work/steps"

echo
echo "the same again, everything cached:"
t0=$(ms)
"$KONTEST" build $KERNEL >/dev/null 2>&1
echo "  build $(($(ms) - t0)) ms"

journal=$(ls "${XDG_DATA_HOME:-$HOME/.local/share}"/kontest/journals/* 2>/dev/null | head -n 1 || :)
if [ -n "$journal" ]; then
	echo
	echo "reading a boot's results ($journal):"
	for i in 1 2 3; do
		t0=$(ms)
		"$KONTEST" journal cat "$journal" >/dev/null
		echo "  $(($(ms) - t0)) ms"
	done
fi
