# SPDX-License-Identifier: GPL-2.0-or-later
# Both kernels on the two-CPU machine of the mails, two boots each, all loads, in
# measured mode: every boot ends well and the wide table has its intervals.
. tests/lib.sh

"$KONTEST" run --kernel a=$K61 --kernel b=$K612 --profile osdl-smp --accel auto --boots 2 \
	--loads no_load,cacherun,process_load,io_load >"$tmp/table" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
cat "$tmp/table"
[ "$(grep -Ec '^[ab] +2 ' "$tmp/table")" = 8 ] || fail "not 8 rows of 2 runs"
"$KONTEST" report --format wide | tee "$tmp/wide"
grep -q '±' "$tmp/wide" || grep -q '+-' "$tmp/wide" || fail "no intervals"
