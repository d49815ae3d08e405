#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Install the Debian packages that are missing, to build, to run and to test.
set -eu

build="gcc libc6-dev make pkg-config libvirt-dev libarchive-dev libext2fs-dev
	comerr-dev libelf-dev libfdisk-dev libsqlite3-dev libgsl-dev libjansson-dev
	libssl-dev liblzma-dev libzstd-dev libsodium-dev libxml2-dev"
run="qemu-system-x86 qemu-utils libvirt0 libvirt-daemon-driver-qemu apt
	grub-common grub-pc-bin systemd-boot-efi binutils dosfstools mtools
	gnuplot-nox git"
test="libcmocka-dev e2fsprogs fdisk cppcheck ovmf python3 libasan8 libubsan1
	man-db minisign xz-utils bc bison flex util-linux procps faketime libguestfs0
	supermin kmod libxml2-utils poppler-utils chromium-headless-shell
	fonts-dejavu-core"

missing=
for p in $build $run $test; do
	state=$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null) || state=
	[ "$state" = installed ] || missing="$missing $p"
done

if [ -z "$missing" ]; then
	exit 0
fi

install="env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends$missing"
as_root=
if [ "$(id -u)" != 0 ]; then
	# sudo may ask for a password where somebody can answer.
	if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; }; then
		as_root=sudo
	else
		echo "deps: packages are missing; this must be done as root first:" >&2
		echo "  apt-get update && apt-get install --no-install-recommends$missing" >&2
		exit 1
	fi
fi

echo "  APT    $missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# An index may be missing or old: ask again once before giving up.
if ! $as_root $install >"$log" 2>&1; then
	{ $as_root apt-get update -q && $as_root $install; } >"$log" 2>&1 ||
		{ cat "$log" >&2; exit 1; }
fi
