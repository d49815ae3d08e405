# SPDX-License-Identifier: GPL-2.0-or-later
# Measured mode, virtio disks, two CPUs: where KVM does not work `auto` says so in
# one line and goes on with TCG, the guest gets the machine of the profile, and
# what is demanded but cannot be had is refused.
. tests/lib.sh

sed -e 's/^cpus = 1/cpus = 2/' images/profiles/small.ini >"$tmp/two.ini"
"$KONTEST" run --kernel k=$K612 --profile "$tmp/two.ini" --accel auto --lead-ms 100 \
	--loads no_load,io_load >"$tmp/table" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
"$KONTEST" report --format json >"$tmp/json"
cat "$tmp/err" "$tmp/table"
python3 - "$tmp/json" <<'PY' || fail "$(cat "$tmp/json")"
import json, sys
text = open(sys.argv[1]).read()
boot, = json.loads(text)["boots"]
assert boot["verdict"] == "ok"
runs = {r["load"]: r for r in boot["runs"]}
assert set(runs) == {"no_load", "io_load"}
for r in runs.values():
    assert r["verdict"] == "ok", r
assert '"cpus_online": 2' in text, "CPUs"
assert '"serial": "work"' in text, "virtio serial numbers"
PY
if grep -q 'accel tcg' "$tmp/err"; then
	[ "$(grep -ci '^kontest:.*kvm' "$tmp/err")" = 1 ] || fail "not one line about KVM"
	refuses 2 'kvm|KVM' "$KONTEST" run --kernel k=$K612 --profile "$tmp/two.ini" --accel kvm \
		--loads no_load
fi
