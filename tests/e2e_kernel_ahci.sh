# SPDX-License-Identifier: GPL-2.0-or-later
# slow
# Debian's generic kernel, taken apart by hand: its vmlinux (ELF) is made into an image
# that boots; without the module virtio_blk its disks are on AHCI, and without ahci,
# too, on IDE, on a machine that has it.
. tests/lib.sh

"$KONTEST" kernel check debian:linux-image-amd64 >"$tmp/out" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
grep -q '^  disks: virtio, AHCI, IDE$' "$tmp/out" || fail "$(cat "$tmp/out")"
sha=$(sed -n 's/^sha256: //p' "$tmp/out")
layer=$(grep -lr --include=info "^digest=$sha" "$XDG_CACHE_HOME/kontest/kernels" | head -n 1)
layer=${layer%/info}
[ -n "$layer" ] || fail "no layer of $sha"
cp -r "$layer/modules" "$tmp/modules"
find "$tmp/modules" -name virtio_blk.ko -delete

# The compressed payload is where the setup header says; Linux puts 4 bytes behind it.
python3 - "$layer/vmlinuz" "$tmp/vmlinux" <<'PY'
import lzma, struct, sys
b = open(sys.argv[1], "rb").read()
off, size = struct.unpack_from("<II", b, 0x248)
off += (b[0x1f1] + 1) * 512
open(sys.argv[2], "wb").write(lzma.decompress(b[off:off + size - 4]))
PY
"$KONTEST" run --kernel k="$tmp/vmlinux" --modules "$tmp/modules" --config "$layer/config" \
	--profile small --accel tcg --lead-ms 100 --loads no_load >"$tmp/table" 2>"$tmp/err" ||
	fail "$(cat "$tmp/err")"
cat "$tmp/err" "$tmp/table"
grep -q 'disks are on AHCI: kernel k has no driver for virtio' "$tmp/err" || fail "no note"
"$KONTEST" report --format json >"$tmp/json"
[ "$(grep -c '"driver": "sd"' "$tmp/json")" = 5 ] || fail "not five SATA disks: $(grep driver "$tmp/json")"

# q35 has no IDE; where there is, it has four disks at most.
find "$tmp/modules" -name ahci.ko -delete
ide() {
	"$KONTEST" run --kernel k="$tmp/vmlinux" --modules "$tmp/modules" --config "$layer/config" \
		--profile "$1" --accel tcg --lead-ms 100 --loads no_load
}
refuses 2 'drivers for IDE disks alone, and machine pc-q35' ide small
sed -e 's/^machine = .*/machine = pc-i440fx-7.2/' -e '/^\[disk swap\]/,/^$/d' \
	images/profiles/small.ini >"$tmp/ide.ini"
ide "$tmp/ide.ini" >"$tmp/table" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
cat "$tmp/err" "$tmp/table"
grep -q 'disks are on IDE: kernel k has no driver for virtio or AHCI' "$tmp/err" || fail "no note"
"$KONTEST" report --format json >"$tmp/json"
[ "$(grep -c '"driver": "sd"' "$tmp/json")" = 4 ] || fail "not four IDE disks: $(grep driver "$tmp/json")"
