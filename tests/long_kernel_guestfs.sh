# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel out of a qcow2 whose root is btrfs, which only libguestfs can read.
. tests/lib.sh
requires mkfs.btrfs
requires supermin
[ -d /lib/modules ] || skip "libguestfs wants the directory /lib/modules"

"$KONTEST" kernel check $K61 >"$tmp/out" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
sha=$(sed -n 's/^sha256: //p' "$tmp/out") release=$(sed -n 's/^release: //p' "$tmp/out")
layer=$(grep -lr --include=info "^digest=$sha" "$XDG_CACHE_HOME/kontest/kernels" | head -n 1)
layer=${layer%/info}
mkdir -p "$tmp/root/boot" "$tmp/root/etc" "$tmp/root/bin" "$tmp/root/usr" \
	"$tmp/root/lib/modules/$release"
printf 'ID=debian\nNAME=Debian\nVERSION_ID="12"\n' >"$tmp/root/etc/os-release"
echo 12.0 >"$tmp/root/etc/debian_version"
echo '/dev/sda1 / btrfs defaults 0 0' >"$tmp/root/etc/fstab"
cp "$layer/vmlinuz" "$tmp/root/boot/vmlinuz-$release"
cp "$layer/config" "$tmp/root/boot/config-$release"
cp -r "$layer"/modules/* "$tmp/root/lib/modules/$release/"
truncate -s 300M "$tmp/fs" && mkfs.btrfs -q --rootdir "$tmp/root" "$tmp/fs" >/dev/null
truncate -s 320M "$tmp/disk"
printf 'label: gpt\nstart=2048, size=614400, type=linux\n' | sfdisk -q "$tmp/disk"
dd if="$tmp/fs" of="$tmp/disk" bs=1M seek=1 conv=notrunc,sparse status=none
qemu-img convert -O qcow2 "$tmp/disk" "$tmp/disk.qcow2"
rm "$tmp/fs" "$tmp/disk"

timeout 900 "$KONTEST" kernel check "$tmp/disk.qcow2" >"$tmp/out" 2>"$tmp/err" || {
	! grep -q 'there is no libguestfs' "$tmp/err" || skip "there is no libguestfs"
	fail "$(cat "$tmp/out" "$tmp/err")"
}
grep -qx 'kind: disk' "$tmp/out" || fail "$(cat "$tmp/out")"
grep -qx "sha256: $sha" "$tmp/out" || fail "another kernel: $(cat "$tmp/out")"
grep -qx 'exact mode: yes' "$tmp/out" || fail "modules are missing: $(cat "$tmp/out")"
