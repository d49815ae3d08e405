# SPDX-License-Identifier: GPL-2.0-or-later
# kontest kernel build, on a source tree of four files that stands for Linux's: it
# is built once per source, configuration and compiler, to the same bytes in
# another place and at another time; an option that did not survive is refused with
# its reason; what was built can be listed and found by its label.
. tests/lib.sh

# A kernel's build as far as it is the tool's affair: the targets of its Makefile,
# olddefconfig that knows what depends on what, and an image in which all of make's
# surroundings are written down, so that a difference shows.
fake_tree() {
	mkdir -p "$1/scripts/kconfig"
	printf 'config HZ_100\n\tbool "100 HZ"\nconfig FAST\n\tbool "fast"\n\tdepends on CACHE && !TINY\n' >"$1/Kconfig"
	cat >"$1/scripts/kconfig/merge_config.sh" <<'EOS'
[ "$1 $2" = "-m -O" ] || exit 1
out=$3; shift 3
for f in "$@"; do
	sed -n 's/^# \(CONFIG_[A-Z0-9_]*\) is not set$/\1/p; s/^\(CONFIG_[A-Z0-9_]*\)=.*/\1/p' "$f" |
	while read -r name; do
		[ "$f" = "$out/.config" ] || sed -i "/^$name=/d; /^# $name is not set/d" "$out/.config"
	done
	[ "$f" = "$out/.config" ] || cat "$f" >>"$out/.config"
done
EOS
	cat >"$1/Makefile" <<'EOS'
flags = ts=$(KBUILD_BUILD_TIMESTAMP) user=$(KBUILD_BUILD_USER)@$(KBUILD_BUILD_HOST) \
	version=$(KBUILD_BUILD_VERSION) arch=$(ARCH) local=[$(LOCALVERSION)]
tinyconfig:
	printf 'CONFIG_TINY=y\nCONFIG_HZ_100=y\n# CONFIG_HZ_1000 is not set\n' >$(O)/.config
olddefconfig:
	if grep -q '^CONFIG_TINY=y' $(O)/.config; then sed -i '/^CONFIG_FAST=/d' $(O)/.config; fi
	sed -i '/CONFIG_\(TINY\|FAST\|HZ_100\|HZ_1000\)[= ]/!d' $(O)/.config
	sort -u -o $(O)/.config $(O)/.config
bzImage:
	echo built >>$(CURDIR)/../built
	mkdir -p $(O)/arch/x86/boot $(O)/include/config
	{ echo '$(flags)'; cat $(O)/.config code.c; } >$(O)/arch/x86/boot/bzImage
	echo elf >$(O)/vmlinux
	echo '$(KCFLAGS)' | grep -q -- '-ffile-prefix-map=$(CURDIR)=. *$$'
	echo '$(KCFLAGS)' | grep -q -- '-ffile-prefix-map=$(O)=.'
	echo 6.6.6 >$(O)/include/config/kernel.release
EOS
	echo 'int main(void) { return 0; }' >"$1/code.c"
}
build() { "$KONTEST" kernel build --source "$tmp/src" --config tinyconfig --fragment none "$@"; }
builds() { wc -l <"$tmp/built"; }

export XDG_CACHE_HOME="$tmp/cache"
fake_tree "$tmp/src"
build --set HZ_1000=y --set HZ_100=n --label hz1000 >"$tmp/out" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
dir=$(cat "$tmp/out")
[ "$dir" = "$XDG_DATA_HOME/kontest/kernels/hz1000" ] || fail "it is in '$dir'"
grep -q '^ts=Thu Jan  1 00:00:00 UTC 1970 user=kontest@kontest version=1 arch=x86_64 local=\[\]$' "$dir/bzImage" ||
	fail "$(cat "$dir/bzImage")"
grep -q '^CONFIG_HZ_1000=y' "$dir/.config" || fail "$(cat "$dir/.config")"
grep -q '^# CONFIG_HZ_100 is not set' "$dir/.config" || fail "$(cat "$dir/.config")"

