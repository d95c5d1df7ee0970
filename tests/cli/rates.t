#!/usr/bin/env bash
# False positives: p is a ceiling on the expected rate; bounds are binomial tails
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

# Of 100000 absent keys at p = 0.01 no more than 1000 are expected; with 4.5 standard
# deviations of sqrt(1000 * 0.99) that is 1141.  A filter far below is too large.
seq 1 100000 >present
seq 100001 200000 >absent
for layout in classic blocked; do
	bloom-build -L $layout -n 100000 -p 0.01 -o f present
	run bloom-query -c f absent
	hits=$(cat "$OUT")
	ok "$layout: $hits of 100000 absent keys at p = 0.01" \
		test "$hits" -ge 800 -a "$hits" -le 1141
	run bloom-query -v -c f present
	is "$(cat "$OUT")" 0 "$layout: no key is lost"
	ok "$layout: fill within 1 % of 1 - e^(-kn/m)" awk "BEGIN {
		want = 1 - exp(-$(info f k) * 100000 / $(info f m))
		off = $(info f fill) / want - 1
		exit !(off < 0.01 && off > -0.01) }"
	# Prefixes shared with present keys.
	sed 's/$/ /' present >alike
	run bloom-query -c f alike
	ok "$layout: $(cat "$OUT") of 100000 keys that begin as present ones" \
		test "$(cat "$OUT")" -le 1141
	# At 1e-6 a million absent keys give one; ten has a probability below 1e-7.
	bloom-build -L $layout -n 100000 -p 1e-6 -o f present
	run bash -c 'seq 1000001 2000000 | bloom-query -c f'
	ok "$layout: $(cat "$OUT") of 1000000 absent keys at p = 1e-6" test "$(cat "$OUT")" -le 9

	# One key of one byte among the 256, and the empty one.
	bloom-build -L $layout -n 10000 -p 0.1 -o f <(echo a)
	for ((byte = 0; byte < 256; byte++)); do
		# shellcheck disable=SC2059 # a format, for its escapes
		[ $byte -eq 10 ] || printf "\\x$(printf %x $byte)\n"
	done >bytes
	expect 0 'a\n' "$layout: of all keys of one byte, the one" bloom-query f bytes
	expect 0 'a\n' "$layout: not the empty one" bloom-query -e '' -e a f
	for ((byte = 1; byte < 256; byte++)); do
		# shellcheck disable=SC2059
		printf "\\x$(printf %x $byte)\0"
	done >bytes
	expect 0 'a\0' "$layout: nor the newline" bloom-query -z f bytes

	# Few bits of hash would show here: 2000 of 3000000 at 32 bits.
	if long; then
		seq 1 3000000 | bloom-build -L $layout -n 3000000 -p 1e-9 -o f
		expect 1 '0\n' "$layout: 3000000 keys at p = 1e-9" \
			bash -c 'seq 3000001 6000000 | bloom-query -c f'
	else
		seq 1 300000 | bloom-build -L $layout -n 300000 -p 1e-9 -o f
		expect 1 '0\n' "$layout: 300000 keys at p = 1e-9" \
			bash -c 'seq 3000001 4000000 | bloom-query -c f'
	fi
done

# Seeds decorrelate: what both of two filters hold wrongly is p^2, not p.
bloom-build -n 100000 -p 0.01 -s 1 -o f present
bloom-build -n 100000 -p 0.01 -s 2 -o g present
run bash -c 'bloom-query f absent | bloom-query -c g'
ok "two seeds: $(cat "$OUT") of 100000 absent keys in both" test "$(cat "$OUT")" -le 30

done_testing
