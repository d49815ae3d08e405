# SPDX-License-Identifier: GPL-2.0-or-later
#
# make            build kontest and the guest program
# make demo       install what is missing, build, compare two Debian kernels
# make check      install what is missing, run every test (this is what CI runs)
# make check-long the tests that take longer
# make bench      how long building and reading take, against cp
# make fuzz       each reader of foreign bytes under libFuzzer, FUZZ_SECONDS (60)
# make analyze    gcc -fanalyzer and cppcheck;  make asan: unit tests under ASan/UBSan
# make install    DESTDIR, PREFIX;  make uninstall
#
# V=1 shows the commands, WERROR=0 lets warnings pass, O=DIR builds elsewhere.

VERSION	:= 0.1.0
PREFIX	?= /usr/local
O	?= build
TOP	:= $(CURDIR)

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
endif

PKGS	:= libvirt libvirt-qemu libarchive ext2fs com_err libelf fdisk sqlite3 gsl \
	   jansson libcrypto liblzma libzstd libsodium libxml-2.0

CC	:= gcc
WARN	:= -Wall -Wextra -Wshadow -Wvla $(if $(filter 0,$(WERROR)),,-Werror)
CSTD	:= -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I$(TOP)
CFLAGS	?= -O2 -g
sharedir := $(PREFIX)/share/kontest

# Asked only when something is compiled: `make deps` must work without them.
pkg_cflags = $(eval pkg_cflags := $$(shell pkg-config --cflags $(PKGS)))$(pkg_cflags)
pkg_libs   = $(eval pkg_libs := $$(shell pkg-config --libs $(PKGS)))$(pkg_libs)

host_cflags = $(CSTD) $(WARN) $(CFLAGS) $(pkg_cflags) \
	-DKONTEST_VERSION='"$(VERSION)"' $(defines)

# The guest's bytes are part of every image: no path, no date, no build id, and
# flags that the environment cannot change.
guest_cflags := -std=gnu11 -D_GNU_SOURCE -I. -O2 $(WARN) -ffile-prefix-map=$(TOP)=. \
	-DKONTEST_VERSION='"$(VERSION)"'
guest_ldflags := -static -Wl,--build-id=none -Wl,-s