[ "$(cat "$dir/vmlinux")" = elf ] || fail "no vmlinux"

# The same again: from the cache, whatever it is called
build --set HZ_1000=y --set HZ_100=n --label again >/dev/null 2>&1 || fail "not twice"
[ "$(builds)" = 1 ] || fail "it was built $(builds) times"
# Another option, other source: built anew
build --label hz100 >/dev/null 2>&1 || fail "hz100 cannot be built"
[ "$(builds)" = 2 ] || fail "another configuration was not built"
cmp -s "$dir/bzImage" "$XDG_DATA_HOME/kontest/kernels/hz100/bzImage" && fail "options make no difference"
echo '/* changed */' >>"$tmp/src/code.c"
build --set HZ_1000=y --set HZ_100=n --label new >/dev/null 2>&1 || fail "new cannot be built"
[ "$(builds)" = 3 ] || fail "a changed source was not built"

# Elsewhere, as somebody else, at another time: the same bytes
mkdir -p "$tmp/else where"
cp -r "$tmp/src" "$tmp/elsewhere"
env KBUILD_BUILD_USER=me KBUILD_BUILD_TIMESTAMP=now LOCALVERSION=-mine MAKEFLAGS=-k TZ=Pacific/Chatham \
	XDG_CACHE_HOME="$tmp/cache2" "$KONTEST" kernel build --source "$tmp/elsewhere" --config tinyconfig \
	--fragment none --set HZ_1000=y --set HZ_100=n --label other -o "$tmp/else where/k" >/dev/null 2>"$tmp/err" ||
	fail "$(cat "$tmp/err")"
cmp "$tmp/else where/k/bzImage" "$XDG_DATA_HOME/kontest/kernels/new/bzImage" || fail "the bytes differ"

# What did not survive is said, with why
build_refused() { refuses 2 "$1" build --label bad --set "$2"; }
build_refused 'FAST=y did not survive olddefconfig: CONFIG_FAST is not there; it depends on CACHE && !TINY' FAST=y
build_refused 'no option CONFIG_FSAT' FSAT=y
build_refused 'give NAME=VALUE' FAST
[ ! -e "$XDG_DATA_HOME/kontest/kernels/bad" ] || fail "a refused kernel is there"
[ -z "$(find "$XDG_CACHE_HOME/kontest/built" -name '*.new')" ] || fail "a failed build left its objects"
refuses 2 'no tree of kernel source' "$KONTEST" kernel build --source "$tmp" --config tinyconfig --label x
refuses 2 'not a package of kernel source' "$KONTEST" kernel build --source debian:bash --config tinyconfig --label x
refuses 2 "label '../x'" build --label ../x
mkdir "$tmp/mine"
refuses 2 'was not made by' build --label hz100 -o "$tmp/mine"

# Killed, it leaves nothing running.
cp -r "$tmp/elsewhere" "$tmp/slow"
sed -i "s,^bzImage:\$,&\n\ttouch '$tmp/making'\n\tsleep 98765," "$tmp/slow/Makefile"
"$KONTEST" kernel build --source "$tmp/slow" --config tinyconfig --label slow >/dev/null 2>&1 </dev/null &
pid=$!
for _ in $(seq 600); do [ ! -e "$tmp/making" ] || break; sleep 0.1; done
[ -e "$tmp/making" ] || fail "the build did not come to its image"
kill -9 $pid
for _ in $(seq 100); do pgrep -f 'sleep 98765$' >/dev/null || break; sleep 0.1; done
! pgrep -f 'sleep 98765$' || fail "make was left running"

"$KONTEST" kernel list >"$tmp/list"
grep -q '^built:hz1000  *6.6.6  .*tinyconfig, HZ_1000=y, HZ_100=n$' "$tmp/list" || fail "$(cat "$tmp/list")"
[ "$(wc -l <"$tmp/list")" = 4 ] || fail "$(cat "$tmp/list")"
refuses 2 "'built:nosuch': none was built so" "$KONTEST" kernel check built:nosuch
