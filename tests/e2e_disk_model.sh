# SPDX-License-Identifier: GPL-2.0-or-later
# Exact mode: the modelled disk is as fast as the profile says (a sequential write
# or read of N MB takes N/rate, random reads take the access time, each within
# 2 %), on kernels with and without an I/O scheduler, and again to the nanosecond.
. tests/lib.sh
. tests/e2e.sh

# average seek and half a turn of small.ini: 8500 us + 60 s / 7200 / 2
cp -r tests/disk_probe "$tmp/tree"
cat >"$tmp/plan.ini" <<EOF
[plan]
name = disk
profile = small
boots = 1
runs = 1
loads = no_load
lead-ms = 0
job = command
[job]
tree = $tmp/tree
prepare = gcc -O2 -o probe probe.c
command = ./probe /dev/nbd0 40 12667
[kernel k61]
image = $K61
[kernel k612]
image = $K612
EOF

twice 300 "$tmp/plan.ini" --parallel 1
python3 - "$tmp/first.json" <<'PY' || fail "see above"
import json, sys

for boot in json.load(open(sys.argv[1]))["boots"]:
    run, = boot["runs"]
    print(boot["kernel"], run["wall_ns"], run["disk"])
    assert run["verdict"] == "ok", run
    # 48 MiB written twice behind the first time, and read twice
    assert run["disk_work"]["write_bytes"] >= 144 << 20, run
    assert run["disk_work"]["read_bytes"] >= 96 << 20, run
    assert run["job_io"]["reads"] >= 4000, run
PY
