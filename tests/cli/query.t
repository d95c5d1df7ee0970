#!/usr/bin/env bash
# bloom-query: what is passed on, and with which status
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

printf 'alice\nbob\n' | bloom-build -n 100 -p 1e-9 -o f.bloom
printf 'carol\n' | bloom-build -n 50 -p 1e-9 -L classic -s 7 -o g.bloom
printf 'alice\ncarol\ndave\nbob\nalice\n' >list
printf 'dave\nerin\n' >others

expect 0 'alice\nbob\nalice\n' "records that the filter may hold pass, in order, repeats too" \
	bloom-query f.bloom list
expect 1 '' "none: status 1" bloom-query f.bloom others
expect 0 'carol\ndave\n' "-v: those it does not hold" bloom-query -v f.bloom list
expect 0 'dave\nerin\n' "-v where none is held: status 0" bloom-query -v f.bloom others
printf 'bob\n' >held
expect 1 '' "-v where all are held: status 1" bloom-query -v f.bloom held
expect 1 '' "no record at all: status 1" bloom-query f.bloom /dev/null
expect 1 '' "no record at all, -v: status 1" bloom-query -v f.bloom /dev/null
expect 0 '3\n' "-c counts" bloom-query -c f.bloom list
expect 0 '2\n' "-c -v counts the others" bloom-query -c -v f.bloom list
expect 0 '2\n' "-vc is -v -c" bloom-query -vc f.bloom list
expect 1 '0\n' "-c of none: 0, status 1" bloom-query -c f.bloom others
expect 0 '' "-q says nothing: status 0" bloom-query -q f.bloom list
expect 1 '' "-q: status 1" bloom-query -q f.bloom others
expect 0 '' "-q -v: status 0" bloom-query -q -v f.bloom list
expect 1 '' "-q -v: status 1" bloom-query -q -v f.bloom held
expect 0 '3\n' "several inputs are one stream" bloom-query -c f.bloom held held others held
expect 0 'alice\nbob\nalice\nbob\n' "in the order of the operands" bloom-query f.bloom list held

quietly "stdin where there is no input" bash -c 'bloom-query f.bloom <list'
is "$(tr '\n' ' ' <"$OUT")" "alice bob alice " "and it is read"
quietly "- is stdin" bash -c 'bloom-query f.bloom held - held <list'
is "$(tr '\n' ' ' <"$OUT")" "bob alice bob alice bob " "among other inputs"
mkdir sub
cp list sub/-
quietly "./- is a file" bash -c 'cd sub && bloom-query ../f.bloom ./-'

# ---- -e
expect 0 'alice\n' "-e prints the key where it may be held" bloom-query -e alice f.bloom
expect 1 '' "-e: not held, status 1" bloom-query -e dave f.bloom
expect 0 'bob\nalice\n' "-e may be repeated, in order" bloom-query -e bob -e dave -e alice f.bloom
expect 0 'dave\n' "-e with -v" bloom-query -v -e bob -e dave -e alice f.bloom
expect 1 '' "-e with -v where all are held" bloom-query -v -e bob f.bloom
expect 0 '2\n' "-e with -c" bloom-query -c -e bob -e dave -e alice f.bloom
expect 0 '' "-e with -q" bloom-query -q -e alice f.bloom
expect 1 '' "-e with -q: not held" bloom-query -q -e dave f.bloom
expect 0 '1\talice\n0\tdave\n' "-e with --annotate" \
	bloom-query --annotate -e alice -e dave f.bloom
expect 1 '' "-e '' is the empty key" bloom-query -e '' f.bloom
expect 1 '' "-e takes a word that looks like an option" bloom-query -e -v f.bloom
run bash -c 'yes alice | bloom-query -q -e dave f.bloom'
is "$status" 1 "-e reads no stdin, be it endless"
quietly "-e leaves stdin to others" bash -c '{ bloom-query -q -e alice f.bloom; cat; } <list'
same list "$OUT" "to the byte"
expect 0 'alice\n' "-e does not need a stdin" bash -c 'exec bloom-query -e alice f.bloom <&-'
quietly "-e and an input" bloom-query -e alice f.bloom held
is "$(sort "$OUT" | tr '\n' ' ')" "alice bob " "both are asked"
quietly "-e after the filter" bloom-query f.bloom -e alice

# ---- -F
expect 0 'alice\ncarol\nbob\nalice\n' "-F: held by any" bloom-query -F f.bloom -F g.bloom list
expect 0 'dave\n' "-F with -v: by none" bloom-query -v -F g.bloom -F f.bloom list
expect 0 'alice\nbob\nalice\n' "one -F: all operands are inputs" bloom-query -F f.bloom list
expect 0 '4\n' "-F with -c counts a record once" \
	bloom-query -c -F f.bloom -F g.bloom -F f.bloom list
expect 0 'carol\n' "-F with -e" bloom-query -F f.bloom -F g.bloom -e carol -e dave
quietly "-F with stdin" bash -c 'bloom-query -F f.bloom -F g.bloom <list'
is "$(wc -l <"$OUT")" 4 "which is read"
expect 0 '1\talice\n1\tcarol\n0\tdave\n1\tbob\n1\talice\n' "-F with --annotate: one verdict" \
	bloom-query --annotate -F f.bloom -F g.bloom list
