# SPDX-License-Identifier: GPL-2.0-or-later
# What is no kernel is refused before anything is built, and nothing is left.
. tests/lib.sh
export XDG_CACHE_HOME="$tmp/cache"

check() { refuses 2 "$1" "$KONTEST" kernel check "$2"; }

check "$tmp/none.*No such file" "$tmp/none"
mkdir "$tmp/dir"
check "$tmp/dir" "$tmp/dir"
echo hello >"$tmp/text"
check "$tmp/text" "$tmp/text"
: >"$tmp/empty"
check "$tmp/empty" "$tmp/empty"
cp /bin/true "$tmp/elf"
check "$tmp/elf" "$tmp/elf"
check "no-such-kernel-package" debian:no-such-kernel-package

# A Debian package that is cut short, and one that holds no kernel.
mkdir -p "$tmp/deb/DEBIAN" "$tmp/deb/usr/share/doc/none"
printf 'Package: none\nVersion: 1\nArchitecture: amd64\nMaintainer: x <x@example.org>\nDescription: none\n' >"$tmp/deb/DEBIAN/control"
head -c 300000 /dev/urandom >"$tmp/deb/usr/share/doc/none/data"
dpkg-deb --root-owner-group -b "$tmp/deb" "$tmp/none.deb" >/dev/null
check "$tmp/none.deb" "$tmp/none.deb"
head -c 100000 "$tmp/none.deb" >"$tmp/cut.deb"
check "$tmp/cut.deb" "$tmp/cut.deb"

if [ "$(id -u)" = 0 ]; then
	chmod 711 "$tmp" && mkdir -m 777 "$tmp/own"
	head -c 1000 /dev/zero >"$tmp/secret" && chmod 600 "$tmp/secret"
	refuses 2 "$tmp/secret.*Permission denied" env HOME="$tmp/own" XDG_CACHE_HOME="$tmp/own/c" \
		XDG_DATA_HOME="$tmp/own/d" setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$KONTEST" kernel check "$tmp/secret"
fi
left=$(find "$tmp/cache" -name 'vmlinuz*' -o -name '.*.??????' | head)
[ -z "$left" ] || fail "left behind: $left"
