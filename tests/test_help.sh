# SPDX-License-Identifier: GPL-2.0-or-later
# Every command explains itself, and the man page knows every command and option.
. tests/lib.sh

"$KONTEST" --version | grep -Eq '^kontest [0-9]+\.[0-9]+\.[0-9]+$' || fail "--version"
"$KONTEST" help >"$tmp/help"
cmds=$(sed -n 's/^  \([a-z]*\) .*/\1/p' "$tmp/help" | grep -v '^help$')
[ "$(echo "$cmds" | wc -l)" -ge 8 ] || fail "commands missing in: $(cat "$tmp/help")"
for c in $cmds; do
	"$KONTEST" help "$c" >"$tmp/help.$c"
	grep -q "^Usage: kontest $c" "$tmp/help.$c" || fail "help $c"
	"$KONTEST" "$c" --help | diff -u "$tmp/help.$c" - || fail "$c --help differs from help $c"
	grep -q "kontest $c" host/kontest.1 || fail "the man page does not know $c"
done
# What the help offers must be taken: an unknown option is refused, these are not.
for o in $(grep -o -- '--[a-z-]*' "$tmp/help.run" | sort -u); do
	"$KONTEST" run "$o" x --help >"$tmp/out" 2>&1 || "$KONTEST" run "$o" --help >"$tmp/out" 2>&1 ||
		fail "run does not know $o"
done
refuses 2 "no command 'frobnicate'" "$KONTEST" frobnicate
status=0; "$KONTEST" >/dev/null || status=$?
[ $status = 2 ] || fail "no command: status $status"
requires man
man -l host/kontest.1 >"$tmp/man" 2>"$tmp/warnings"
[ ! -s "$tmp/warnings" ] || fail "man page: $(cat "$tmp/warnings")"
