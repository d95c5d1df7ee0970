#!/usr/bin/env bash
# Fields: a key is what cut or awk would have printed
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# keys FORMAT: f.bloom with these keys as whole records
keys()
{
	# shellcheck disable=SC2059 # a format, for its escapes
	printf "$1" | bloom-build -n 1000 -p 1e-9 -o f.bloom
}

# query STATUS IN OUT NAME OPTION...
query()
{
	local want=$1 in=$2 out=$3 name=$4
	shift 4
	# shellcheck disable=SC2059
	printf "$in" >in
	expect "$want" "$out" "$name" bloom-query "$@" f.bloom in
}

# ---- runs of blanks, as awk
keys 'two\n'
query 0 'one two three\n' 'one two three\n' "-f 2" -f 2
query 0 ' \tone\t \ttwo   three\n' ' \tone\t \ttwo   three\n' \
	"-f 2: blanks in front and runs of them" -f 2
query 0 'one two' 'one two\n' "-f 2: the last record" -f 2
query 0 'one two \t\n' 'one two \t\n' "-f 2: blanks behind" -f 2
query 1 'one Two\none two2\ntwo one\n' '' "-f 2: other words" -f 2
query 0 'two\n' 'two\n' "-f 1" -f 1
query 0 'two x\n' 'two x\n' "--field=1" --field=1
query 0 'a b two\n' 'a b two\n' "--fie 3, shortened" --fie 3
keys 'a c\n'
query 0 'a b c\na  b\tc d\na c\n' 'a b c\na  b\tc d\n' "-f 1,3 joins by one blank" -f 1,3
query 0 'a b c\n' 'a b c\n' "-f 3,1 is in the order of the record" -f 3,1
query 0 'a b c\n' 'a b c\n' "-f 1,1,3,3 takes each once" -f 1,1,3,3
keys 'b c d\n'
query 0 'a b\t c  d e\n' 'a b\t c  d e\n' "-f 2-4" -f 2-4
query 0 'a b\t c  d e\n' 'a b\t c  d e\n' "-f 2-3,3-4,3" -f 2-3,3-4,3
query 0 'a b\t c  d \n' 'a b\t c  d \n' "-f 2- goes to the end" -f 2-
query 1 'a b c d e\na b c\n' '' "-f 2- to the very end" -f 2-
query 0 'a b c d\n' 'a b c d\n' "-f 4,2- " -f 4,2-

# ---- one delimiter, as cut
keys 'two\n'
query 0 'one:two:three\n' 'one:two:three\n' "-d : -f 2" -d : -f 2
query 0 'one:two' 'one:two\n' "-d : -f 2: the last record" -d : -f 2
query 1 'one::two\n:one two\none: two\n' '' "-d : -f 2: nothing is trimmed or merged" -d : -f 2
query 0 'one\ttwo\n' 'one\ttwo\n' "-d \\t is a tab" -d '\t' -f 2
query 0 'one\ttwo\n' 'one\ttwo\n' "-d TAB is one, too" -d $'\t' -f 2
query 0 'one two\none  two\n' 'one two\n' "-d ' ' is one blank" -d ' ' -f 2
# shellcheck disable=SC1003 # it is one backslash, escaped
query 0 'one\\two\n' 'one\\two\n' '-d \\ is a backslash' -d '\\' -f 2
query 0 'one\377two\n' 'one\377two\n' "-d is any byte" -d $'\377' -f 2
query 0 'one,two\n' 'one,two\n' "--delimiter=, --field=2" --delimiter=, --field=2
keys 'a:c\n'
query 0 'a:b:c\na:b:c:d\na:c\n' 'a:b:c\na:b:c:d\n' "-d : -f 1,3 joins by the delimiter" -d : -f 1,3
keys ':b:\n'
query 0 'x::b:\n' 'x::b:\n' "-d : -f 2- keeps empty fields" -d : -f 2-
keys '\n'
query 0 'a::b\na:\na\n' 'a::b\na:\n' "an empty field is a key" -d : -f 2
keys 'ab\tc\n'
query 1 'a\tbc\n' '' "fields do not run together: (ab, c) is not (a, bc)" -d '\t' -f 1,2
query 0 'ab\tc\tx\n' 'ab\tc\tx\n' "(ab, c) is (ab, c)" -d '\t' -f 1,2
printf 'ab\tc\na\tbc\n' | bloom-build -n 1000 -p 1e-9 -f 1,2 -o f.bloom
query 0 'ab c\na bc\nabc\n' 'ab c\na bc\n' "and both are keys of their own"

