# SPDX-License-Identifier: GPL-2.0-or-later
# Tables out of mails go into the store and come back to the byte.
. tests/lib.sh

G=tests/golden
for v in 0.51 0.60 0.61; do
	"$KONTEST" import --dry-run $G/contest-$v.txt >"$tmp/dry"
	grep -q "would be stored as 'contest-$v.txt'" "$tmp/dry" || fail "$(cat "$tmp/dry")"
done
[ ! -e "$XDG_DATA_HOME/kontest" ] || fail "--dry-run made a store"

"$KONTEST" import $G/contest-0.51.txt >"$tmp/out"
grep -q "^io_load  *contest-0.51  *4 rows$" "$tmp/out" || fail "$(cat "$tmp/out")"
grep -q "^10 tables, 40 rows$" "$tmp/out" || fail "$(cat "$tmp/out")"
"$KONTEST" import $G/mail-0.60.txt >"$tmp/out"
grep -q "^11 tables, 33 rows; left out: 14 that only quote one of these$" "$tmp/out" || fail "$(cat "$tmp/out")"
sed 's/^/> > /; s/$/\r/' $G/contest-0.61.txt | "$KONTEST" import - --name '100 v 1000 Hz' >"$tmp/out"
grep -q "^stored as '100 v 1000 Hz', id [0-9a-f]\{12\}$" "$tmp/out" || fail "$(cat "$tmp/out")"
"$KONTEST" import $G/contest-0.51.txt | grep -q "^in the store already: 'contest-0.51.txt'" || fail "imported twice"

same() { "$KONTEST" report "$1" | cmp - "$2" || fail "'$1' came back otherwise"; }
all_same() {
	same contest-0.51.txt $G/contest-0.51.txt
	same '[BENCHMARK] contest 0.60 on three kernels' $G/contest-0.60.txt
	same '100 v 1000 Hz' $G/contest-0.61.txt
}
all_same
rm "$XDG_DATA_HOME"/kontest/results.db*
refuses 2 "no import is named so" "$KONTEST" report '100 v 1000 Hz'
"$KONTEST" store rebuild
all_same
[ "$("$KONTEST" report --list | grep -c '^import ')" = 3 ] || fail "not three imports"
# a document of another person's store keeps name and id
id=$("$KONTEST" report --list | sed -n 's/^import \([0-9a-f]*\) .* 100 v 1000 Hz$/\1/p')
"$KONTEST" import --store "$tmp/other.db" "$XDG_DATA_HOME"/kontest/imports/$id* | grep -q "stored as '100 v 1000 Hz', id $id$" ||
	fail "another store gives another id"
"$KONTEST" report "$id" | cmp - $G/contest-0.61.txt || fail "not found by id"

"$KONTEST" report '100 v 1000 Hz' contest-0.51.txt --format contest-0.61 >"$tmp/out"
grep -q '^2.5.70-mm31\*1 ' "$tmp/out" && grep -q '^max_tim100\*2 ' "$tmp/out" || fail "$(cat "$tmp/out")"
"$KONTEST" report contest-0.51.txt --format json | grep -q '"source": "import"' || fail "json"
refuses 2 "named twice" "$KONTEST" report contest-0.51.txt contest-0.51.txt
refuses 2 "imports have none" "$KONTEST" report contest-0.51.txt --format fingerprint
refuses 2 "no format 'odt'" "$KONTEST" report contest-0.51.txt --format odt

sed '4s/0.0 .*/0.0/' $G/contest-0.60.txt >"$tmp/cut.txt"
refuses 2 "cut.txt' line 4: not quite a row" "$KONTEST" import "$tmp/cut.txt"
head -c 100000 "$KONTEST" >"$tmp/binary"
refuses 2 "binary' line 1: a NUL byte" "$KONTEST" import "$tmp/binary"
head -c 1000000 /dev/zero | tr '\0' x >"$tmp/long"
refuses 2 "long' line 1: longer than 16 KiB" "$KONTEST" import "$tmp/long"
awk 'BEGIN { print "io_load:"; print "Kernel [runs] Time CPU% Loads LCPU% Ratio"
	for (i = 0; i < 1000000; i++) print "a 1 1 1.0 1 1.0 1.00" }' >"$tmp/million"
refuses 2 "million' line 100003: more than 100000 rows" "$KONTEST" import "$tmp/million"
echo "Hello" >"$tmp/prose"
refuses 2 "prose' holds no table of contest" "$KONTEST" import "$tmp/prose"
refuses 2 "No such file" "$KONTEST" import "$tmp/none"
refuses 2 "larger than" "$KONTEST" import /dev/zero
refuses 2 "name one file" "$KONTEST" import
refuses 2 "cannot name an import" "$KONTEST" import --name "$(printf 'a\033[31m')" $G/contest-0.60.txt
refuses 2 "another import named 'contest-0.51.txt'" "$KONTEST" import --name contest-0.51.txt $G/contest-0.61.txt
status=0
"$KONTEST" import --dry-run $G/contest-0.51.txt >/dev/full 2>"$tmp/err" || status=$?
[ $status = 2 ] && grep -q "No space left" "$tmp/err" || fail "a full disk is no success"
