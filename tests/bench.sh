#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bench.sh KONTEST - what building and reading cost, side by side with cp.
# Figures for people: nothing is asserted here.
set -eu
cd "$(dirname "$0")/.."
KONTEST=$1
export XDG_CACHE_HOME="${KONTEST_TEST_CACHE:-$PWD/build/test-cache}"
mkdir -p "$XDG_CACHE_HOME"
work=$(mktemp -d "$XDG_CACHE_HOME/bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
ms() { date +%s%N | cut -c1-13; }
KERNEL=debian:linux-image-6.12-cloud-amd64

# A developer's own kernel: the bytes of Debian's, as a bzImage with its modules.
"$KONTEST" build $KERNEL -o "$work/image" >/dev/null 2>&1
real=$(apt-cache depends --important linux-image-6.12-cloud-amd64 | sed -n 's/.*Depends: //p' | head -n 1)
deb=$(grep -l . "$XDG_CACHE_HOME"/kontest/debs/*.deb | while read -r d; do
	[ "$(dpkg-deb -f "$d" Package)" != "$real" ] || echo "$d"; done | tail -n 1)
dpkg-deb -x "$deb" "$work/root"
bz=$(echo "$work"/root/boot/vmlinuz-*) mods=$(echo "$work"/root/*/modules/* "$work"/root/usr/lib/modules/*)
for m in $mods; do [ ! -d "$m" ] || modules=$m; done

forget() { rm -rf "$XDG_CACHE_HOME"/kontest/{kernels,initramfs,images}; }
timed() { local t0; t0=$(ms); "$@" >/dev/null 2>"$work/steps"; took=$(($(ms) - t0)); }
ratio() { awk "BEGIN { printf \"%.1f\", $1 / ($2 ? $2 : 1) }"; }

echo "Building the image of a new kernel, base cached, $(stat -c %s "$work/image") bytes, in ms."
echo "The image is fsynced, so 'cp + sync' of it is the like of it; 'cp' alone leaves it in RAM."
printf '%8s %8s %8s %10s   %s\n' .deb bzImage cp 'cp + sync' 'bzImage/(cp + sync)'
for i in 1 2 3 4 5; do
	forget; timed "$KONTEST" build $KERNEL; a=$took
	forget; timed "$KONTEST" build "$bz" --modules "$modules"; b=$took
	cp "$work/steps" "$work/own"
	timed cp "$work/image" "$work/copy"; c=$took
	timed sync "$work/copy"; d=$((c + took))
	rm "$work/copy"
	printf '%8d %8d %8d %10d   %s\n' $a $b $c $d "$(ratio $b $d)"
done
echo
echo "steps of the last build from a bzImage:"
cat "$work/own"
timed "$KONTEST" build "$bz" --modules "$modules"
echo "the same again, everything cached: $took ms"

journal=$(ls "${XDG_DATA_HOME:-$HOME/.local/share}"/kontest/journals/* 2>/dev/null | head -n 1 || :)
if [ -n "$journal" ]; then
	echo
	timed "$KONTEST" journal cat "$journal"
	echo "reading a boot's results: $took ms"
fi
