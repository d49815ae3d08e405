# SPDX-License-Identifier: GPL-2.0-or-later
# A planted slowdown is found: the same kernel with its allocator's checks switched on,
# four exact boots of each. The verdict is kontest compare's, from real boots.
. tests/lib.sh

mkdir "$tmp/tree"
echo 'int main(void) { return 0; }' >"$tmp/tree/a.c"
cat >"$tmp/plan.ini" <<EOF
[plan]
name = slow
profile = small
accel = exact
boots = 4
loads = no_load
lead-ms = 500
job = command
[job]
tree = $tmp/tree
command = for i in 1 2; do gcc -O2 -c a.c -o a\$i.o; done
[kernel plain]
image = $K61
[kernel slow]
image = $K61
cmdline = slub_debug=FZP
EOF
"$KONTEST" run "$tmp/plan.ini" >"$tmp/table" 2>"$tmp/err" || fail "$(cat "$tmp/err" "$tmp/table")"
"$KONTEST" compare | tee "$tmp/compared"
grep -Eq '^\* no_load, Time: slow is worse than plain: \+[1-9]' "$tmp/compared" || fail "not found"
"$KONTEST" compare slow plain >"$tmp/turned"
grep -Eq '^\* no_load, Time: plain is better than slow: -[1-9]' "$tmp/turned" || fail "$(cat "$tmp/turned")"
