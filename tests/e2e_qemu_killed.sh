# SPDX-License-Identifier: GPL-2.0-or-later
# QEMU is killed in the middle of the second run: the first run is in the report,
# the second is marked, the exit status says so, and no process is left.
. tests/lib.sh
. tests/e2e.sh

start_run --kernel k=$K61 --profile small --accel exact --loads no_load:2 --lead-ms 0
wait_for_record 'run_start.*"run":2' 600
sleep 2
kill -9 "$(qemu_pid)"
end_run
[ "$run_status" = 22 ] || fail "exit status $run_status, not 22 (killed)"
"$KONTEST" report --format json >"$tmp/json"
python3 - "$tmp/json" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
boot, = r["boots"]
assert boot["verdict"] == "killed", boot["verdict"]
runs = boot["runs"]
assert [x["verdict"] for x in runs] == ["ok", "unfinished"], runs
PY
"$KONTEST" report | grep -Eq '^k +1 ' || fail "the first run is not in the report: $("$KONTEST" report)"
no_process_left
