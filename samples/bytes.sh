#!/bin/sh
# Weights: bytes sent to each client, not requests. A log has "-" where nothing was sent.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

echo "most bytes, by client and by path:"
cms-top -k 3 -f 1 -W 10 "$SAMPLES/access.log"
cms-top -k 3 -f 7 -W 10 "$SAMPLES/access.log"

awk '{ sum[$1] += $10 } END { for (key in sum) print sum[key] "\t" key }' "$SAMPLES/access.log" |
	sort -k 1,1nr -k 2 > summed
cms-top -k 1000 -f 1 -W 10 "$SAMPLES/access.log" > all
grep -v '^0' summed > some
grep -v '^0' all | cmp some - && echo "the same as awk adds up"

echo "the total:"
cms-count -f 1 -W 10 -o bytes.cms "$SAMPLES/access.log"
sketch-info bytes.cms | grep -E '^(records|total)'
awk '{ sum += $10 } END { print sum }' "$SAMPLES/access.log"

echo "each request with the bytes sent to that client so far:"
cms-count -f 1 -W 10 "$SAMPLES/access.log" | sed -n '500,503p' | cut -c 1-50

echo "a bad weight stops it, and nothing is saved:"
printf 'a 10\nb -\nc -7\n' | cms-top -f 1 -W 2 -o none.cms 2>&1 || echo "status $?"
test -e none.cms || echo "no file"
