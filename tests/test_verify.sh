# SPDX-License-Identifier: GPL-2.0-or-later
# kontest verify builds an image anew: bit-identical, or the first difference by
# name. What else can differ is in unit_verify.c, which needs no image built.
. tests/lib.sh
requires debugfs

"$KONTEST" build $K612 -o "$tmp/good.img" >"$tmp/built" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
digest=$(cut -d' ' -f1 "$tmp/built")

"$KONTEST" verify "$tmp/good.img" >"$tmp/out" 2>"$tmp/err" || fail "$(cat "$tmp/out" "$tmp/err")"
grep -q "good.img: bit-identical, SHA-256 $digest\$" "$tmp/out" || fail "$(cat "$tmp/out")"
[ -z "$(ls "$XDG_CACHE_HOME/kontest/verify")" ] || fail "what was built anew was left behind"

# differs PATTERN - verify the changed copy: status 1, the first difference named
differs() {
	local status=0
	"$KONTEST" verify "$tmp/bad.img" >"$tmp/out" 2>"$tmp/err" || status=$?
	[ $status = 1 ] || fail "status $status: $(cat "$tmp/out" "$tmp/err")"
	grep -Eq "^first difference: $1" "$tmp/out" || fail "no '$1' in: $(cat "$tmp/out")"
}
fresh() { cp --sparse=always "$tmp/good.img" "$tmp/bad.img"; }
# poke OFFSET BYTE (octal) - and it must have been another one
poke() {
	printf "\\$2" | dd of="$tmp/bad.img" bs=1 seek="$1" conv=notrunc status=none
	cmp -s "$tmp/good.img" "$tmp/bad.img" && fail "byte $1 was $2 already"
	return 0
}
part() { sfdisk -d "$tmp/good.img" | sed -n "s/.*img$1 : start= *\([0-9]*\), size= *\([0-9]*\),.*/\\$2/p"; }
esp=$(($(part 2 1) * 512)) root=$(($(part 3 1) * 512)) root_size=$(($(part 3 2) * 512))

# a mode bit, as debugfs writes it: checksums and all
fresh
dd if="$tmp/good.img" of="$tmp/root" bs=1M skip=$((root / 1048576)) count=$((root_size / 1048576)) status=none
debugfs -w -R 'set_inode_field /etc/passwd mode 0100646' "$tmp/root" >/dev/null 2>&1
dd if="$tmp/root" of="$tmp/bad.img" bs=1M seek=$((root / 1048576)) conv=notrunc status=none
differs 'root partition: /etc/passwd: mode is 0100646, built anew it is 0100644$'
grep -q "^bytes that differ: root partition" "$tmp/out" || fail "$(cat "$tmp/out")"

# a byte of a file of the ESP
fresh
offset=$(grep -abo "linux /vmlinuz" "$tmp/bad.img" | tail -1 | cut -d: -f1)
[ "$offset" -gt $esp ] || fail "grub.cfg is not where it should be"
poke $((offset + 1)) 111
differs 'ESP: grub/grub.cfg: byte 1 is 0x49, built anew it is 0x69$'

# the table
fresh
poke $((1024 + 128 + 40)) 0
differs 'partition table: GPT entry 2 \(kontest-esp\): last sector is [0-9]+, built anew it is [0-9]+$'

# what cannot be verified, and why
truncate -s 8M "$tmp/zeros"
refuses 2 "zeros' is no .*no raw system image" "$KONTEST" verify "$tmp/zeros"
refuses 2 "No such file" "$KONTEST" verify "$tmp/none"
refuses 2 "name one file" "$KONTEST" verify
printf 'label: gpt\nstart=2048, size=8192, type=uefi\n' | sfdisk -q "$tmp/zeros"
refuses 2 "no FAT16 that can be read" "$KONTEST" verify "$tmp/zeros"
fresh
offset=$(grep -abo '"format": "kontest-image 1"' "$tmp/bad.img" | tail -1 | cut -d: -f1)
poke $((offset + 12)) 130
refuses 2 "newer kontest" "$KONTEST" verify "$tmp/bad.img"
