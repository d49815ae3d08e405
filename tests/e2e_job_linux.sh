# SPDX-License-Identifier: GPL-2.0-or-later
# The jobs linux:TARGET and command in exact mode: what they made is recorded, two
# runs do the same work, and a command that fails gives job-failed, never a number.
. tests/lib.sh

XDG_DATA_HOME="$tmp/linux-data" "$KONTEST" run --kernel k=$K612 --profile small --accel exact \
	--jobs 2 --loads no_load:2 --job linux:mm/slob.o --format json \
	>"$tmp/linux" 2>"$tmp/linux.err" &
linux=$!
stop_linux() { kill $linux 2>/dev/null || :; }
cleanup_fn stop_linux

mkdir "$tmp/src"
printf 'int a(void) { return 1; }\n' >"$tmp/src/a.c"
printf 'a.o: a.c\n\tgcc -O1 -c a.c\n' >"$tmp/src/Makefile"
plan() { cat >"$tmp/p.plan" <<-P
	[plan]
	profile = small
	accel = exact
	loads = no_load
	jobs = 3
	job = command
	[job]
	tree = $tmp/src
	command = $1
	prepare = rm -f a.o
	[kernel k]
	image = $K612
P
}
plan 'make -j{jobs} a.o'
"$KONTEST" run "$tmp/p.plan" --format json >"$tmp/command" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
plan 'echo this tree is broken >&2; exit 3'
status=0
"$KONTEST" run "$tmp/p.plan" --format json >"$tmp/broken" 2>"$tmp/err" || status=$?
[ $status = 19 ] || fail "a failing command: exit status $status: $(cat "$tmp/err")"
wait $linux || fail "$(cat "$tmp/linux.err")"

python3 - "$tmp" <<'P' || fail "see above"
import json, sys
def report(name):
    r = json.load(open(sys.argv[1] + "/" + name))
    return r["job"], r["boots"][0]["runs"], r
job, runs, r = report("linux")
assert job["name"] == "linux-6.1" and job["target"] == "mm/slob.o", job
assert job["package"].startswith("linux-source-6.1 6.1."), job
assert len(job["config"]) == 64 and len(job["digest"]) == 64 and job["jobs"] == 2, job
assert "gcc" in r["boots"][0]["receipt"]["compiler"], r["boots"][0]["receipt"]
first, second = runs
assert first["verdict"] == second["verdict"] == "ok", runs
# Everything that the target needs was made before: the same work twice
assert abs(first["wall_ns"] - second["wall_ns"]) < 0.1 * first["wall_ns"], runs
job, runs, r = report("command")
assert job["name"] == "command" and job["command"] == "make -j{jobs} a.o", job
assert job["prepare"] == "rm -f a.o" and job["jobs"] == 3 and len(job["digest"]) == 64, job
assert runs[0]["verdict"] == "ok" and runs[0]["job"]["user_ns"] > 0, runs
job, runs, r = report("broken")
assert runs[0]["verdict"] == "job-failed" and not runs[0]["good"], runs
assert "this tree is broken" in runs[0]["message"], runs
assert all(k["runs"] == 0 for t in r["table"] for k in t["kernels"]), r["table"]
P
