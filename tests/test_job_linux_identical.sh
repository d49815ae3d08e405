# SPDX-License-Identifier: GPL-2.0-or-later
# The work disk of the job linux comes out bit-identical from another directory,
# umask, time zone and language, at another time, and from an empty layer cache;
# and it holds a configured tree.
. tests/lib.sh
requires debugfs

"$KONTEST" build --job linux --profile small --locked -o "$tmp/first" >"$tmp/digest" 2>"$tmp/err" ||
	fail "$(cat "$tmp/err")"
mkdir -p "$tmp/another place/cache/kontest/debs"
for deb in "$XDG_CACHE_HOME"/kontest/debs/*.deb; do
	ln "$deb" "$tmp/another place/cache/kontest/debs/" 2>/dev/null ||
		cp "$deb" "$tmp/another place/cache/kontest/debs/"
done
top=$PWD
(
	cd "$tmp/another place"
	umask 077
	env -i PATH="$PATH" HOME="$tmp/another place" TZ=Pacific/Chatham LANG=de_DE.UTF-8 \
		TMPDIR="$tmp/another place" KONTEST_SHARE="$top" \
		XDG_CACHE_HOME="$tmp/another place/cache" "$KONTEST" build --job linux:mm/slob.o \
		--profile small --locked -o "$tmp/second" 2>"$tmp/err"
) >"$tmp/digest2" || fail "$(cat "$tmp/err")"
cmp "$tmp/first" "$tmp/second" || fail "the two disks differ"
[ "$(cut -d' ' -f1 "$tmp/digest")" = "$(sha256sum "$tmp/first" | cut -d' ' -f1)" ] ||
	fail "what is printed is not the digest"
for f in .config include/config/auto.conf include/generated/autoconf.h kernel/sched/fair.c; do
	debugfs -R "stat /linux-6.1/$f" "$tmp/first" 2>/dev/null | grep -q 'Type: regular' ||
		fail "no $f on the disk"
done
debugfs -R "cat /linux-6.1/include/config/auto.conf" "$tmp/first" 2>/dev/null |
	grep -q '^CONFIG_CC_VERSION_TEXT=gcc ' || fail "auto.conf is not make's"

refuses 2 "no target: give one" "$KONTEST" build --job 'linux:-C/etc'
refuses 2 "no target: give one" "$KONTEST" build --job 'linux:a b'
refuses 2 "no target: give one" "$KONTEST" build --job 'linux:../x'
sed 's/^size = 384MiB/size = 64MiB/' images/profiles/small.ini >"$tmp/p.ini"
refuses 2 "work disk of 96 MiB, and the profile's has 64 MiB: make its \[disk work\] size larger" \
	"$KONTEST" build --job linux --profile "$tmp/p.ini"
refuses 2 "job 'command': it has no tree: give" "$KONTEST" build --job command
