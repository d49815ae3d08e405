# SPDX-License-Identifier: GPL-2.0-or-later
# Exact mode: tiobench, chat and qsbench, twice side by side, give JSON that is the
# same to the byte but for what is the host's, and figures that hold together.
. tests/lib.sh
. tests/e2e.sh

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

twice 300 "$tmp/p.plan"
cat "$tmp/first.table"

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
	"$KONTEST" report --format $f >"$tmp/out" || fail "--format $f"
	[ -s "$tmp/out" ] || fail "--format $f prints nothing"
done
