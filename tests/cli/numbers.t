#!/usr/bin/env bash
# Numbers on the command line: a word is read whole or refused, and shown
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

printf 'alice\nbob\n' >list
cr=$'\r'

# bad OPTION WORD [SHOWN]
bad()
{
	local base=(-n 10)
	[ "$1" != -n ] || base=()
	clean_error "$1 '${2/$cr/<CR>}' is refused, and shown" "${3-$2}" \
		bloom-build "${base[@]}" "$1" "$2" -o x list
}

for word in 0 -1 -5 +5 ' 5' '5 ' 1000x 3x2 0x10 1e e5 1e+ 1ee6 1e6e6 1_000 1,000 '1 000' 1..5 . \
	18446744073709551616 99999999999999999999999 1e400 1e19 nan NaN inf infinity -nan \
	1.5 1e-3 0.5 --5 k M 10Mx 10kk 10MB 5% $'\357\274\221' "one"; do
	bad -n "$word"
done
bad -n ''
bad -n "1000$cr" '1000\r'
bad -n $'10\n' '10\n'
bad -n $'10\033[2J' '10\033[2J'
clean_error "-n=1000 is refused, never read as a prefix" "=1000" bloom-build -n=1000 -o x list

for word in 0 1 1.0 5 100 0% 100% 101% -0.01 -1 +0.1 ' 0.1' '0.1 ' 1e400 1e-400 nan inf 0.01x \
	0x1p-3 1e '0,01' % '1 %' 1%% 0.5e-1e 0..1 . 0.99999999999999999999999 0_1 1-2 half; do
	bad -p "$word"
done
bad -p ''
bad -p "0.01$cr" '0.01\r'
bloom-build -n 10 -p 5 -o x list 2>"$ERR"
like "$(cat "$ERR")" '5%' "-p 5 hints at 5%"
like "$(cat "$ERR")" '0.*1' "and shows the permitted range"

for word in 0 -1 +64 ' 64' '64 ' 6M 6G 6k 6MX 6MBx '6 MB' 6MBB 1.5 0.1B nan inf 1e400 \
	9223372036854775808 18446744073709551616 36893488147419103296 0x40 64_000 64,000 M MB \
	1e 8EB3; do
	bad -m "$word"
done
bad -m ''
bad -m "64$cr" '64\r'
bloom-build -n 10 -m 6M -o x list 2>"$ERR"
like "$(cat "$ERR")" '6MB.*6Mbit|6Mbit.*6MB' "-m 6M hints at 6MB and 6Mbit"
clean_error "an -m below any filter is refused" "" bloom-build -n 10 -m 1 -o x list

for word in 0 256 300 -1 3.5 nan inf 3x 0x7 ' 7' '7 ' +7 1e400 4294967303 18446744073709551623 \
	seven; do
	bad -k "$word"
done
bad -k ''
bad -k "7$cr" '7\r'
bloom-build -n 10 -k 256 -o x list 2>"$ERR"
like "$(cat "$ERR")" 255 "-k 256 shows the permitted range"

for word in -1 4294967296 1e10 +1 x 3.5 0x1 nan ' 1' 18446744073709551616; do
	bad -s "$word"
done
bad -s ''
bad -s "1$cr" '1\r'
bloom-build -n 10 -s 4294967296 -o x list 2>"$ERR"
like "$(cat "$ERR")" 4294967295 "-s 4294967296 shows the permitted range"

# alike NAME REFERENCE_ARGUMENTS -- ARGUMENTS: the same filter
alike()
{
	local name=$1 reference=()
	shift
	while [ "$1" != -- ]; do reference+=("$1"); shift; done
	shift
	bloom-build "${reference[@]}" -o reference list || true
	quietly "$name is read" bloom-build "$@" -o candidate list
	same reference candidate "$name means that"
	rm -f reference candidate
}

for word in 1e3 1k 1K 1.0e3 01000 0001000 1.000e3 10e2; do
	alike "-n $word" -n 1000 -- -n "$word"
done
alike "-n 0100" -n 100 -- -n 0100
alike "-n 1.5e3" -n 1500 -- -n 1.5e3
alike "-n 15e2" -n 1500 -- -n 15e2
alike "-n 10k" -n 10000 -- -n 10k
alike "-n 1e6" -n 1000000 -- -n 1e6
alike "-n 1M" -n 1000000 -- -n 1M
for word in 1% 1e-2 .01 0.010 00.01 1.0%; do
	alike "-p $word" -n 10 -p 0.01 -- -n 10 -p "$word"
done
alike "-p 0.1%" -n 10 -p 0.001 -- -n 10 -p 0.1%
alike "-p 30%" -n 10 -p 0.3 -- -n 10 -p 30%
for word in 8e3 1kB 1KB 1000B 8kbit 8000bit 08000; do
	alike "-m $word" -n 100 -m 8000 -- -n 100 -m "$word"
done
alike "-m 1KiB" -n 100 -m 8192 -- -n 100 -m 1KiB
alike "-m 8Kibit" -n 100 -m 8192 -- -n 100 -m 8Kibit
alike "-m 1.5kB" -n 100 -m 12000 -- -n 100 -m 1.5kB
alike "-m 6MB" -n 1M -m 48000000 -- -n 1M -m 6MB
alike "-m 48e6" -n 1M -m 48000000 -- -n 1M -m 48e6
alike "-m 48Mbit" -n 1M -m 48000000 -- -n 1M -m 48Mbit
alike "-m 6MiB" -n 1M -m 50331648 -- -n 1M -m 6MiB
alike "-k 08" -n 10 -k 8 -- -n 10 -k 08
alike "-k 007" -L classic -n 10 -k 7 -- -L classic -n 10 -k 007
alike "-s 010" -n 10 -s 10 -- -n 10 -s 010
alike "-s 4294967295" -n 10 -s 4294967295 -- -n 10 --seed=4294967295
alike "the p of 1%, where none is given" -n 1000 -p 1% -- -n 1000

# Words that may be given a meaning, but only the right one.
maybe()
{
	refused_or "-n $1 is right or refused" bloom-build -n "$1" -o candidate list
	if [ "$accepted" = yes ]; then
		is "$(info candidate n)" "$2" "and means $2"
	else
		pass "and is refused"
	fi
	rm -f candidate
}
maybe 1E6 1000000
maybe 10Mi 10485760
maybe 4.0 4
maybe 2.5k 2500
maybe 1e+3 1000

done_testing
