#!/usr/bin/env bash
# Help, version, and command lines that are no good
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

printf 'alice\nbob\n' >list
bloom-build -n 10 -o f.bloom list

for tool in bloom-build bloom-query sketch-info; do
	quietly "$tool --help is quiet, status 0" "$tool" --help
	like "$(cat "$OUT")" "usage" "$tool --help shows its usage"
	like "$(cat "$OUT")" "$tool .*(\.bloom|users|-n )" "$tool --help shows an example"
	like "$(cat "$OUT")" "--version" "$tool --help lists --version"
	is "$(awk 'length > 100' "$OUT")" "" "$tool --help keeps to 100 columns"

	quietly "$tool --version is quiet, status 0" "$tool" --version
	like "$(head -n 1 "$OUT")" "[0-9]+\.[0-9]+" "$tool --version shows a version"
	like "$(cat "$OUT")" "format.* 1" "$tool --version names the format it reads"

	for option in --help --version; do
		trouble "$tool $option to a full device" "" \
			bash -c "exec $tool $option >/dev/full"
		trouble "$tool $option to a closed stdout" "" bash -c "exec $tool $option >&-"
	done

	clean_error "$tool --frobnicate is refused by name" frobnicate "$tool" --frobnicate
	like "$(cat "$ERR")" "$tool --help" "and points to --help"
	clean_error "$tool -Z is refused by name" Z "$tool" -Z
	clean_error "$tool --version=3 is refused" version "$tool" --version=3
done

# On a terminal of 80 columns and 50 lines; usage and examples come first.
for tool in bloom-build bloom-query bloom-uniq cms-count cms-top fpr-calc hll-count sketch-info \
	sketch-merge; do
	run "$tool" --help
	is "$(awk 'length > 80' "$OUT")" "" "$tool --help keeps to 80 columns"
	lines=$(wc -l <"$OUT")
	ok "$tool --help has at most 50 lines, $lines" test "$lines" -le 50
	is "$(head -n 1 "$OUT" | cut -d ' ' -f 1,2)" "Usage: $tool" "$tool --help: usage first"
	# Most come of a pipe, or go into one; the tool is somewhere in the line.
	not_ok "$tool --help: each example runs it" grep -v "$tool" \
		<(sed -n '/^Examples:$/,/^$/{ /^ /p; }' "$OUT")
	ok "$tool --help: examples before options" test \
		"$(grep -n '^Examples:$' "$OUT" | cut -d: -f1)" -lt \
		"$(grep -nE '^ +(-., )?--' "$OUT" | head -n 1 | cut -d: -f1)"
done
quietly "fpr-calc --help=all" fpr-calc --help=all
like "$(cat "$OUT")" '^ *--epsilon=' "has what sizes counting sketches"
is "$(awk 'length > 80' "$OUT")" "" "and keeps to 80 columns"
not_ok "which --help leaves out" grep -q -e '^ *--epsilon=' <(fpr-calc --help)
clean_error "fpr-calc --help=al is answered" "did you mean all?" fpr-calc --help=al
clean_error "other tools show all at once" "takes no argument" cms-top --help=all
for tool in bloom-uniq cms-top; do
	not_ok "$tool --help is silent of -j" grep -q -e '--threads' <("$tool" --help)
	clean_error "$tool -j 2 says why not" "--threads: " "$tool" -j 2 list
	quietly "$tool -j 1 is what it does" "$tool" -j 1 list
done

# ---- a sample that is run by hand
for sample in "$TOP"/samples/*.sh; do
	grep -q SAMPLES "$sample" || continue
	run env -u SAMPLES sh "$sample"
	ok "${sample##*/} without SAMPLES says how to run it" \
		grep -q 'SAMPLES=TREE/samples sh .*/samples/' "$ERR"
	ok "and does nothing" test "$status" -ne 0 -a ! -s "$OUT"
done

clean_error "bloom-query without a filter" "" bloom-query
clean_error "bloom-query knows no -n" n bloom-query -n 5 f.bloom list
clean_error "bloom-query knows no -p" p bloom-query -p 0.5 f.bloom list
clean_error "an option that lacks its argument: -n" n bloom-build -n
clean_error "an option that lacks its argument: --seed" seed bloom-build -n 10 --seed
clean_error "an option that lacks its argument: -f" f bloom-query f.bloom -f
clean_error "an option that lacks its argument: -e" e bloom-query f.bloom -e
clean_error "a flag with an argument" stats bloom-build -n 10 --stats=yes -o x list
clean_error "an abbreviation of several options" "--s" bloom-build -n 10 --s 3 -o x list
clean_error "-o and --append exclude each other" append \
	bloom-build -n 10 -o x --append y list
clean_error "an unknown layout is shown" sideways bloom-build -n 10 -L sideways -o x list
like "$(cat "$ERR")" "classic.*blocked|blocked.*classic" "beside the layouts there are"
clean_error "an empty layout" "" bloom-build -n 10 -L '' -o x list

bloom-build -n 10 --layout=classic --seed 7 -o full list
quietly "long options may be shortened" bloom-build -n 10 --lay=classic --see 7 -o short list
same full short "and mean the same"
expect 0 '1\talice\n1\tbob\n' "bloom-query --anno is --annotate" \
	bloom-query --anno f.bloom list
quietly "sketch-info --js is --json" sketch-info --js f.bloom
like "$(cat "$OUT")" '^\{.*\}$' "and gives an object"

expect 0 '2\n' "options may follow operands" bloom-query f.bloom list -c
cp list ./-c
expect 0 'alice\nbob\n' "-- ends the options" bloom-query -- f.bloom -c
rm -f ./-c

done_testing
