# SPDX-License-Identifier: GPL-2.0-or-later
# Exact mode: tiobench, chat and qsbench, twice side by side, give JSON that is the
# same to the byte but for what is the host's, and figures that hold together.
. tests/lib.sh

cat >"$tmp/p.plan" <<'E'
[plan]
name = benches
profile = small
accel = exact
bench = tiobench, chat, qsbench
[tiobench]
threads = 1, 4
size = 8MiB
random-ops = 200
[chat]
rooms = 4
messages = 4
[qsbench]
processes = 2
elements = 500000
E
printf '[kernel 6.12]\nimage = %s\n' $K612 >>"$tmp/p.plan"

one() { "$KONTEST" run "$tmp/p.plan" --store "$tmp/$1.db" >"$tmp/$1.table" 2>"$tmp/$1.err"; }
one first & first=$!
second=0
one second || second=$?
wait $first || fail "first: $(cat "$tmp/first.err")"
[ $second = 0 ] || fail "second: $(cat "$tmp/second.err")"

cat >"$tmp/strip.py" <<'PY'
import json, sys
def strip(o):
    if isinstance(o, dict):
        return {k: strip(v) for k, v in o.items() if k != "host"}
    return [strip(v) for v in o] if isinstance(o, list) else o
print(json.dumps(strip(json.load(sys.stdin)), indent=1))
PY
for n in first second; do
	"$KONTEST" report --store "$tmp/$n.db" --format json >"$tmp/$n.json"
	python3 "$tmp/strip.py" <"$tmp/$n.json" >"$tmp/$n.txt"
done
cat "$tmp/first.table"
[ "$(wc -l <"$tmp/first.txt")" -gt 300 ] || fail "too little left: $(cat "$tmp/first.txt")"
diff -u "$tmp/first.txt" "$tmp/second.txt" || fail "the two runs differ"
diff -u "$tmp/first.table" "$tmp/second.table" || fail "the two tables differ"

python3 - "$tmp/first.json" <<'PY' || fail "the figures do not hold together"
import json, sys
boot, = json.load(open(sys.argv[1]))["boots"]
assert boot["verdict"] == "ok", boot["verdict"]
tio, chat, sort = boot["runs"]
for r in (tio, chat, sort):
    assert r["verdict"] == "ok", r
    assert r["job"]["user_ns"] + r["job"]["system_ns"] > 0, r
assert len(tio["rows"]) == 8
for r in tio["rows"]:
    # A thread that does nothing but calls: average latency = threads x block / rate
    ideal = r["threads"] * r["wall_ns"] / r["ops"]
    off = 1 - r["lat_sum_ns"] / r["ops"] / ideal
    print(r["phase"], r["threads"], "%.2f %% off" % (100 * off))
    assert off >= 0, r
    if "read" in r["phase"] and r["threads"] == 1:
        assert off < 0.05, r
    # Nothing was in the caches: every block came from the disk
    if r["phase"] == "sequential-read":
        assert r["bytes"] == 8 << 20, r
assert tio["disk_work"]["read_bytes"] >= 2 * (8 << 20), tio["disk_work"]
assert tio["disk_work"]["write_bytes"] >= 2 * (8 << 20), tio["disk_work"]
c, = chat["rows"]
assert c["sent"] == 4 * 20 * 4 and c["received"] == 19 * c["sent"], c
assert c["elapsed_ns"] <= chat["wall_ns"], chat
q, = sort["rows"]
assert q["sorted"] == 2 and q["killed"] == 0, q
PY
for f in tiobench volanomark qsbench wide csv; do
	"$KONTEST" report --store "$tmp/first.db" --format $f >"$tmp/out" || fail "--format $f"
	[ -s "$tmp/out" ] || fail "--format $f prints nothing"
done
