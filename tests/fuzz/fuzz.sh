#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fuzz.sh PROGRAM SECONDS [TARGET...] - run libFuzzer on each target; what crashes
# it is kept in build/fuzz/crashes and belongs into tests/fuzz/corpus once fixed.
set -u
cd "$(dirname "$0")/../.."
program=$1 seconds=$2
shift 2
out=$(dirname "$program")
[ $# -gt 0 ] || set -- $(ls tests/fuzz/corpus)
mkdir -p "$out/crashes" "$out/found"
failed=0
for target; do
	mkdir -p "$out/found/$target"
	log=$out/$target.log
	if KONTEST_FUZZ=$target timeout -k 10 $((seconds + 120)) "$program" \
		-max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=300000 \
		-artifact_prefix="$out/crashes/$target-" -print_final_stats=1 \
		"$out/found/$target" "tests/fuzz/corpus/$target" >"$log" 2>&1 </dev/null
	then
		printf '  ok    %-10s %s executions\n' "$target" \
			"$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
	else
		failed=$((failed + 1))
		printf '  FAIL  %-10s see %s\n' "$target" "$log"
		grep -a -m 3 -E 'ERROR|SUMMARY|runtime error' "$log"
	fi
done
[ "$failed" = 0 ]
