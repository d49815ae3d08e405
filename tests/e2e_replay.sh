# SPDX-License-Identifier: GPL-2.0-or-later
# slow
# Somebody else's bundle on a machine that has nothing: a new HOME, an empty cache,
# no apt, no network. The figures come out the same, to the last digit.
. tests/lib.sh

requires minisign
"$KONTEST" run --kernel one=$K61 --kernel two=$K612 --profile small --accel exact \
	--loads no_load --lead-ms 100 >"$tmp/table" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
minisign -G -W -p "$tmp/key.pub" -s "$tmp/key" >/dev/null

t0=$SECONDS
"$KONTEST" export -o "$tmp/run.kontest" --sign "$tmp/key" >"$tmp/sizes" 2>"$tmp/err" ||
	fail "$(cat "$tmp/err")"
cat "$tmp/sizes"
minisign -V -q -p "$tmp/key.pub" -m "$tmp/run.kontest" || fail "minisign does not accept it"

# Everything that PATH has, but apt and dpkg.
mkdir "$tmp/bin" "$tmp/new"
IFS=:
for dir in $PATH; do
	for p in "$dir"/*; do
		case ${p##*/} in apt*|dpkg*) ;; *) [ -e "$tmp/bin/${p##*/}" ] || ln -s "$p" "$tmp/bin/" ;; esac
	done
done
unset IFS
elsewhere() {
	env -u XDG_CACHE_HOME -u XDG_DATA_HOME -u XDG_CONFIG_HOME HOME="$tmp/new" \
		PATH="$tmp/bin" $net "$KONTEST" "$@"
}
net=
! unshare -n true 2>/dev/null || net="unshare -n"
! PATH="$tmp/bin" command -v apt-get >/dev/null || fail "there is an apt-get"

status=0
elsewhere replay "$tmp/run.kontest" --pubkey "$tmp/key.pub" >"$tmp/replay" 2>"$tmp/err" || status=$?
cat "$tmp/err" "$tmp/replay"
echo "export and replay: $((SECONDS - t0)) s, bundle $(du -h --apparent-size "$tmp/run.kontest" | cut -f 1)"
[ "$status" = 0 ] || fail "exit status $status"
grep -q 'signature good' "$tmp/err" || fail "the signature was not checked"
grep -q '^Exact: all [0-9]* figures are the same' "$tmp/replay" || fail "not the same"
! grep -q DIFFERS "$tmp/replay" || fail "something differs on one and the same machine"

# It is a run like any other there, and its table is the author's.
elsewhere report >"$tmp/their-table" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
diff -u "$tmp/table" "$tmp/their-table"
[ ! -e "$tmp/new/.cache/kontest/base" ] || fail "a base was built"
