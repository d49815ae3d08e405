# SPDX-License-Identifier: GPL-2.0-or-later
# tinyconfig with kontest.config on top, built here from Debian's source by `kontest
# kernel build`, and this one build in every form: build tree, bzImage, the archive of
# the kernel's own tar-pkg, vmlinux. What has the same bytes in it becomes the same
# image. It boots in exact mode, and in a measured one on every bus that it is given
# the modules of.
. tests/lib.sh
requires zstd

"$KONTEST" kernel build --source debian:linux-source-6.1 --config tinyconfig --label tiny \
	--set MODULES=y --set MODULE_COMPRESS_ZSTD=y --set VIRTIO_PCI=m --set VIRTIO_BLK=m \
	--set SATA_AHCI=m --set ATA_PIIX=m >"$tmp/out" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
tree=$(cat "$tmp/out")
release=$(cat "$tree/include/config/kernel.release")

# What make tar-pkg does once everything is compiled: modules_install, which
# compresses them, and tar.
src=$(ls -d "$XDG_CACHE_HOME"/kontest/sources/*/ | head -n 1)
cp -r "$tree" "$tmp/obj"
(
	cd "$tmp/obj"
	make -s -f "$src/Makefile" ARCH=x86_64 syncconfig
	srctree=$src objtree=. ARCH=x86_64 SRCARCH=x86 KERNELRELEASE=$release \
		KCONFIG_CONFIG=.config sh "$src/scripts/package/buildtar" tar-pkg
) >"$tmp/make" 2>&1 || fail "$(tail "$tmp/make")"
tar=$tmp/obj/linux-$release-x86_64.tar
installed=$tmp/obj/tar-install/lib/modules/$release
[ -n "$(find "$installed" -name 'virtio_blk.ko.zst')" ] || fail "the modules are not compressed"

# image NAME ARGS... - build one; its SHA-256 is in $digest
image() {
	"$KONTEST" build --exact "${@:2}" -o "$tmp/$1.img" >"$tmp/out" 2>"$tmp/err" ||
		fail "$1: $(cat "$tmp/err")"
	digest=$(sha256sum <"$tmp/$1.img")
}
image tree built:tiny
of_tree=$digest
image bzImage "$tree/bzImage" --modules "$installed" --config "$tree/.config"
[ "$digest" = "$of_tree" ] || fail "another image of the bzImage with its modules"
image tar "$tar"
[ "$digest" = "$of_tree" ] || fail "another image of the archive"
image vmlinux "$tree/vmlinux" --modules "$installed" --config "$tree/.config"
[ "$digest" != "$of_tree" ] || fail "the vmlinux is no other image"

run() {
	"$KONTEST" run --lead-ms 100 --loads no_load "$@" \
		>"$tmp/table" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
	cat "$tmp/table"
	"$KONTEST" report --format json >"$tmp/json"
}

# vmlinux is not unpacked by itself, so its clock is another when the guest starts:
# the figures are near each other, not the same.
run --profile small --kernel tree=built:tiny --kernel vmlinux="$tree/vmlinux" --modules "$installed" \
	--config "$tree/.config" --accel exact
python3 - "$tmp/json" <<'PY' || fail "$(cat "$tmp/table")"
import json, sys
boots = json.load(open(sys.argv[1]))["boots"]
assert len(boots) == 2, len(boots)
a, b = (boot["runs"][0]["wall_ns"] for boot in boots)
assert abs(a - b) < 0.05 * a, (a, b)
PY

# The modules that are there decide what the disks are on.
mkdir "$tmp/ahci" "$tmp/piix"
find "$installed" \( -name 'ahci.ko*' -o -name 'libahci.ko*' \) -exec cp {} "$tmp/ahci" \;
find "$installed" -name 'ata_piix.ko*' -exec cp {} "$tmp/piix" \;
bare() {
	run --kernel k="$tree/bzImage" --config "$tree/.config" --modules "$1" --profile "$2" --accel tcg
}
bare "$installed" small
! grep -q 'disks are on' "$tmp/err" || fail "not on virtio: $(cat "$tmp/err")"
bare "$tmp/ahci" small
grep -q 'disks are on AHCI' "$tmp/err" || fail "not on AHCI: $(cat "$tmp/err")"
sed -e 's/^machine = .*/machine = pc-i440fx-7.2/' -e '/^\[disk swap\]/,/^$/d' \
	images/profiles/small.ini >"$tmp/ide.ini"
bare "$tmp/piix" "$tmp/ide.ini"
grep -q 'disks are on IDE' "$tmp/err" || fail "not on IDE: $(cat "$tmp/err")"
refuses 2 'VIRTIO_PCI \(is =m, but virtio_pci.ko is not among its modules\)' \
	"$KONTEST" run --kernel k="$tree/bzImage" --config "$tree/.config" --profile small --accel tcg
