# SPDX-License-Identifier: GPL-2.0-or-later
# A full disk is one clear line, and nothing half-written is left.
. tests/lib.sh

mkdir "$tmp/small"
mount -t tmpfs -o size=40m kontest-test "$tmp/small" 2>/dev/null ||
	skip "a file system to fill cannot be mounted here (not root)"
umount_small() { umount "$tmp/small"; }
cleanup_fn umount_small
mkdir -p "$tmp/small/cache/kontest"
"$KONTEST" build $K612 >/dev/null 2>"$tmp/err" || fail "$(cat "$tmp/err")"

# The cache's disk: packages are linked in, so that the images are what does not fit.
cp -rs "$XDG_CACHE_HOME/kontest/debs" "$tmp/small/cache/kontest/debs"
refuses 2 'No space left on device.*XDG_CACHE_HOME' \
	env XDG_CACHE_HOME="$tmp/small/cache" "$KONTEST" build $K612
left=$(find "$tmp/small" -type f -size +1M)
[ -z "$left" ] || fail "left behind: $left"

# The data directory's disk: the results disk is reserved before any boot.
rm -rf "$tmp/small/cache"
head -c 20000000 /dev/zero >"$tmp/small/filler"
refuses 2 'No space left on device.*XDG_DATA_HOME' env XDG_DATA_HOME="$tmp/small/data" \
	"$KONTEST" run --kernel $K612 --profile small --accel exact --loads no_load
left=$(find "$tmp/small" -type f -size +1M ! -name filler)
[ -z "$left" ] || fail "left behind: $left"
