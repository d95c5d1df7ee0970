#!/bin/sh
# Filters of three days, joined: byte for byte the filter of the whole, however the
# lines were dealt out.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

split -l 700 "$SAMPLES/access.log" day.
for day in day.a?; do
	bloom-build -n 1k -p 0.001 -f 1 -o "$day.bloom" "$day"
done
sketch-merge -o all.bloom day.aa.bloom day.ab.bloom day.ac.bloom
bloom-build -n 1k -p 0.001 -f 1 -o whole.bloom "$SAMPLES/access.log"
cmp all.bloom whole.bloom && echo "three days joined are the whole"
sketch-merge day.ac.bloom - day.aa.bloom < day.ab.bloom | cmp - whole.bloom &&
	echo "in any order, through pipes"

echo "distinct clients of each day, and of all:"
sketch-info day.a?.bloom all.bloom | grep -E '^distinct'

echo "without -n all layers are kept, and their rates add up:"
for day in day.a?; do
	bloom-build -f 1 -o "$day.grown" "$day"
done
sketch-merge -o all.grown day.aa.grown day.ab.grown day.ac.grown 2>&1
sketch-merge -o other.grown day.ac.grown day.ab.grown day.aa.grown 2>&1
cmp all.grown other.grown && echo "the same in any order"
sketch-info all.grown | grep -E '^(records|layers|p)'
bloom-query -c -v -f 1 all.grown "$SAMPLES/access.log" || :

echo "unlike ones are refused:"
bloom-build -n 1k -p 0.001 -f 1 -s 7 -o seeded.bloom day.aa
bloom-uniq --window 100 --state window.bloom -f 1 day.aa > passed
cp all.bloom kept.bloom
for other in seeded.bloom day.aa.grown window.bloom; do
	status=0
	sketch-merge -o all.bloom all.bloom $other 2>&1 || status=$?
	echo "status $status"
done
cmp all.bloom kept.bloom && echo "and the output is as it was"
