# SPDX-License-Identifier: GPL-2.0-or-later
# Bundles that mean harm: each is refused in one line that names member and reason,
# within bounded memory and time, and nothing is left or written elsewhere.
. tests/lib.sh

mkdir "$tmp/play"

# hostile CASE PATTERN [import] - replay and verify (and import) refuse it; with
# 400 MB of address space: what the largest manifest needs, and a tenth of the
# smallest bomb
hostile() {
	local command status dir
	python3 tests/hostile_bundle.py "$1" "$tmp/$1.kontest"
	for command in verify replay ${3-}; do
		status=0 dir=
		[ "$command" != replay ] || dir="--dir $tmp/play/target"
		(
			ulimit -v 400000
			timeout 60 "$KONTEST" $command "$tmp/$1.kontest" $dir
		) >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
		case $command:$status in verify:1|replay:2|import:2) ;; *)
			fail "$1: $command: status $status: $(cat "$tmp/err")" ;; esac
		grep -Eq -- "$2" "$tmp/err" || fail "$1: $command: no '$2' in: $(cat "$tmp/err")"
		[ "$(grep -c '^kontest: ' "$tmp/err")" = 1 ] || fail "$1: not one line: $(cat "$tmp/err")"
		grep -q "$1.kontest" "$tmp/err" || fail "$1: the file is not named"
		[ -z "$(ls -A "$tmp/play")" ] || fail "$1: left behind: $(ls -lA "$tmp/play")"
	done
	[ ! -e "$tmp/evil" ] && [ ! -e /evil ] && [ ! -e /tmp/evil ] || fail "$1: written elsewhere"
	rm "$tmp/$1.kontest"
}

hostile dotdot "member '../../evil' leads out of the directory by '..'" import
hostile absolute "member '/evil' is an absolute path"
hostile symlink "member 'd' is a symbolic link"
hostile hardlink "member 'b' is a hard link"
hostile device "member 'null' is a character device"
hostile fifo "member 'fifo' is a FIFO"
hostile duplicate "member 'a' is there twice"
hostile unlisted "member 'evil' is not in the manifest"
hostile missing "member 'b' is missing"
hostile size "member 'a' has 3 bytes, the manifest says 2"
hostile content "member 'a' has the SHA-256"
hostile hole "member 'w.img': its size is not a number from 0 to"
hostile manifest-huge "manifest.json' has 67108864 bytes" import
hostile manifest-deep "manifest.json' is no JSON" import
hostile manifest-wide "no string 'format'"
hostile bomb "at byte 0 .*4194304 bytes" import
hostile bomb-many "68719476736 bytes follow the end"
hostile frames "cut short"
hostile said "unfolds to [0-9]* bytes, its table says 4194304"
hostile trailing "something follows its end"
hostile truncated "it is cut short"
hostile assembled "member 'w.img', put together from its pieces, has the SHA-256 .* the manifest says"
free=$(df --output=avail -B 1M "$tmp" | tail -n 1)
# Who only checks it would be at it for long; who unpacks it needs the space.
python3 tests/hostile_bundle.py pieces "$tmp/pieces.kontest"
(ulimit -v 400000; refuses 1 "its files have 250 GiB put together, out of .* more than the 64 GiB" \
	timeout 60 "$KONTEST" verify "$tmp/pieces.kontest")
if [ "$free" -lt 150000 ]; then
	(ulimit -v 400000; "$KONTEST" replay "$tmp/pieces.kontest" --dir "$tmp/play/target") \
		>"$tmp/out" 2>"$tmp/err" && fail "pieces: unpacked" || :
	grep -q "unpacked it has 15000[0-9] MiB, and there are .* MiB free in" "$tmp/err" || fail "$(cat "$tmp/err")"
	[ -z "$(ls -A "$tmp/play")" ] || fail "pieces: left behind"
fi
# The same makes a bundle that is whole when nothing is wrong with it.
python3 tests/hostile_bundle.py good "$tmp/good.kontest"
(ulimit -v 400000; "$KONTEST" verify "$tmp/good.kontest") >/dev/null
mkfifo "$tmp/pipe.kontest"
refuses 1 "is not a regular file" timeout 20 "$KONTEST" verify "$tmp/pipe.kontest"
refuses 2 "open '.*none.kontest'" "$KONTEST" verify "$tmp/none.kontest"
