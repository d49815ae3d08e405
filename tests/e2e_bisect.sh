# SPDX-License-Identifier: GPL-2.0-or-later
# slow
# kontest bisect finds a planted regression: a git tree whose "build" puts one of two
# real kernels in place, in exact mode, with real boots. One commit does not build; the
# bisect is killed by SIGKILL during a step's boot and resumed; what was measured before
# is not measured again, and the user's tree is as it was.
. tests/lib.sh
requires git
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1

# The kernels of two packages, unpacked: image, configuration, what exact mode loads
unpack() {
	local name=$1 meta=${2#debian:} real deb f
	"$KONTEST" kernel check "$2" >"$tmp/check" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
	real=$(apt-cache depends --important "$meta" | sed -n 's/.*Depends: //p' | head -n 1)
	for f in "$XDG_CACHE_HOME"/kontest/debs/*.deb; do
		[ "$(dpkg-deb -f "$f" Package)" != "$real" ] || deb=$f
	done
	mkdir -p "$tmp/kernels/$name/modules"
	dpkg-deb -x "$deb" "$tmp/root"
	cp "$tmp"/root/boot/vmlinuz-* "$tmp/kernels/$name/bzImage"
	cp "$tmp"/root/boot/config-* "$tmp/kernels/$name/config"
	sed -n 's/^release: //p' "$tmp/check" >"$tmp/kernels/$name/release"
	(
		cd "$tmp"/root/lib/modules/*/kernel
		find drivers/nvdimm drivers/acpi/nfit drivers/virtio drivers/block block -name '*.ko*' |
		while read -r f; do
			mkdir -p "$tmp/kernels/$name/modules/${f%/*}"
			case $f in
			*.xz) xz -dc "$f" >"$tmp/kernels/$name/modules/${f%.xz}" ;;
			*) cp "$f" "$tmp/kernels/$name/modules/$f" ;;
			esac
		done
	)
	rm -rf "$tmp/root"
}
unpack fast "$K612"
unpack slow "$K61"

# Linux's tree as far as `kontest kernel build` looks at it
src=$tmp/src
mkdir -p "$src/scripts/kconfig"
git init -q "$src"
git -C "$src" config user.name "A. Hacker"
git -C "$src" config user.email hacker@example.org
echo 'config MODULES' >"$src/Kconfig"
cat >"$src/scripts/kconfig/merge_config.sh" <<'EOS'
out=$3; shift 4
cat "$@" >>"$out/.config"
EOS
cat >"$src/Makefile" <<EOS
kernel := $tmp/kernels/\$(file <kernel)
defconfig:
	cp \$(kernel)/config \$(O)/.config
olddefconfig:
bzImage:
	grep -q fine state
	echo \$\$(git -C $src log -1 --format=%s) >>$tmp/built
	mkdir -p \$(O)/arch/x86/boot \$(O)/include/config
	cp \$(kernel)/bzImage \$(O)/arch/x86/boot/bzImage
	cp \$(kernel)/release \$(O)/include/config/kernel.release
modules:
	cp -r \$(kernel)/modules/. \$(O)/
	cd \$(kernel)/modules && find * -name '*.ko' >\$(O)/modules.order
EOS
commit() {
	git -C "$src" add -A
	git -C "$src" commit -q -m "$1"
}
printf fast >"$src/kernel"
echo fine >"$src/state"
commit 'v1: fast'
git -C "$src" tag v1
for i in 2 3; do echo $i >"$src/notes"; commit "notes, $i"; done
echo broken >"$src/state"; commit 'oops: it does not build'
broken=$(git -C "$src" rev-parse HEAD)
echo fine >"$src/state"; commit 'it builds again'
printf slow >"$src/kernel"; commit 'sched: simplify'
planted=$(git -C "$src" rev-parse HEAD)
for i in 7 8; do echo $i >"$src/notes"; commit "notes, $i"; done
git -C "$src" tag v2
echo 'work in progress' >>"$src/notes"
before=$(git -C "$src" status --porcelain; git -C "$src" rev-parse HEAD; git -C "$src" for-each-ref
	 cd "$src" && find . -type f | sort | xargs sha256sum)

