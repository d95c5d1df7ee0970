#!/usr/bin/env bash
# Identical input and options give identical bytes
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

seq 1 20000 | awk '{ print $1 * 7919 % 20011 }' >list
printf 'aaaaaa\303\251\n\377\n\0\0\0\303\nTail\351\n' >>list
for layout in classic blocked; do
	words=(-L "$layout" -n 20010 -p 0.001 -s 5)
	bloom-build "${words[@]}" -o reference list
	for round in 1 2 3; do
		bloom-build "${words[@]}" -o f list
		same reference f "$layout: the same again ($round)"
	done
	bloom-build "${words[@]}" list >f
	same reference f "$layout: through stdout"
	split -l 3000 list part.
	bloom-build "${words[@]}" -o f part.*
	same reference f "$layout: split into files"
	# shellcheck disable=SC2046 # names without blanks
	bloom-build "${words[@]}" -o f $(printf '%s\n' part.* | sort -r)
	same reference f "$layout: in another order"
	LC_ALL=C sort list | bloom-build "${words[@]}" -o f
	same reference f "$layout: sorted"
	rm -f part.*
	mkdir -p elsewhere
	(cd elsewhere && TZ=Asia/Tokyo HOME=/nonexistent USER=x TMPDIR=/nonexistent COLUMNS=20 \
		LC_ALL=de_DE.UTF-8 bloom-build "${words[@]}" -o ../f ../list)
	same reference f "$layout: in another folder and environment"
	(env -i "$BIN/bloom-build" "${words[@]}" -o f list)
	same reference f "$layout: in none"
	if taskset -c 0 true 2>/dev/null; then
		taskset -c 0 bloom-build "${words[@]}" -o f list
		same reference f "$layout: on one processor"
	else
		skip "$layout: on one processor" "no taskset"
	fi
	bloom-build "${words[@]}" -o g list list
	is "$(cmp -l reference g | awk '$1 > 128' | wc -l)" 0 \
		"$layout: repeats change the count of records only"
	bloom-build -L $layout -n 20010 -p 0.001 -s 6 -o g list
	not_ok "$layout: another seed, other bytes" cmp -s reference g
	sketch-info --json f >one
	sketch-info --json f >two
	same one two "$layout: sketch-info says the same twice"
	not_ok "$layout: neither name nor folder is in the file" grep -aq "list\|$PWD" f
done

done_testing
