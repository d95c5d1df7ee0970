#!/usr/bin/env bash
# fpr-calc's questions: until, what if, tables, curves, the derivation, simulation
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# shellcheck disable=SC2034 # lib.sh asks whose messages they are, behind bash -c as well
tool_of()
{
	tool=fpr-calc
}

get()
{
	awk -F '\t' -v name="$1" '$1 == name { print $2 }' "$OUT"
}

# ---- until
quietly "--until" fpr-calc -m 6MB -n 1M -k 3 -L classic --until 1%
is "$(get until_n)" "$(fpr-calc -m 6MB -p 1% -k 3 -L classic --print n)" \
	"until_n is the n of m and p"
is "$(get until_more)" $(($(get until_n) - 1000000)) "until_more is the rest"
quietly "--until what is past" fpr-calc -m 1kB -n 1M -L classic --until 1e-6
is "$(get until_more)" 0 "is none"
clean_error "--until 2" 2 fpr-calc -n 1M -p 1% --until 2

# ---- what if
quietly "--what-if n" fpr-calc -n 1M -p 1% --what-if n=2M
is "$(get what_if_n) $(get what_if_m)" "2000000 $(fpr-calc -n 1M -p 1% --print m)" \
	"n doubles, m stays"
ok "to 0.17" awk -v r="$(get what_if_rate)" 'BEGIN { exit !(r > 0.16 && r < 0.175) }'
quietly "--what-if k" fpr-calc -n 1M -m 10Mbit -L classic --what-if k=3
is "$(get what_if_rate)" "$(fpr-calc -n 1M -m 10Mbit -k 3 -L classic --print p)" "is that of k = 3"
quietly "--what-if m" fpr-calc -n 1M -m 10Mbit -k 7 -L classic --what-if m=20Mbit
is "$(get what_if_rate)" "$(fpr-calc -n 1M -m 20Mbit -k 7 -L classic --print p)" "is that of m"
quietly "two changes" fpr-calc -n 1M -m 10Mbit -k 7 -L classic --what-if m=20Mbit --what-if n=2M
is "$(get what_if_n) $(get what_if_m)" "2000000 20000000" "are both made"
for word in n 2M n= n=x p=0.1 k=0 k=256 m=6M x=3 ''; do
	clean_error "--what-if '$word'" "$word" fpr-calc -n 1M -p 1% --what-if "$word"
done
clean_error "--what-if of a ratio" "-n" fpr-calc --load 0.1 --what-if n=3

# ---- table of k
quietly "--table" fpr-calc -n 1M -m 6MB -L classic --table
awk '/^k\tused\ttextbook\tgain\tmark$/, /^$/' "$OUT" | grep . >table
is "$(awk -F '\t' 'NF != 5' table)" "" "five columns"
is "$(awk -F '\t' '$5 ~ /lowest/ { print $1 }' table)" 33 "33 hashes have the lowest rate"
like "$(cat "$OUT")" "33 hashes mean 33 probes for every event" "and are advised against"
is "$(awk -F '\t' 'NR > 1 && NR < 34 && $4 <= 1' table)" "" "each one up to there gains"
quietly "--table, blocked" fpr-calc -n 1M -p 1e-6 --table
is "$(awk -F '\t' '$1 ~ /^[0-9]+$/ && $1 % 2' "$OUT")" "" "k is a multiple of g = 2"

# ---- other structures
quietly "--compare" fpr-calc -n 1M -p 1% -L classic --compare
for name in bloom least_possible cuckoo counting_bloom hash_set_64 hash_set; do
	like "$(cat "$OUT")" "^$name"$'\t[0-9]+\t' "$name and its bytes"
done
is "$(get counting_bloom)" $((4 * $(get bloom))) "a counting filter takes four times the bytes"
short_keys=$(get hash_set)
run fpr-calc -n 1M -p 1% -L classic --compare --key-bytes 100
is "$(($(get hash_set) - short_keys))" 80000000 "longer keys, a larger set"
for question in "--curve=n" --compare --explain "--what-if n=5" "--load 0.1"; do
	# shellcheck disable=SC2086 # words
	clean_error "$question of counters" "about bits" \
		fpr-calc --kind counting -n 1k -p 1% $question
done
clean_error "--key-bytes alone" "needs --compare" fpr-calc -n 1M -p 1% --key-bytes 100
clean_error "--compare of a ratio" "-n" fpr-calc --load 0.1 --compare

