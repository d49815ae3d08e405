# SPDX-License-Identifier: GPL-2.0-or-later
# A wrong plan or profile is refused with file, line, what is wrong and the remedy.
. tests/lib.sh

plan() { cat >"$tmp/p.plan"; }
refused() { refuses 2 "$1" "$KONTEST" run "$tmp/p.plan"; }

plan <<-E
	[plan]
	boots = 3
	lods = no_load
E
refused "p.plan' line 3: unknown key 'lods' in \[plan\]"
plan <<-E
	[plan]
	[tunables]
	x = 1
E
refused "line 3: unknown section \[tunables\]: there are"
plan <<-E
	[plan]
	loads = no_load, io_laod
E
refused "line 2: there is no load 'io_laod'; there are no_load, "
plan <<-E
	[plan]
	loads = no_load, no_load
E
refused "line 2: load 'no_load' is named twice"
plan <<-E
	[plan]
	boots = many
E
refused "line 2: boots = many: give a whole number from 1"
for line in "budget = 0" "budget = 1.5" "budget = soon" "precision = 0" "precision = 101" \
	    "precision = 1e-3" "precision = .5" "precision = 2%" "repeat-noisy = 1"; do
	printf '[plan]\n%s\n' "$line" >"$tmp/p.plan"
	refused "line 2: $line: give "
done
plan <<-E
	[plan]
	boots = auto
	[kernel a]
	image = debian:x
E
refused "boots = auto needs a budget: say with budget = 90, or --budget 90"
refuses 2 "precision = 0.5 is for boots = auto" "$KONTEST" run --kernel debian:x --precision 0.5
refuses 2 "budget = 9 is for boots = auto or repeat-noisy = yes" "$KONTEST" run --kernel debian:x --boots 3 --budget 9
refuses 2 "a calibration needs the spread between boots" "$KONTEST" calibrate --kernel debian:x --boots 1
refuses 2 "no kernel to calibrate with: name one with --kernel" "$KONTEST" calibrate
refuses 2 "a calibration has no format 'wide'; there are text and json" "$KONTEST" calibrate --format wide
refuses 2 "boots = auto needs a budget" "$KONTEST" calibrate --kernel debian:x --boots auto
refuses 2 "the store has no calibration: .kontest calibrate. makes one" "$KONTEST" calibrate --show
plan <<-E
	[plan]
	this is no line
E
refused "line 2: neither"
plan <<-E
	[kernel a]
	cmdline = x
E
refused "\[kernel a\] has no key 'image'"
plan <<-E
	[kernel a]
	image = debian:x
	picture = y
E
refused "line 3: unknown key 'picture' in \[kernel a\]"
plan <<-E
	[plan]
	job = slow
	[kernel a]
	image = debian:x
E
refused "there is no job 'slow'"
plan <<-E
	[plan]
	accel = xen
E
refused "accel = xen: give auto, kvm, tcg or exact"
plan </dev/null
refused "no kernel to test: name one with --kernel"
head -c 1000 /dev/zero >"$tmp/p.plan"
refused "is not a text file"
refuses 2 "open '$tmp/none.plan': No such file" "$KONTEST" run "$tmp/none.plan"
refuses 2 "there is no profile 'cray' in .*profile list" "$KONTEST" run --kernel debian:x --profile cray
refuses 2 "exact mode runs one only" "$KONTEST" run --kernel debian:x --profile osdl-smp --accel exact
refuses 2 "order-seed = -1" "$KONTEST" run --kernel debian:x --order-seed -1
refuses 2 "no format 'pdf'; there are contest-0.61" "$KONTEST" run --kernel debian:x --format pdf
refuses 2 "two kernels are labelled 'a'" "$KONTEST" run --kernel a=debian:x --kernel a=debian:y
refuses 2 "a kernel's label 'a\?b' holds bytes" "$KONTEST" run --kernel "$(printf 'a\377b=debian:x')"
refuses 2 "a kernel's label '\?\[31m' holds bytes" "$KONTEST" run --kernel "$(printf '\033[31m=debian:x')"
printf '[kernel a]\nimage = debian:x\ncmdline = \370\n' >"$tmp/p.plan"
refused "a kernel's cmdline '\?' holds bytes"
refuses 2 "must follow the --kernel" "$KONTEST" run --modules /lib/modules

profile() { sed "$1" images/profiles/small.ini >"$tmp/p.ini"; }
bad_profile() { refuses 2 "$1" "$KONTEST" run --kernel debian:x --profile "$tmp/p.ini"; }
profile 's/^memory.*/memory = lots/'
bad_profile "p.ini' line [0-9]+: memory = lots: give whole MiB"
profile 's/^mips.*/mips = 300/'
bad_profile "mips = 300: give 1000, 500"
profile 's/^cpu-model.*/cpu-model = host/'
bad_profile "cpu-model = host: name a QEMU CPU model that is the same everywhere"
profile 's/^cpus/cups/'
bad_profile "unknown key 'cups'"
profile '/disk work/,/^$/d'
bad_profile "\[disk work\] is missing"
profile '/^machine/d'
bad_profile "key 'machine' is missing"
profile 's/^size = 384MiB/size = 128MiB/'
bad_profile "load 'io_load' writes a file of 160 MiB, but the work disk"
[ ! -e "$XDG_DATA_HOME/kontest/running" ] || fail "something was begun"
