#!/usr/bin/env bash
# Ladders against those of the independent writer, and what is shown of them
# shellcheck source=tests/cli/lib.sh
. "$TOP/tests/cli/lib.sh"

GOLDEN=$TOP/tests/golden
theirs()
{
	"$PYTHON" "$TOP/scripts/sketch-format" "$@"
}

# rungs NAME LAYOUT RUNG...: the golden file from its keys, in one run and in many
rungs()
{
	local name=$1
	shift
	theirs write --ladder --layer "$1" </dev/null >f
	cp f parts
	quietly "$name: its keys added to its first rung" \
		bloom-build --append f "$GOLDEN/$name.keys"
	same "$GOLDEN/$name.bloom" f "$name: open the rungs where they open there"
	split -l 37 "$GOLDEN/$name.keys" part.
	for part in part.*; do bloom-uniq --state parts "$part"; done >passed
	rm -f part.*
	same "$GOLDEN/$name.bloom" parts "$name: bloom-uniq in many runs, too"
	seq 1 2000 | awk '{ print $1 % 900 }' >numbers
	theirs write --ladder --layer "$1" </dev/null >f
	theirs write --grow "${@/#/--layer=}" <numbers >want
	bloom-build --append f numbers
	same want f "$name: and with other keys"
}

if [ -n "$PYTHON" ]; then
	rungs grown-classic classic:m=448,k=4,n=40,p=0.01 classic:m=1792,k=7,n=160,p=0.005 \
		classic:m=8000,k=9,n=640,p=0.0025 classic:m=35648,k=10,n=2560,p=0.00125
	rungs grown-blocked blocked:m=512,k=8,g=1,n=40,p=0.01 \
		blocked:m=2048,k=8,g=1,n=160,p=0.005 blocked:m=8704,k=8,g=1,n=640,p=0.0025 \
		blocked:m=38912,k=8,g=1,n=2560,p=0.00125
	seq 1 70000 | bloom-build -p 0.1 -o ours -
	run "$PYTHON" "$TOP/scripts/sketch-format" json ours
	like "$(cat "$OUT")" '"arrangement": "ladder"' "ours is a ladder to the independent reader"
	like "$(cat "$OUT")" '"n": 65536, .*"p": 0.05, .*"n": 262144, .*"p": 0.025' \
		"with the rungs of the contract"
	run "$PYTHON" "$TOP/scripts/sketch-format" selftest
	is "$status" 0 "which passes its own tests"
else
	skip "the independent writer" "no python3"
fi

# ---- what sketch-info shows
for file in "$GOLDEN"/grown-classic.bloom "$GOLDEN"/window-time.bloom; do
	name=${file##*/}
	quietly "$name" sketch-info "$file"
	layers=$(sed -n 's/^layers	//p' "$OUT")
	is "$(grep -c '^layer\.[0-9]*\.m	' "$OUT")" "$layers" "$name: a block for each layer"
	is "$(awk -F '\t' '/^layer\..*\.m\t/ { sum += $2 } /^m\t/ { m = $2 }
		END { print sum - m }' "$OUT")" 0 "$name: m is their sum"
	quietly "$name as JSON" sketch-info --json "$file"
	ok "$name: the rate is that of all layers together" \
		awk "BEGIN { exit !($(info "$file" rate) > 0 && $(info "$file" rate) < 0.02) }"
	is "$(info "$file" checksum)" ok "$name: is intact"
done

done_testing
