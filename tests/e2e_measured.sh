# SPDX-License-Identifier: GPL-2.0-or-later
# slow
# Measured mode, virtio disks, two CPUs: where KVM does not work `auto` says so in
# one line and goes on with TCG, the guest gets the machine of the profile, and
# what is demanded but cannot be had is refused. Each run has its noise receipt; one
# beside which all CPUs are kept busy is named as noisy, and its clock is still right.
# The run becomes a bundle and is done again, which is not expected to give the same
# figures.
. tests/lib.sh
. tests/e2e.sh

loops=
stop_loops() {
	[ -z "$loops" ] || kill $loops 2>/dev/null || :
	loops=
}
cleanup_fn stop_loops

sed -e 's/^cpus = 1/cpus = 2/' images/profiles/small.ini >"$tmp/two.ini"
start_run --kernel k=$K612 --profile "$tmp/two.ini" --accel auto --lead-ms 100 \
	--loads no_load,io_load
wait_for_record 'run_start.*"run":2' 900
# Twice as many as there are CPUs; not as urgent, or the run would take for ever
for _ in $(seq $((2 * $(nproc)))); do
	timeout 900 nice -n 5 sh -c 'while :; do :; done' &
	loops="$loops $!"
done
end_run
stop_loops
[ "$run_status" = 0 ] || fail "exit status $run_status: $(cat "$tmp/run.err")"
"$KONTEST" report --format json >"$tmp/json"
cat "$tmp/run.err" "$tmp/run.out"
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

host = boot["host"]["verdict"]
assert host["cpus"] >= 1
noise = {n["run"]: n for n in host["noise"]}
assert set(noise) == {1, 2}
for r in runs.values():
    n = noise[r["run"]]
    # the kernel accounts a thread's time a tick or two late
    room = n["window_ns"] * n["vcpus"] * 1.01 + 1e8
    assert n["vcpus"] in (1, 2), n
    assert n["window_ns"] >= r["wall_ns"], n
    assert n["vcpu_run_ns"] > r["wall_ns"] / 100, n
    assert n["vcpu_run_ns"] + n["vcpu_wait_ns"] <= room, n
    assert n["worst_wait_ns"] <= n["vcpu_wait_ns"], n
    assert n["vcpu_wait_ns"] <= n["worst_wait_ns"] * n["vcpus"], n
    assert n["others_busy_ns"] < n["host_busy_ns"], n
    assert n["clock_host_min_ns"] <= n["clock_guest_ns"] * 1.001, n
    assert n["clock_host_max_ns"] >= n["clock_guest_ns"] * 0.999, n
    assert n["clock_guest_ns"] >= r["wall_ns"], n
    assert n["start_late_ns"] > 0 and n["end_late_ns"] > 0, n
assert runs["io_load"]["host"]["noisy"] is True
assert "vCPU waited" in runs["io_load"]["host"]["noisy_why"]
assert noise[2]["vcpu_involuntary"] > 0
PY
grep -q '^noisy: run 1 of io_load on k, boot 1: .*vCPU waited .* % of the window' "$tmp/run.out" ||
	fail "the noisy run is not named"
"$KONTEST" report --format wide | grep -q '^The host meanwhile' || fail "not in the wide report"
if grep -q 'accel tcg' "$tmp/run.err"; then
	[ "$(grep -ci '^kontest:.*kvm' "$tmp/run.err")" = 1 ] || fail "not one line about KVM"
	refuses 2 'kvm|KVM' "$KONTEST" run --kernel k=$K612 --profile "$tmp/two.ini" --accel kvm \
		--loads no_load
fi

"$KONTEST" export -o "$tmp/run.kontest" >/dev/null 2>"$tmp/err" || fail "$(cat "$tmp/err")"
"$KONTEST" verify "$tmp/run.kontest" >"$tmp/out" 2>"$tmp/err" || fail "$(cat "$tmp/out" "$tmp/err")"
"$KONTEST" replay "$tmp/run.kontest" --dir "$tmp/unpacked" --store "$tmp/here/results.db" \
	>"$tmp/replay" 2>"$tmp/err" || fail "status $?: $(cat "$tmp/err" "$tmp/replay")"
cat "$tmp/err" "$tmp/replay"
! grep -q DIFFERS "$tmp/replay" || fail "something differs on one and the same machine"
grep -Eq '^  disk bus +same     virtio$' "$tmp/replay" || fail "no disk bus"
grep -q '^Measured under .* not expected to be the same' "$tmp/replay" || fail "that is not said"
# One boot of each is handed to the comparison, which says that it is not enough
grep -q 'not enough boots: 1, needs' "$tmp/replay" || fail "no verdicts"
tr '\n' ' ' <"$tmp/replay" | tr -s ' ' | grep -q 'k here against k there: not enough boots, from 1 and 1 boots' || fail "a mean without an interval"
# Times there and here of both loads
[ "$(grep -Ec '^k( +[0-9]+\.[0-9]{6}){2}( +([0-9.]+|-)){2}$' "$tmp/replay")" = 2 ] || fail "no two sets of figures"
"$KONTEST" report --store "$tmp/here/results.db" --format json >"$tmp/json"
[ "$(grep -c '"verdict": "ok"' "$tmp/json")" -ge 3 ] || fail "$(cat "$tmp/json")"
