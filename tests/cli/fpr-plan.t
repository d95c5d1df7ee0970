#!/usr/bin/env bash
# fpr-calc finds what is not given, or says what is missing
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# value COLUMN NAME ARGUMENT...: one cell; COLUMN is used or textbook
value()
{
	local column=2 name=$2
	[ "$1" = used ] || column=3
	shift 2
	fpr-calc "$@" | awk -F '\t' -v name="$name" -v column=$column \
		'$1 == name { print $column }'
}

# near A B RELATIVE NAME
near()
{
	ok "$4: $1 is near $2" awk -v a="$1" -v b="$2" -v r="$3" \
		'BEGIN { d = a - b; exit !(d <= r * b && -d <= r * b) }'
}

# ---- the table
quietly "fpr-calc -n 1M -p 1%" fpr-calc -n 1M -p 1%
cp "$OUT" table
is "$(head -n 1 table)" $'name\tused\ttextbook' "its first line names the columns"
is "$(awk -F '\t' 'NF != 3' table)" "" "three columns everywhere"
for name in layout n p m m_whole k k_whole g bytes bits_per_key load fill rate \
	rate_exponential rate_classic rate_exact rate_bound; do
	like "$(cat table)" "^$name"$'\t[^\t]+\t' "a row $name"
done
is "$(grep -ciE 'nan' table)" 0 "nothing is NaN"
quietly "the same by long options" fpr-calc --keys=1000000 --rate=0.01 --layout=blocked
same table "$OUT" "is the same"

# ---- what people ask
is "$(value textbook m_whole -n 10000000000 -p 0.00001)" 239626459435 "10^10 keys at 1e-5"
is "$(value textbook k_whole -n 10000000000 -p 0.00001)" 17 "with 17 hashes"
is "$(value textbook bytes -n 268435456 -p 0.001)" 482431785 "2^28 keys at 0.001: bytes"
is "$(value textbook bytes -n 536870912 -p 0.001)" 964863569 "2^29"
is "$(value textbook bytes -n 1073741824 -p 0.001)" 1929727138 "2^30"
is "$(value textbook m_whole -n 1e9 -p 0.01)" 9585058378 "10^9 at 0.01"
is "$(value textbook m_whole -n 100000 -p 0.01)" 958506 "100000 at 0.01"
near "$(value textbook rate -n 100000 -p 0.01)" 0.0100392 1e-5 "which errs more than asked"
ok "the used one does not" awk -v p="$(fpr-calc -n 100000 -p 0.01 --print p)" \
	'BEGIN { exit !(p <= 0.01 && p > 0.0099) }'
near "$(value textbook bits_per_key -n 100000 -m 959296 -k 7)" 9.592955 1e-5 "9.593 bits a key"
ok "are enough for 7 hashes" awk -v p="$(fpr-calc -L classic -n 100000 -m 959360 -k 7 --print p)" \
	'BEGIN { exit !(p <= 0.01) }'
is "$(value textbook k_whole -n 1M -p 0.03)" 5 "5.06 hashes are 5"
is "$(value textbook k_whole -n 1M -p 0.0001)" 13 "13.29 are 13"
is "$(value textbook m_whole -n 1000 -p 0.01)" 9586 "9.586 bits a key are not 10"
near "$(value textbook rate --bits-per-key 10 -k 1)" 0.0951626 1e-6 "ten bits, k = 1"
near "$(value textbook rate --bits-per-key 10 -k 3)" 0.0174106 1e-5 "ten bits, k = 3"
near "$(value textbook rate --bits-per-key 10 -k 7)" 0.00819372 1e-6 "ten bits, k = 7"
near "$(value textbook rate -m 6MB -n 1e6 -k 3)" 2.2240e-4 1e-4 "6 MB, 10^6 events, 3 hashes"
near "$(fpr-calc -m 6MB -n 1e6 -k 3 -L classic --print p)" 2.2240e-4 1e-4 "so is the used one"
near "$(fpr-calc -m 60MB -n 1e6 -k 3 -L classic --print p)" 2.4186e-7 1e-4 "60 MB"
is "$(value used m -m 6MB -n 1e6 -k 3 -L classic)" 48000000 "which is 48 million bits"
near "$(value textbook k -m 6MB -n 1e6)" 33.27106 1e-6 "the best k is 33.27"
near "$(value textbook k --load 70%)" 0.99021 1e-5 "at 70 % load it is one"
is "$(value used k --load 0.7 -L classic)" 1 "and one is used"
is "$(value textbook rate_exact -m 2 -k 2 -n 1 -L classic)" 0.625 "m = 2, k = 2, n = 1: exactly 5/8"
is "$(value textbook rate_classic -m 2 -k 2 -n 1 -L classic)" 0.5625 "classic 9/16"
near "$(value textbook rate_exponential -m 2 -k 2 -n 1 -L classic)" 0.39957640 1e-7 "exponential"
like "$(value used refused -m 2 -k 2 -n 1 -L classic)" "m = 2 .*64" "and why none is made"
near "$(value textbook m -n 1e18 -p 0.01)" 9.58505837736744e18 1e-14 "10^18 keys: the textbook"
like "$(value used refused -n 1e18 -p 0.01)" "1262413466555612672 bytes" "and the size of ours"
clean_error "which is no number to print" 1262413466555612672 fpr-calc -n 1e18 -p 0.01 --print m

