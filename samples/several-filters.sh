#!/bin/sh
# Several filters at once: a record is passed on if any of them may hold its key.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

bloom-build -n 1k -p 1e-6 -f 1 -o yesterday.bloom "$SAMPLES/access-1.log"
bloom-build -n 150 -p 1e-6 -o block.bloom "$SAMPLES/blocklist.txt"

echo "requests of clients seen yesterday, on the list, either, neither:"
bloom-query -c -f 1 yesterday.bloom "$SAMPLES/access.log"
bloom-query -c -f 1 block.bloom "$SAMPLES/access.log"
bloom-query -c -f 1 -F yesterday.bloom -F block.bloom "$SAMPLES/access.log"
bloom-query -c -v -f 1 -F yesterday.bloom -F block.bloom "$SAMPLES/access.log"

echo "both, by one filter after the other:"
bloom-query -f 1 yesterday.bloom "$SAMPLES/access.log" | bloom-query -c -f 1 block.bloom

echo "all of that by awk:"
awk '{ who = $1 }
	FILENAME ~ /access-1/ { old[who]; next }
	FILENAME ~ /blocklist/ { listed[who]; next }
	{ o += who in old; l += who in listed; b += who in old && who in listed }
	END { print o; print l; print o + l - b; print FNR - o - l + b; print b }' \
	"$SAMPLES/access-1.log" "$SAMPLES/blocklist.txt" "$SAMPLES/access.log"
