# SPDX-License-Identifier: GPL-2.0-or-later
# Exact mode: the demo's plan twice at the same time, so that the VMs keep each other
# waiting, gives JSON that is the same to the byte but for what is the host's; and the
# README shows the very table, as long as the inputs are the ones of its fingerprint.
. tests/lib.sh

# demo NAME - run it, into a store of its own
demo() {
	export XDG_DATA_HOME="$tmp/data-$1"
	"$KONTEST" run host/plans/demo.plan >"$tmp/$1.table" 2>"$tmp/$1.err" &&
	"$KONTEST" report --format json >"$tmp/$1.json" &&
	"$KONTEST" report --format fingerprint >"$tmp/$1.fingerprint"
}

demo first &
first=$!
stop_first() { kill $first 2>/dev/null || :; }
cleanup_fn stop_first
status=0
demo second || status=$?
wait $first || fail "$(cat "$tmp/first.err")"
[ $status = 0 ] || fail "$(cat "$tmp/second.err")"
cat "$tmp/first.table" "$tmp/first.fingerprint"
cat >"$tmp/strip.py" <<'PY'
import json, sys
def strip(o):
    if isinstance(o, dict):
        return {k: strip(v) for k, v in o.items() if k != "host"}
    return [strip(v) for v in o] if isinstance(o, list) else o
print(json.dumps(strip(json.load(sys.stdin)), indent=1))
PY
for n in first second; do python3 "$tmp/strip.py" <"$tmp/$n.json" >"$tmp/$n.txt"; done
[ "$(wc -l <"$tmp/first.txt")" -gt 300 ] || fail "too little left: $(cat "$tmp/first.txt")"
diff -u "$tmp/first.txt" "$tmp/second.txt" || fail "the two runs differ"
diff -u "$tmp/first.table" "$tmp/second.table" || fail "the two tables differ"

# The README's table against what was printed.
sed -n '/^<!-- demo table/,/^<!-- end of demo/p' README.md | sed '/^<!--/d; /^```/d' >"$tmp/readme"
[ -s "$tmp/readme" ] || fail "no table in the README"
grep -v '^#' host/plans/demo.fingerprint >"$tmp/expected"
if diff "$tmp/expected" "$tmp/first.fingerprint" >"$tmp/inputs"; then
	diff -u "$tmp/readme" "$tmp/first.table" || fail "the README's table is not the demo's"
else
	# Another kernel package or QEMU: then the tool must name what differs.
	status=0
	sh tests/demo.sh "$KONTEST" >"$tmp/demo" 2>"$tmp/err" || status=$?
	[ $status = 0 ] || fail "demo: status $status: $(cat "$tmp/err")"
	grep -q 'Inputs that differ' "$tmp/demo" || fail "no word of the difference: $(cat "$tmp/demo")"
	echo "the inputs are not those of the README's table:"
	cat "$tmp/inputs"
fi
