# SPDX-License-Identifier: GPL-2.0-or-later
# The same system image comes out bit-identical from another directory, another
# user, another umask, time zone, language and HOME, a year later, and from an empty
# layer cache.
. tests/lib.sh
requires faketime

# The clock of programs alone, as they ask for it: files get the host's time. Waiting
# must stay true, so the monotonic clock is left alone.
next=$(DONT_FAKE_MONOTONIC=1 faketime -f +366d date +%Y) || skip "faketime does not work here"
[ "$next" -gt "$(date +%Y)" ] || skip "faketime does not work here"

build() { "$KONTEST" build $K612 2>"$tmp/err" || fail "$(cat "$tmp/err")"; }
build >"$tmp/first"

# The second builder starts from the packages alone.
mkdir -p "$tmp/another place/cache/kontest"
cp -r "$XDG_CACHE_HOME/kontest/debs" "$tmp/another place/cache/kontest/"
as=
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$tmp"
	chown -R 65534:65534 "$tmp/another place"
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
fi
# From another directory, with a guest program compiled there.
mkdir "$tmp/tree"
tar -c --exclude=./build --exclude=./.git . | tar -x -C "$tmp/tree" || fail "copy the tree"
make -s -C "$tmp/tree" -j2 >"$tmp/make" 2>&1 || fail "make: $(tail "$tmp/make")"
chmod -R go+rX "$tmp/tree"
second="$tmp/tree/build/kontest"
cd "$tmp/another place"
sleep 1
(
	umask 077
	$as env -i PATH="$PATH" HOME="$tmp/another place" TZ=Pacific/Chatham LANG=de_DE.UTF-8 \
		TMPDIR="$tmp/another place" \
		XDG_CACHE_HOME="$tmp/another place/cache" DONT_FAKE_MONOTONIC=1 \
		faketime -f +366d "$second" build $K612 2>"$tmp/err2"
) >"$tmp/second" || fail "$(cat "$tmp/err2")"
a=$(cut -d' ' -f1 "$tmp/first") b=$(cut -d' ' -f1 "$tmp/second")
[ -n "$a" ] && [ "$a" = "$b" ] || fail "differ: $a $b"
# What was printed is the digest of the file, not of something else.
for f in first second; do
	file=$(cut -d' ' -f3- "$tmp/$f")
	[ "$(sha256sum "$file" | cut -d' ' -f1)" = "$a" ] || fail "$file is not $a"
done
