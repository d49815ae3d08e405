# SPDX-License-Identifier: GPL-2.0-or-later
# No QEMU, no libvirt driver, no permission, no place for files: one clear line each
# with the remedy, and no run is begun.
. tests/lib.sh

"$KONTEST" build $K612 >/dev/null 2>"$tmp/err" || fail "$(cat "$tmp/err")"
run() { echo "$KONTEST" run --kernel $K612 --profile small --accel exact --loads no_load; }

refuses 2 "KONTEST_QEMU names '/nonexistent/qemu', which cannot be run" env KONTEST_QEMU=/nonexistent/qemu $(run)
printf '#!/bin/sh\necho something else\n' >"$tmp/qemu" && chmod +x "$tmp/qemu"
refuses 2 "$tmp/qemu" env KONTEST_QEMU="$tmp/qemu" $(run)
refuses 2 'HOME' env -u HOME -u XDG_CACHE_HOME -u XDG_DATA_HOME $(run)
echo "no directory" >"$tmp/file"
refuses 2 "$tmp/file" env XDG_DATA_HOME="$tmp/file" $(run)
refuses 2 "$tmp/file" $(run) --store "$tmp/file"
refuses 2 'xen' $(run) --connect xen:///nowhere

driver=/usr/lib/x86_64-linux-gnu/libvirt/connection-driver/libvirt_driver_qemu.so
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	mkdir "$tmp/empty"
	refuses 2 'libvirt-daemon-driver-qemu' unshare -m sh -c \
		'mount --bind "$1" "$2" && shift 2 && exec "$@"' - "$tmp/empty" "${driver%/*}" $(run)
	refuses 2 'qemu-system-x86' unshare -m sh -c \
		'mount --bind /dev/null "$1" && shift && exec "$@"' - "$(command -v qemu-system-x86_64)" $(run)
	chmod 711 "$tmp" && mkdir -m 755 "$tmp/ro"
	refuses 2 'Permission denied' env XDG_DATA_HOME="$tmp/ro" setpriv --reuid=65534 --regid=65534 \
		--clear-groups $(run)
fi
left=$(ls "$XDG_DATA_HOME/kontest/running" 2>/dev/null || :)
[ -z "$left" ] || fail "left behind: $left"
