# Makefile - builds, tests and installs the sketch tools (GNU make)
#
# These belong to the user, on the command line or in the environment:
#   CC CFLAGS CPPFLAGS LDFLAGS LDLIBS AR STRIP
#   PREFIX DESTDIR BINDIR LIBDIR INCLUDEDIR MANDIR
#   BASHCOMPDIR ZSHCOMPDIR FISHCOMPDIR
#   BUILD_CC    makes programs for this machine where CC makes them for another
#   WERROR=1    warnings are errors
#   HARDENING=no  none of the flags of scripts/compiler-flags that make a fault in a
#               program harder to use
#   TESTS=...   the test programs (build/tests/NAME) and scripts (tests/cli/NAME.t)
#               to run, instead of all; TEST_JOBS, TEST_TIMEOUT: see tests/run
#
# Every set of flags (a variant) has a folder of its own, so that none of them
# needs a clean first: build/{obj,lib,bin,tests} for the default, else
# build/VARIANT/{obj,lib,bin,tests}.  Sources are found by wildcard:
#   src/core/*.c  -> libsketch.a         sees src/core only
#   src/cli/*.c   -> obj/cli.a           sees src/core and src/cli
#   src/cmd/X.c   -> bin/X               the same
#   tests/unit/test_X.c, tests/stat/test_X.c -> tests/test_X; other .c files of
#   tests/unit are linked into each of them
#   tests/fuzz/fuzz_X.c -> tests/fuzz_X, by driver.c; with libFuzzer: fuzz/bin/fuzz_X

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

# ------------------------------------------------------------ the user's part

# Hot code is built with -O3, but not against a user who chose his own CFLAGS.
users_cflags := $(if $(filter undefined,$(origin CFLAGS)),,yes)

CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPDIR ?= $(PREFIX)/share/fish/vendor_completions.d
BUILD_CC ?= cc
INSTALL ?= install
STRIP ?= strip
CLANG ?= clang
CLANG_FORMAT ?= clang-format
VALGRIND ?= valgrind
FUZZ_SECONDS ?= 30
LOAD_SCALE ?= 1

# ----------------------------------------------------------- the build's part