# ---- records that lack a field
keys 'b\n\na\n'
query 0 'a b\na\n\n  \nb b b\n' 'a b\nb b b\n' "a record without the field is absent" -f 2
query 0 'a b\na\n\n  \nb b b\n' 'a\n\n  \n' "and -v passes it on" -f 2 -v
query 0 'a b\na\n\n  \n' '1\ta b\n0\ta\n0\t\n0\t  \n' "--annotate writes 0" -f 2 --annotate
query 1 '\n \n\t\nzz\n' '' "where blanks split, an empty record has no field" -f 1
query 0 '\n' '\n' "where a byte splits, it has one, empty" -d : -f 1
query 1 'a\nb\nz:z\n' '' "-d : -f 2 of a record without the delimiter is no key" -d : -f 2
keys 'a c\na\nb c d\nb c\nd\nd e\n'
query 1 'a b\na\nz z z\n' '' "-f 1,3 wants three fields" -f 1,3
query 1 'a b c\nz z z z\n' '' "-f 2-4 wants four fields" -f 2-4
query 0 'x b c d\n' 'x b c d\n' "and takes four" -f 2-4
query 1 'a b c\nz z z z\n' '' "-f 4- wants four fields" -f 4-
query 0 'a b c d\na b c d e\n' 'a b c d\na b c d e\n' "and takes more" -f 4-
printf 'a b\na\n\nc d\n' | bloom-build -n 1000 -p 1e-9 -f 2 -o f.bloom
query 0 'b\nd\na\n\nc\n' 'b\nd\n' "bloom-build skips a record without the field"
printf 'one\ntwo\n' >in
run bloom-build -n 10 -f 9 -o g.bloom in
is "$(wc -l <"$ERR")" 1 "bloom-build says so where no record had the field"
run bloom-query -f 9 f.bloom in
is "$(wc -l <"$ERR")" 1 "and so does bloom-query"
is "$(wc -c <"$OUT")" 0 "which passes on nothing"
run bloom-query -v -f 9 f.bloom in
same in "$OUT" "or, by -v, everything"
printf 'one\ntwo b\n' >in
expect 0 'two b\n' "nothing is said where one record had it" bloom-query -f 2 f.bloom in
run bloom-query --stats -f 2 f.bloom in
like "$(cat "$ERR")" '\b1\b' "--stats counts those that had not"

# ---- fields and the rest
keys 'two\n'
query 0 'one two\r\n' 'one two\r\n' "--crlf leaves CR out of the last field" --crlf -f 2
query 0 'one,two\r\n' 'one,two\r\n' "--crlf with a delimiter" --crlf -d , -f 2
query 0 'a two\0b\ntwo\0c three\0' 'a two\0b\ntwo\0' "-z" -z -f 2
query 0 'one,two,x\0a\nb,two' 'one,two,x\0a\nb,two\0' "-z with a delimiter" -z -d , -f 2
printf 'x Two\n' | bloom-build -n 1000 -p 1e-9 -i -f 2 -o f.bloom
query 0 'TWO\n' 'TWO\n' "-i folds the field"
query 0 'a TWO\n' 'a TWO\n' "on both sides" -f 2

# ---- quotes
keys '"a b"\n'
query 0 'x "a b" y\n"a b" y "a b"\n' 'x "a b" y\n' "-Q -f 2: a field in quotes stays whole" -Q -f 2
query 0 '"a b"\n\t "a b" \n"a b' '"a b"\n\t "a b" \n' "-Qf 1: with its quotes" -Qf 1
query 0 'x,"a b",y\n' 'x,"a b",y\n' "-Q -d ," -Q -d , -f 2
query 1 'x "a b" y\n' '' "without -Q a quote is a byte as any other" -f 2
query 0 'x y"a b" "a b"\nx "a" b"\n' 'x y"a b" "a b"\n' \
	"only at the beginning of a field does a quote open" --quoted -f 4
