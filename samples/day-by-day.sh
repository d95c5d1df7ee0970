#!/bin/sh
# One filter that takes in a day at a time.  The first run makes it; the same
# command goes on with it.  The days in one go give the same bits.
set -eu
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

for day in access-1 access; do
	bloom-build -n 1k -p 0.001 -f 1 --append clients.bloom "$SAMPLES/$day.log"
	sketch-info clients.bloom | grep -E '^(records|distinct|past)'
done

echo "distinct clients, by awk:"
awk '!seen[$1]++ { n++ } END { print n }' "$SAMPLES/access-1.log" "$SAMPLES/access.log"

bloom-build -n 1k -p 0.001 -f 1 -o at-once.bloom "$SAMPLES/access.log" "$SAMPLES/access-1.log"
cmp clients.bloom at-once.bloom && echo "byte for byte that of all days at once"

echo "other parameters are refused:"
status=0
bloom-build -n 2k -p 0.001 -f 1 --append clients.bloom "$SAMPLES/access.log" 2> message ||
	status=$?
cat message
echo "status $status"
