# SPDX-License-Identifier: GPL-2.0-or-later
# slow
# boots = auto and kontest calibrate in exact mode: rounds of a kernel against itself
# until the interval is narrow, one more, and then none; what that tells is kept, and
# kontest compare quotes it.
. tests/lib.sh

mkdir "$tmp/tree"
echo 'int main(void) { return 0; }' >"$tmp/tree/a.c"
cat >"$tmp/plan.ini" <<EOF2
[plan]
name = auto
profile = small
accel = exact
boots = auto
budget = 600
precision = 0.5
loads = no_load
lead-ms = 500
job = command
[job]
tree = $tmp/tree
command = for i in 1 2; do gcc -O2 -c a.c -o a\$i.o; done
[kernel k61]
image = $K61
EOF2
"$KONTEST" calibrate "$tmp/plan.ini" >"$tmp/out" 2>"$tmp/err" || fail "$(cat "$tmp/err" "$tmp/out")"
cat "$tmp/err" "$tmp/out"
# Said before the first boot, and what came of it
awk '/^stop rule: rounds .* at least 4, until .* each kernel against a, is \+-0.5 % or narrower, then 1 more/ { rule = NR }
     /boot 1: no_load/ && !first { first = NR }
     END { exit !(rule && first && rule < first) }' "$tmp/err" || fail "no rule before the first boot"
grep -Eq '^kontest: 5 rounds in .* min: every interval that can be had was \+-0.5 % or narrower after 4$' \
	"$tmp/err" || fail "it did not stop where it should"
grep -q 'twice, as a and b;.* accel exact.* over seeds$' "$tmp/out" || fail "whose calibration?"
grep -Eq '^no_load +Time s .* 5\+5 ' "$tmp/out" || fail "not five boots of each"
grep -Eq '^no_load: (same within|cannot tell below) ' "$tmp/out" || fail "another verdict"
grep -q '^Check passed' "$tmp/out" || fail "the check did not pass"

"$KONTEST" report --format json >"$tmp/json"
python3 - "$tmp/json" <<'PY' || fail "see above"
import json, sys

report = json.load(open(sys.argv[1]))
auto = report["plan"]["auto"]
assert auto == {"budget_min": 600, "precision_pct": 0.5, "rounds_min": 4, "rounds_extra": 1}, auto
assert report["plan"]["boots"] == 5, report["plan"]
boots = sorted(report["boots"], key=lambda b: b["index"])
assert [b["index"] for b in boots] == list(range(1, 11))
for n in range(0, 10, 2):	# a round: each label once
    assert {boots[n]["kernel"], boots[n + 1]["kernel"]} == {0, 1}, n
# The same bytes, and no boot twice
assert len({b["image"]["system"] for b in boots}) == 1
assert sorted(b["seed"] for b in boots) == list(range(1, 11))
walls = [b["runs"][0]["wall_ns"] for b in boots]
assert len(set(walls)) > 1, walls
print("windows, ns:", walls)
PY

# The store has it, also when it is made again from the journals alone.
"$KONTEST" compare a b >"$tmp/compared"
grep -q 'calibration of this host found' <(tr '\n' ' ' <"$tmp/compared" | tr -s ' ') || fail "not quoted: $(cat "$tmp/compared")"
rm "$XDG_DATA_HOME"/kontest/results.db*
"$KONTEST" store rebuild
"$KONTEST" calibrate --show >"$tmp/again"
diff -u "$tmp/out" "$tmp/again" || fail "the store forgot something"
"$KONTEST" report --list | grep -q '(calibration)$' || fail "not marked in the list"
