# SPDX-License-Identifier: GPL-2.0-or-later
# kontest bisect refuses what cannot come to a result before it builds or boots anything,
# leaves nothing of it behind, and names a damaged state by its place.
. tests/lib.sh
requires git
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1

src=$tmp/src
mkdir -p "$src"
git init -q "$src"
git -C "$src" config user.name n
git -C "$src" config user.email n@example.org
for i in 1 2 3; do
	echo "# $i" >"$src/Kconfig"
	printf 'tinyconfig:\n\ttrue\n' >"$src/Makefile"
	git -C "$src" add -A
	git -C "$src" commit -q -m "commit $i"
	git -C "$src" tag v$i
done
bisect() { refuses 2 "$1" "$KONTEST" bisect "${@:2}"; }
new() { bisect "$1" v1 v3 --source "$src" --load no_load --config tinyconfig --profile small "${@:2}"; }

bisect 'give two commits, GOOD and BAD' v1 --source "$src"
bisect 'needs --source, --load and --config' v1 v3 --source "$src"
bisect "'v9' in " v1 v9 --source "$src" --load no_load --config tinyconfig --profile small
bisect 'are the same commit' v1 v1^0 --source "$src" --load no_load --config tinyconfig --profile small
bisect "/nowhere: No such file" v1 v3 --source /nowhere --load no_load --config tinyconfig --profile small
mkdir "$tmp/plain"
bisect 'not a git repository' v1 v3 --source "$tmp/plain" --load no_load --config tinyconfig --profile small
new "there is no load 'io_laod'" --load io_laod
new '--load no_load,io_load: name one load' --load no_load,io_load
new "there is no metric 'luck'; there are time, job-cpu, load-cpu, loads" --metric luck
new '--resolution is for exact mode' --resolution 1 --accel tcg
new '--threshold x: give a difference' --threshold x
new '--boots 0: give a whole number from 1' --boots 0
new 'give NAME=VALUE' --set FAST
new 'takes tinyconfig, defconfig or a file' --config "$tmp/nosuch"
printf '[plan]\nprofile = small\n[kernel a]\nimage = b\n' >"$tmp/p.plan"
new 'leave its \[kernel\] sections out' --plan "$tmp/p.plan"
printf '[plan]\nbench = contest, tiobench\n' >"$tmp/p.plan"
new "leave 'bench' out" --plan "$tmp/p.plan"
bisect '--boots belongs to a new bisect' --resume --boots 3
bisect 'there is no bisect yet' --resume
[ -z "$(ls "$XDG_DATA_HOME/kontest/bisect" 2>/dev/null)" ] || fail "left: $(ls "$XDG_DATA_HOME/kontest/bisect")"

# GOOD's kernel is none: that is no commit to skip
new 'kontest: GOOD, [0-9a-f]{12}, cannot be measured: does not build: .*; take another commit'
id=$(ls "$XDG_DATA_HOME/kontest/bisect")
state=$XDG_DATA_HOME/kontest/bisect/$id/state.json
"$KONTEST" bisect --list | grep -q "^$id  20.*  running" || fail "it is not listed"
"$KONTEST" bisect --show >"$tmp/show"
grep -q "^Not done: kontest bisect --resume $(echo "$id" | cut -c1-8)" "$tmp/show" || fail "$(cat "$tmp/show")"
sed -i 's/"max_boots": 16/"max_boots": "many"/' "$state"
bisect "state.json': max_boots is not a whole number from 1 to 1000: the file is damaged" --resume
sed -i '$d' "$state"
bisect "state.json' line [0-9]*: .*: the file is damaged" --show "$id"
"$KONTEST" bisect --list | grep -q "^$id  its state.json cannot be read" || fail "$("$KONTEST" bisect --list)"
