# SPDX-License-Identifier: GPL-2.0-or-later
# The image boots by plain QEMU and BIOS, with nothing else, reaches the guest,
# runs the plan that it carries and prints its table.
. tests/lib.sh

"$KONTEST" build $K612 -o "$tmp/system.img" >/dev/null 2>"$tmp/err" || fail "$(cat "$tmp/err")"
sum=$(sha256sum <"$tmp/system.img")
timeout 600 qemu-system-x86_64 -accel tcg -m 512 -nographic -no-reboot \
	-drive file="$tmp/system.img",format=raw,snapshot=on </dev/null >"$tmp/console" 2>&1 ||
	fail "QEMU: $(tail -n 40 "$tmp/console")"
tr -d '\r' <"$tmp/console" >"$tmp/text"
grep -q 'kontest guest' "$tmp/text" || fail "no banner: $(tail -n 40 "$tmp/text")"
for load in no_load cacherun process_load; do
	grep -q "^$load:" "$tmp/text" || fail "no $load in the table: $(tail -n 40 "$tmp/text")"
done
grep -Eq '^Kernel +\[runs\] +Time +CPU% +Loads +LCPU% +Ratio' "$tmp/text" || fail "no header"
grep -Eq '^[^ ]+ +1 +[0-9]+ +[0-9.]+ +0\.0 +0\.0 +1\.00' "$tmp/text" ||
	fail "no row for no_load: $(tail -n 40 "$tmp/text")"
[ "$(sha256sum <"$tmp/system.img")" = "$sum" ] || fail "the image was changed"
