#!/usr/bin/env bash
# Without -n and -m a filter grows: layers of 65536 keys, four times as many, ...
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# ---- few keys make a small file
quietly "four lines" bash -c 'printf "a\nb\nc\nd\n" | bloom-build -o four'
ok "make a file of less than 200 kB" test "$(stat -c %s four)" -lt 200000
expect 0 'a\nd\n' "in which they are found" bloom-query -e a -e d -e e four
quietly "no line at all" bloom-build -o none /dev/null
expect 1 '' "is a filter that holds nothing" bloom-query -e a -e '' none
clean_error "a k alone has no place" "" bloom-build -k 5 -o x /dev/null

# ---- the layers open one after another
seq 1 400000 >list
for layout in classic blocked; do
	for count in 60000 70000 300000 400000; do
		head -n $count list >some
		quietly "$layout: $count keys" bloom-build -L $layout -o f some
		expect 1 '' "$layout: $count keys: none is lost" bloom-query -v f some
		run sketch-info --check f
		is "$status" 0 "$layout: $count keys: not past any capacity"
		# p is a ceiling: 1000 of 100000, and 4.5 standard deviations.
		run bash -c 'seq 1000001 1100000 | bloom-query -c f'
		ok "$layout: $count keys: $(cat "$OUT") of 100000 absent ones" \
			test "$(cat "$OUT")" -le 1141
		ok "$layout: $count keys: the rate is at most 0.01" \
			awk "BEGIN { exit !($(info f rate) <= 0.01 * 1.05) }"
		ok "$layout: $count keys: distinct is right to 2 %" \
			awk "BEGIN { exit !(($(info f distinct) / $count - 1)^2 < 0.0004) }"
	done
done

# ---- however it comes
bloom-build -o whole list
quietly "from a pipe" bash -c 'cat list | bloom-build -o f'
same whole f "it is the same"
split -l 90000 list part.
quietly "from several files" bloom-build -o f part.*
same whole f "it is the same"
quietly "through stdout" bash -c 'bloom-build list >f'
same whole f "it is the same"
ok "a rate of one's own" bloom-build -p 1e-6 -o small list
run bash -c 'seq 1000001 2000000 | bloom-query -c small'
ok "is kept: $(cat "$OUT") of 1000000 absent keys at p = 1e-6" test "$(cat "$OUT")" -le 9
head -n 50000 list >some
bloom-build -o once some
bloom-build -o often some some some some
is "$(stat -c %s once)" "$(stat -c %s often)" "repeats make no file larger"

# ---- appending goes on where it was
rm -f f
for part in part.*; do
	quietly "append ${part#part.}" bloom-build --append f "$part"
done
expect 1 '' "nothing is lost" bloom-query -v f list
is "$(info f records)" 400000 "records add up"
ok "it is as large as that of the whole" test "$(stat -c %s f)" -eq "$(stat -c %s whole)"
touch -d '2020-02-02 02:02:02' f
before=$(stat -c '%i %Y' f)
quietly "append of nothing" bloom-build --append f /dev/null
is "$(stat -c '%i %Y' f)" "$before" "does not rewrite it"
{ head -c 100000 f; printf 'X'; tail -c +100002 f; } >bad
clean_error "append to a damaged one" bad bloom-build --append bad list
run bloom-query -v bad list
is "$status $(wc -c <"$OUT")" "2 0" "a query of all keys finds the damage, and never a wrong absent"
trouble "and so does sketch-info" bad sketch-info bad

done_testing