query 1 'x, "a b"\n' '' "and with -d a blank before it is a beginning" -Q -d , -f 2
keys '"a,b"c\n'
query 0 'x,"a,b"c,d"\n' 'x,"a,b"c,d"\n' "what is behind the closing quote is of the field" -Qd, -f 2
keys '"a""b,c"\n'
query 0 'x,"a""b,c",y\n' 'x,"a""b,c",y\n' "two quotes are no end" -Qd, -f 2
keys '""\n'
query 0 'x,"",y\nx,"""",y\n' 'x,"",y\n' "but are where they are all there is" -Qd, -f 2
keys '"""a"""\n'
query 0 'x """a""" y\n' 'x """a""" y\n' "three and three" -Qf 2
keys '"GET /\\" x" y\n'
query 0 '1 "GET /\\" x" y\n' '1 "GET /\\" x" y\n' "a quote behind a backslash is no end" -Qf 2,3
keys '"x\\\\"\n'
query 0 '1 "x\\\\" y\n' '1 "x\\\\" y\n' "but behind two" -Qf 2
query 1 '1 \\"x" y\n' '' "no quote opens behind a backslash" -Qf 2
keys '"a b c\n'
query 0 'x "a b c\nx "a b c' 'x "a b c\nx "a b c\n' \
	"a quote that is never closed reaches to the end of the record" -Qf 2
query 0 'x,"a b c\r\n' 'x,"a b c\r\n' "less the CR that --crlf leaves out" --crlf -Qd, -f 2
keys 'x "a b"\n'
query 0 'x - "a b" y\n' 'x - "a b" y\n' "several are joined as they stand" -Qf 1,3
query 0 'x\n"a b" y\0' 'x\n"a b" y\0' "-z: where a newline is a blank" -zQf 1,2
keys '"a\nb"\n'
printf '"a\nb" y\0' >in
bloom-build -z -n 1000 -p 1e-9 -Qf 1 -o f.bloom in
expect 0 '"a\nb"\0' "-z: a newline in quotes is of the field" bloom-query -z -e $'"a\nb"' f.bloom
printf '"a b" "7"\n"a b" "5"\nc 1\n' >in
expect 0 '12\t"a b"\n1\tc\n' "a weight may stand in quotes" cms-top -Qf 1 -W 2 in
printf '"a b" ""\n' >in
clean_error "but not an empty one" "record 1" cms-top -Qf 1 -W 2 in
touch list
for tool in "bloom-build -n 10 -o x" "bloom-query f.bloom" bloom-uniq cms-count cms-top; do
	# shellcheck disable=SC2086
	clean_error "$tool: -Q without -f is refused" "needs --field" $tool -Q list
done
clean_error "-Q -d '\"' is refused" '"' bloom-query -Q -d '"' -f 1 f.bloom list
# shellcheck disable=SC1003 # it is one backslash, escaped
clean_error "-Q -d '\\' is refused" '\' bloom-query -Q -d '\\' -f 1 f.bloom list

# ---- lists and delimiters that are none
touch list
for word in '' 0 x 1x -0 0-3 3-1 4-2 '1,,2' ',' '1,' ',1' - -- 1-2-3 1.5 0x1 +1 ' 1' '1 ' 1e1 \
	18446744073709551616 99999999999999999999999 1-99999999999999999999999; do
	clean_error "-f '$word' is refused, and shown" "$word" bloom-query -f "$word" f.bloom list
	clean_error "-f '$word' is refused by bloom-build" "$word" \
		bloom-build -n 10 -o x -f "$word" list
done
for word in '' ab '\x' $'\303\251' '\tt'; do
	clean_error "-d '$word' is refused" "" bloom-query -d "$word" -f 1 f.bloom list
done
refused_or "-f -3 is fields 1 to 3, or refused" bloom-build -n 10 -f -3 -o g.bloom list
quietly "a field far out is one that no record has" bloom-build -n 10 -f 1000000 -o g.bloom list

checks fields.py

done_testing
