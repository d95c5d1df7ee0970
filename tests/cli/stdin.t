#!/usr/bin/env bash
# The file named "-": standard input or output, once, whatever else lies in the folder
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

seq 1 10 >list
cms-count -o a.cms list
seq 5 15 | cms-count -o b.cms
hll-count -q -o a.hll list
bloom-build -n 100 -o a.bloom list
bloom-build -n 100 --kind counting -o a.counting list
once="standard input can be one sketch, and nothing else besides"
twice="standard input: named twice"

# from FILE COMMAND...: the command with the file as its standard input; through a pipe
from()
{
	# shellcheck disable=SC2016 # for that shell
	clean_error "${*:3} <$1" "$2" bash -c 'file=$1; shift; exec "$@" <"$file"' - "$1" "${@:3}"
	# shellcheck disable=SC2016 # for that shell
	clean_error "cat $1 | ${*:3}" "$2" \
		bash -c 'file=$1; shift; cat "$file" | "$@"' - "$1" "${@:3}"
}

# ---- as a sketch it is read once
from a.cms "$twice" cms-top --query - --query -
from a.cms "$once" cms-count --query - --query - -e 3
from a.cms "$twice" sketch-merge -o new - -
from a.counting "$twice" sketch-merge -o new - -
from a.hll "$twice" hll-count --query - --query -
from a.hll "$twice" sketch-merge -o new - -
from a.bloom "$twice" sketch-merge -o new - -
from a.bloom "$once" bloom-query -F - -F - -e 3
run bash -c 'sketch-info - - <a.bloom'
is "$status $(grep -c ^kind "$OUT") $(cat "$ERR")" \
	"2 1 sketch-info: $twice, and can be read but once" "sketch-info tells of it once"

# ---- nor is it a sketch that is named as well: counts would be added to themselves
for name in a.cms ./a.cms /dev/stdin; do
	run bash -c "cms-top --query $name --query - <a.cms"
	is "$status $(cat "$OUT" "$ERR")" "2 cms-top: standard input: named twice: its counts\
 would be added to themselves" "cms-top --query $name --query - <a.cms"
done
clean_error "cms-count, too" "standard input: named twice" \
	bash -c 'exec cms-count --query a.cms --query - -e 3 <a.cms'
clean_error "in either order" "a.cms: named twice" \
	bash -c 'exec cms-count --query - --query a.cms -e 3 <a.cms'
clean_error "and sketch-merge" "standard input: named twice" \
	bash -c 'exec sketch-merge -o new a.cms - <a.cms'
clean_error "which looks at its output, too" "standard input: is the output, too" \
	bash -c 'exec sketch-merge -o b.cms a.cms - <b.cms'
clean_error "of counters" "standard input: named twice" \
	bash -c 'exec sketch-merge -o new a.counting - <a.counting'
expect 0 '2\t5\n1\t1\n' "another file is added" \
	bash -c 'cms-count --query a.cms --query - -e 5 -e 1 <b.cms'
expect 0 '15\n' "keys in two files are one key" \
	bash -c 'seq 5 15 | hll-count -q -o - | hll-count --query a.hll --query -'

# ---- or the records
for inputs in "" - "list -" --files0-from=-; do
	# shellcheck disable=SC2086 # words
	from a.cms "$once" cms-count --query - $inputs
	# shellcheck disable=SC2086 # words
	from a.bloom "$once" bloom-query - $inputs
done
printf '%s\0' list - >names
for command in "cms-count --query - --files0-from=names" \
	"bloom-query - --files0-from=names"; do
	file=a.cms
	[[ $command == cms* ]] || file=a.bloom
	trouble "$command <$file" "standard input: was the sketch" bash -c "exec $command <$file"
	is "$(wc -l <"$OUT")" 10 "what else is in the list is asked for"
done

# A pipe is one and the same by any name; a file is opened anew, and recognized.
spent="was the sketch"
for inputs in "/dev/stdin" "- /dev/stdin" "/dev/stdin --files0-from=-" \
	"- --files0-from=/dev/stdin"; do
	clean_error "cat a.cms | cms-count --query $inputs" "$spent" \
		bash -c "cat a.cms | cms-count --query $inputs"
	clean_error "cat a.bloom | bloom-query $inputs" "$spent" \
		bash -c "cat a.bloom | bloom-query $inputs"
done
clean_error "twice by two names" "$twice" bash -c 'cat a.hll | sketch-merge -o new /dev/stdin -'
clean_error "a file by that name" "is a Bloom filter, not records" \
	bash -c 'exec bloom-query /dev/stdin <a.bloom'
expect 0 '3\n' "a pipe of that name, and another" \
	bash -c 'cat a.bloom | bloom-query /dev/stdin <(echo 3)'

expect 0 '1\t3\n' "keys of the command line need no records" \
	bash -c 'cms-count --query - -e 3 <a.cms'
expect 0 '1\t3\n1\t1\n' "a file is no standard input" \
	bash -c 'cms-count --query - -e 3 <(echo 1) <a.cms'
clean_error "records that hold the list" "holds the list" \
	bash -c 'printf "%s\0" - | bloom-build -n 10 -o new --files0-from=-'

# ---- as input of records it is read to its end, named again it is at its end, as for cat
expect 0 '1\ta\n1\tb\n' "cms-count - -" bash -c 'printf "a\nb\n" | cms-count - -'
expect 0 '2\n' "hll-count - -" bash -c 'printf "a\nb\n" | hll-count - -'
expect 0 'a\nb\n' "bloom-uniq - -" bash -c 'printf "a\nb\n" | bloom-uniq - -'

# ---- messages call it by its name
cms-count -s 5 -o seeded.cms list
clean_error "what differs" "a.cms and standard input: seed differs" \
	bash -c 'exec cms-count --query a.cms --query - -e 3 <seeded.cms'
cms-count --window=10 -o window.cms list
clean_error "what is forgotten" "standard input and a.cms: window differs" \
	bash -c 'exec cms-count --query - --query a.cms -e 3 <window.cms'
clean_error "how keys are folded" "standard input: --ignore-case" \
	bash -c 'exec cms-count -i --query - -e 3 <a.cms'

# ---- a file of that name is ./-
cp list ./-
cms-count -o - ./- >whole.cms
is "$? $(info whole.cms total)" "0 10" "cms-count -o - may read it"
hll-count -o - ./- >whole.hll
is "$? $(info whole.hll distinct)" "0 10" "hll-count -o -"
bloom-build -n 10 -o - ./- >whole.bloom
is "$? $(info whole.bloom records)" "0 10" "bloom-build -o -"
for option in --append --remove-from; do
	clean_error "bloom-build $option and -o -" "--output" \
		bloom-build $option a.counting -o - list
done
for command in cms-count cms-top hll-count; do
	file=a.cms
	[[ $command != hll* ]] || file=a.hll
	clean_error "$command --append and -o -" "" $command --append $file -o - list
done
same list ./- "and is not written to"
for command in "cms-count --append" "cms-top --append" "hll-count --append" \
	"bloom-build --append" "bloom-build --remove-from" "bloom-uniq --state" \
	"bloom-uniq --duplicates" "cms-top -o"; do
	# shellcheck disable=SC2086 # words
	clean_error "$command -" "" $command - list
done

done_testing