clean_error "an -F that is not there" missing.bloom bloom-query -F f.bloom -F missing.bloom list
clean_error "an -F that is no filter" list bloom-query -F f.bloom -F list list

# ---- --annotate
expect 0 '1\talice\n0\tcarol\n0\tdave\n1\tbob\n1\talice\n' "--annotate: 1 or 0 and a tab" \
	bloom-query --annotate f.bloom list
expect 1 '0\tdave\n0\terin\n' "--annotate where nothing is held: status 1" \
	bloom-query --annotate f.bloom others
printf 'bob\0\r\n\nbob' >odd
expect 0 '0\tbob\0\r\n0\t\n1\tbob\n' "--annotate passes bytes on" \
	bloom-query --annotate f.bloom odd
printf 'bob\0x\ny\0' >odd
expect 0 '1\tbob\0000\tx\ny\0' "--annotate -z" bloom-query --annotate -z f.bloom odd

# ---- trouble
clean_error "a filter that is not there" missing.bloom bloom-query missing.bloom list
clean_error "a filter that is not there, -q" missing.bloom bloom-query -q missing.bloom list
clean_error "a filter that is no filter" list bloom-query list f.bloom
clean_error "an empty filter file" empty bash -c ': >.tap/empty; exec bloom-query .tap/empty list'
clean_error "a filter that is a folder" sub bloom-query sub list
: >zero
trouble "status 2 goes before status 0" missing bloom-query f.bloom missing list
is "$(tr '\n' ' ' <"$OUT")" "alice bob alice " "though the other inputs are passed on"
trouble "status 2 goes before status 1" missing bloom-query f.bloom missing others
trouble "-q: trouble where nothing was found" missing bloom-query -q f.bloom missing others
ok "-q ends at the first that is held" timeout 20 bash -c 'yes alice | bloom-query -q f.bloom'

# ---- what goes in comes out on one side or the other
seq 1 5000 | awk '{ printf "%s%s", $1 % 7 ? $1 : "", $1 % 3 ? "\n" : "\r\n" }' >in
printf 'last' >>in
{ cat in; echo; } >whole
seq 1 2 5000 | bloom-build -n 2500 -p 0.2 -o half.bloom
for options in "" "--crlf" "-z" "-f 1" "-d 1 -f 2"; do
	# shellcheck disable=SC2086 # several words
	{
		bloom-query $options half.bloom in >yes
		bloom-query $options -v half.bloom in >no
		bloom-query $options --annotate half.bloom in >noted
		bloom-query $options -c half.bloom in >count
		bloom-query $options -c -v half.bloom in >rest
	}
	if [ "$options" = -z ]; then
		{ cat in; printf '\0'; } >want
		cat yes no >both
		same want both "$options: a record that is all"
		continue
	fi
	sed -n 's/^1\t//p' noted >noted_yes
	sed -n 's/^0\t//p' noted >noted_no
	same yes noted_yes "$options: --annotate says 1 of what passes"
	same no noted_no "$options: and 0 of what -v passes"
	cut -f2- noted >both
	same whole both "$options: together they are the input"
	is "$(cat count rest | tr '\n' ' ')" "$(wc -l <yes) $(wc -l <no) " \
		"$options: and -c counts them"
done

# ---- nothing is written
cp f.bloom kept
chmod 444 f.bloom
before=$(stat -c '%i %Y %s %a' f.bloom)
for command in "bloom-query f.bloom list" "bloom-query -v f.bloom list" "bloom-query -e x f.bloom" \
	"sketch-info f.bloom" "bloom-query -F f.bloom list"; do
	$command >/dev/null
done
is "$(stat -c '%i %Y %s %a' f.bloom)" "$before" "a query leaves the filter's file alone"
same f.bloom kept "and its bytes"

# ---- the other way round
try="try 'bloom-query --help'"
for first in list nowhere; do
	run bloom-query "$first" f.bloom list
	is "$status $(cat "$ERR")" \
		"2 bloom-query: '$first' is no filter, but 'f.bloom' is: it comes first; $try" \
		"$first in front of the filter"
done
like_records="f.bloom: is a Bloom filter, not records"
clean_error "not where a pipe holds a filter" "$like_records" \
	bash -c 'exec bloom-query <(cat f.bloom) f.bloom'
clean_error "nor a folder" "tmp: Is a directory" bloom-query /tmp f.bloom
clean_error "-F names a filter wherever it stands" "list: not a sketch file" \
	bloom-query -F list f.bloom
clean_error "and other operands are records" "$like_records" bloom-query -F f.bloom f.bloom
run bloom-query nowhere list
like "$(cat "$ERR")" '^bloom-query: nowhere: No such file or directory$' "no filter at all"
run bloom-query list list
like "$(cat "$ERR")" '^bloom-query: list: not a sketch file$' "nor here"
mkfifo pipe
cat f.bloom >pipe &
sleep 0.3 # now it waits for a reader
run bloom-query pipe list
wait $!
is "$? $status" "0 0" "a filter in a named pipe is opened once"
run bloom-query - kept <f.bloom
like "$(cat "$ERR")" '^bloom-query: kept: .*sketch' "a filter that is asked about"

done_testing