# ---- curves
for curve in n k bits; do
	for layout in classic blocked; do
		quietly "--curve=$curve, $layout, --tsv" \
			fpr-calc -n 1M -p 1% -L $layout --curve=$curve --tsv
		is "$(awk -F '\t' 'NF != 3 || (NR > 1 && ($2 <= 0 || $2 > 1 || $3 <= 0))' "$OUT")" \
			"" "three columns of rates"
		ok "and more than ten lines" test "$(wc -l <"$OUT")" -gt 10
	done
	quietly "--curve=$curve" fpr-calc -n 1M -p 1% --curve=$curve
	like "$(cat "$OUT")" '\|.*\*' "in ASCII where the locale is C"
	is "$(LC_ALL=C grep -c '[^ -~'$'\t'']' "$OUT")" 0 "and nothing else"
	run env LC_ALL=C.UTF-8 fpr-calc -n 1M -p 1% --curve=$curve
	like "$(cat "$OUT")" '│' "in Unicode where it has UTF-8"
	run env LC_ALL=C.UTF-8 fpr-calc -n 1M -p 1% --curve=$curve --ascii
	is "$(LC_ALL=C grep -c '[^ -~'$'\t'']' "$OUT")" 0 "but for --ascii"
	run env COLUMNS=100 fpr-calc -n 1M -p 1% --curve=$curve
	is "$(awk '{ if (length > w) w = length } END { print w }' "$OUT")" 100 "as wide as COLUMNS"
done
run fpr-calc -n 1M -p 1% -L classic --curve=n --tsv
is "$(get 1000000)" "$(fpr-calc -n 1M -p 1% -L classic --print p)" \
	"the curve goes through the filter"
quietly "a curve of a ratio" fpr-calc --load 0.1 --curve=n
quietly "a curve of one key" fpr-calc -n 1 -p 1% --curve=n
clean_error "a curve over p" p fpr-calc -n 1M -p 1% --curve=p
clean_error "--tsv without a curve" curve fpr-calc -n 1M -p 1% --tsv

# ---- the derivation
quietly "--explain" fpr-calc -m 6MB -n 1e6 -k 3 -L classic --explain
for words in '48\*10\^6 bits' '2\.224\*10\^-4' '2\.419\*10\^-7' '33\.27' '0\.6185' \
	'e\^\(-kn/m\)' '1 - 1/m' 'half' '33 hashes mean 33 probes' 'Goel and Gupta' \
	'nobody should use it'; do
	like "$(cat "$OUT")" "$words" "says $words"
done
is "$(awk 'length > 79' "$OUT")" "" "in lines of at most 79"
quietly "--explain of a crowded one" fpr-calc --load 70% --explain
like "$(cat "$OUT")" "one hash is best" "wants one hash"
for words in "-n 1 -p 1e-300" "-n 1e18 -p 0.01" "-m 2 -n 1 -k 2" "-n 1e17 -p 0.9" "-p 1% -k 200"; do
	# shellcheck disable=SC2086 # several words
	quietly "--explain $words" fpr-calc $words --explain
	is "$(grep -ciE 'nan|inf[^o]' "$OUT")" 0 "without NaN"
done

# ---- simulation
quietly "--simulate" fpr-calc -n 1000 -p 1% --simulate --queries 1000
cp "$OUT" first
is "$(get simulated_filters) $(get simulated_queries)" "50 50000" "50 filters, so many queries"
is "$(get bound_holds)" yes "the bound holds"
is "$(get bound)" "$(fpr-calc -n 1000 -p 1% --print p)" "which is the one of the table"
ok "the rate lies in its interval" awk -v l="$(get simulated_low)" -v r="$(get simulated_rate)" \
	-v h="$(get simulated_high)" 'BEGIN { exit !(l < r && r < h) }'
like "$(get simulated_method)" "Student" "by a method with a name"
quietly "again" fpr-calc -n 1000 -p 1% --simulate --queries 1000
same first "$OUT" "gives the same"
quietly "another seed" fpr-calc -n 1000 -p 1% --simulate --queries 1000 --seed 99
not_ok "gives another" cmp -s first "$OUT"
quietly "one classic filter" fpr-calc -n 100 -p 1% -L classic --simulate=1 --queries 5k
like "$(get simulated_method)" "Clopper" "has a binomial interval"
quietly "a rate that is never seen" fpr-calc -n 100 -p 1e-9 --simulate=4 --queries 1000
is "$(get simulated_low)" 0 "may be 0"
clean_error "too many keys to simulate" minutes fpr-calc -n 1e12 -p 1% --simulate
if sanitized; then
	skip "more than the machine has" "a sanitizer takes more"
else
	clean_error "more than the machine has" memory bash -c \
		'ulimit -v 2000000; exec fpr-calc -n 5e9 -p 1% --simulate=1 --queries 1'
fi
clean_error "--simulate of a ratio" "-n" fpr-calc --load 0.1 --simulate
clean_error "--queries alone" simulate fpr-calc -n 1 -p 1% --queries 5
clean_error "--seed alone" simulate fpr-calc -n 1 -p 1% --seed 5
clean_error "--simulate=0" 0 fpr-calc -n 1 -p 1% --simulate=0
run fpr-calc -n 1000 -p 1% --simulate=3 --queries 10 --progress
is "$(tr -dc '\r\033' <"$ERR" | wc -c)" 0 "no progress is drawn where there is no terminal"

done_testing
