# SPDX-License-Identifier: GPL-2.0-or-later
# kontest itself is killed by SIGKILL in the middle: no VM is left after 10 s, the
# same command again completes, and what the first had finished is kept.
. tests/lib.sh
. tests/e2e.sh

set -- --kernel k=$K61 --profile small --accel exact --loads no_load:2 --lead-ms 0
start_run "$@"
wait_for_record 'run_start.*"run":2' 600
first=$run_id
kill -9 "$run_pid"
end_run
no_process_left 10
start_run "$@"
end_run
[ "$run_status" = 0 ] || fail "the second run ended with $run_status: $(cat "$tmp/run.err")"
grep -Eq '^k +2 ' "$tmp/run.out" || fail "no table: $(cat "$tmp/run.out")"
"$KONTEST" report "$first" --format csv >"$tmp/csv"
grep -q killed "$tmp/csv" || fail "the killed run is not in the store: $(cat "$tmp/csv")"
[ -z "$(ls "$XDG_DATA_HOME/kontest/running")" ] || fail "left: $(ls -R "$XDG_DATA_HOME/kontest/running")"
no_process_left
