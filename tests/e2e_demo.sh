# SPDX-License-Identifier: GPL-2.0-or-later
# slow
# The README shows the very table that the demo prints, as long as the inputs are the
# ones of its fingerprint.
. tests/lib.sh

"$KONTEST" run host/plans/demo.plan >"$tmp/table" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
"$KONTEST" report --format fingerprint >"$tmp/fingerprint"
cat "$tmp/table" "$tmp/fingerprint"

# The README's table against what was printed.
sed -n '/^<!-- demo table/,/^<!-- end of demo/p' README.md | sed '/^<!--/d; /^```/d' >"$tmp/readme"
[ -s "$tmp/readme" ] || fail "no table in the README"
grep -v '^#' host/plans/demo.fingerprint >"$tmp/expected"
if diff "$tmp/expected" "$tmp/fingerprint" >"$tmp/inputs"; then
	diff -u "$tmp/readme" "$tmp/table" || fail "the README's table is not the demo's"
else
	# Another kernel package or QEMU: then the tool must name what differs.
	status=0
	sh tests/demo.sh "$KONTEST" >"$tmp/demo" 2>"$tmp/err" || status=$?
	[ $status = 0 ] || fail "demo: status $status: $(cat "$tmp/err")"
	grep -q 'Inputs that differ' "$tmp/demo" || fail "no word of the difference: $(cat "$tmp/demo")"
	echo "the inputs are not those of the README's table:"
	cat "$tmp/inputs"
fi
