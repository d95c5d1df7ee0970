#!/usr/bin/env bash
# sketch-merge: the filter of the parts is the filter of the whole
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

seq 1 3000 >a
seq 2001 5000 >b
seq 9001 9999 >c

# ---- single layers: byte for byte the filter of the whole
for layout in classic blocked; do
	for shape in "-n 10000 -p 0.01" "-n 10000 -p 1e-6 -s 3 -i" "-n 9000 -m 1Mbit -k 6"; do
		# shellcheck disable=SC2086 # several words
		for part in a b c; do bloom-build -L $layout $shape -o $part.bloom $part; done
		# shellcheck disable=SC2086 # several words
		bloom-build -L $layout $shape -o whole a b c
		quietly "$layout $shape" sketch-merge -o got a.bloom b.bloom c.bloom
		is "$(wc -c <"$OUT")" 0 "says nothing on stdout"
		same whole got "is the filter of the whole"
		sketch-merge -o got c.bloom a.bloom b.bloom
		same whole got "in any order"
		sketch-merge c.bloom b.bloom a.bloom >got
		same whole got "through stdout"
		quietly "from a pipe" bash -c 'cat a.bloom | sketch-merge -o got - b.bloom c.bloom'
		same whole got "is the same"
		quietly "from others" sketch-merge -o got <(cat b.bloom) a.bloom <(cat c.bloom)
		same whole got "is the same"
	done
done
is "$(info whole records)" 6999 "records add up"
quietly "OUT may be the first of them" sketch-merge -o a.bloom a.bloom b.bloom c.bloom
same whole a.bloom "and is the whole"
bloom-build -n 9000 -m 1Mbit -k 6 -o a.bloom a
quietly "or another" sketch-merge -o b.bloom a.bloom b.bloom c.bloom
same whole b.bloom "and is the whole"
quietly "a filter with itself" sketch-merge -o got a.bloom a.bloom
expect 1 '' "is the filter" bloom-query -v got a
bloom-build -n 9000 -m 1Mbit -k 6 -o twice a a
same twice got "its records twice"
quietly "one alone" sketch-merge -o got a.bloom
same a.bloom got "is itself"
quietly "into a pipe" bash -c 'sketch-merge a.bloom c.bloom | sketch-info -'
bloom-build -n 5000 -o union-a a
bloom-build -n 5000 -o union-b b
quietly "--stats says so" bash -c 'sketch-merge --stats -o got union-a union-b 2>said'
like "$(cat said)" 'sketch-merge: 2 files, 6000 records' "files and records"
chmod 640 got
ln -s got link
quietly "over a link" sketch-merge -o link union-a
ok "it is still a link" test -L link
is "$(stat -c %a got)" 640 "and the mode is kept"

# ---- past capacity: two full ones at 1 % answer 15.7 %
for part in 0 1; do
	seq $((part * 10000 + 1)) $((part * 10000 + 10000)) >half.$part
	bloom-build -L classic -n 10000 -m 95872 -k 7 -o full.$part half.$part
	run sketch-info --check full.$part
	is "$status" 0 "half $part: not past its capacity"
done
run sketch-merge -o full full.0 full.1
is "$status $(wc -l <"$ERR")" "0 1" "the union of both: done, and a word"
like "$(cat "$ERR")" 'full.*warning.*10000' "which is a warning, with the capacity"
ok "the rate now is said: $(info full rate)" \
	awk "BEGIN { exit !($(info full rate) > 0.152 && $(info full rate) < 0.162) }"
run bash -c 'seq 1000001 1100000 | bloom-query -c full'
# 15700, and 4.9 standard deviations of 115, and 1.5 % for the filter itself.
ok "and true: $(cat "$OUT") of 100000" test "$(cat "$OUT")" -gt 14900 -a "$(cat "$OUT")" -lt 16500
ok "n in the file is that of the halves" test "$(info full n)" = 10000
run sketch-info --check full
is "$status" 1 "sketch-info --check sees it"

# ---- unlike ones: refused by the field
bloom-build -L classic -n 1000 -p 0.01 -o base a 2>.tap/ok
refuse() # WORD OPTION...
{
	local word=$1
	shift
	bloom-build "$@" -o other a 2>.tap/ok
	cp base kept
	clean_error "$*" "$word" sketch-merge -o out base other
	like "$(cat "$ERR")" "\\b$word differs" "$*: the field is named"
	clean_error "$* in front" "$word" sketch-merge -o base other base
	same base kept "$*: and OUT is untouched"
	ok "$*: no OUT is made" test ! -e out
}
refuse seed -L classic -n 1000 -p 0.01 -s 9
refuse layout -L blocked -n 1000 -p 0.01
refuse m -L classic -n 1001000 -p 0.01
refuse k -L classic -n 1000 -m "$(info base m)" -k 3
refuse ignore-case -L classic -n 1000 -p 0.01 -i
refuse arrangement -L classic -p 0.01
bloom-build -n 1000 -p 0.01 -k 8 -m 36864 -o g1 a 2>.tap/ok
bloom-build -n 1000 -p 1e-6 -k 16 -m 36864 -o g2 a 2>.tap/ok
if [ "$(info g1 k)" != "$(info g2 k)" ]; then
	clean_error "k and g differ" "" sketch-merge -o out g1 g2
