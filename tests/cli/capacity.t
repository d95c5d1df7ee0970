#!/usr/bin/env bash
# Past its capacity a filter says so: once a run, with the rate as it is now
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# warned NAME COMMAND...: status 0, one line on stderr that speaks of capacity
warned()
{
	local name=$1 faults=()
	shift
	run "$@"
	[ "$status" -eq 0 ] || faults+=("status $status")
	one_message bloom-build ""
	grep -Eqi 'capacity|made for' "$ERR" || faults+=("no word of capacity: $(cat "$ERR")")
	report "$name" "$*" "${faults[@]}"
}

for layout in classic blocked; do
	for n in 10 100 1000 20000; do
		seq 1 $n >list
		quietly "$layout: $n keys of $n are no reason to warn" \
			bloom-build -L $layout -n $n -p 0.01 -o f list
		run sketch-info --check f
		is "$status" 0 "$layout: sketch-info --check of $n keys of $n: status 0"
		seq 1 $((3 * n)) >list
		warned "$layout: $((3 * n)) of $n are" \
			bloom-build -L $layout -n $n -p 0.01 -o f list
		run sketch-info --check f
		is "$status" 1 "$layout: sketch-info --check: status 1"
		is "$(cat "$ERR")" "" "$layout: which says so on stdout"
		run sketch-info f
		is "$status" 0 "$layout: without --check: status 0"
	done
done
seq 1 100 | tee list list2 >/dev/null
quietly "repeats fill no filter" bloom-build -n 100 -o f list list2 list list2 list
is "$(info f records)" 500 "though they count as records"

# The rate in the warning is the rate that sketch-info sees.
seq 1 20000 >list
warned "10000 keys, twice as many" bloom-build -L classic -n 10000 -p 0.01 -o f list
rate=$(info f rate)
ok "the rate is about 0.157 ($rate)" awk "BEGIN { exit !($rate > 0.14 && $rate < 0.175) }"
found=no
while read -r number percent; do
	[ -z "$percent" ] || number=$(awk "BEGIN { print $number / 100 }")
	awk "BEGIN { d = $number / $rate - 1; exit !(d < 0.05 && d > -0.05) }" && found=yes
done < <(grep -Eo '[0-9]+(\.[0-9]+)?(e-?[0-9]+)?( ?%)?' "$ERR" | sed 's/%/ %/')
is $found yes "and in the warning: $(cat "$ERR")"
warned "to stdout likewise" bash -c 'bloom-build -L classic -n 10000 -p 0.01 list >g'
same f g "the filter is the same"
bloom-build -L classic -n 10000 -p 0.01 -o f <(seq 1 10000)
warned "an append that goes past it" bloom-build --append f <(seq 10001 20000)
same f g "gives the same filter, too"
warned "and every one after that" bloom-build --append f <(seq 1 10)
run bloom-query -q f list
is "$status $(wc -c <"$ERR")" "0 0" "a query has nothing to warn of"

# ---- full to the last bit
seq 1 100000 >list
for layout in classic blocked; do
	warned "$layout: 100000 keys into a filter for 5" \
		bloom-build -L $layout -n 5 -p 0.01 -o full list
	is "$(info full fill)" 1 "$layout: all bits are set"
	is "$(info full distinct)" null "$layout: distinct is null in JSON"
	ok "$layout: the rate is 1" awk "BEGIN { exit !($(info full rate) >= 0.999) }"
	quietly "$layout: sketch-info of it" sketch-info full
	like "$(grep -i distinct "$OUT")" 'inf|saturated' \
		"$layout: in the table it is infinite, or saturated"
	is "$(grep -Eic '\bnan\b' "$OUT")" 0 "$layout: nothing is NaN"
	quietly "$layout: sketch-info --json" sketch-info --json full
	is "$(grep -Eic '\b(nan|inf|infinity)\b' "$OUT")" 0 \
		"$layout: JSON knows neither NaN nor Infinity"
	run sketch-info --check full
	is "$status" 1 "$layout: sketch-info --check: status 1"
	expect 0 'what ever\n' "$layout: it may hold anything" bloom-query -e 'what ever' full
done

# ---- far beyond 2^31 bits
if long; then
	seq 1 75000000 | bloom-build -L classic -n 150000000 -p 1e-4 -o huge
	ok "75 million keys of 150 million: the rate is one" \
		awk "BEGIN { exit !($(info huge rate) > 0 && $(info huge rate) < 1e-4) }"
	ok "distinct is right to a percent" \
		awk "BEGIN { exit !(($(info huge distinct) / 75e6 - 1)^2 < 1e-4) }"
	rm -f huge
fi

done_testing
