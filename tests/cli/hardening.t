#!/bin/bash
# hardening.t - what makes a fault harder to use is in the executables, as far as the
# compiler takes it and the user has not said otherwise (scripts/compiler-flags)
# shellcheck disable=SC2317 # where_taken calls the rest
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

built=$BIN/..

# taken WORD [AGAINST]: the compiler took it, and no word after it takes it back
taken()
{
	local flags
	flags=" $(cat "$built/compiler-flags.compile" "$built/compiler-flags.link" "$built/flags")"
	[[ $flags == *" $1"* ]] && ! { [ $# -gt 1 ] && [[ $flags =~ \ ($2)([\ =]|$) ]]; }
}

# each NAME REGEX READELF_OPTION...: what readelf says of each executable has the pattern
each()
{
	local name=$1 pattern=$2 faults=() tool
	shift 2
	for tool in "$BIN"/*; do
		readelf -W "$@" "$tool" >.tap/elf 2>&1
		grep -Eq -- "$pattern" .tap/elf || faults+=("${tool##*/}: no $pattern")
	done
	report "$name" "readelf $*" "${faults[@]}"
}

# some NAME REGEX READELF_OPTION...: the same of any
some()
{
	local name=$1 pattern=$2 tool
	shift 2
	for tool in "$BIN"/*; do
		readelf -W "$@" "$tool"
	done >.tap/elf 2>&1
	ok "$name" grep -Eq -- "$pattern" .tap/elf
}

# where_taken WORD AGAINST TEST NAME ARGUMENT...
where_taken()
{
	if ! command -v readelf >.tap/readelf; then
		skip "$4" "no readelf"
	elif [ ! -f "$built/compiler-flags.link" ] || ! taken "$1" "$2"; then
		skip "$4" "built without $1"
	else
		"${@:3}"
	fi
}

where_taken -pie '-no-pie|-fno-pie|-fno-PIE' each "they run at any address" \
	'Type: *DYN .*' -h
where_taken -Wl,-z,relro -Wl,-z,norelro each "what is relocated is read-only then" GNU_RELRO -l
where_taken -Wl,-z,now '-Wl,-z,lazy|-static' each "all is bound at the start" \
	'\(FLAGS.*(BIND_)?NOW' -d
where_taken -Wl,-z,noexecstack '-Wl,-z,execstack|-zexecstack' each \
	"nothing is executed on the stack" 'GNU_STACK +0x0+ 0x0+ 0x0+ 0x0+ 0x0+ RW ' -l
where_taken -fstack-protector-strong -fno-stack-protector each \
	"a frame that is overrun is noticed" __stack_chk_fail -s

# Not each tool has a call that is worth it, and not each C library has them.
if ! command -v readelf >.tap/readelf ||
	! readelf -d "$BIN/bloom-build" | grep -q 'libc\.so\.6'; then
	skip "copies are held to the room there is" "no readelf, or not glibc"
else
	where_taken -D_FORTIFY_SOURCE '-U_FORTIFY_SOURCE|-O0' some \
		"copies are held to the room there is" ' __(v?snprintf|mem(cpy|move|set))_chk' -s
fi

# ------------------------------------------------------- what is asked of a compiler

flags=$TOP/scripts/compiler-flags

# ask FLAGS LINK_FLAGS [no]: sets compile and link
ask()
{
	"$flags" .tap/f cc "$@" >.tap/said 2>&1
	compile=$(cat .tap/f.compile)
	link=$(cat .tap/f.link)
}

if ! command -v cc >.tap/cc || ! ask -O2 '' || [[ $compile != *-fPIE* ]]; then
	skip "the user's choice stands" "no cc that makes what runs at any address"
else
	asked=$(stat -c '%y %i' .tap/f.link)
	ask -O2 ''
	is "$(stat -c '%y %i' .tap/f.link)" "$asked" "a question is answered once"
	ask -O0 ''
	[[ $compile != *FORTIFY* && $compile == *-fPIE* ]]
	is $? 0 "what only works optimised is left out where nothing is optimised"
	ask '-O2 -no-pie' ''
	[[ $compile != *PIE* && $link != *pie* && $link == *relro* ]]
	is $? 0 "-no-pie stands"
	ask -O2 -static
	[[ $compile != *PIE* && $link != *pie* ]]
	is $? 0 "-static stands"
	ask '-O2 -D_FORTIFY_SOURCE=1' ''
	[[ $compile != *FORTIFY* ]]
	is $? 0 "another -D_FORTIFY_SOURCE stands"
	ask -O2 '' no
	is "$compile$link" "" "nothing is taken where none is wanted"
	"$flags" .tap/f false -O2 ''
	is "$(cat .tap/f.compile .tap/f.link)" "" "a compiler that fails is left to fail later"
fi

done_testing
