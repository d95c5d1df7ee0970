#!/usr/bin/env bash
# Records: any byte, any length, however they arrive
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# build FORMAT [OPTION]...: f.bloom with the records of a printf format
build()
{
	local format=$1
	shift
	# shellcheck disable=SC2059 # a format, for its escapes
	printf "$format" | bloom-build -n 1000 -p 1e-9 "$@" -o f.bloom
}

# query STATUS IN OUT NAME [OPTION]...
query()
{
	local want=$1 in=$2 out=$3 name=$4
	shift 4
	# shellcheck disable=SC2059
	printf "$in" >in
	expect "$want" "$out" "$name" bloom-query "$@" f.bloom in
}

# ---- the empty record
build '\n'
query 0 '\n' '\n' "an empty record that went in is found"
query 1 'x\n' '' "and stands for nothing else"
is "$(info f.bloom records)" 1 "it counts as a record"
build ''
query 1 '\n' '' "no record at all is not the empty record"
is "$(info f.bloom records)" 0 "it counts as none"
build 'x\n'
query 1 '\n' '' "an empty record that did not go in is absent"
query 0 '\n\nx\n\n' 'x\n' "empty records are left out, others not"
query 0 '\n\nx\n\n' '\n\n\n' "and passed on by -v" -v

# ---- the last newline
build 'x\ny'
query 0 'y' 'y\n' "a last record without its newline counts, and goes out with one"
query 0 'y\n' 'y\n' "with it is the same"
query 0 'z\ny' 'z\n' "the other way, by -v" -v
printf 'x\ny\n' | bloom-build -n 1000 -p 1e-9 -o g.bloom
same f.bloom g.bloom "a filter does not know whether the last newline was there"
build 'a'
query 0 'a' 'a\n' "one byte is a record"

# ---- bytes
build 'a\0b\n'
query 0 'a\0b\na\na\0c\nb\n' 'a\0b\n' "NUL is a byte like any other"
query 0 'a\0b\na\na\0c\nb\n' 'a\na\0c\nb\n' "also for -v" -v
build '\357\273\277alpha\n'
query 1 'alpha\n' '' "a byte order mark belongs to the record"
query 0 '\357\273\277alpha\n' '\357\273\277alpha\n' "and is found with it"
build 'be\357\273\277ta\n'
query 0 'beta\nbe\357\273\277ta\n' 'be\357\273\277ta\n' "in the middle, too"
build 'caf\351\n'
query 0 'caf\303\251\ncaf\351\n' 'caf\351\n' "Latin-1 is not UTF-8"
build 'caf\303\251\n'
query 0 'cafe\314\201\ncaf\303\251\n' 'caf\303\251\n' "composed is not decomposed"
build 'key\n'
query 1 'Key\nKEY\n key\nkey \nkey\\t\n\tkey\nkey\r\nkey\v\n' '' \
	"bytes are as they are: case, blanks, CR"
build 'a\rb\r\n'
query 0 'a\rb\r\nb\na\n' 'a\rb\r\n' "CR ends no record"
build 'A\n./A\nA\n'
is "$(info f.bloom records)" 3 "records count with repeats"
run bloom-query -c f.bloom in
query 0 'A\n./A\na\n/A\n' 'A\n./A\n' "names that collate alike differ"

# ---- -z
build 'a\nb\0a\nc\0a\nb\0\0x' -z
is "$(info f.bloom records)" 5 "-z: five records, the last without its NUL"
query 0 'a\nb\0b\0\0x\0a' 'a\nb\0\0x\0' "-z: newlines are bytes, NUL ends" -z
query 0 'a\nb\0x' 'a\nb\0x\0' "-z: the last record goes out with a NUL" -z
query 0 'a\nb\0b\0\0x\0a' 'b\0a\0' "-z: -v" -z -v
query 0 'x\n' 'x\n' "-z is no property of the filter"
query 0 'x\0' 'x\0' "--zero-terminated is -z" --zero-terminated

