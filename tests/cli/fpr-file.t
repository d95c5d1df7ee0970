#!/usr/bin/env bash
# fpr-calc --file asks a filter that exists; --cms and --hll size what counts
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

get() # NAME [COLUMN]
{
	awk -F '\t' -v name="$1" -v column="${2:-2}" '$1 == name { print $column }' "$OUT"
}

seq 1 1000 >list
bloom-build -L classic -n 1000 -p 0.01 -o f.bloom list
seq 1 250 | bloom-build -n 100 -p 0.01 -o over.bloom 2>/dev/null
bloom-build -n 1000 -p 0.01 -o empty.bloom /dev/null
seq 1 100000 | bloom-build -n 10 -p 0.5 -o full.bloom 2>/dev/null

for name in f over empty full; do
	quietly "--file $name.bloom" fpr-calc --file $name.bloom --advice
	is "$(get m) $(get k) $(get n) $(get p) $(get records)" \
		"$(for field in m k n p records; do info $name.bloom $field; done | xargs)" \
		"has its parameters"
	is "$(get rate)" "$(info $name.bloom rate)" "and its rate now"
	is "$(awk -F '\t' '$1 != "advice" && NF && NF != 3' "$OUT")" "" "in three columns"
	like "$(cat "$OUT")" $'^advice\t.' "and advice"
	is "$(grep -ciE '\bnan\b|\t-[0-9]' "$OUT")" 0 "nothing is NaN or negative"
done
quietly "from a pipe" bash -c 'cat f.bloom | fpr-calc --file - --advice'
cp "$OUT" piped
quietly "or from the file" fpr-calc --file f.bloom --advice
same piped "$OUT" "the same is said"
is "$(get until_p)" 0.01 "until its own p"
ok "a few more keys than distinct ones" test "$(get until_n)" -ge 990 -a "$(get until_n)" -le 1010
is "$(get past_capacity)" no "it is within its capacity"
is "$(get rebuild_m)" "$(fpr-calc -L classic -n "$(get rebuild_n)" -p 0.01 --print m)" \
	"a new one has the m of its n"
quietly "--until" fpr-calc --file f.bloom --until 0.1
ok "there is room until 10 %" test "$(get until_more)" -gt 700
quietly "an overfull one" fpr-calc --file over.bloom --advice
is "$(get until_more) $(get past_capacity)" "0 yes" "has no room"
like "$(cat "$OUT")" "make a new one.*m = [0-9]" "and is to be made anew, of a size"
quietly "a full one" fpr-calc --file full.bloom --advice
is "$(get distinct)" inf "cannot tell its keys"
quietly "its JSON" fpr-calc --file full.bloom --json
like "$(cat "$OUT")" '"distinct":null' "says null"

for name in f over; do
	quietly "--simulate of $name" fpr-calc --file $name.bloom --simulate --queries 200k
	ok "has the rate of its bits in the interval" awk -v l="$(get simulated_low)" \
		-v r="$(get rate)" -v h="$(get simulated_high)" \
		'BEGIN { d = h - l; exit !(l - d / 2 <= r && r <= h + d / 2) }'
	is "$(get bound_holds)" yes "and holds"
done
quietly "other questions" \
	fpr-calc --file f.bloom --what-if n=2000 --table --compare --curve n --explain
is "$(get what_if_n)" 2000 "are answered"
clean_error "which an empty one cannot be asked" empty.bloom fpr-calc --file empty.bloom --table
clean_error "nor a full one" full.bloom fpr-calc --file full.bloom --curve n
bloom-build --kind counting -n 1000 -p 0.01 -o counters.bloom list
clean_error "nor one of counters about bits" "about bits" \
	fpr-calc --file counters.bloom --curve n
clean_error "a file that is none" nowhere fpr-calc --file nowhere
clean_error "a file that is no filter" list fpr-calc --file list
head -c 500 f.bloom >short
clean_error "a file cut short" short fpr-calc --file short
clean_error "--file and -n" file fpr-calc --file f.bloom -n 5
clean_error "--file and --cms" file fpr-calc --file f.bloom --cms
clean_error "--file and a number of filters" file fpr-calc --file f.bloom --simulate=5

