# SPDX-License-Identifier: GPL-2.0-or-later
# kontest verify --deep looks through an image in libguestfs's own VM, within 90 s
# under emulation, and names the files that are not as the image's list says.
. tests/lib.sh
requires supermin
requires debugfs
ldconfig -p | grep -q libguestfs.so.0 || skip "there is no libguestfs: apt-get install libguestfs0"
# supermin copies that directory's mode into its appliance
if [ ! -d /lib/modules ]; then
	[ "$(id -u)" = 0 ] || skip "there is no /lib/modules, which supermin wants"
	mkdir /lib/modules
	forget_modules() { rmdir /lib/modules; }
	cleanup_fn forget_modules
fi

"$KONTEST" build $K612 -o "$tmp/good.img" >/dev/null 2>"$tmp/err" || fail "$(cat "$tmp/err")"
# The first launch builds the appliance, which is kept.
"$KONTEST" verify --deep --timeout 600 "$tmp/good.img" >"$tmp/out" 2>"$tmp/err" || fail "$(cat "$tmp/out" "$tmp/err")"
grep -Eq 'good.img: [0-9]{4} files, all as its manifest says$' "$tmp/out" || fail "$(cat "$tmp/out")"

cp --sparse=always "$tmp/good.img" "$tmp/bad.img"
set -- $(sfdisk -d "$tmp/good.img" | sed -n 's/.*img3 : start= *\([0-9]*\), size= *\([0-9]*\),.*/\1 \2/p')
dd if="$tmp/good.img" of="$tmp/root" bs=1M skip=$(($1 / 2048)) count=$(($2 / 2048)) status=none
debugfs -w -f - "$tmp/root" >/dev/null 2>&1 <<EOC
set_inode_field /etc/passwd mode 0100600
set_inode_field /etc/group uid 7
write tests/lib.sh /etc/added
rm /usr/bin/gcc
EOC
dd if="$tmp/root" of="$tmp/bad.img" bs=1M seek=$(($1 / 2048)) conv=notrunc status=none
status=0 t0=$SECONDS
"$KONTEST" verify --deep --timeout 600 "$tmp/bad.img" >"$tmp/out" 2>"$tmp/err" || status=$?
[ $status = 1 ] || fail "status $status: $(cat "$tmp/out" "$tmp/err")"
grep -q '^/etc/passwd: mode is 0600, the list says 0644$' "$tmp/out" || fail "$(cat "$tmp/out")"
grep -q '^/etc/group: owner is 7, the list says 0$' "$tmp/out" || fail "$(cat "$tmp/out")"
grep -q '^/etc/added: it is not in the list$' "$tmp/out" || fail "$(cat "$tmp/out")"
grep -q '^/usr/bin/gcc: it is not there$' "$tmp/out" || fail "$(cat "$tmp/out")"
echo "a look through took $((SECONDS - t0)) s"
[ $((SECONDS - t0)) -le 90 ] || fail "it took $((SECONDS - t0)) s"
refuses 2 "did not come up within 1 s" "$KONTEST" verify --deep --timeout 1 "$tmp/good.img"