# ---- --crlf
build 'alpha\nbeta\n'
query 1 'alpha\r\nbeta\r\n' '' "CR is part of the key"
query 0 'alpha\r\nbeta\r\ngamma\r\nalpha' 'alpha\r\nbeta\r\nalpha\n' \
	"--crlf leaves it out of the key, not out of what is passed on" --crlf
query 0 'alpha\r\r\nbeta\r\n' 'beta\r\n' "--crlf leaves out one CR" --crlf
query 0 'alpha\r\r\n\ral\rpha\n' 'alpha\r\r\n\ral\rpha\n' "and none elsewhere" --crlf -v
query 0 'beta\r' 'beta\r\n' "--crlf: a last record without newline" --crlf
query 0 'alpha\r\0beta\0' 'alpha\r\0beta\0' "--crlf goes with -z" --crlf -z
build 'alpha\r\nbeta\r\n' --crlf
query 0 'alpha\nalpha\r\n' 'alpha\n' "bloom-build --crlf keys without CR"
build '\r\n' --crlf
query 0 '\n' '\n' "a CR alone is the empty key"
build 'alpha\r\r\n' --crlf
query 0 'alpha\nalpha\r\nalpha\r\r\n' 'alpha\r\n' "of two CR one stays"
seq 1 2000 >lf
sed 's/$/\r/' lf >crlf
bloom-build -n 2000 -p 1e-6 -o f.bloom lf
expect 1 '0\n' "2000 lines with CRLF against their LF copy: none" bloom-query -c f.bloom crlf
expect 0 '2000\n' "with --crlf: all" bloom-query -c --crlf f.bloom crlf

# ---- -i
build 'Alice\n\303\211t\303\251\n@[\n' -i
query 0 'ALICE\nalice\naLiCe\nbob\n' 'ALICE\nalice\naLiCe\n' \
	"-i is kept in the file and obeyed; records are passed on as they are"
query 0 'ALICE\n' 'ALICE\n' "bloom-query -i may say so again" -i
query 0 '\303\251T\303\251\n\303\211T\303\251\n' '\303\211T\303\251\n' "-i folds ASCII only"
# shellcheck disable=SC2016 # no expression
query 0 '`{\n@[\n@{\n`[\n' '@[\n' "-i folds letters only"
expect 0 'aLICE\n' "-i goes for -e" bloom-query -e aLICE f.bloom
cp f.bloom folded.bloom
build 'alice\nBob\n'
clean_error "bloom-query -i on a filter that is not folded" "" bloom-query -i f.bloom in
like "$(cat "$ERR")" "f.bloom" "which names it"
cp f.bloom plain.bloom
printf 'ALICE\nBOB\nBob\nalice\n' >in
expect 0 'ALICE\nBob\nalice\n' "each of several filters by its own rule" \
	bloom-query -F folded.bloom -F plain.bloom in
expect 0 'ALICE\nBob\nalice\n' "in either order" \
	bloom-query -F plain.bloom -F folded.bloom in
printf 'alice\n\303\211t\303\251\n@[\n' | bloom-build -n 1000 -p 1e-9 -i -o g.bloom
same folded.bloom g.bloom "folded keys are the same keys"
not_ok "a folded filter is another file than a plain one" cmp -s plain.bloom folded.bloom

# ---- locales
printf 'I\303\204\n\351\n\342\202\254 1,5\ni\n' >words
bloom-build -n 100 -p 0.01 -o reference -i words
for locale in C.UTF-8 en_US.UTF-8 tr_TR.UTF-8 de_DE.UTF-8 ja_JP.SJIS; do
	quietly "$locale" env LC_ALL=$locale LANG=$locale \
		bloom-build -n 100 -p 0.01 -i -o f.bloom words
	same reference f.bloom "$locale changes nothing"
	run env LC_ALL=$locale bloom-query f.bloom words
	same words "$OUT" "$locale: every record found"
done
quietly "an empty environment" env -i PATH=/usr/bin:/bin "$BIN/bloom-build" -n 100 -p 0.01 -i \
	-o f.bloom words
same reference f.bloom "changes nothing"
run env -i PATH=/usr/bin:/bin "$BIN/bloom-query" f.bloom words
same words "$OUT" "and every record is found"
is "$status" 0 "as cron would"

checks records.py

done_testing
