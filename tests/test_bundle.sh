# SPDX-License-Identifier: GPL-2.0-or-later
# A run becomes a bundle, signed or not; the bundle is checked, taken in again, and
# refused where it must be.
. tests/lib.sh

requires minisign
export XDG_CACHE_HOME="$tmp/cache"
python3 tests/make_run.py "$tmp" "$tmp/cache"
"$KONTEST" store add "$tmp/journal-1" "$tmp/journal-2" >/dev/null

"$KONTEST" export 0badcafe -o "$tmp/a.kontest" >"$tmp/out"
cat "$tmp/out"
grep -q "kernel one alone" "$tmp/out" || fail "no size of a kernel"
grep -q "in all" "$tmp/out" || fail "no size of it all"
grep -q "a.kontest: unsigned" "$tmp/out" || fail "unsigned is not said"
# 3 MiB of root that both kernels have, two kernels and initramfs of 3/4 MiB: no
# byte of these, which do not compress, is there twice.
size=$(stat -c %s "$tmp/a.kontest")
[ "$size" -gt 4700000 ] && [ "$size" -lt 4900000 ] || fail "$size bytes"
"$KONTEST" export -o "$tmp/b.kontest" >/dev/null
cmp "$tmp/a.kontest" "$tmp/b.kontest" || fail "two exports of one run differ"
"$KONTEST" verify "$tmp/a.kontest" >"$tmp/out"
grep -q "a.kontest: unsigned" "$tmp/out" || fail "unsigned is not said"
grep -q "whole: run 0badcafe.*with its images" "$tmp/out" || fail "$(cat "$tmp/out")"

# Signed, by a key with and without a password; minisign checks it, too.
minisign -G -W -p "$tmp/k.pub" -s "$tmp/k" >/dev/null
minisign -G -W -p "$tmp/other.pub" -s "$tmp/other" >/dev/null
"$KONTEST" export -o "$tmp/a.kontest" --sign "$tmp/k" >"$tmp/out"
minisign -V -q -p "$tmp/k.pub" -m "$tmp/a.kontest" || fail "minisign does not accept it"
"$KONTEST" verify "$tmp/a.kontest" >"$tmp/out"
grep -q "signed by the key [0-9A-F]\{16\}, not checked" "$tmp/out" || fail "$(cat "$tmp/out")"
"$KONTEST" verify "$tmp/a.kontest" --pubkey "$tmp/k.pub" >"$tmp/out"
grep -q "signature good" "$tmp/out" || fail "$(cat "$tmp/out")"
"$KONTEST" verify "$tmp/a.kontest" --pubkey "$(tail -n 1 "$tmp/k.pub")" >/dev/null
refuses 1 "was signed by the key" "$KONTEST" verify "$tmp/a.kontest" --pubkey "$tmp/other.pub"
refuses 1 "b.kontest' is unsigned" "$KONTEST" verify "$tmp/b.kontest" --pubkey "$tmp/k.pub"
refuses 2 "b.kontest' is unsigned" "$KONTEST" replay "$tmp/b.kontest" --pubkey "$tmp/k.pub"
refuses 2 "b.kontest' is unsigned" "$KONTEST" import "$tmp/b.kontest" --pubkey "$tmp/k.pub"
cp "$tmp/a.kontest.minisig" "$tmp/b.kontest.minisig"
"$KONTEST" verify "$tmp/b.kontest" --pubkey "$tmp/k.pub" >/dev/null || fail "the same bytes"
printf x | dd of="$tmp/b.kontest" bs=1 seek=100000 conv=notrunc 2>/dev/null
refuses 1 "is not what was signed" "$KONTEST" verify "$tmp/b.kontest" --pubkey "$tmp/k.pub"
refuses 1 "bundle: member 'profile.ini': .*b.kontest': the frame" "$KONTEST" verify "$tmp/b.kontest"
# An export over it leaves no signature of the old one.
"$KONTEST" export -o "$tmp/a.kontest" >/dev/null
[ ! -e "$tmp/a.kontest.minisig" ] || fail "an old signature was left"
refuses 2 "no secret key" "$KONTEST" export -o "$tmp/c.kontest" --sign "$tmp/k.pub"
[ ! -e "$tmp/c.kontest" ] || fail "exported, and could not be signed"

# Results alone are small, cannot be replayed, and can be taken in.
"$KONTEST" export --results-only -o "$tmp/small.kontest" >"$tmp/out"
[ "$(stat -c %s "$tmp/small.kontest")" -lt 20000 ] || fail "not small"
refuses 2 "has results only" "$KONTEST" replay "$tmp/small.kontest"
"$KONTEST" report --format json 0badcafe >"$tmp/want"
for b in small a; do
	"$KONTEST" import --store "$tmp/$b/results.db" "$tmp/$b.kontest" >"$tmp/out"
	grep -q "$b.kontest: unsigned" "$tmp/out" || fail "unsigned is not said"
	grep -q "run 0badcafe.*, 2 boots stored" "$tmp/out" || fail "$(cat "$tmp/out")"
	"$KONTEST" report --store "$tmp/$b/results.db" --format json >"$tmp/got"
	diff "$tmp/want" "$tmp/got" | grep '^[<>]' | grep -v '"path"\|"store"\|journals/' &&
		fail "another run came out"
done

# What has left the cache is named, with the remedy; the old bundle stays.
rm "$tmp"/cache/kontest/work/*.img
before=$(sha256sum <"$tmp/a.kontest")
refuses 2 "work disk with the SHA-256 .* has left the cache.*--results-only" \
	"$KONTEST" export -o "$tmp/a.kontest"
[ "$before" = "$(sha256sum <"$tmp/a.kontest")" ] || fail "the old bundle was spoilt"
"$KONTEST" export --results-only -o "$tmp/small.kontest" >/dev/null
refuses 2 "no run in store" "$KONTEST" export ffff -o "$tmp/x.kontest"
refuses 2 "say where to" "$KONTEST" export
