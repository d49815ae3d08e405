#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Install the Debian packages that are missing, to build, to run and to test.
set -eu

build="gcc libc6-dev make pkg-config libvirt-dev libarchive-dev libext2fs-dev
	comerr-dev libelf-dev libfdisk-dev libsqlite3-dev libgsl-dev libjansson-dev
	libinih-dev libssl-dev liblzma-dev"
run="qemu-system-x86 qemu-utils libvirt0 libvirt-daemon-driver-qemu apt
	grub-common grub-pc-bin systemd-boot-efi binutils dosfstools mtools"
test="libcmocka-dev e2fsprogs fdisk cppcheck ovmf python3-minimal libasan8 libubsan1
	man-db xz-utils util-linux procps"

missing=
for p in $build $run $test; do
	state=$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null) || state=
	[ "$state" = installed ] || missing="$missing $p"
done

as_root=
if [ "$(id -u)" != 0 ]; then
	as_root=sudo
fi

# What has to be done as root; said instead where that is not possible.
root() {
	if [ -n "$as_root" ] && ! { command -v sudo && sudo -n true; } >/dev/null 2>&1 &&
	   ! [ -t 0 ]; then
		echo "deps: this must be done as root first:" >&2
		echo "  $*" >&2
		exit 1
	fi
	$as_root "$@"
}

if [ -n "$missing" ]; then
	echo "  APT    $(echo $missing)"
	# An index may be missing or old: ask again once before giving up.
	install="env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends"
	log=$(mktemp)
	if ! root $install $missing >"$log" 2>&1; then
		root apt-get update -q >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
		root $install $missing >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
	fi
	rm -f "$log"
fi

# libvirt's QEMU driver, run as root, wants this user to exist.
if [ "$(id -u)" = 0 ] && ! getent passwd libvirt-qemu >/dev/null; then
	getent group libvirt-qemu >/dev/null || groupadd --system libvirt-qemu
	useradd --system --gid libvirt-qemu --no-create-home \
		--home-dir /nonexistent --shell /usr/sbin/nologin libvirt-qemu
fi
