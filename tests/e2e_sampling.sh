# SPDX-License-Identifier: GPL-2.0-or-later
# Exact mode: a sample a second costs the job less than 0.5 % of its time; samples
# come when they should, never run backwards, and end in what RUN_END says.
#
# On profile small, with disks that take no time: else some 500 reads wait for the
# modelled disk to turn, and by another time than without samples, which is chance,
# +- 0.5 % by itself, and no cost.
. tests/lib.sh

grep -Ev '^(read|write|average|track)-|^rpm' images/profiles/small.ini >"$tmp/small.ini"

# start SAMPLE_MS - a run with a store of its own; boots in exact mode cannot
# disturb each other
pids=
start() {
	XDG_DATA_HOME="$tmp/data$1" "$KONTEST" run --kernel k=$K61 --profile "$tmp/small.ini" \
		--accel exact --lead-ms 0 --loads no_load --sample-ms "$1" \
		>"$tmp/$1.table" 2>"$tmp/$1.err" </dev/null &
	pids="$pids $!"
}
stop() { [ -z "$pids" ] || kill $pids 2>/dev/null || :; }
cleanup_fn stop
start 0
start 1000
for pid in $pids; do
	wait "$pid" || fail "$(cat "$tmp/0.err" "$tmp/1000.err")"
done
pids=
for ms in 0 1000; do
	"$KONTEST" journal cat "$tmp/data$ms"/kontest/journals/* >"$tmp/$ms.journal"
done

cat >"$tmp/check.py" <<'PY'
import json, re, sys

def records(path, kind):
    found = re.findall(r"^ *\d+ +[0-9.]+ %s +(.*)$" % kind, open(path).read(), re.M)
    return [json.loads(payload) for payload in found]

def figures(record):
    flat = {}
    for name, value in record.items():
        for member, v in value.items() if isinstance(value, dict) else [("", value)]:
            if isinstance(v, int):
                flat[name + "." + member] = v
    return flat

def check_samples(samples, run):
    end, last = figures(run), {}
    assert len(samples) == run["wall_ns"] // 10**9 and len(samples) >= 5, len(samples)
    for n, s in enumerate(samples, 1):
        now = figures(s)
        assert 0 <= now["wall_ns."] - n * 10**9 < 10**8, (n, now["wall_ns."])
        # proc(5): iowait may run backwards, and then idle has what it lost
        for name in set(now) - {"run.", "cpu.iowait_ns", "cpu.idle_ns"}:
            assert last.get(name, 0) <= now[name] <= end[name], (n, name)
        assert len(now) > 50, now
        last = now
    # The window goes on for less than a second behind the last sample.
    assert last["job.user_ns"] >= end["job.user_ns"] - 10**9

assert not records(sys.argv[1], "SAMPLE")
samples = records(sys.argv[2], "SAMPLE")
plain, = records(sys.argv[1], "RUN_END")
run, = records(sys.argv[2], "RUN_END")
assert plain["verdict"] == run["verdict"] == "ok", (plain, run)
cost = run["wall_ns"] / plain["wall_ns"] - 1
print("%d ns without samples, %d ns with %d: %+.4f %%" %
      (plain["wall_ns"], run["wall_ns"], len(samples), 100 * cost))
check_samples(samples, run)
assert abs(cost) < 0.005, "the bar is 0.5 %"
PY
python3 "$tmp/check.py" "$tmp/0.journal" "$tmp/1000.journal" || fail "see above"