# ---- count-min
quietly "--cms" fpr-calc --cms --epsilon 0.001 --delta 0.001 --total 1M
is "$(get w) $(get d) $(get w 3) $(get d 3)" "2719 7 2000 10" "both conventions"
is "$(get bytes) $(get bytes 3)" "76132 80000" "bytes of 32-bit cells"
like "$(get convention) $(get convention 3)" 'e/epsilon.*ln.*2/epsilon.*log2' "by their names"
ok "an error of a thousand counts" awk -v e="$(get error)" 'BEGIN { exit !(e > 990 && e <= 1000) }'
# sized EPSILON DELTA WIDTH DEPTH WIDTH DEPTH
sized()
{
	run fpr-calc --cms --epsilon "$1" --delta "$2"
	is "$(get w) $(get d) $(get w 3) $(get d 3)" "$3 $4 $5 $6" "epsilon $1, delta $2"
}
sized 0.05 0.01 55 5 40 7
sized 0.001 0.002 2719 7 2000 9
sized 0.01 0.05 272 3 200 5
sized 0.2 0.317310508 14 2 10 2
sized 0.1 0.045500264 28 4 20 5
sized 0.05 0.002699796 55 6 40 9
sized 0.01 0.01 272 5 200 7
sized 0.0001 0.00001 27183 12 20000 17
sized 0.5 0.5 6 1 4 1
sized 1 0.999999 3 1 2 1
quietly "--width and --depth" fpr-calc --cms --width 2719 --depth 7
ok "give epsilon and delta" awk -v e="$(get epsilon)" -v d="$(get delta)" \
	'BEGIN { exit !(e > 0.00099973 && e < 0.00099974 && d > 0.00091188 && d < 0.00091189) }'
quietly "--size" fpr-calc --cms --size 1MiB
is "$(get d) $(get d 3)" "5 7" "and delta = 1 %"
ok "fill it" test "$(get bytes)" -le 1048576 -a "$(get bytes)" -ge 1048000
is "$(fpr-calc --cms --size 1MiB --depth 4 --print w)" 65536 "--size and --depth"
clean_error "--cms alone" epsilon fpr-calc --cms
clean_error "--cms with two widths" width fpr-calc --cms --epsilon 0.1 --width 5
clean_error "--cms with two depths" depth fpr-calc --cms --epsilon 0.1 --delta 0.1 --depth 5
clean_error "--cms --width without a depth" depth fpr-calc --cms --width 5
clean_error "--cms of a size too small" size fpr-calc --cms --size 3B
clean_error "--epsilon 2" 2 fpr-calc --cms --epsilon 2
clean_error "--delta 1" 1 fpr-calc --cms --epsilon 0.1 --delta 1
clean_error "--cms with -n" cms fpr-calc --cms --epsilon 0.1 -n 5
clean_error "--epsilon without --cms" cms fpr-calc -n 5 -p 1% --epsilon 0.1
clean_error "-n with --cms and --hll" cms fpr-calc --cms --hll

# ---- HyperLogLog
quietly "--hll" fpr-calc --hll --precision 14
is "$(get registers) $(get bytes) $(get exact)" "16384 16384 2048" "2^14 registers of a byte"
like "$(get error)" '^0\.0080992555' "of the error that hll-count has"
is "$(fpr-calc --hll --precision 14 | awk '$1 == "bytes" || $1 == "error" { print $3 }' | xargs)" \
	"12288 0.008125" "the textbook: registers of 6 bits, 1.04 / sqrt(2^14)"
quietly "--hll --error" fpr-calc --hll --error 1%
is "$(get precision)" 14 "the least precision for 1 %"
for error in 0.9 0.0082 0.0081 0.008 0.001; do
	seq 3 | hll-count -q --error $error -o planned.hll
	is "$(fpr-calc --hll --error $error --print precision)" "$(info planned.hll precision)" \
		"for $error what hll-count takes"
done
is "$(fpr-calc --hll --error 0.0081 --print precision)" 14 "for 0.81 %: 14"
is "$(fpr-calc --hll --error 0.00809 --print precision)" 15 "and for less: 15"
is "$(fpr-calc --hll --error 0.9 --print precision)" 4 "4 at the least"
clean_error "an error too small" "0.01 %" fpr-calc --hll --error 0.0001
clean_error "--precision 22" 22 fpr-calc --hll --precision 22
clean_error "--precision 3" 3 fpr-calc --hll --precision 3
clean_error "--hll alone" precision fpr-calc --hll
clean_error "--hll with both" error fpr-calc --hll --error 1% --precision 5
clean_error "--error without --hll" hll fpr-calc -n 1 -p 1% --error 1%

done_testing
