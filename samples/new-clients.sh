#!/bin/sh
# Clients of today that were not here yesterday, and their first requests.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

bloom-build -n 1k -p 1e-6 -f 1 -o yesterday.bloom "$SAMPLES/access-1.log"

echo "requests of old clients, of new ones:"
bloom-query -c -f 1 yesterday.bloom "$SAMPLES/access.log"
bloom-query -c -v -f 1 yesterday.bloom "$SAMPLES/access.log"

echo "new clients, by the filter and by sort and comm:"
bloom-query -v -f 1 yesterday.bloom "$SAMPLES/access.log" | cut -d ' ' -f 1 | sort -u | wc -l |
	tr -d ' '
cut -d ' ' -f 1 "$SAMPLES/access-1.log" | sort -u > old
cut -d ' ' -f 1 "$SAMPLES/access.log" | sort -u > now
comm -13 old now | wc -l | tr -d ' '

echo "the first requests of three:"
bloom-query -v -f 1 yesterday.bloom "$SAMPLES/access.log" | awk '!seen[$1]++' | sed 3q
