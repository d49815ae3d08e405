#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The job tree quick-1 builds without a warning, twice to the same bytes,
# checks itself, and its `make clean` leaves nothing behind.
. tests/lib.sh
requires make
requires gcc
unset MAKEFLAGS MFLAGS MAKELEVEL CC CFLAGS

src=$PWD/loads/jobs/quick-1
expected="quick-1: 11 parts, checksum 1b77f191ef449a8f"

list() { (cd "$1" && LC_ALL=C ls -A); }

# built DIR [MAKE ARGUMENTS] - builds a copy of the tree at DIR
built() {
	local dir=$1
	shift
	mkdir -p "$dir"
	cp "$src"/* "$dir/"
	make -C "$dir" "$@" >"$tmp/out" 2>"$tmp/err" || fail "make: $(cat "$tmp/err")"
	[ ! -s "$tmp/err" ] || fail "the build says: $(cat "$tmp/err")"
}

built "$tmp/a" -j2
got=$("$tmp/a/quick") || fail "its self-check: $got"
[ "$got" = "$expected" ] || fail "'$got' instead of '$expected'"
[ "$(cd "$tmp/a" && ls ./*.o | wc -l)" = 12 ] || fail "not 12 objects"

# Another directory, one compiler at a time: the same bytes
built "$tmp/else where/b" -j1
for f in "$tmp"/a/*; do
	cmp "$f" "$tmp/else where/b/${f##*/}" || fail "two builds differ"
done

make -C "$tmp/a" clean >/dev/null || fail "make clean"
diff <(list "$src") <(list "$tmp/a") || fail "make clean leaves something or takes too much"

built "$tmp/strict" -j2 CFLAGS="-std=c11 -O2 -Wall -Wextra -Wshadow -Werror"
built "$tmp/cc" -n CC=another-compiler
! grep -q '^gcc' "$tmp/out" || fail "CC is not respected"
grep -q '^another-compiler .*-o quick ' "$tmp/out" || fail "CC does not link"
