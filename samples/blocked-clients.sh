#!/bin/sh
# Requests from addresses on a block list: the filter sorts nearly all of the
# others out, and grep has the last word on the few that remain.
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

bloom-build -n 150 -p 0.01 -o block.bloom "$SAMPLES/blocklist.txt"

echo "requests, and those whose client may be on the list:"
bloom-query -c -v -f 1 block.bloom "$SAMPLES/access.log"
bloom-query -c -f 1 block.bloom "$SAMPLES/access.log"

echo "those whose client is on the list, without a filter and behind one:"
cut -d ' ' -f 1 "$SAMPLES/access.log" | grep -c -F -x -f "$SAMPLES/blocklist.txt"
cut -d ' ' -f 1 "$SAMPLES/access.log" | bloom-query block.bloom |
	grep -c -F -x -f "$SAMPLES/blocklist.txt"

echo "the busiest:"
bloom-query -f 1 block.bloom "$SAMPLES/access.log" | cut -d ' ' -f 1 |
	grep -F -x -f "$SAMPLES/blocklist.txt" |
	sort | uniq -c | sort -k 1,1nr -k 2 | awk 'NR <= 5 { print $1, $2 }'
