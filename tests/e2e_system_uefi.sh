# SPDX-License-Identifier: GPL-2.0-or-later
# The same image boots by UEFI: OVMF finds the UKI, and the guest is reached.
. tests/lib.sh
ovmf=/usr/share/ovmf/OVMF.fd
[ -e $ovmf ] || skip "there is no $ovmf (package ovmf)"

"$KONTEST" build $K61 -o "$tmp/system.img" >/dev/null 2>"$tmp/err" || fail "$(cat "$tmp/err")"
# The banner is enough here: what follows is the same as under BIOS.
timeout 300 qemu-system-x86_64 -accel tcg -m 512 -nographic -no-reboot -bios $ovmf -net none \
	-drive file="$tmp/system.img",format=raw,snapshot=on </dev/null >"$tmp/console" 2>&1 &
qemu=$!
stop_qemu() { kill $qemu 2>/dev/null || :; }
cleanup_fn stop_qemu
for _ in $(seq 600); do
	grep -aq 'kontest guest' "$tmp/console" && exit 0
	kill -0 $qemu 2>/dev/null || break
	sleep 0.5
done
fail "no banner: $(tail -n 40 "$tmp/console")"
