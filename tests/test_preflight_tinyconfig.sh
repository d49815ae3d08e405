# SPDX-License-Identifier: GPL-2.0-or-later
# slow
# A kernel that lacks what a boot needs (a real tinyconfig, built here from Debian's
# source) is refused before any boot, with the names of the CONFIG options: judged by
# its build tree's .config, and as a bare bzImage with no configuration at all.
. tests/lib.sh

# Built once and kept by the version of the source.
version=$(apt-cache show --no-all-versions linux-source-6.1 2>/dev/null | sed -n 's/^Version: //p')
[ -n "$version" ] || fail "apt knows no package linux-source-6.1"
mkdir -p "$XDG_CACHE_HOME"
tree="$XDG_CACHE_HOME/tinyconfig-$version"
if [ ! -e "$tree/arch/x86/boot/bzImage" ]; then
	(cd "$tmp" && apt-get -qq download linux-source-6.1) 2>"$tmp/apt" || fail "$(cat "$tmp/apt")"
	mkdir "$tmp/src"
	dpkg-deb --fsys-tarfile "$tmp"/linux-source-6.1_*.deb |
		tar -xO --wildcards './usr/src/linux-source-6.1.tar.xz' |
		xz -dT0 | tar -x -C "$tmp/src" --strip-components=1 \
		--exclude='*/amd/include/*' --exclude='*/tools/testing/*'
	make -s -C "$tmp/src" ARCH=x86_64 tinyconfig >"$tmp/make" 2>&1 || fail "$(tail "$tmp/make")"
	make -s -C "$tmp/src" ARCH=x86_64 -j"$(nproc)" bzImage >"$tmp/make" 2>&1 ||
		fail "$(tail "$tmp/make")"
	# What a build tree is to kontest: image, .config, release.
	mkdir -p "$tmp/tree/arch/x86/boot" "$tmp/tree/include/config"
	for f in arch/x86/boot/bzImage .config include/config/kernel.release Makefile; do
		cp -L "$tmp/src/$f" "$tmp/tree/$f"
	done
	rm -rf "$tree" && mv "$tmp/tree" "$tree"
fi

refused() {
	refuses 2 'CONFIG_BLK_DEV_INITRD' "$@"
	for o in PROC_FS SYSFS DEVTMPFS EXT4_FS SERIAL_8250_CONSOLE FUTEX; do
		grep -q "CONFIG_$o" "$tmp/err" || fail "CONFIG_$o is not named: $(cat "$tmp/err")"
	done
}
"$KONTEST" build $K61 >/dev/null 2>"$tmp/err" || fail "$(cat "$tmp/err")"
for kernel in "$tree" "$tree/arch/x86/boot/bzImage"; do
	refused "$KONTEST" run --kernel tiny="$kernel" --profile small --accel exact
	grep -q CONFIG_BLK_DEV_PMEM "$tmp/err" || fail "CONFIG_BLK_DEV_PMEM is not named: $(cat "$tmp/err")"
done
cp "$tree/arch/x86/boot/bzImage" "$tmp/bzImage"
refused "$KONTEST" run --kernel tiny="$tmp/bzImage" --profile small --accel tcg
[ ! -e "$XDG_DATA_HOME/kontest/running" ] || fail "something was begun"
