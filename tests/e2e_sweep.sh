# SPDX-License-Identifier: GPL-2.0-or-later
# A sweep in exact mode: the baseline and a row for each value, each set in its own
# boots, read back and recorded; a knob that the kernel does not have is no number.
. tests/lib.sh

mkdir "$tmp/tree"
echo 'int main(void) { return 0; }' >"$tmp/tree/a.c"
plan() {
	cat <<EOF2
[plan]
name = sweep
profile = small
accel = exact
boots = 1
loads = process_load
lead-ms = 500
job = command
[job]
tree = $tmp/tree
command = for i in 1 2 3; do gcc -O2 -c a.c -o a\$i.o; done
[kernel k61]
image = $K61
EOF2
}
{ plan; cat <<'EOF2'; } >"$tmp/plan.ini"
[tunable wakeup]
knob = sched/features
values = NO_WAKEUP_PREEMPTION, NO_GENTLE_FAIR_SLEEPERS
short = feat
EOF2
"$KONTEST" run "$tmp/plan.ini" >"$tmp/table" 2>"$tmp/err" || fail "$(cat "$tmp/err" "$tmp/table")"
cat "$tmp/table"
# As in the mails: a row a value under the baseline's
[ "$(sed -n '/^process_load/,$p' "$tmp/table" | sed 1,2d | cut -d' ' -f1 | tr '\n' ' ')" = \
	"k61 k61_feat=NO_WAKEUP_PREEMPTION k61_feat=NO_GENTLE_FAIR_SLEEPERS " ] || fail "these are not the rows"
"$KONTEST" report --format json >"$tmp/json"
"$KONTEST" report --format csv >"$tmp/csv"
grep -q ',sched/features=NO_WAKEUP_PREEMPTION,' "$tmp/csv" || fail "$(cat "$tmp/csv")"
python3 - "$tmp/json" <<'PY' || fail "see above"
import json, sys

report = json.load(open(sys.argv[1]))
kernels = report["kernels"]
assert [k.get("tunables") for k in kernels] == [
    None,
    [{"knob": "sched/features", "value": "NO_WAKEUP_PREEMPTION", "short": "feat"}],
    [{"knob": "sched/features", "value": "NO_GENTLE_FAIR_SLEEPERS", "short": "feat"}]], kernels
assert sorted(b["index"] for b in report["boots"]) == [1, 2, 3]
for boot in report["boots"]:
    assert boot["verdict"] == "ok" and boot["runs"][0]["good"], boot
    knob, = boot["receipt"]["knobs"]
    before = knob["before"].split()
    assert "WAKEUP_PREEMPTION" in before and "GENTLE_FAIR_SLEEPERS" in before, knob
    if boot["kernel"] == 0:
        assert "wanted" not in knob and "after" not in knob, knob
        continue
    wanted = kernels[boot["kernel"]]["tunables"][0]["value"]
    assert knob["wanted"] == wanted and knob["took"], knob
    after = knob["after"].split()
    assert set(after) - set(before) == {wanted}, knob
walls = {b["runs"][0]["wall_ns"] for b in report["boots"]}
print("windows, ns:", sorted(walls))
PY

{ plan; cat <<'EOF2'; } >"$tmp/bad.ini"
[tunable nosuch]
knob = sysctl:kernel.no_such_knob
values = 1
EOF2
status=0
"$KONTEST" run "$tmp/bad.ini" >"$tmp/table" 2>"$tmp/err" || status=$?
cat "$tmp/table"
[ $status != 0 ] || fail "a knob that does not exist, and the exit status is 0"
"$KONTEST" report --format json >"$tmp/json"
python3 - "$tmp/json" <<'PY' || fail "$(cat "$tmp/err" "$tmp/table")"
import json, sys
report = json.load(open(sys.argv[1]))
base, point = sorted(report["boots"], key=lambda b: b["kernel"])
assert base["verdict"] == "ok" and base["runs"][0]["good"], base
assert point["verdict"] == "profile-mismatch", point["verdict"]
assert "this kernel has no '/proc/sys/kernel/no_such_knob'" in point["evidence"], point["evidence"]
assert not point["runs"][0]["good"], point
cells = report["table"][0]["kernels"]
assert cells[0]["time_s"] is not None and cells[1]["time_s"] is None, cells
PY
