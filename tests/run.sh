#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh BUILDDIR KIND... - run tests (unit, always first; test, e2e, long), count them, and
# close with "N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/.."
O=$1
shift
case $O in /*) ;; *) O=$PWD/$O ;; esac
export KONTEST="$O/kontest"
export KONTEST_TEST_CACHE="${KONTEST_TEST_CACHE:-$O/test-cache}"
mkdir -p "$O/logs" "$KONTEST_TEST_CACHE"
passed=0 failed=0 skipped=0
# No test may hang the whole run.
limit=${KONTEST_TEST_TIMEOUT:-2400}

# sum of the numbers on standard input, 0 when there are none
sum() { local n total=0; while read -r n; do total=$((total + n)); done; echo "$total"; }

say() { printf '  %-5s %-34s %5s s%s\n' "$1" "$2" "$3" "${4:+  $4}"; }

# A cmocka program: count its tests, not the program.
unit() {
	local name=${1##*/} log="$O/logs/${1##*/}.log" t0=$SECONDS status=0 p f s
	timeout -k 10 "$limit" "$1" >"$log" 2>&1 </dev/null || status=$?
	p=$(grep -Eo 'PASSED  \] [0-9]+' "$log" | grep -Eo '[0-9]+' | sum)
	f=$(grep -Eo 'FAILED  \] [0-9]+ test' "$log" | grep -Eo '[0-9]+' | sum)
	s=$(grep -Eo 'SKIPPED \] [0-9]+ test' "$log" | grep -Eo '[0-9]+' | sum)
	# Dead before it could count, or nothing tested: that is a failure too.
	[ "$status" != 0 ] && [ "$f" = 0 ] && f=1
	[ "$p" = 0 ] && [ "$f" = 0 ] && [ "$s" = 0 ] && f=1
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	if [ "$f" != 0 ]; then
		say FAIL "$name" $((SECONDS - t0)) "$p passed, $f failed"
		tail -n 60 "$log"
	else
		say ok "$name" $((SECONDS - t0)) "$p tests${s:+$([ "$s" = 0 ] || echo ", $s skipped")}"
	fi
}

# A shell test, in the background: its name, status and seconds in one file.
script() {
	local name=${1##*/} log="$O/logs/${1##*/}.log" t0=$SECONDS status=0
	timeout -k 30 "$limit" bash "$1" >"$log" 2>&1 </dev/null || status=$?
	echo "$status $((SECONDS - t0))" >"$ended/$name.part" &&
		mv "$ended/$name.part" "$ended/$name"
}

# Says and counts those that have ended since.
reap() {
	local f name status seconds log
	for f in "$ended"/*.sh; do
		[ -e "$f" ] || continue
		name=${f##*/} log="$O/logs/${f##*/}.log"
		read -r status seconds <"$f"
		rm "$f"
		running=$((running - 1))
		case $status in
		0)	passed=$((passed + 1)); say ok "$name" "$seconds" ;;
		77)	skipped=$((skipped + 1))
			say skip "$name" "$seconds" "$(tail -n 1 "$log")" ;;
		*)	failed=$((failed + 1)); say FAIL "$name" "$seconds" "status $status"
			tail -n 60 "$log" ;;
		esac
	done
}

# The shell tests of these kinds; those that say "# slow" first, so that the others
# fill up the time beside them.
scripts_of() {
	local kind slow t is
	for slow in yes no; do
		for kind in "$@"; do
			for t in tests/"$kind"_*.sh; do
				[ -e "$t" ] || continue
				grep -q '^# slow$' "$t" && is=yes || is=no
				[ $is != $slow ] || echo "$t"
			done
		done
	done
}

# As many at a time as there are CPUs: no test may depend on how fast it is, those
# in exact mode cannot, and a VM with one CPU leaves the others idle.
scripts() {
	local t running=0
	for t in $(scripts_of "$@"); do
		while [ $running -ge "$slots" ]; do
			sleep 0.5
			reap
		done
		script "$t" &
		running=$((running + 1))
	done
	while [ $running -gt 0 ]; do
		sleep 0.5
		reap
	done
}

slots=${KONTEST_TEST_SLOTS:-$(nproc)}
ended=$(mktemp -d "${TMPDIR:-/tmp}/kontest-run.XXXXXX")
trap 'rm -rf "$ended"' EXIT
if [ "$1" = unit ]; then
	for t in tests/unit_*.c; do t=${t##*/}; unit "$O/tests/${t%.c}"; done
	shift
fi
scripts "$@"
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
