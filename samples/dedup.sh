#!/bin/sh
# Each line once, at its first sighting: what awk '!seen[$0]++' does, in a few bits
# a line, and without sorting, for which uniq must wait.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

echo "lines, and distinct ones:"
wc -l < "$SAMPLES/access.log" | tr -d ' '
bloom-uniq "$SAMPLES/access.log" | wc -l | tr -d ' '

awk '!seen[$0]++' "$SAMPLES/access.log" > by-awk
bloom-uniq < "$SAMPLES/access.log" | cmp - by-awk && echo "the same as by awk"

echo "repeats that are not next to each other, which uniq passes over:"
printf '%s\n' a b a a c b > letters
uniq letters | tr '\n' ' '
echo
bloom-uniq letters | tr '\n' ' '
echo

echo "the summary, with what may have been lost:"
bloom-uniq -n 2000 -p 0.01 --stats "$SAMPLES/access.log" > passed 2> summary
cat summary