# ---- any two, any three
is "$(fpr-calc -m 6MB -p 0.001 -L classic --print n)" 3338516 "m and p: n"
is "$(fpr-calc -m 6MB -p 0.001 -k 5 -L classic --print k)" 5 "m, p and k"
is "$(fpr-calc -n 1M -p 0.01 -k 5 -L classic --print k)" 5 "n, p and k"
is "$(fpr-calc -n 1M -m 10M"bit" -p 0.02 -L classic --print k)" 3 "n, m and p: the least k"
quietly "n, m, p and k that agree" fpr-calc -n 1M -m 10Mbit -p 0.02 -k 3 -L classic
quietly "p and k" fpr-calc -p 1% -k 5
near "$(fpr-calc -p 1% -k 5 -L classic --print bits_per_key)" 9.8488 1e-5 "give bits per key"
is "$(fpr-calc -p 1% -k 5 | awk -F '\t' '$1 ~ /^(n|m|bytes)$/ { print $2 $3 }' | xargs)" \
	"-- -- --" "and neither n nor m"
is "$(fpr-calc --bits-per-key 10 -n 1M -L classic --print m)" 10000000 "bits per key and n: m"
is "$(fpr-calc --load 10% -m 10Mbit -L classic --print n)" 1000000 "load and m: n"
is "$(fpr-calc --load 0.7 -n 7000 -L classic --print m)" 9984 "m is rounded down to what there is"
is "$(fpr-calc --bits-per-key 10 -p 2% -L classic --print k)" 3 "bits per key and p: the least k"
for words in "-n 1 -p 1e-300" "-n 1e17 -p 0.5" "-n 1e18 -m 9e18 -k 7" "-n 1 -m 9e18" \
	"-n 1e18 -m 512" "-n 1 -m 512 -k 255 -L classic" "-n 1000 -p 1e-300 -k 255" \
	"-n 1 -p 0.999999" "--load 1e9" "--bits-per-key 1e9" "-m 64 -p 0.99 -L classic"; do
	# shellcheck disable=SC2086 # several words
	quietly "fpr-calc $words" fpr-calc $words
	is "$(awk -F '\t' 'tolower($0) ~ /nan|\t-[0-9]|\tinf/' "$OUT")" "" \
		"no NaN, nothing negative"
	is "$(awk -F '\t' '$1 ~ /^rate/ && ($2 == 0 || $3 == 0 || $2 > 1 || $3 > 1)' "$OUT" |
		grep -v $'\t-')" "" "every rate above 0 and at most 1"
done

# ---- not enough, or too much
clean_error "nothing" "-n" fpr-calc
clean_error "n alone lacks p or m" "-p" fpr-calc -n 1000
like "$(cat "$ERR")" "missing.*-m" "and says so"
clean_error "p alone lacks n or m" "-n" fpr-calc -p 0.01
clean_error "m alone" "-p" fpr-calc -m 6MB
clean_error "k alone" "-p" fpr-calc -k 3
clean_error "n and k" "-p" fpr-calc -n 1000 -k 3
clean_error "m and k" "-n" fpr-calc -m 6MB -k 3
clean_error "layout alone" "missing" fpr-calc -L classic
clean_error "m too small for p and n" "m = 1024" fpr-calc -n 1000 -m 1024 -p 1e-9
like "$(cat "$ERR")" "would" "and the size that would do"
clean_error "k that does not keep p" "k = 1" fpr-calc -n 1000 -m 10000 -p 0.01 -k 1
clean_error "not one key" "one key" fpr-calc -m 512 -p 1e-200
clean_error "no m keeps this p" "" fpr-calc -n 1M -k 1 -p 1e-300
clean_error "n, m and their ratio" "--load" fpr-calc -n 10 -m 640 --load 3
clean_error "two ratios" "--bits-per-key" fpr-calc -n 10 --load 3 --bits-per-key 4
clean_error "a negative rate is shown" "-0.01" fpr-calc -n 10 -p -0.01
clean_error "5 hints at 5%" "5%" fpr-calc -n 10 -p 5
clean_error "an operand" "foo" fpr-calc -n 10 -p 1% foo
clean_error "a layout that is none" "sideways" fpr-calc -n 10 -p 1% -L sideways
for word in 0 -1 x 1x '' nan inf 1e10 1e-10 1..2 . 1e 1e+ %; do
	clean_error "--load '$word'" "$word" fpr-calc -p 0.1 --load "$word"
	clean_error "--bits-per-key '$word'" "$word" fpr-calc -p 0.1 --bits-per-key "$word"
done

checks fpr.py

done_testing
