# SPDX-License-Identifier: GPL-2.0-or-later
# lib.sh - sourced by the shell tests. KONTEST is the program, $tmp a directory
# of the test's own that is removed when it ends; the user's own files are
# never touched: HOME and the XDG directories lie in $tmp, only the layer cache
# is shared between the tests.
set -eu

tmp=$(mktemp -d "${TMPDIR:-/tmp}/kontest-test.XXXXXX")
cleanup_fns=
cleanup() {
	for fn in $cleanup_fns; do $fn || :; done
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# cleanup_fn FUNCTION - also call it when the test ends, however it ends
cleanup_fn() { cleanup_fns="$1 $cleanup_fns"; }

fail() { echo "FAIL: $*" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }
requires() { command -v "$1" >/dev/null || skip "there is no $1"; }

# refuses STATUS PATTERN COMMAND... - it must exit with STATUS and say, in one
# line on stderr, something that matches PATTERN (extended regular expression)
refuses() {
	local want=$1 pattern=$2 status=0
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	[ "$status" = "$want" ] || fail "exit status $status, not $want: $* ($(cat "$tmp/err"))"
	grep -Eq -- "$pattern" "$tmp/err" || fail "no '$pattern' in: $(cat "$tmp/err")"
	[ "$(grep -c '^kontest' "$tmp/err")" = 1 ] || fail "not one line: $(cat "$tmp/err")"
}

export HOME="$tmp/home" XDG_DATA_HOME="$tmp/data" TMPDIR="$tmp"
export XDG_CACHE_HOME="${KONTEST_TEST_CACHE:-$tmp/cache}"
mkdir -p "$HOME" "$XDG_DATA_HOME"
KONTEST=${KONTEST:-$PWD/build/kontest}
K61=debian:linux-image-cloud-amd64
K612=debian:linux-image-6.12-cloud-amd64