version = $(shell sed -n 's/^\treturn "\([0-9]*\.[0-9]*\.[0-9]*\)";$$/\1/p' src/core/*.c)

hot := core/bloom core/kernel core/counting core/cuckoo core/murmur3 core/siphash core/crc32c \
	core/counts core/tracked core/ladder core/ring core/decay core/touch core/hll core/dcso \
	cli/scan cli/cutter cli/field \
	cli/record%

warnings := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wvla
own_cflags := -std=c11 -ffp-contract=off $(warnings) $(if $(filter 1,$(WERROR)),-Werror)
# Files beyond 2 GiB and years beyond 2038, also where a long has 32 bits.
large := -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64
own_cppflags := -D_GNU_SOURCE $(large) -MMD -MP
# Where nothing is optimised even rint() is a call; the library has no such call.
own_ldlibs := -lm -pthread
test_ldlibs := -lcmocka -lmurmurhash

# The library's own names, as the linker sees them.
own_cppflags += -include src/core/names.h

# A program does not depend on the folder it was built in; nor then does its build ID.
own_cflags += -fdebug-prefix-map='$(CURDIR)'=.

core := $(patsubst src/%.c,%,$(wildcard src/core/*.c))
cli := $(patsubst src/%.c,%,$(wildcard src/cli/*.c))
commands := $(patsubst src/cmd/%.c,%,$(wildcard src/cmd/*.c))
unit_tests := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
stat_tests := $(patsubst tests/stat/%.c,%,$(wildcard tests/stat/test_*.c))
test_parts := $(patsubst %.c,%,$(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c)))
fuzzers := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz_parts := $(patsubst %.c,%,$(filter-out tests/fuzz/fuzz_% tests/fuzz/driver.c, \
	$(wildcard tests/fuzz/*.c)))
scripts := $(wildcard tests/cli/*.t)
pages := $(wildcard man/*.[1-8])

# ------------------------------------------------------------------- variants

# $(call of,NAME,VARIANT) is NAME_VARIANT; empty where not set.
of = $($(1)_$(2))
machines := s390x i386 musl
variants := default clang portable asan ubsan tsan cov fuzz native $(machines)
$(foreach v,$(filter-out default,$(variants)),$(eval dir_$v := build/$v))
dir_default := build

recover := -fno-sanitize-recover=all -fno-omit-frame-pointer
flags_asan := -fsanitize=address,undefined $(recover)
flags_ubsan := -fsanitize=undefined $(recover)
flags_tsan := -fsanitize=thread $(recover)
flags_cov := -fprofile-instr-generate -fcoverage-mapping
flags_portable := -DSKETCH_PORTABLE
flags_fuzz := -fsanitize=address,undefined,fuzzer-no-link $(recover)

# Where nothing is to come between a fault and what looks for it.
unhardened := asan ubsan tsan cov fuzz

# What stands for CFLAGS where the user gave none.
cflags_asan := -O1 -g
cflags_tsan := -O1 -g
cflags_cov := -O1 -g

cc_clang = $(CLANG)
cc_cov = $(CLANG)
cc_native = $(BUILD_CC)
cc_fuzz = $(CLANG)

# Other machines.  Their executables are static where their libraries may not be installed.
cc_s390x = s390x-linux-gnu-gcc
ar_s390x = s390x-linux-gnu-ar
ldflags_s390x := -static
cc_i386 = i686-linux-gnu-gcc
ar_i386 = i686-linux-gnu-ar
ldflags_i386 := -static
cc_musl = musl-gcc
# Sizes in the tests are small; in the programs no conversion goes unseen.
test_cflags_i386 := -Wno-conversion
# There the tests use what stands in for their libraries.
of_tests = $(if $(filter $1,$(machines)),$2,$3)

ar = $(or $(call of,ar,$1),$(AR))
cc = $(or $(call of,cc,$1),$(CC))
cflags = $(own_cflags) $(or $(if $(users_cflags),,$(call of,cflags,$1)),$(CFLAGS)) \
	$(call of,flags,$1)
opt = $(if $(users_cflags)$(call of,cflags,$1),,$(if $(filter $(hot),$2),-O3))
# What the compiler takes, in front of all that the user says; found by the rule of
# compiler-flags, on which all else depends.
probed = $(file < $(call of,dir,$1)/compiler-flags.$2)
compile = $(call cc,$1) $(own_cppflags) $2 $(call probed,$1,compile) $(CPPFLAGS) $(call cflags,$1)
link = $(call cc,$1) $(call probed,$1,link) $(call cflags,$1) $(call of,ldflags,$1) $(LDFLAGS)

# The commands as they are now, in a form that changes when they do.
define fingerprint
$(call compile,$1) $(call opt,$1,$(hot)) : $(call link,$1) $(own_ldlibs) $(LDLIBS) : $(call ar,$1) \
: $(core) $(cli) $(test_parts)
endef
quoted = '$(subst ','\'',$(strip $1))'

# $(call rules,VARIANT,FOLDER): all rules of one variant.
define rules
all-$1: $2/lib/libsketch.a $(commands:%=$2/bin/%)
tests-$1: $(unit_tests:%=$2/tests/%) $(stat_tests:%=$2/tests/%) $(fuzzers:%=$2/tests/%) \
	build/preload.so build/damaged/refused

$2/compiler-flags: force
	@scripts/compiler-flags $$@ $$(call quoted,$$(call cc,$1)) \
		$$(call quoted,$$(CPPFLAGS) $$(call cflags,$1)) \
		$$(call quoted,$$(call of,ldflags,$1) $$(LDFLAGS)) \
		$(if $(filter $1,$(unhardened)),no,$$(HARDENING))

# Rewritten only when it differs, so that changed flags rebuild and others do not.
$2/flags: $2/compiler-flags force
	@mkdir -p $$(@D)
	@printf '%s\n' $$(call quoted,$$(call fingerprint,$1)) | cmp -s - $$@ || \
		printf '%s\n' $$(call quoted,$$(call fingerprint,$1)) > $$@

$2/obj/core/%.o: src/core/%.c $2/flags
	@mkdir -p $$(@D)
	$$(call compile,$1,-Isrc/core) $$(call opt,$1,core/$$*) -c -o $$@ $$<

$2/obj/cli/%.o: src/cli/%.c $2/flags
	@mkdir -p $$(@D)
	$$(call compile,$1,-Isrc/core -Isrc/cli) $$(call opt,$1,cli/$$*) -c -o $$@ $$<

$2/obj/cmd/%.o: src/cmd/%.c $2/flags
	@mkdir -p $$(@D)
	$$(call compile,$1,-Isrc/core -Isrc/cli) -c -o $$@ $$<

$2/obj/tests/%.o: tests/%.c $2/flags | $(call of_tests,$1,,build/test-libraries)
	@mkdir -p $$(@D)
	$$(call compile,$1,-Isrc/core -Isrc/cli -Itests/unit $(call \
		of_tests,$1,-Itests/stand-in)) $$(call of,test_cflags,$1) -c -o $$@ $$<

$2/lib/libsketch.a: $(core:%=$2/obj/%.o) $2/flags
	@mkdir -p $$(@D)
	@rm -f $$@
	$$(call ar,$1) rcs $$@ $(core:%=$2/obj/%.o)

$2/obj/cli.a: $(cli:%=$2/obj/%.o) $2/flags
	@mkdir -p $$(@D)
	@rm -f $$@
	$$(call ar,$1) rcs $$@ $(cli:%=$2/obj/%.o)

$2/bin/%: $2/obj/cmd/%.o $2/obj/cli.a $2/lib/libsketch.a
	@mkdir -p $$(@D)
	$$(call link,$1) -o $$@ $$^ $$(own_ldlibs) $$(LDLIBS)

test_objects_$1 := $(test_parts:%=$2/obj/%.o) $2/obj/cli.a $2/lib/libsketch.a

$2/tests/%: $2/obj/tests/unit/%.o $$(test_objects_$1)
	@mkdir -p $$(@D)
	$$(call link,$1) -o $$@ $$^ $$(own_ldlibs) $(call of_tests,$1,,$$(test_ldlibs)) $$(LDLIBS)

$2/tests/%: $2/obj/tests/stat/%.o $$(test_objects_$1)
	@mkdir -p $$(@D)
	$$(call link,$1) -o $$@ $$^ $$(own_ldlibs) $(call of_tests,$1,,$$(test_ldlibs)) $$(LDLIBS)

$2/tests/%: $2/obj/tests/fuzz/%.o $2/obj/tests/fuzz/driver.o $(fuzz_parts:%=$2/obj/%.o) \
		$2/obj/cli.a $2/lib/libsketch.a
	@mkdir -p $$(@D)
	$$(call link,$1) -o $$@ $$^ $$(own_ldlibs) $$(LDLIBS)

.PHONY: all-$1 tests-$1
endef
$(foreach v,$(variants),$(eval $(call rules,$v,$(call of,dir,$v))))

.SECONDARY:
-include $(wildcard build/obj/*/*.d build/obj/*/*/*.d build/*/obj/*/*.d build/*/obj/*/*/*.d)

# $(call run_tests,VARIANT): what "check" and its relatives do once all is built.
define run_tests
BIN='$(CURDIR)/$(call of,dir,$1)/bin' TOP='$(CURDIR)' TEST_VARIANT=$1 tests/run \
	$(or $(TESTS),$(unit_tests:%=$(call of,dir,$1)/tests/%) \
	$(stat_tests:%=$(call of,dir,$1)/tests/%) $(fuzzers:%=$(call of,dir,$1)/tests/%) \
	$(scripts))
endef

test_includes := stdarg.h stddef.h stdint.h setjmp.h cmocka.h murmurhash.h

build/test-libraries:
	@mkdir -p $(@D)
	@{ printf '#include <%s>\n' $(test_includes); echo 'int main(void) { return 0; }'; } | \
	$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -x c -o $@.exe - $(test_ldlibs) $(LDLIBS) \
		2>/dev/null && rm -f $@.exe || { \
	echo 'The tests need the libraries cmocka and murmurhash, with their headers.' >&2; \
	echo 'Debian and Ubuntu: apt-get install libcmocka-dev libmurmurhash-dev' >&2; \
	exit 1; }
	@touch $@

# What makes calls to the system fail, between a tool and the C library.
build/preload.so: tests/faults/preload.c build/flags
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(large) $(warnings) $(CPPFLAGS) $(CFLAGS) \
		-U_FORTIFY_SOURCE -shared -fPIC $(LDFLAGS) -o $@ $< -ldl $(LDLIBS)

# Seeds of the fuzzers beside the golden files; without Python they do without.
build/damaged/refused: scripts/make-damaged scripts/sketch-format
	@mkdir -p $(@D)
	@! command -v python3 >/dev/null || scripts/make-damaged $(@D)
	@touch $@

# -------------------------------------------------------------------- targets

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

all: all-default completions ## build/bin/*, build/lib/libsketch.a (the default)

check: all-default tests-default ## build and run all tests
	@$(call run_tests,default)

check-long: all-default tests-default ## all tests, with those that take minutes
	@LONG=1 TEST_TIMEOUT=$(or $(TEST_TIMEOUT),3600) $(call run_tests,default)

check-clang: all-clang tests-clang ## all tests, built by clang
	@$(call run_tests,clang)

check-portable: all-portable tests-portable ## all tests, built without code for one processor
	@$(call run_tests,portable)

# Big-endian, 32 bits, another C library: gcc-s390x-linux-gnu, libc6-dev-s390x-cross and
# qemu-user; gcc-i686-linux-gnu and libc6-dev-i386-cross; musl-tools.
check-s390x: all-s390x tests-s390x ## the tests on another machine, by qemu: big-endian
	@TESTS='$(TESTS)' scripts/other-machines s390x

check-i386: all-i386 tests-i386 ## the tests on another machine: 32 bits
	@TESTS='$(TESTS)' scripts/other-machines i386

check-musl: all-musl tests-musl ## the tests with another C library
	@TESTS='$(TESTS)' scripts/other-machines musl

asan: all-asan tests-asan ## all tests under AddressSanitizer and UBSan
	@$(call run_tests,asan)

ubsan: all-ubsan tests-ubsan ## all tests under UBSan
	@$(call run_tests,ubsan)

tsan: all-tsan tests-tsan ## all tests under ThreadSanitizer
	@$(call run_tests,tsan)

valgrind: tests-default ## the unit tests under valgrind
	@BIN='$(CURDIR)/build/bin' TOP='$(CURDIR)' TEST_VARIANT=valgrind \
	TEST_WRAPPER='$(VALGRIND) -q --error-exitcode=99 --leak-check=full' \
	TEST_TIMEOUT=$(or $(TEST_TIMEOUT),1200) \
	tests/run $(or $(TESTS),$(unit_tests:%=build/tests/%))

# Counts left from an earlier run would be added to, or not fit the new objects.
coverage: all-cov tests-cov ## lines and branches that all tests run (needs clang and llvm)
	@rm -rf build/cov/profiles
	@LLVM_PROFILE_FILE='$(CURDIR)/build/cov/profiles/%8m.profraw' && \
	export LLVM_PROFILE_FILE && $(call run_tests,cov)
	@scripts/coverage build/cov

lint: all ## formatting, static checks, manual pages against the tools
	@BIN='$(CURDIR)/build/bin' scripts/lint

analyze: ## gcc -fanalyzer and clang-tidy, less what scripts/analyze explains
	@scripts/analyze

format: ## bring the C sources into the house's format
	@$(CLANG_FORMAT) -i $(wildcard src/*/*.[ch] tests/*/*.[ch] scripts/*.c)

flat-memory: all-default ## memory of counts that forget over 10^8 records: minutes
	@BIN='$(CURDIR)/build/bin' scripts/flat-memory

golden: ## make tests/golden again; a run must not change a released file
	scripts/make-golden tests/golden

samples: ## make the data in samples again
	scripts/make-samples

bench: all-default build/bench/helper ## speed beside other tools (see scripts/bench)
	@BIN='$(CURDIR)/build/bin' HELPER='$(CURDIR)/build/bench/helper' scripts/bench

compare-kinds: all-default ## bytes, speed and load of the kinds of filters, at equal rates
	@BIN='$(CURDIR)/build/bin' scripts/compare-kinds

instructions: all-default build/bench/helper ## what a record costs, in instructions (valgrind)
	@BIN='$(CURDIR)/build/bin' HELPER='$(CURDIR)/build/bench/helper' scripts/instructions

build/bench/helper: scripts/bench-helper.c build/flags
	@mkdir -p $(@D)
	$(call compile,default) $(call probed,default,link) -o $@ $< $(LDFLAGS) $(LDLIBS)

fuzz: tests-default $(fuzzers:%=build/fuzz/bin/%) ## each fuzzer for FUZZ_SECONDS (needs clang)
	@for fuzzer in $(fuzzers); do \
		mkdir -p build/fuzz/corpus/$$fuzzer build/fuzz/seeds/$$fuzzer && \
		build/tests/$$fuzzer --seeds build/fuzz/seeds/$$fuzzer && \
		build/fuzz/bin/$$fuzzer -max_total_time=$(FUZZ_SECONDS) -timeout=10 \
			-max_len=20000 -verbosity=0 -print_final_stats=1 \
			-artifact_prefix=build/fuzz/$$fuzzer- \
			build/fuzz/corpus/$$fuzzer build/fuzz/seeds/$$fuzzer || exit 1; \
	done

build/fuzz/bin/%: build/fuzz/obj/tests/fuzz/%.o $(fuzz_parts:%=build/fuzz/obj/%.o) \
		build/fuzz/obj/cli.a build/fuzz/lib/libsketch.a
	@mkdir -p $(@D)
	$(call link,fuzz) -fsanitize=fuzzer -o $@ $^ $(own_ldlibs) $(LDLIBS)

# $(call long,SCRIPT): the long version of one script of tests.
define long
@LONG=1 TEST_TIMEOUT=$(or $(TEST_TIMEOUT),86400) BIN='$(CURDIR)/build/bin' TOP='$(CURDIR)' \
	tests/run $1
endef

faults: all-default tests-default ## each system call of each tool fails once (minutes)
	$(call long,tests/cli/faults.t)

differential: all-default ## ROUNDS of random records and options, from FIRST on (an hour)
	$(call long,tests/cli/differential.t)

kill: all-default ## kill -9 at a thousand moments of each save (ten minutes)
	$(call long,tests/cli/kill.t)

stress: all-default ## 50 processes on one file, for STRESS_SECONDS (a minute)
	$(call long,tests/cli/stress.t)

damage: tests-default ## 100 000 random damages to files of each kind (a minute)
	@TOP='$(CURDIR)' build/tests/fuzz_damage --runs 100000

load: all-default build/bench/helper ## the largest jobs, at LOAD_SCALE (hours; 0.01: seconds)
	@BIN='$(CURDIR)/build/bin' HELPER='$(CURDIR)/build/bench/helper' scripts/load $(LOAD_SCALE)

# ---------------------------------------------------------------- completions

# A tool prints the table that they are made of.  One that was made for another machine
# cannot: then the same sources are compiled for this one, with nothing of the user's.
completions: build/completions/made ## build/completions: bash, zsh, fish
build/completions/made: scripts/make-completions $(commands:%=build/bin/%)
	@mkdir -p $(@D)
	@scripts/make-completions build/bin $(@D) $(commands) 2>/dev/null && \
		rm -f $(@D)/foreign || touch $(@D)/foreign
	@[ ! -e $(@D)/foreign ] || \
	$(MAKE) CC='$(BUILD_CC)' AR=ar CPPFLAGS= CFLAGS=-O1 LDFLAGS= LDLIBS= all-native
	@[ ! -e $(@D)/foreign ] || \
	scripts/make-completions build/native/bin $(@D) $(commands)
	@touch $@

# -------------------------------------------------------------------- install

# $(call in_section,N): the pages of one section.
in_section = $(filter %.$1,$(pages))
sections := $(sort $(patsubst .%,%,$(suffix $(pages))))

install: all ## install under PREFIX (/usr/local), staged in DESTDIR
	$(INSTALL) -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(LIBDIR)/pkgconfig' \
		'$(DESTDIR)$(INCLUDEDIR)'
	$(if $(commands),$(INSTALL) -m 755 $(commands:%=build/bin/%) '$(DESTDIR)$(BINDIR)')
	$(INSTALL) -m 644 build/lib/libsketch.a '$(DESTDIR)$(LIBDIR)'
	$(INSTALL) -m 644 src/core/sketch.h '$(DESTDIR)$(INCLUDEDIR)'
	printf '%s\n' 'Name: libsketch' \
		'Description: Bloom filters, count-min sketches and HyperLogLog in files' \
		'Version: $(version)' 'Cflags: -I$(INCLUDEDIR)' \
		'Libs: -L$(LIBDIR) -lsketch -lm' > build/libsketch.pc
	$(INSTALL) -m 644 build/libsketch.pc '$(DESTDIR)$(LIBDIR)/pkgconfig'
	$(foreach s,$(sections),$(INSTALL) -d '$(DESTDIR)$(MANDIR)/man$s' && \
		$(INSTALL) -m 644 $(call in_section,$s) '$(DESTDIR)$(MANDIR)/man$s' &&) :
	$(INSTALL) -d '$(DESTDIR)$(BASHCOMPDIR)' '$(DESTDIR)$(ZSHCOMPDIR)' \
		'$(DESTDIR)$(FISHCOMPDIR)'
	$(INSTALL) -m 644 $(commands:%=build/completions/bash/%) '$(DESTDIR)$(BASHCOMPDIR)'
	$(INSTALL) -m 644 $(commands:%=build/completions/zsh/_%) '$(DESTDIR)$(ZSHCOMPDIR)'
	$(INSTALL) -m 644 $(commands:%=build/completions/fish/%.fish) '$(DESTDIR)$(FISHCOMPDIR)'

uninstall: ## remove what install put there
	for command in $(commands); do rm -f '$(DESTDIR)$(BINDIR)'/"$$command"; done
	rm -f '$(DESTDIR)$(LIBDIR)/libsketch.a' '$(DESTDIR)$(LIBDIR)/pkgconfig/libsketch.pc' \
		'$(DESTDIR)$(INCLUDEDIR)/sketch.h'
	for page in $(notdir $(pages)); do \
		rm -f '$(DESTDIR)$(MANDIR)'/man"$${page##*.}"/"$$page"; done
	for command in $(commands); do rm -f '$(DESTDIR)$(BASHCOMPDIR)'/"$$command" \
		'$(DESTDIR)$(ZSHCOMPDIR)'/_"$$command" \
		'$(DESTDIR)$(FISHCOMPDIR)'/"$$command".fish; done

dist: ## build/dist/sketch-tools-VERSION.tar.gz, the same bytes from the same commit
	@scripts/make-dist '$(version)' build/dist

deb: all ## Debian packages of the tools and of the library, in build/deb
	@rm -rf build/deb
	@$(MAKE) --no-print-directory -s install DESTDIR='$(CURDIR)/build/deb/stage/all' \
		PREFIX=/usr BINDIR=/usr/bin \
		LIBDIR='/usr/lib/$(shell CC='$(CC)' scripts/make-deb --triple)' \
		INCLUDEDIR=/usr/include MANDIR=/usr/share/man \
		BASHCOMPDIR=/usr/share/bash-completion/completions \
		ZSHCOMPDIR=/usr/share/zsh/vendor-completions \
		FISHCOMPDIR=/usr/share/fish/vendor_completions.d
	@CC='$(CC)' STRIP='$(STRIP)' scripts/make-deb '$(version)' build/deb

clean: ## remove everything built
	rm -rf build

.PHONY: all analyze asan bench check check-clang check-i386 check-long check-musl check-portable \
	check-s390x clean compare-kinds completions coverage damage deb differential dist faults \
	flat-memory force format fuzz golden help install kill lint load samples stress tsan ubsan \
	uninstall valgrind
force:
