# SPDX-License-Identifier: GPL-2.0-or-later
# Every flavour of Debian's kernels can be taken apart and boots in every mode, as far
# as can be told without booting it.
. tests/lib.sh

for series in '' 6.12-; do
	for flavour in '' cloud- rt-; do
		name=linux-image-$series${flavour}amd64
		timeout 900 "$KONTEST" kernel check "debian:$name" >"$tmp/out" 2>"$tmp/err" ||
			fail "$name: $(cat "$tmp/out" "$tmp/err")"
		echo "$name: $(sed -n 's/^release: //p' "$tmp/out")"
		grep -q '^measured modes (kvm, tcg): yes$' "$tmp/out" || fail "$name: $(cat "$tmp/out")"
		grep -q '^exact mode: yes$' "$tmp/out" || fail "$name: $(cat "$tmp/out")"
		grep -q '^  disks: virtio' "$tmp/out" || fail "$name: $(cat "$tmp/out")"
	done
done