fi

# ---- ladders: every layer is kept, the same bytes in any order
seq 1 100000 >l1
seq 50001 180000 >l2
seq 500001 500100 >l3
for part in l1 l2 l3; do bloom-build -o $part.bloom $part; done
run sketch-merge -o ladder l1.bloom l2.bloom l3.bloom
is "$status" 0 "three that grew"
like "$(cat "$ERR")" 'warning.*layers' "with a warning, since their rates add up"
is "$(wc -l <"$ERR")" 1 "once"
for order in "1 3 2" "2 1 3" "2 3 1" "3 1 2" "3 2 1"; do
	names=
	for number in $order; do names="$names l$number.bloom"; done
	# shellcheck disable=SC2086 # several words
	sketch-merge -o got $names 2>.tap/ok
	same ladder got "in the order $order the same bytes"
done
sketch-merge -o got l3.bloom l2.bloom 2>.tap/ok
sketch-merge -o got got l1.bloom 2>.tap/ok
same ladder got "and in two steps"
expect 1 '' "no key is lost" bloom-query -v ladder l1 l2 l3
is "$(info ladder records)" 230100 "records add up"
quietly "sketch-info shows them" sketch-info ladder
is "$(grep -c '^layer\.[0-9]*\.m	' "$OUT")" 5 "all five layers"
is "$(grep '^layer\.[0-9]*\.n	' "$OUT" | cut -f 2 | tr '\n' ' ')" \
	"65536 65536 65536 262144 262144 " "in order of their size"
sketch-merge -o same l1.bloom l1.bloom 2>.tap/ok
is "$(sketch-info same | sed -n 's/^layers	//p')" \
	"$(sketch-info l1.bloom | sed -n 's/^layers	//p')" \
	"equal layers are kept once"
cp l1.bloom next.bloom
bloom-build --append next.bloom <(seq 700001 700010)
sketch-merge -o same l1.bloom next.bloom 2>.tap/ok
is "$(sketch-info same | sed -n 's/^layers	//p')" 3 "a full one that both have, too"
run bloom-uniq --state ladder l2
is "$status $(wc -c <"$OUT")" "0 0" "the union is a state that knows all"
bloom-build -p 0.001 -o other l3
clean_error "another rate has other rungs" "m differs" sketch-merge -o out l1.bloom other

# ---- damaged and foreign ones: refused, and OUT untouched
bloom-build -n 5000 -o a.bloom a
bloom-build -n 5000 -o b.bloom b
cp a.bloom out
cp out kept
head -c 1000 b.bloom >short
{ cat b.bloom; echo; } >longer
{ head -c 2000 b.bloom; printf 'X'; tail -c +2002 b.bloom; } >bad
cmp -s bad b.bloom && { head -c 2000 b.bloom; printf 'Y'; tail -c +2002 b.bloom; } >bad
: >empty
mkdir folder
for file in short longer bad empty a folder missing; do
	clean_error "$file first" "$file" sketch-merge -o out "$file" a.bloom
	clean_error "$file last" "$file" sketch-merge -o out a.bloom "$file"
	same kept out "$file: OUT is untouched"
done
clean_error "no file at all" "" sketch-merge
clean_error "no file but -o" "" sketch-merge -o out
clean_error "-o in a folder that is not there" nowhere sketch-merge -o nowhere/x a.bloom
clean_error "-o a folder" folder sketch-merge -o folder a.bloom
clean_error "stdin twice" "" bash -c 'cat a.bloom | sketch-merge -o out - -'
clean_error "stdin closed" "" bash -c 'exec sketch-merge -o out a.bloom - <&-'
trouble "stdout is full" "No space" bash -c 'sketch-merge a.bloom b.bloom >/dev/full'
trouble "stdout is closed" "" bash -c 'sketch-merge a.bloom b.bloom >&-'
same kept out "OUT is untouched"
is "$(find . -maxdepth 1 -name '.*' ! -name . ! -name .tap)" "" "nothing is left over"
cp "$TOP/tests/golden/window-records.bloom" w
clean_error "a window with a window" window sketch-merge -o out w w
clean_error "a window with another" arrangement sketch-merge -o out a.bloom w

done_testing