mkdir "$tmp/job"
echo 'int main(void) { return 0; }' >"$tmp/job/a.c"
cat >"$tmp/plan.ini" <<EOF2
[plan]
profile = small
accel = exact
lead-ms = 500
job = command
[job]
tree = $tmp/job
command = for i in 1 2 3; do gcc -O2 -c a.c -o a\$i.o; done
EOF2
"$KONTEST" bisect v1 v2 --source "$src" --load no_load --config defconfig --plan "$tmp/plan.ini" --resolution 2 \
	--parallel 1 >"$tmp/out1" 2>"$tmp/err1" </dev/null &
pid=$!
kill_it() { kill -9 $pid 2>/dev/null || :; }
cleanup_fn kill_it

# Killed while its third boot, the first of a step, runs
for i in $(seq 1200); do
	journal=$(echo "$XDG_DATA_HOME"/kontest/running/*/3/journal)
	! "$KONTEST" journal cat "$journal" 2>/dev/null | grep -q RUN_START || break
	kill -0 $pid 2>/dev/null || fail "it ended early: $(cat "$tmp/err1" "$tmp/out1")"
	sleep 0.5
done
id=$(basename "$XDG_DATA_HOME"/kontest/bisect/*)
state=$XDG_DATA_HOME/kontest/bisect/$id/state.json
refuses 2 "process $pid is working on this bisect already" "$KONTEST" bisect --resume
kill_it
wait $pid 2>/dev/null || :
python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$state" || fail "the state is torn"
"$KONTEST" bisect --list >"$tmp/list"
grep -Eq "^$id  .*  running .* v1\.\.v2  time of no_load" "$tmp/list" || fail "$(cat "$tmp/list")"

status=0
"$KONTEST" bisect --resume --parallel 1 >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
cat "$tmp/err1" "$tmp/err" "$tmp/out"
[ $status = 0 ] || fail "exit status $status"
sed -n '1,/^ *sched/p' "$tmp/out" | tr -s ' \n' ' ' |
	grep -Eq "^First bad commit: commit $planted Author: A. Hacker <hacker@example.org> Date: .* sched: simplify" ||
	fail "that is not the planted one, $planted"
grep -Eq "^ *$(echo "$broken" | cut -c1-12)  does not build: " "$tmp/out" || fail "the skipped one is not told"

# The same state, printed again; nothing to do is done at once
"$KONTEST" bisect --show "$id" | diff -u "$tmp/out" - || fail "--show differs"
"$KONTEST" bisect --resume "$id" 2>/dev/null | diff -u "$tmp/out" - || fail "--resume of a finished one differs"

# An ordinary run: one good boot of each commit, and the one that was killed
"$KONTEST" report "$id" --format json >"$tmp/json"
python3 - "$tmp/json" "$planted" "$broken" <<'PY' || fail "$(cat "$tmp/json")"
import json, sys

report, planted, broken = json.load(open(sys.argv[1])), sys.argv[2], sys.argv[3]
labels = [k["label"] for k in report["kernels"]]
assert planted[:12] in labels and broken[:12] not in labels, labels
ok = [b for b in report["boots"] if b["verdict"] == "ok"]
killed = [b for b in report["boots"] if b["verdict"] == "killed"]
assert sorted(b["kernel"] for b in ok) == list(range(len(labels))), report["boots"]
assert len(killed) == 1, report["boots"]
walls = {}
for b in ok:
    walls.setdefault(report["kernels"][b["kernel"]]["release"], set()).add(b["runs"][0]["wall_ns"])
print("windows, ns:", walls)
assert len(walls) == 2
fast, slow = sorted(walls.values(), key=min)
assert max(fast) * 1.02 < min(slow), walls
PY

# git agrees, and the user's tree is as it was
log=$XDG_DATA_HOME/kontest/bisect/$id/bisect.log
git clone -q "$src" "$tmp/clone"
(cd "$tmp/clone" && git bisect replay "$log" >"$tmp/replay" 2>&1) || fail "$(cat "$tmp/replay" "$log")"
grep -q "^$planted is the first bad commit" "$tmp/replay" || fail "$(cat "$tmp/replay" "$log")"
after=$(git -C "$src" status --porcelain; git -C "$src" rev-parse HEAD; git -C "$src" for-each-ref
	cd "$src" && find . -type f | sort | xargs sha256sum)
[ "$before" = "$after" ] || fail "the tree has changed: $(diff <(echo "$before") <(echo "$after"))"
