#!/bin/sh
# Both kinds of records in one pass, each marked 1 (maybe) or 0 (surely not).
set -eu
export LC_ALL=C
: "${SAMPLES:?is unset; in an empty folder: PATH=TREE/build/bin:\$PATH SAMPLES=TREE/samples sh $0}"

bloom-build -n 150 -p 0.001 -o block.bloom "$SAMPLES/blocklist.txt"

echo "three lines, marked:"
sed 3q "$SAMPLES/access.log" | bloom-query --annotate -f 1 block.bloom | cut -c 1-60

echo "status codes of clients that surely are not on the list (0) and may be (1):"
bloom-query --annotate -f 1 block.bloom "$SAMPLES/access.log" |
	awk '{ n[$1 " " $10]++ } END { for (pair in n) print pair, n[pair] }' | sort

echo "failed logins from both:"
grep 'Failed password' "$SAMPLES/syslog.log" | bloom-query --annotate -f 13 block.bloom |
	cut -f 1 | sort | uniq -c | awk '{ print $2, $1 }'
