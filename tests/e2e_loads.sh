# SPDX-License-Identifier: GPL-2.0-or-later
# slow
# Every load of contest, in exact mode, on two kernels: each does what it claims, by
# what the kernel itself counts, and each hurts as it should. On one of them twice at
# the same time, so that the VMs keep each other waiting: the same to the byte.
. tests/lib.sh
. tests/e2e.sh

# plan LABEL IMAGE
plan() {
	cat <<EOF
[plan]
name = loads
profile = small
boots = 1
runs = 1
loads = no_load, cacherun, process_load, ctar_load, xtar_load, io_load, io_other, read_load, list_load, mem_load, dbench_load
job = command
[job]
tree = $PWD/loads/jobs/quick-1
prepare = make clean
command = make -j{jobs} avl.o pqueue.o matrix.o
[kernel $1]
image = $2
EOF
}
plan k612 $K612 >"$tmp/k612.ini"
plan k61 $K61 >"$tmp/k61.ini"
run_into k61 "$tmp/k61.ini" &
k61_pid=$!
stop_k61() { kill $k61_pid 2>/dev/null || :; }
cleanup_fn stop_k61
twice 500 "$tmp/k612.ini"
wait $k61_pid || fail "$(cat "$tmp/k61.err" "$tmp/k61.table")"
"$KONTEST" report --format wide
python3 - "$tmp/first.json" "$tmp/k61.json" <<'PY' || fail "see above"
import json, sys

MIB = 1 << 20
boots = [b for name in sys.argv[1:] for b in json.load(open(name))["boots"]]
assert [b["verdict"] for b in boots] == ["ok", "ok"], boots

def check(run, base):
    load, count = run["load"], run["count"]
    assert run["good"] and run["verdict"] == "ok", run
    loads = count["done"] / count["per_load"] if count["per_load"] else 0
    print("%-12s %6.2f s, %8.3f loads, work +%d r %d MiB w, other w %d MiB, swap w %d MiB" % (
        load, run["wall_ns"] / 1e9, loads, run["disk_work"]["read_bytes"] // MIB,
        run["disk_work"]["write_bytes"] // MIB, run["disk_other"]["write_bytes"] // MIB,
        run["disk_swap"]["write_bytes"] // MIB))
    if load in ("no_load", "cacherun"):
        assert count["done"] == 0
        return
    assert count["done"] > 0 and loads > 0, run
    load_cpu = run["load_cpu"]["user_ns"] + run["load_cpu"]["system_ns"]
    assert load_cpu > 0, run
    io = run["load_io"]
    other = run["disk_other"]["write_bytes"] + run["disk_other"]["read_bytes"]
    if load != "io_other":
        assert other < MIB, run
    if load == "io_load":
        assert run["load_size"] == 160 * MIB, run
        # What write() took and is not on the disk yet fits into memory
        assert io["write_bytes"] > 16 * MIB, run
        assert count["done"] - 160 * MIB < io["write_bytes"] <= count["done"] + 8 * MIB, run
        assert run["disk_work"]["write_bytes"] >= io["write_bytes"] // 2, run
    if load == "io_other":
        assert run["disk_other"]["write_bytes"] > 16 * MIB, run
        # The compile's objects are all that the first disk is written
        assert run["disk_work"]["write_bytes"] < 8 * MIB, run
    if load == "read_load":
        assert io["read_bytes"] > 16 * MIB, run
        assert io["read_bytes"] >= count["done"] // 2, run
    if load == "mem_load":
        assert run["load_size"] >= 160 * MIB * 11 // 10, run
        assert run["vm"]["pswpout"] > 1000 and run["vm"]["pswpin"] > 1000, run
        # What the filling had queued is written in the window, too
        assert run["disk_swap"]["write_bytes"] >= run["vm"]["pswpout"] * 4096, run
    else:
        assert run["vm"]["pswpout"] < 20000, run
    if load == "dbench_load":
        assert run["load_size"] == 16 and io["write_bytes"] > MIB, run
    if load == "process_load":
        assert run["load_size"] == 4, run
        assert run["ctxt"] > 4 * count["done"], run
    if load in ("io_load", "process_load", "mem_load", "read_load", "dbench_load"):
        assert run["wall_ns"] > base["wall_ns"], (run, base)

for boot in boots:
    runs = {r["load"]: r for r in boot["runs"]}
    assert len(runs) == 11, runs.keys()
    print(boot["receipt"]["release"])
    for run in boot["runs"]:
        check(run, runs["no_load"])
    cold, warm = runs["no_load"], runs["cacherun"]
    assert warm["disk"]["read_bytes"] < cold["disk"]["read_bytes"] // 10, warm
    assert warm["wall_ns"] < cold["wall_ns"], warm
PY

# A load that cannot start is no number: no swap for mem_load, no room for io_load
mkdir "$tmp/tree"
echo 'a job that leaves little room' >"$tmp/tree/README"
sed -e '/^\[disk swap\]/,$d' -e '/^\[disk other\]/,/^$/d' images/profiles/small.ini >"$tmp/noswap.ini"
cat >"$tmp/fail.ini" <<EOF
[plan]
name = fail
profile = $tmp/noswap.ini
boots = 1
runs = 1
loads = no_load, mem_load, io_load
lead-ms = 100
job = command
[job]
tree = $tmp/tree
prepare = dd if=/dev/zero of=filler bs=1M count=260
command = sleep 2
[kernel k61]
image = $K61
EOF
status=0
"$KONTEST" run "$tmp/fail.ini" >"$tmp/table" 2>"$tmp/err" || status=$?
cat "$tmp/table"
[ $status != 0 ] || fail "runs failed, and the exit status is 0"
"$KONTEST" report --format json >"$tmp/json"
python3 - "$tmp/json" <<'PY' || fail "$(cat "$tmp/err" "$tmp/table")"
import json, sys
report = json.load(open(sys.argv[1]))
boot, = report["boots"]
verdicts = {r["load"]: r["verdict"] for r in boot["runs"]}
assert verdicts == {"no_load": "ok", "mem_load": "load-failed", "io_load": "no-space"}, verdicts
for line in report["table"]:
    k, = line["kernels"]
    assert (k["time_s"] is not None) == (line["load"] == "no_load"), line
PY
