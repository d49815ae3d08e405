# SPDX-License-Identifier: GPL-2.0-or-later
# e2e.sh - sourced by end-to-end tests: a `kontest run` in the background, or two

run_pid= run_id= run_status=

# start_run ARGS... - `kontest run ARGS...`; returns once the VMs are being started
start_run() {
	: >"$tmp/run.err"
	run_id=
	"$KONTEST" run "$@" >"$tmp/run.out" 2>"$tmp/run.err" </dev/null &
	run_pid=$!
	cleanup_fn stop_run
	for _ in $(seq 1200); do
		run_id=$(sed -n 's/^run \([0-9a-f]*\): plan.*/\1/p' "$tmp/run.err")
		[ -z "$run_id" ] || return 0
		kill -0 $run_pid 2>/dev/null || break
		sleep 0.5
	done
	fail "the run did not start: $(cat "$tmp/run.err")"
}

stop_run() {
	[ -z "$run_pid" ] || kill "$run_pid" 2>/dev/null || :
	local pid
	for pid in $(qemu_pids); do kill -9 "$pid"; done
}

# end_run - wait for its end; its exit status is in run_status
end_run() {
	run_status=0
	wait "$run_pid" || run_status=$?
	run_pid=
}

# qemu_pids - of this run's VMs: libvirt names them after the run
qemu_pids() { [ -z "$run_id" ] || pgrep -f "guest=kontest-$run_id-" || :; }
qemu_pid() { qemu_pids | head -n 1; }

# wait_for_record PATTERN SECONDS - until the first boot's journal has such a record
# (lower case TYPE, a space, payload without spaces)
wait_for_record() {
	local i
	for i in $(seq $(($2 * 2))); do
		for j in "$XDG_DATA_HOME"/kontest/running/*/*/journal; do
			[ -e "$j" ] || continue
			if "$KONTEST" journal cat "$j" 2>/dev/null | awk '/^ +[0-9]+ /' |
			   sed 's/^ *[0-9]* *[0-9.]* *\([A-Z_]*\) */\L\1\E /; s/: /:/g' |
			   grep -Eq "$1"; then
				return 0
			fi
		done
		kill -0 "$run_pid" 2>/dev/null || fail "the run ended early: $(cat "$tmp/run.err")"
		sleep 0.5
	done
	fail "no record '$1' within $2 s: $(cat "$tmp/run.err")"
}

# no_process_left [SECONDS] - no VM of the run lives after that long (10)
no_process_left() {
	local i
	for i in $(seq $((${1:-10} * 2))); do
		[ -n "$(qemu_pids)" ] || return 0
		sleep 0.5
	done
	fail "still there: $(ps -o pid,args -p $(qemu_pids))"
}

# run_into NAME ARGS... - `kontest run ARGS...` into a store of its own; its table is
# $tmp/NAME.table, its JSON report $tmp/NAME.json
run_into() {
	local name=$1
	shift
	export XDG_DATA_HOME="$tmp/data-$name"
	"$KONTEST" run "$@" >"$tmp/$name.table" 2>"$tmp/$name.err" &&
	"$KONTEST" report --format json >"$tmp/$name.json"
}

# twice LINES ARGS... - run_into first and second at the same time, so that the VMs
# keep each other waiting, and hold them to be the same to the byte but for what is the
# host's; more than LINES of the report must be left without that
twice() {
	local lines=$1 first_pid status=0 name
	shift
	run_into first "$@" &
	first_pid=$!
	eval "stop_first() { kill $first_pid 2>/dev/null || :; }"
	cleanup_fn stop_first
	run_into second "$@" || status=$?
	wait $first_pid || fail "$(cat "$tmp/first.err" "$tmp/first.table")"
	[ $status = 0 ] || fail "$(cat "$tmp/second.err" "$tmp/second.table")"
	for name in first second; do
		python3 -c '
import json, sys
def strip(o):
    if isinstance(o, dict):
        return {k: strip(v) for k, v in o.items() if k != "host"}
    return [strip(v) for v in o] if isinstance(o, list) else o
print(json.dumps(strip(json.load(sys.stdin)), indent=1))' <"$tmp/$name.json" >"$tmp/$name.txt"
	done
	[ "$(wc -l <"$tmp/first.txt")" -gt "$lines" ] || fail "too little left: $(cat "$tmp/first.txt")"
	diff -u "$tmp/first.txt" "$tmp/second.txt" || fail "the two runs differ"
	diff -u "$tmp/first.table" "$tmp/second.table" || fail "the two tables differ"
}
