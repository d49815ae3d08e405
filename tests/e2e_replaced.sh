# SPDX-License-Identifier: GPL-2.0-or-later
# Whoever builds and installs kontest again while it measures breaks nothing: later
# boots go on with the program that was started.
. tests/lib.sh
. tests/e2e.sh

make -s install PREFIX="$tmp/inst" O="${KONTEST%/*}" >"$tmp/make" 2>&1 || fail "$(cat "$tmp/make")"
mkdir "$tmp/tree"
echo 'int main(void) { return 0; }' >"$tmp/tree/a.c"
cat >"$tmp/plan.ini" <<EOF
[plan]
name = replaced
profile = small
accel = exact
boots = 2
loads = no_load
lead-ms = 500
job = command
[job]
tree = $tmp/tree
command = gcc -O2 -c a.c
[kernel k61]
image = $K61
EOF
KONTEST="$tmp/inst/bin/kontest"
start_run --parallel 1 "$tmp/plan.ini"
wait_for_record '^receipt ' 300
cp "$KONTEST" "$tmp/new"
mv "$tmp/new" "$KONTEST"
end_run
[ $run_status = 0 ] || fail "status $run_status: $(cat "$tmp/run.err")"
"$KONTEST" report --format json >"$tmp/json"
[ "$(grep -c '"verdict": "ok"' "$tmp/json")" = 4 ] || fail "$(cat "$tmp/json")"