host_src  := $(wildcard results/base/*.c results/*.c images/*.c host/*.c) \
	     $(filter-out loads/%_main.c,$(wildcard loads/*.c))
guest_src := $(wildcard guest/*.c loads/*.c)
unit_src  := $(wildcard tests/unit_*.c)

host_obj  := $(host_src:%.c=$(O)/%.o)
lib_obj   := $(filter-out $(O)/host/main.o,$(host_obj))
guest_obj := $(guest_src:%.c=$(O)/static/%.o)
# What of the guest runs on the host too, for unit tests: all but its main().
guest_lib := $(patsubst %.c,$(O)/%.o,$(filter-out guest/main.c,$(wildcard guest/*.c)))
unit_bin  := $(unit_src:tests/%.c=$(O)/tests/%)

kontest := $(O)/kontest
guest	:= $(O)/guest/kontest-guest

all: $(kontest) $(guest)

$(kontest): $(host_obj)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(pkg_libs) -lpthread

$(guest): $(guest_obj)
	$(say) GUEST $@
	$(Q)mkdir -p $(@D)
	$(Q)gcc $(guest_ldflags) -o $@ $^ -lpthread

$(O)/static/%.o: %.c Makefile
	$(say) CC-G $<
	$(Q)mkdir -p $(@D)
	$(Q)gcc $(guest_cflags) -MMD -MP -c -o $@ $<

$(O)/%.o: %.c Makefile
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(host_cflags) -MMD -MP -c -o $@ $<

# Written anew when a path changes (make; make PREFIX=/usr install), so that what
# has the paths compiled in is too. A program beside it is one of a build tree.
paths	:= $(O)/kontest.paths
$(paths): FORCE
	$(Q)mkdir -p $(@D)
	$(Q)printf '%s\n' 'tree=$(TOP)' 'share=$(sharedir)' | cmp -s - $@ || \
		printf '%s\n' 'tree=$(TOP)' 'share=$(sharedir)' >$@

$(O)/images/share.o: $(paths)
$(O)/images/share.o: defines = -DKONTEST_SHARE='"$(sharedir)"' -DKONTEST_TREE='"$(TOP)"'

# An archive, so that a test is linked with what it uses and no more.
$(O)/libkontest.a: $(lib_obj) $(guest_lib)
	$(say) AR $@
	$(Q)rm -f $@
	$(Q)ar rcs $@ $^

$(O)/tests/unit_%: $(O)/tests/unit_%.o $(O)/libkontest.a
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(pkg_libs) -lcmocka -lpthread

unit: $(unit_bin)

# --- what it needs ----------------------------------------------------------

deps:
	$(Q)sh tests/deps.sh

# --- trying and testing -----------------------------------------------------

demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)sh tests/demo.sh $(kontest)

check: deps
	$(Q)$(MAKE) --no-print-directory all unit
	$(Q)bash tests/run.sh $(O) unit test e2e

check-long: deps
	$(Q)$(MAKE) --no-print-directory all unit
	$(Q)bash tests/run.sh $(O) long

bench: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)bash tests/bench.sh $(kontest)

asan: deps
	$(Q)$(MAKE) --no-print-directory O=$(O)/asan \
		CFLAGS="-O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=all" \
		$(O)/asan/kontest unit
	$(Q)bash tests/run.sh $(O)/asan unit

# clang has libFuzzer; nothing else here needs it, so it is not among the deps.
FUZZ_SECONDS ?= 60
fuzz: deps
	$(Q)command -v clang >/dev/null || { echo "make fuzz needs clang with libFuzzer: apt-get install clang libclang-rt-14-dev" >&2; exit 1; }
	$(Q)$(MAKE) --no-print-directory O=$(O)/fuzz CC=clang WERROR=0 \
		CFLAGS="-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" \
		$(O)/fuzz/libkontest.a $(O)/fuzz/kontest-fuzz
	$(Q)bash tests/fuzz/fuzz.sh $(O)/fuzz/kontest-fuzz $(FUZZ_SECONDS) $(FUZZ)

$(O)/kontest-fuzz: $(O)/tests/fuzz/libfuzzer.o $(O)/libkontest.a
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer -o $@ $^ $(pkg_libs) -lpthread

# It does not know __attribute__((cleanup)), with which resources end here.
cppcheck_blind := --suppress=resourceLeak --suppress=readdirCalled

analyze: deps
	$(Q)$(MAKE) --no-print-directory O=$(O)/analyze CFLAGS="-O2 -g -fanalyzer" objects
	$(say) CPPCHECK '*.c'
	$(Q)cppcheck -q --error-exitcode=1 --std=c11 --language=c -I. -D_GNU_SOURCE \
		--enable=warning,portability,performance --inline-suppr \
		--suppress=missingIncludeSystem --library=posix,gnu \
		$(cppcheck_blind) \
		$(host_src) $(guest_src)

objects: $(host_obj) $(guest_lib)

# --- installing -------------------------------------------------------------

install: all
	install -D -m 755 $(kontest) $(DESTDIR)$(PREFIX)/bin/kontest
	install -D -m 755 $(guest) $(DESTDIR)$(sharedir)/guest/kontest-guest
	install -D -m 644 -t $(DESTDIR)$(sharedir)/images \
		images/*.recipe images/*.lock images/*.files images/*.config
	install -D -m 644 -t $(DESTDIR)$(sharedir)/images/profiles images/profiles/*.ini
	install -D -m 644 -t $(DESTDIR)$(sharedir)/plans host/plans/*
	for job in loads/jobs/*; do \
		install -D -m 644 -t $(DESTDIR)$(sharedir)/$$job $$job/*; done
	install -D -m 644 host/kontest.1 $(DESTDIR)$(PREFIX)/share/man/man1/kontest.1

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/kontest $(DESTDIR)$(PREFIX)/share/man/man1/kontest.1
	rm -rf $(DESTDIR)$(sharedir)

clean:
	rm -rf $(O)

FORCE:

.PHONY: FORCE all unit deps demo check check-long bench asan fuzz analyze objects install uninstall clean
.DELETE_ON_ERROR:
.SECONDARY:

-include $(host_obj:.o=.d) $(guest_obj:.o=.d) $(guest_lib:.o=.d) $(unit_bin:%=%.d)
