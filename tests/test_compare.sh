# SPDX-License-Identifier: GPL-2.0-or-later
# kontest compare: which kernels, verdicts, refusals, text and JSON.
. tests/lib.sh

requires python3
A=aaaaaaaa-2222-4333-8444-555555555555 B=bbbbbbbb-2222-4333-8444-555555555555
C=cccccccc-2222-4333-8444-555555555555
make() { python3 tests/make_boots.py "$tmp/boots" "$@"; }
make $A --set host.start='"2003-06-01T00:00:00Z"' \
	6.1:no_load:100,101,99.5,100.4,100.8,99.9 6.12:no_load:100.2,101,99.7,100.3,100.5,99.8 \
	6.13:no_load:111,112,110,111,113,111.5 \
	6.1:io_load:200+202,205+203,199+197,201+200,203+204,200+199 \
	6.12:io_load:180+181,x+184,182+183,180+180,182+181,183+182 \
	6.13:io_load:190,240,180,-,230,205
make $B --set host.start='"2003-06-02T00:00:00Z"' --set 'accel="kvm"' --plan size.io_load=1000 \
	odd:no_load:90,91,92,90.5
make $C --set host.start='"2003-06-03T00:00:00Z"' --set 'kernel.digest="k6.1"' \
	own:no_load:100,100.2,100.1,100.3 own2:no_load:150,151
"$KONTEST" store add "$tmp"/boots/* >/dev/null

compare() { "$KONTEST" compare "$@" >"$tmp/out" || fail "exit status $?: compare $*"; }
says() { tr -s ' \n' ' ' <"$tmp/out" | grep -qF -- "$1" || fail "no '$1' in: $(cat "$tmp/out")"; }
silent() { ! grep -q -- "$1" "$tmp/out" || fail "'$1' in: $(cat "$tmp/out")"; }

compare --run aaaa
says "no_load 6.1 baseline 6 6 0 100.2"
says " 6.12 same within 1.0 % 6 6 0 "
says " 6.13 worse "
says "* io_load, Time: cannot tell 6.12 from 6.1: "
says "cannot tell: runs timed out"
says "Of 6.13, 1 of 6 runs are in no figure: 1 missing."
says "Of 6.12, 1 of 12 runs are in no figure: 1 timed out or hung."
says "io_load: 6.13 boot 4: missing, no journal"
says "adjusted by Holm over the 4 comparisons"
says "Geometric mean over 2 loads, Time: 6.13 against 6.1:"
compare --run aaaa 6.13 6.1
says "no_load, Time: 6.1 is better than 6.13: -10.1 % ["
compare --run aaaa 6.1 6.12 --metric loads_per_s --margin 2.5
says "Loads/s, 1/s: more is better"
silent "Time, s"

# the newest run, another run's kernel, a run of one kernel
compare
says "own2 not enough boots: 4 and 2, needs 4 "
compare aaaa:6.1 own
says "aaaaaaaa:6.1 baseline"
says "cccccccc:own "
silent "NOT THE SAME"
refuses 2 "not made under the same conditions: accelerator: tcg \(aaaaaaaa:6.1\), kvm \(bbbbbbbb:odd\); guest's plan, size.io_load.*--anyway" \
	"$KONTEST" compare aaaa:6.1 bbbb
compare aaaa:6.1 bbbb --anyway
head -n 1 "$tmp/out" | grep -q "^NOT THE SAME CONDITIONS: accelerator: tcg (aaaaaaaa:6.1), kvm (bbbbbbbb:odd); " ||
	fail "the first line: $(head -n 1 "$tmp/out")"

compare --run aaaa --format json
python3 - "$tmp/out" <<'END' || fail "JSON: $(cat "$tmp/out")"
import json, sys
r = json.load(open(sys.argv[1]))
assert (r["format"], r["version"], r["differences"]) == ("kontest-compare", 1, [])
assert [s["label"] for s in r["sides"]] == ["6.1", "6.12", "6.13"]
row = r["rows"][0]
assert (row["metric"], row["load"], row["more_is_better"]) == ("time", "no_load", False)
x = row["comparisons"][1]
assert x["finding"] == "worse" and x["low_pct"] < x["change_pct"] < x["high_pct"]
assert abs(x["change_pct"] - 100 * (row["sides"][2]["mean"] / row["sides"][0]["mean"] - 1)) < 1e-5
assert x["rank_p"] <= x["p"] <= x["holm_p"] <= 0.05
assert r["rows"][1]["sides"][1]["censored"] == 1 and r["rows"][1]["sides"][2]["missing"] == 1
assert r["rows"][1]["sides"][0]["values"][1] == [205, 203]
END
cp "$tmp/out" "$tmp/first"
compare --run aaaa --format json
cmp "$tmp/out" "$tmp/first" || fail "two reports differ"

refuses 2 "'foo' is neither a kernel of run cccccccc, which has 'own', 'own2', nor" "$KONTEST" compare foo own
refuses 2 "run aaaaaaaa has no kernel 'foo': it has '6.1', '6.12', '6.13'" "$KONTEST" compare aaaa:foo own
refuses 2 "has several kernels, '6.1', '6.12', '6.13': say which, aaaaaaaa:LABEL" "$KONTEST" compare aaaa own
refuses 2 "is named twice" "$KONTEST" compare own own
refuses 2 "one kernel alone" "$KONTEST" compare own
refuses 2 "run bbbbbbbb has one kernel: name another" "$KONTEST" compare --run bbbb
refuses 2 "begins with 'dddd'" "$KONTEST" compare --run dddd
refuses 2 "no metric 'speed'; there are time, .*, all" "$KONTEST" compare --metric speed
refuses 2 "have no latency" "$KONTEST" compare --metric latency
refuses 2 "margin 0: a number of %" "$KONTEST" compare --margin 0
refuses 2 "margin 1x: a number of %" "$KONTEST" compare --margin 1x
refuses 2 "no format 'csv'; there are text, json" "$KONTEST" compare --format csv
"$KONTEST" import tests/golden/contest-0.60.txt --name mail >/dev/null
refuses 2 "'mail' are foreign results" "$KONTEST" compare own mail
"$KONTEST" help compare | grep -q -- "--anyway" || fail "no help"
status=0
"$KONTEST" compare >/dev/full 2>"$tmp/err" || status=$?
[ $status = 2 ] && grep -q "No space left" "$tmp/err" || fail "a full disk is no success"
